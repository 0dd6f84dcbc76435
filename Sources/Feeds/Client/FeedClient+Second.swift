import Ingest
import Market
import NIOCore
import Wire

/// The second connection of a client, beside the first one.
extension FeedClient {
    /// Takes a second connection that has just opened; returns its last handler, which is installed.
    ///
    /// - Parameters:
    ///   - dialect: the protocol on it; `nil` for that of the first one.
    ///   - isRelayed: whether it leads to the relay of a program like this one.
    func secondOpened(
        _ channel: any Channel,
        address: String,
        dialect: (any ConnectionDialect)? = nil,
        isRelayed: Bool = false
    ) throws -> any KeptConnection {
        let now = self.now
        let dialect = dialect ?? self.makeDialect()
        let second = SecondConnection(
            symbols: self.watch.acceptedSymbols,
            address: address,
            isRelayed: isRelayed,
            dialect: dialect,
            pacer: self.watch.pacer.renewed,
            client: self,
            now: now.monotonic
        )
        let handler = FeedHandler(
            monitor: ConnectionMonitor(settings: self.settings.connection, now: now.monotonic),
            input: self.input,
            dialect: dialect,
            resumption: nil,
            wallClock: self.context.wallClock,
            owner: self
        )
        second.handler = handler
        handler.second = second
        self.second = second
        self.input.connectionChanged(.connected(address: address), monotonic: now.monotonic)
        do {
            try channel.pipeline.syncOperations.addHandler(handler)
        } catch {
            self.second = nil
            throw error
        }
        return handler
    }

    /// Brings frames of the second connection to the tape as one read.
    func bring(_ frames: [ByteBuffer], of handler: FeedHandler, now: Int64) {
        guard !frames.isEmpty else { return }
        self.bringing = handler
        handler.bring(frames, now: now)
        self.bringing = nil
    }

    /// Notes why trades may be missing when the second connection takes over and the ids prove nothing yet.
    func interrupted(because ended: UpstreamFailure?, _ words: String) {
        let reason = ended?.description ?? words
        self.input.interrupted(from: self.input.lastReceived, reason: reason, cause: ended?.cause)
    }

    /// Makes the second connection the client's first one. The earlier one brings nothing any more.
    ///
    /// - Parameters:
    ///   - words: what happened, for the end of the earlier one.
    ///   - link: takes the end of the connection; `nil` if that is the earlier one's.
    func secondTakesOver(_ second: SecondConnection, words: String, link: ReconnectingConnection? = nil) {
        guard let handler = second.handler else { return }
        let now = self.now
        if let link { self.link = link }
        self.handler?.retire(words)
        self.second = nil
        self.handler = handler
        second.takesPlace(now: now.monotonic)
        // What the earlier one had not sent yet is sent on this one.
        second.request(self.watch.pacer.waiting)
        self.watch.connectionReplaced(second.pacer)
        self.input.connectionReplaced(isRelayed: second.isRelayed, now: now)
        handler.bring(second.takeHeld(), now: now.monotonic)
        for (text, refusal) in second.refusals { self.errorArrived(text, refusal, on: handler, now: now) }
        self.publishChanges()
        self.look(handler, now)
        handler.requestsWait()
        handler.deadlineMoved()
    }

    /// Takes the end of a connection that is not the first one; returns whether it was another.
    func endedBeside(_ ending: ConnectionEnding, handler: FeedHandler) -> Bool {
        let now = self.now
        if let words = handler.retired {
            self.disconnected(ending, UpstreamFailure(words, cause: .replaced), now)
            return true
        }
        guard let second, second.handler === handler else { return false }
        self.second = nil
        let failure = self.failure(of: ending, now)
        self.disconnected(ending, failure, now)
        self.rotation?.secondEnded(failure)
        return true
    }

    /// Lets the second connection take over after the end of the first one; returns whether there is one.
    func secondGoesOn(after ending: ConnectionEnding, of handler: FeedHandler, _ now: Moment) -> Bool {
        guard self.second != nil else { return false }
        var failure = self.link?.isRenewing == true ? ReconnectingConnection.renewed : self.failure(of: ending, now)
        failure.description = self.redacted(failure.description)
        guard self.rotation?.firstEnded(failure, complete: self.complete(before: ending, now)) == true else {
            return false
        }
        // It is retired now.
        return self.endedBeside(ending, handler: handler)
    }

    private func disconnected(_ ending: ConnectionEnding, _ failure: UpstreamFailure, _ now: Moment) {
        // Without the service's words, which in a replay would end the stream of trades.
        self.input.connectionChanged(
            .disconnected(code: ending.closeCode, reason: self.redacted(failure.description), cause: failure.cause),
            monotonic: now.monotonic
        )
    }
}
