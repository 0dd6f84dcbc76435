import Ingest
package import Market
import NIOCore
import Wire

/// What happens on the connection.
extension FinnhubClient {
    private var isLive: Bool { self.condition == .live }

    /// The requests whose turn it is.
    func takeRequests(_ now: Moment) -> [FinnhubRequest] { self.watch.takeRequests(now) }

    /// Takes an error of the service: about a symbol, or about the feed.
    func errorArrived(_ text: String, on handler: FinnhubHandler, now: Moment) {
        let isOfOurs = self.watch.errorArrived(text, now: now)
        // Also of a symbol that is not asked for any more it says nothing about the feed.
        if isOfOurs || SymbolRefusalText.isOfSymbol(text) {
            if !isOfOurs { self.logError(text, now: now) }
            self.publishChanges()
            return self.look(handler, now)
        }
        // A service that says the same a thousand times is told of once.
        guard handler.session.errorArrived(text, isLive: self.isLive, now: now.monotonic) else { return }
        self.logError(text, now: now)
        self.report(self.reported.phase, reason: "the service says: \(text)")
    }

    /// When ``deadlineReached(on:now:)`` wants to be called next; monotonic ns.
    func deadline(of handler: FinnhubHandler, now: Int64) -> Int64? {
        var deadlines = [handler.session.deadline(isLive: self.isLive)]
        if self.pausedSince == nil {
            deadlines.append(self.watch.deadline(now: now))
            deadlines.append(self.input.deadline(patience: self.settings.watch.freshness.lateAfter))
        }
        return deadlines.compactMap(\.self).min()
    }

    /// Takes the passing of time; returns why the connection is to be given up, if it is.
    func deadlineReached(on handler: FinnhubHandler, now: Moment) -> ConnectionEnding? {
        switch handler.session.deadlineReached(now: now.monotonic, isLive: self.isLive) {
        case .none: break
        case .forgetError: self.report(self.condition, lastError: nil)
        case .drop(let nanoseconds): return .silent(nanoseconds: nanoseconds)
        }
        if self.pausedSince != nil { return nil }
        self.input.timePassed(patience: self.settings.watch.freshness.lateAfter, now: now)
        let action = self.watch.deadlineReached(now)
        self.publishChanges()
        self.look(handler, now)
        switch action {
        case .none: return nil
        case .reconnect(let silence): return .stale(silence)
        }
    }

    func ended(_ ending: ConnectionEnding, handler: FinnhubHandler) {
        let now = self.now
        self.input.connectionEnded(now: now)
        self.input.logLosses(now: now.monotonic)
        // What nobody has noticed to be missing yet is no less missing because the connection ends for another reason.
        let complete = min(self.input.lastReceived, self.watch.quietSince(now) ?? .max)
        var failure = self.link?.isRenewing == true ? ReconnectingConnection.renewed : UpstreamFailure(ending)
        failure.description = self.settings.key.redacted(failure.description)
        self.input.connectionChanged(
            .disconnected(
                code: ending.closeCode,
                reason: failure.description,
                cause: failure.cause,
                goodbye: ending.goodbye.map(self.settings.key.redacted)
            ),
            monotonic: now.monotonic
        )
        if !self.settings.isLive, case .closed(let closure) = ending, let reason = closure.endOfReplay {
            failure = UpstreamFailure(reason, disposition: .ended)
        } else if case .stale(let silence) = ending {
            // Others may have traded until now; what is missing began with the silence, and a gap tells of the worst.
            self.input.interrupted(from: min(silence.from, complete), reason: failure.description, cause: failure.cause)
        } else {
            self.input.interrupted(from: complete, reason: failure.description, cause: failure.cause)
        }
        self.watch.connectionEnded(now)
        self.publishChanges()
        self.handler = nil
        self.link?.connectionEnded(failure, tradedFor: handler.session.tradedFor)
    }
}

/// What the tape asks while a read goes onto it.
extension FinnhubClient: FeedInputDelegate {
    package func tradesArrived(_ trades: [Trade], symbols: SymbolTable, now: Moment) -> Bool {
        let hasChanges = self.watch.traded(trades, symbols: symbols, now: now)
        guard hasChanges || self.condition != .live || self.input.isInterrupted else { return false }
        if let handler { self.look(handler, now) }
        if let silence = self.watch.takeEndedSilence() { self.silenceEnded(silence, now) }
        return true
    }

    package func readEnded(hasTrades: Bool, hasChanges: Bool, now: Moment) {
        self.handler?.readEnded(hasTrades: hasTrades, hasChanges: hasChanges, now: now)
    }

    package func pauseChanged(_ isPaused: Bool, now: Moment) {
        if let pausedSince { self.watch.shifted(by: now.monotonic - pausedSince, now: now.monotonic) }
        self.pausedSince = isPaused ? now.monotonic : nil
        self.handler?.deadlineMoved()
    }

    /// What traded again after a silence may have traded in it. Of one symbol that is a gap of its own, since the others'
    /// tape is whole; but only while these traded all the time, or they may have been mute for less than their thresholds.
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
