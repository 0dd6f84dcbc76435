import NIOCore
import WebSocket
import Wire

/// A client of Finnhub's own protocol: lossless, or closed with the count of what it missed.
final class TradesClient: RelayClient {
    private var session: TradesSession
    private var allowance: RequestAllowance
    private var backlog: Backlog {
        didSet { self.paceChanged(from: oldValue) }
    }

    init(hub: RelayHub) {
        let settings = hub.settings
        self.session = TradesSession(symbolLimit: settings.symbolLimit)
        self.allowance = RequestAllowance(burst: settings.requestBurst, perSecond: settings.requestsPerSecond)
        let waiting = settings.maximumWaitingBytes
        var webSocket = WebSocketSettings(role: .server)
        webSocket.maximumMessageBytes = settings.maximumMessageBytes
        webSocket.pingInterval = settings.pingInterval
        webSocket.pongTimeout = settings.pongTimeout
        if hub.flow == nil {
            self.backlog = Backlog(limit: waiting, patience: settings.stallTimeout, feedWaits: false)
            let marks = Marks(low: waiting / 32, high: waiting / 16)
            super.init(hub: hub, webSocketSettings: webSocket, marks: marks)
        } else {
            // What is under way when the feed is asked to wait still comes, so the limit is far above the mark.
            self.backlog = Backlog(limit: waiting * 16, patience: settings.stallTimeout, feedWaits: true)
            // A ping waits behind all that is queued for a reader whom the replay waits for, and so does the close frame.
            webSocket.pongTimeout = max(settings.pongTimeout, .seconds(60))
            webSocket.closeTimeout = settings.stallTimeout
            super.init(hub: hub, webSocketSettings: webSocket, marks: Marks(low: waiting / 16, high: waiting / 4))
        }
    }

    // MARK: Requests

    override func received(_ text: ByteBuffer) {
        switch self.allowance.requested(now: self.hub.now) {
        case .allowed: break
        case .refused: return self.answer(FinnhubEncoder.error("Too many requests; slow down"))
        case .flood: return self.close(.policy, reason: "too many requests")
        }
        let request = FinnhubRequest.parse(text)
        switch self.session.received(request, ledger: &self.hub.ledger) {
        case .changed(let demand):
            self.hub.wishesChanged(self, wanting: self.session.symbols, demand: demand)
            if case .subscribe(let symbol) = request, let message = self.hub.refusal(of: symbol) {
                self.refused(symbol, message: message)
            }
        case .gaveUp(let symbol):
            self.hub.wishesChanged(self, wanting: self.session.symbols, demand: nil)
            self.hub.gaveUp(symbol)
        case .refuse(let message):
            self.answer(FinnhubEncoder.error(message))
        case .nothing:
            break
        }
    }

    /// The upstream does not send a symbol: a client who asked for it is told, and keeps its wish.
    func refused(_ symbol: String, message: String) {
        guard self.session.refused(symbol) else { return }
        self.answer(FinnhubEncoder.error(message))
    }

    /// The upstream sends a symbol again.
    func accepted(_ symbol: String) { self.session.accepted(symbol) }

    func wants(_ symbol: String) -> Bool { self.session.symbols.contains(symbol) }

    /// Who asks without reading the answers gets none.
    private func answer(_ message: ByteBuffer) {
        guard self.isWritable else { return }
        var frame = ByteBuffer()
        WebSocketFraming.serverText(message, into: &frame)
        self.send(framed: frame)
    }

    // MARK: Trades

    func deliver(_ bytes: ByteBuffer, trades: UInt64) {
        guard self.isOpen else { return }
        let waiting = self.isWritable ? 0 : self.waitingBytes
        switch self.backlog.offered(trades: trades, bytes: bytes.readableBytes, waiting: waiting, now: self.hub.now) {
        case .write: self.send(framed: bytes)
        case .leaveOut: break
        }
    }

    /// The relay itself has left out trades that the client wanted.
    func missed(_ trades: UInt64) {
        if trades > 0 { self.obey(.close(missed: trades)) }
    }

    /// Sends Finnhub's text ping; to who does not read, silence says the same.
    func ping(_ frame: ByteBuffer) {
        if self.isWritable { self.send(framed: frame) }
    }

    // MARK: Pace

    override func writabilityChanged() {
        if self.isWritable {
            self.obey(self.backlog.becameWritable())
        } else {
            self.backlog.becameUnwritable(waiting: self.waitingBytes, now: self.hub.now)
        }
    }

    /// Time has passed for a client that is being watched.
    override func timePassed() { self.obey(self.backlog.timePassed(waiting: self.waitingBytes, now: self.hub.now)) }

    override func closed() {
        self.backlog.ended()
        for symbol in self.session.left() { self.hub.gaveUp(symbol) }
    }

    private func obey(_ verdict: Backlog.Verdict) {
        switch verdict {
        case .keep:
            break
        case .close(let missed):
            guard self.isOpen else { return }
            self.hub.noteSlowClient(missed: missed)
            self.close(.tryAgainLater, reason: "too slow: \(missed) trades missed")
        }
    }

    private func paceChanged(from before: Backlog) {
        switch (before.holdsUpFeed, self.backlog.holdsUpFeed) {
        case (false, true): self.hub.flow?.clientBecameSlow()
        case (true, false): self.hub.flow?.clientCaughtUp()
        case (true, true), (false, false): break
        }
        switch (before.isWatched, self.backlog.isWatched) {
        case (false, true): self.hub.watch(self)
        case (true, false): self.hub.unwatch(self)
        case (true, true), (false, false): break
        }
    }
}
