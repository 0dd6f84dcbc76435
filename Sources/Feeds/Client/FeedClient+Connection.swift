import Ingest
package import Market
import NIOCore
import Wire

/// The events of the connection.
extension FeedClient {
    private var isLive: Bool { self.condition == .live }

    /// Takes an error message of the service: about a symbol, or about the feed.
    ///
    /// - Parameter refusal: the refused symbol, if the message is about one.
    func errorArrived(_ text: String, _ refusal: SymbolRefusal?, on handler: FeedHandler, now: Moment) {
        let isOfOurs = refusal.map { self.watch.refusalArrived($0, now: now) } ?? false
        // An error about a symbol says nothing about the feed, even if the symbol is no longer subscribed.
        if isOfOurs || refusal?.symbol != nil {
            if !isOfOurs { self.logError(text, now: now) }
            self.publishChanges()
            return self.look(handler, now)
        }
        // A service that repeats an error a thousand times is reported once.
        guard handler.monitor.errorArrived(text, isLive: self.isLive, now: now.monotonic) else { return }
        self.logError(text, now: now)
        self.report(self.reported.phase, reason: self.noted("the service says: \(text)"))
    }

    /// Takes a gap of the program whose relay sends the trades.
    func ownerGapFound(_ gap: Gap) {
        guard self.handler != nil else { return }
        let own = Gap(
            from: gap.from,
            to: gap.to,
            reason: gap.reason,
            nextSequence: 0,
            cause: gap.cause,
            symbol: gap.symbol
        )
        self.input.gapFound(own, isLogged: false)
    }

    /// When ``deadlineReached(on:now:)`` is next due; monotonic ns.
    func deadline(of handler: FeedHandler, now: Int64) -> Int64? {
        var deadlines = [handler.monitor.deadline(isLive: self.isLive)]
        if let second = handler.second, second.isBeside {
            deadlines.append(second.pacer.deadline)
            return deadlines.compactMap(\.self).min()
        }
        if self.pausedSince == nil {
            deadlines.append(self.watch.deadline(now: now))
            deadlines.append(self.input.deadline(patience: self.settings.watch.freshness.lateAfter))
        }
        return deadlines.compactMap(\.self).min()
    }

    /// Takes the passing of time; returns why the connection has to be closed, if it has.
    func deadlineReached(on handler: FeedHandler, now: Moment) -> ConnectionEnding? {
        switch handler.monitor.deadlineReached(now: now.monotonic, isLive: self.isLive) {
        case .none: break
        case .forgetError: if !handler.isBeside { self.report(self.condition, lastError: nil) }
        case .drop(let nanoseconds): return .silent(nanoseconds: nanoseconds)
        }
        if self.pausedSince != nil || handler.isBeside { return nil }
        self.input.timePassed(patience: self.settings.watch.freshness.lateAfter, now: now)
        let action = self.watch.deadlineReached(now)
        self.publishChanges()
        self.look(handler, now)
        switch action {
        case .none: return nil
        case .reconnect(let silence): return .stale(silence)
        }
    }

    /// Returns the last moment before which no trade of a connection that has ended is missing; wall clock, ns since 1970.
    func complete(before ending: ConnectionEnding, _ now: Moment) -> Int64 {
        // Trades of a quiet symbol may be missing, even if the connection ends for another reason.
        let complete = self.complete(now)
        guard case .stale(let silence) = ending else { return complete }
        // Other symbols may have traded until now. The gap begins with the silence, as it must cover the worst case.
        return min(silence.from, complete)
    }

    /// Returns the last moment before which no trade is missing; wall clock, ns since 1970.
    func complete(_ now: Moment) -> Int64 { min(self.input.lastReceived, self.watch.quietSince(now) ?? .max) }

    func ended(_ ending: ConnectionEnding, handler: FeedHandler) {
        if self.kept === handler { self.kept = nil }
        if self.endedBeside(ending, handler: handler) { return }
        let now = self.now
        if self.secondGoesOn(after: ending, of: handler, now) { return }
        self.input.connectionEnded(now: now)
        self.input.logLosses(now: now.monotonic)
        handler.resumption?.connectionEnded(subscribed: self.watch.requested)
        var failure = self.link?.isRenewing == true ? ReconnectingConnection.renewed : self.failure(of: ending, now)
        failure.description = self.redacted(failure.description)
        self.input.connectionChanged(
            .disconnected(
                code: ending.closeCode,
                reason: failure.description,
                cause: failure.cause,
                goodbye: ending.goodbye.map(self.redacted)
            ),
            monotonic: now.monotonic
        )
        if !self.settings.isLive, case .closed(let closure) = ending, let reason = closure.endOfReplay {
            failure = UpstreamFailure(reason, disposition: .ended)
        } else {
            let isStale = if case .stale = ending { true } else { false }
            self.input.interrupted(
                from: self.complete(before: ending, now),
                reason: failure.description,
                cause: failure.cause,
                isResumable: !isStale && handler.resumption?.canResume ?? false
            )
        }
        self.watch.connectionEnded(now)
        self.publishChanges()
        self.handler = nil
        self.rotation?.connectionEnded()
        self.link?.connectionEnded(failure, tradedFor: handler.monitor.tradedFor)
    }
}

/// The decisions for the tape while a read goes onto it.
extension FeedClient: FeedInputDelegate {
    package func tradesArrived(_ trades: [Trade], symbols: SymbolTable, now: Moment) -> Bool {
        let hasChanges = self.watch.traded(trades, symbols: symbols, now: now)
        guard hasChanges || self.condition != .live || self.input.isInterrupted else { return false }
        if let handler { self.look(handler, now) }
        if let silence = self.watch.takeEndedSilence() { self.silenceEnded(silence, now) }
        return true
    }

    package func readEnded(hasTrades: Bool, hasChanges: Bool, now: Moment) {
        (self.bringing ?? self.handler)?.readEnded(hasTrades: hasTrades, hasChanges: hasChanges, now: now)
        // What the first connection brings may prove that the two overlap.
        if let second, self.bringing == nil { second.firstAdvanced(now: now.monotonic) }
    }

    package func pauseChanged(_ isPaused: Bool, now: Moment) {
        if let pausedSince { self.watch.shifted(by: now.monotonic - pausedSince, now: now.monotonic) }
        self.pausedSince = isPaused ? now.monotonic : nil
        self.handler?.deadlineMoved()
    }

    /// Publishes the gap that ends with a silence, since the silent symbols may have traded unseen. The gap of a single
    /// symbol concerns only that symbol if the feed as a whole was never silent meanwhile. Otherwise other symbols may
    /// have been silent for less than their thresholds, and the gap is the feed's.
    private func silenceEnded(_ silence: SymbolSilence, _ now: Moment) {
        let failure = UpstreamFailure(.stale(silence))
        guard silence.others == 0, !self.input.isInterrupted, self.lastSilent <= silence.from else {
            self.input.silenceEnded(from: silence.from, reason: failure.description, cause: failure.cause)
            return
        }
        self.input.gapFound(
            from: silence.from,
            to: now.wall,
            reason: failure.description,
            cause: failure.cause,
            symbol: silence.symbol
        )
    }
}
