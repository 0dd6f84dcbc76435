import NIOCore
package import NIOHTTP1
import WebSocket
import Wire

/// A session of Finnhub's own protocol: lossless, or closed with the count of what it missed.
package final class TradesClient: RelayProtocol {
    static let path = "/"
    static let name = "trades"
    /// Finnhub's text ping.
    private static let pingFrame = RelayHub.framed(FinnhubEncoder.ping)

    package let output: ClientOutput
    let hub: RelayHub
    private let fanout: TradesFanout
    private var session: TradesSession
    private let options: TradesOptions
    /// With `snapshot=1`: the newest trades of symbols that it has given up, by number, as it has had these.
    private var had: [String: UInt64] = [:]
    private static let maximumHad = 256
    private var allowance: RequestAllowance

    package init(hub: RelayHub, options: TradesOptions = TradesOptions()) {
        let settings = hub.settings
        self.hub = hub
        self.fanout = hub.fanout(of: TradesClient.self)
        self.options = options
        self.session = TradesSession(symbolLimit: hub.subscriptions.limit)
        self.allowance = RequestAllowance(burst: settings.requestBurst, perSecond: settings.requestsPerSecond)
        let waiting = settings.maximumWaitingBytes
        var webSocket = settings.webSocket
        if hub.flow == nil {
            // The close frame with the count stands behind what waits, for one that reads again in time.
            webSocket.closeTimeout = max(webSocket.closeTimeout, min(settings.stallTimeout, .seconds(5)))
        } else {
            // The close frame stands behind all that is queued for a reader whom the replay waits for.
            webSocket.closeTimeout = settings.stallTimeout
        }
        if hub.feedWaits {
            let marks = ClientOutput.Marks(low: waiting / 16, high: waiting / 4)
            self.output = ClientOutput(relay: hub, webSocketSettings: webSocket, marks: marks)
        } else {
            // Below the high mark nothing is counted, neither bytes nor messages, so it stays low however much may wait.
            let high = min(waiting / 16, 64 << 10)
            let marks = ClientOutput.Marks(low: high / 2, high: high)
            self.output = ClientOutput(relay: hub, webSocketSettings: webSocket, marks: marks)
        }
        self.output.session = self
        self.feedWaitsChanged()
    }

    package convenience init(request: HTTPRequestHead, relay: RelayHub) throws(HTTPRefusal) {
        self.init(hub: relay, options: TradesOptions(target: request.uri))
    }

    static func makeFanout(for relay: RelayHub) -> TradesFanout { TradesFanout(slots: relay.slots) }

    func feedWaitsChanged() {
        let feedWaits = self.hub.feedWaits
        self.output.setPolicy(
            feedWaits: feedWaits,
            limit: self.hub.settings.waitingLimit(feedWaits: feedWaits),
            messageLimit: feedWaits ? .max : self.hub.settings.maximumWaitingMessages,
            closes: feedWaits || self.options.overflow == .close
        )
    }

    // MARK: Requests

    func received(_ text: ByteBuffer) {
        switch self.allowance.requested(now: self.hub.now) {
        case .allowed: break
        case .refused: return self.answer(FinnhubEncoder.error("Too many requests; slow down"))
        case .flood: return self.close(.policy, reason: "too many requests")
        }
        let request = FinnhubRequest.parse(text)
        switch self.session.received(request, subscribe: { self.hub.subscribe(self, to: $0) }) {
        case .subscribed:
            self.fanout.place(self, wanting: self.session.symbols)
            self.hub.gauges.subscribed()
            guard case .subscribe(let symbol) = request else { return }
            if self.options.snapshot { self.showNewest(symbol) }
            if let reason = self.hub.refusal(of: symbol) { self.symbolRefused(symbol, reason: reason) }
        case .gaveUp(let symbol):
            if self.options.snapshot { self.noteHad(symbol) }
            self.fanout.place(self, wanting: self.session.symbols)
            self.hub.unsubscribe(self, from: symbol)
        case .refuse(let message):
            self.answer(FinnhubEncoder.error(message))
        case .nothing:
            break
        }
    }

    /// The upstream does not send a symbol: a client who asked for it is told, and keeps its wish.
    func symbolRefused(_ symbol: String, reason: String) {
        guard self.session.refused(symbol) else { return }
        self.answer(FinnhubEncoder.error(reason))
    }

    /// The upstream sends a symbol again.
    func symbolAccepted(_ symbol: String) { self.session.accepted(symbol) }

    /// Sends the newest trade of a symbol just asked for, if there is one and the client has not had it. What is live comes
    /// behind it: all that the relay has seen of the symbol has gone to its clients in an earlier turn of the loop.
    private func showNewest(_ symbol: String) {
        let had = self.had.removeValue(forKey: symbol)
        guard let newest = self.hub.newest(of: symbol), newest.sequence != had else { return }
        self.deliver(RelayHub.framed(FinnhubEncoder.newest(newest)), messages: 1, trades: 1)
    }

    /// Notes what a client has had of a symbol that it gives up; bounded, for who gives up hundreds.
    private func noteHad(_ symbol: String) {
        guard let newest = self.hub.newest(of: symbol) else { return }
        if self.had.count >= Self.maximumHad { self.had = [:] }
        self.had[symbol] = newest.sequence
    }

    /// Who asks without reading the answers gets none.
    private func answer(_ message: ByteBuffer) {
        guard self.isWritable else { return }
        var frame = ByteBuffer()
        WebSocketFraming.serverText(message, into: &frame)
        self.write(frame, messages: 1)
    }

    // MARK: Trades

    /// Trades that the client wants have come.
    ///
    /// - Parameters:
    ///   - plain: whole frames.
    ///   - messages: how many of these there are.
    func deliver(_ plain: ByteBuffer, messages: Int, trades: UInt64) {
        guard self.isOpen else { return }
        let bytes = self.compressed(plain)
        let offer = self.output.offered(trades: trades, bytes: bytes.readableBytes, messages: messages)
        guard case .write = offer else { return }
        // It is in one group, so all that a turn brings is in these bytes.
        self.output.sendNow(asIs: bytes)
        self.output.wrote(messages: messages)
        // What goes by an open lane is gone at once, so neither the backlog nor the count of what waits need hear of it.
        if !self.output.isWatched { self.output.openSlot() }
    }

    /// The client's lane was not open, or took only the first `sent` of the bytes.
    func deliver(_ frames: ByteBuffer, behind sent: Int, messages: Int, trades: UInt64) {
        guard sent > 0 else { return self.deliver(frames, messages: messages, trades: trades) }
        self.output.finish(frames, behind: sent)
        self.output.wrote(messages: messages)
    }

    private func write(_ frames: ByteBuffer, messages: Int) {
        self.output.send(framed: frames)
        self.output.wrote(messages: messages)
    }

    func tradesLost(_ loss: RelayLoss) {
        let trades = loss.count { self.session.symbols.contains($0) }
        guard trades > 0 else { return }
        self.obey(self.options.overflow == .close ? .close(missed: trades) : .goOn(missed: trades))
    }

    /// Sends the ping; to a client that does not read, silence says the same.
    func pingIsDue() {
        if self.isWritable { self.write(Self.pingFrame, messages: 1) }
    }

    // MARK: Pace

    /// Reports what the client missed, or closes it with the count.
    func willStop() { self.output.endWaiting() }

    func closed() {
        self.fanout.remove(self)
        for symbol in self.session.left() { self.hub.unsubscribe(self, from: symbol) }
    }

    func obey(_ verdict: Backlog.Verdict) {
        guard self.isOpen else { return }
        switch verdict {
        case .keep:
            break
        case .goOn(let missed):
            // Told before anything newer.
            guard missed > 0 else { return }
            self.hub.noteSkipped(missed)
            self.write(RelayHub.framed(ByteBuffer(string: #"{"type":"skipped","trades":\#(missed)}"#)), messages: 1)
            self.hub.flush()
        case .close(let missed):
            self.hub.noteSlowClient(missed: missed)
            self.close(.tryAgainLater, reason: "too slow: \(missed) trades missed")
        }
    }
}
