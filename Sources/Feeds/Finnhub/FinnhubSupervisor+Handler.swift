import Market
import NIOCore
import Wire

/// What the connection's handler tells, and asks.
extension FinnhubSupervisor: FinnhubHandlerOwner {
    var isLive: Bool { self.condition == .live }

    func takeRequests(_ now: Moment) -> [FinnhubRequest] { self.watch.takeRequests(now) }

    func refusalArrived(_ text: String, handler: FinnhubHandler, now: Moment) -> Bool {
        let isOfOurs = self.watch.errorArrived(text, now: now)
        // Also of a symbol that is not asked for any more it says nothing about the feed.
        guard isOfOurs || SymbolRefusalText.isOfSymbol(text) else { return false }
        if !isOfOurs { self.logError(text, now: now) }
        self.publishChanges()
        self.look(handler, now)
        return true
    }

    func errorArrived(_ text: String, isNews: Bool, handler: FinnhubHandler, now: Moment) {
        // A service that says the same a thousand times is told of once.
        guard isNews else { return }
        self.logError(text, now: now)
        self.report(self.told.phase, reason: "the service says: \(text)")
    }

    func errorForgotten(_ handler: FinnhubHandler, now: Moment) {
        self.report(self.condition, lastError: nil)
    }

    func readEnded(_ handler: FinnhubHandler, previousFrame: Int64, now: Moment) -> Bool {
        self.lookForSleep(since: previousFrame, now)
        self.writer.compareWithTails(now: now.monotonic)
        if self.writer.takeRepetition() { self.reportRepetition() }
        if self.writer.losses != self.losses.told {
            self.report(self.losses.take(self.writer.losses, now: now.monotonic))
        }
        guard self.writer.pendingTrades > 0 else { return self.writer.losses != self.losses.told }
        let hasChanges = self.watch.traded(self.writer.pending, symbols: self.writer.names, now: now)
        guard hasChanges || self.condition != .live || self.gaps.isOpen else { return false }
        self.look(handler, now)
        if let silence = self.watch.takeEndedSilence() {
            self.silenceEnded(silence, now)
        }
        // What may be from before the gap does not end it.
        if !self.writer.pendingMayBeOld {
            let next = (self.writer.nextSequence, self.writer.epoch)
            let gap = self.gaps.traded(received: now.wall, nextSequence: next.0, epoch: next.1)
            if let gap { self.publishWithOverlap(gap) }
        }
        self.publishChanges()
        return true
    }

    /// What traded again after a silence may have traded in it. Of one symbol that is a gap of its own, since the others'
    /// tape is whole; but only while these traded all the time, or they may have been mute for less than their thresholds.
    private func silenceEnded(_ silence: SymbolSilence, _ now: Moment) {
        let failure = UpstreamFailure(.stale(silence))
        guard silence.others == 0, !self.gaps.isOpen, self.lastSilent <= silence.from else {
            self.gaps.interrupted(from: silence.from, reason: failure.description, cause: failure.cause)
            return
        }
        self.publish(
            Gap(
                from: silence.from,
                to: now.wall,
                reason: failure.description,
                nextSequence: self.writer.nextSequence,
                epoch: self.writer.epoch,
                cause: failure.cause,
                symbol: silence.symbol
            )
        )
    }

    /// A machine that slept has heard nothing meanwhile, though its connection may stand.
    private func lookForSleep(since previousFrame: Int64, _ now: Moment) {
        guard let slept = self.sleep.looked(now), self.settings.source == .live else { return }
        self.interrupted(
            from: previousFrame,
            reason: "this machine slept, or its clock was set, \(slept / 1_000_000_000) s ahead",
            cause: .sleep
        )
        self.gaps.asked(now)
    }

    func deadline(now: Int64) -> Int64? {
        if self.pausedSince != nil { return nil }
        let patience = self.settings.watch.freshness.lateAfter
        return [
            self.watch.deadline(now: now), self.gaps.deadline(patience: patience),
            self.losses.deadline(self.writer.losses),
        ].compactMap(\.self).min()
    }

    func deadlineReached(_ handler: FinnhubHandler, now: Moment) -> SymbolSilence? {
        if self.pausedSince != nil { return nil }
        self.lookForSleep(since: handler.lastReceived, now)
        self.report(self.losses.take(self.writer.losses, now: now.monotonic))
        let action = self.watch.deadlineReached(now)
        let gap = self.gaps.deadlineReached(
            now: now.monotonic,
            patience: self.settings.watch.freshness.lateAfter,
            nextSequence: self.writer.nextSequence,
            epoch: self.writer.epoch
        )
        if let gap { self.publishWithOverlap(gap) }
        self.publishChanges()
        self.look(handler, now)
        switch action {
        case .none: return nil
        case .reconnect(let silence): return silence
        }
    }

    func ended(_ ending: FinnhubHandler.Ending, handler: FinnhubHandler) {
        self.report(self.losses.takeAll(self.writer.losses, now: self.now.monotonic))
        let now = self.now
        // What nobody has noticed to be missing yet is no less missing because the connection ends for another reason.
        let complete = min(handler.lastReceived, self.watch.quietSince(now) ?? .max)
        var failure = self.keeper?.isRenewing == true ? ConnectionKeeper.renewed : UpstreamFailure(ending)
        failure.description = self.settings.key.redacted(failure.description)
        self.writer.publish(
            .disconnected(
                code: ending.closeCode,
                reason: failure.description,
                cause: failure.cause,
                goodbye: ending.goodbye.map(self.settings.key.redacted)
            ),
            monotonic: now.monotonic
        )
        if self.settings.source != .live, case .closed(let closure) = ending, closure.isEndOfRecording {
            failure = UpstreamFailure(ReplayEnd.closeReason, disposition: .ended)
        } else if case .stale(let silence) = ending {
            // Others may have traded until now; what is missing began with the silence, and a gap tells of the worst.
            self.interrupted(from: min(silence.from, complete), reason: failure.description, cause: failure.cause)
        } else {
            self.interrupted(from: complete, reason: failure.description, cause: failure.cause)
        }
        self.watch.connectionEnded(now)
        self.publishChanges()
        self.handler = nil
        self.keeper?.connectionEnded(failure, tradedFor: handler.session.tradedFor)
    }
}
