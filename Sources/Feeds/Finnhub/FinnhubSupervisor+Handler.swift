import Market
import NIOCore
import Wire

/// What the connection's handler tells, and asks.
extension FinnhubSupervisor: FinnhubHandlerOwner {
    var isLive: Bool { self.condition == .live }

    func takeRequests(_ now: FeedMoment) -> [FinnhubRequest] { self.watch.takeRequests(now) }

    func errorArrived(_ text: String, isNews: Bool, handler: FinnhubHandler, now: FeedMoment) {
        self.watch.errorArrived(text, now: now)
        // A service that says the same a thousand times is told of once.
        if isNews { self.logger.warning("The service reports an error", metadata: ["text": "\(text)"]) }
        self.publishChanges()
        let before = self.condition
        self.look(handler, now)
        if isNews, self.condition == before { self.report(self.told.phase, reason: "the service says: \(text)") }
    }

    func errorForgotten(_ handler: FinnhubHandler, now: FeedMoment) {
        self.report(self.condition, lastError: nil)
    }

    func readEnded(_ handler: FinnhubHandler, previousFrame: Int64, now: FeedMoment) -> Bool {
        self.lookForSleep(since: previousFrame, now)
        self.writer.leaveOutOverlap(now: now.monotonic)
        if self.writer.losses != self.losses.told {
            self.report(self.losses.take(self.writer.losses, now: now.monotonic))
        }
        guard self.writer.pendingTrades > 0 else { return self.writer.losses != self.losses.told }
        let hasChanges = self.watch.traded(self.writer.pending, symbols: self.writer.names, now: now)
        guard hasChanges || self.condition != .live || self.gaps.isOpen else { return false }
        self.look(handler, now)
        let gap = self.gaps.traded(
            received: now.wall,
            nextSequence: self.writer.nextSequence,
            epoch: self.writer.epoch,
            overlap: self.writer.overlapCount
        )
        if let gap { self.publish(gap) }
        self.publishChanges()
        return true
    }

    /// A machine that slept has heard nothing meanwhile, though its connection may stand.
    private func lookForSleep(since previousFrame: Int64, _ now: FeedMoment) {
        guard let slept = self.sleep.looked(now), self.settings.source == .live else { return }
        self.interrupted(
            from: previousFrame,
            reason: "this machine slept, or its clock was set, \(slept / 1_000_000_000) s ahead",
            cause: .sleep
        )
        self.gaps.asked(now)
    }

    func deadline(now: Int64) -> Int64? {
        let patience = self.settings.watch.lateAfter
        return [
            self.watch.deadline(now: now), self.gaps.deadline(patience: patience),
            self.losses.deadline(self.writer.losses),
        ].compactMap(\.self).min()
    }

    func deadlineReached(_ handler: FinnhubHandler, now: FeedMoment) -> SymbolSilence? {
        self.lookForSleep(since: handler.lastReceived, now)
        self.report(self.losses.take(self.writer.losses, now: now.monotonic))
        let action = self.watch.deadlineReached(now)
        let gap = self.gaps.deadlineReached(
            now: now.monotonic,
            patience: self.settings.watch.lateAfter,
            nextSequence: self.writer.nextSequence,
            epoch: self.writer.epoch
        )
        if let gap { self.publish(gap) }
        self.publishChanges()
        self.look(handler, now)
        switch action {
        case .none: return nil
        case .reconnect(let silence): return silence
        }
    }

    func ended(_ ending: FinnhubHandler.Ending, handler: FinnhubHandler) {
        self.report(self.losses.takeAll(self.writer.losses, now: self.now.monotonic))
        var failure = UpstreamFailure(ending)
        failure.description = self.settings.key.redacted(failure.description)
        if self.settings.source != .live, case .closed(let closure) = ending, closure.isEndOfRecording {
            failure = UpstreamFailure(StandIn.endOfRecording, disposition: .ended)
        } else if case .stale(let silence) = ending {
            // Others may have traded until now; what is missing began with the silence, and a gap tells of the worst.
            self.interrupted(
                from: min(silence.from, handler.lastReceived),
                reason: failure.description,
                cause: failure.cause
            )
        } else {
            self.interrupted(from: handler.lastReceived, reason: failure.description, cause: failure.cause)
        }
        self.watch.connectionEnded(self.now)
        self.publishChanges()
        self.handler = nil
        self.keeper?.connectionEnded(failure, tradedFor: handler.session.tradedFor)
    }
}
