import NIOCore
package import NIOHTTP1
import WebSocket
import Wire

/// A session of Finnhub's protocol. It is lossless, or closed with the count of missed trades. By the client's choice
/// it goes on with that count instead.
package final class TradesClient: RelayProtocol {
    static let path = "/"
    static let name = "trades"
    /// Finnhub's text ping.
    private static let pingFrame = SharedMessage.framed(FinnhubEncoder.ping)

    package let output: ClientOutput
    let context: RelayContext
    private let options: TradesOptions
    /// With `snapshot=1`: the sequence number of the newest trade of each unsubscribed symbol that the client has had.
    private var had: [String: UInt64] = [:]
    private static let maximumHad = 256
    private var allowance: RequestAllowance
    private var refusals = SymbolRefusals()
    /// The state of its catch-up after a break; `nil` if it is up to date.
    var catchUp: FrameCatchUp?

    package init(context: RelayContext, options: TradesOptions = TradesOptions()) {
        let settings = context.settings
        self.context = context
        self.options = options
        self.allowance = RequestAllowance(burst: settings.requestBurst, perSecond: settings.requestsPerSecond)
        let waiting = settings.maximumWaitingBytes
        if context.feedWaits {
            self.output = context.makeOutput(ClientOutput.Marks(low: waiting / 16, high: waiting / 4))
        } else {
            // Nothing is counted below the high mark, neither bytes nor messages. It is therefore low, however much may
            // wait.
            let high = min(waiting / 16, 64 << 10)
            self.output = context.makeOutput(ClientOutput.Marks(low: high / 2, high: high))
        }
        self.feedWaitsChanged()
    }

    package convenience init(request: HTTPRequestHead, context: RelayContext) throws(HTTPRefusal) {
        self.init(context: context, options: TradesOptions(target: request.uri))
    }

    static func makeFanout(for context: RelayContext) -> TradesFanout { TradesFanout(slots: context.slots) }

    func feedWaitsChanged() {
        let feedWaits = self.context.feedWaits
        self.pace.setPolicy(
            feedWaits: feedWaits,
            limit: self.context.settings.waitingLimit(feedWaits: feedWaits),
            messageLimit: feedWaits ? .max : self.context.settings.maximumWaitingMessages,
            closes: feedWaits || self.options.overflow == .close
        )
    }

    /// Whether the client's frames have positions, so that it can resume after a break.
    var canResume: Bool { self.options.resume }
    /// Whether it gets filled trades, too. A client that resumes counts the trades, so it gets none.
    var takesFilled: Bool { self.options.filled && !self.options.resume }

    func opened() {
        guard self.canResume else { return }
        self.beginKeeping()
    }

    func closed() {
        self.catchUp = nil
        self.refusals = SymbolRefusals()
        guard self.canResume else { return }
        self.endKeeping()
    }

    // MARK: Requests

    func received(_ text: ByteBuffer) {
        self.refusals.requestBegan()
        switch self.allowance.requested(now: self.context.now) {
        case .allowed: break
        case .refused: return self.answer(FinnhubEncoder.error("Too many requests; slow down"))
        case .flood: return self.close(.policy, reason: "too many requests")
        }
        switch FinnhubRequest.parse(text) {
        case .subscribe(let symbol):
            self.subscribe(symbol)
        case .unsubscribe(let symbol):
            guard self.context.index.isSubscribed(self, to: symbol) else { return }
            if self.options.snapshot { self.noteHad(symbol) }
            self.context.index.unsubscribe(self, from: symbol)
            self.symbolsChanged()
        case .resume(let symbols, let since) where self.canResume:
            // A resumption may bring thousands of frames.
            let isFirst = self.catchUp == nil && self.context.index.symbolCount(of: self) == 0
            guard isFirst,
                self.allowance.requested(cost: RequestAllowance.costOfResuming, now: self.context.now) == .allowed
            else {
                return self.answer(FinnhubEncoder.error("Invalid message"))
            }
            self.resume(symbols, since: since)
        case .resume, .other:
            break  // news and press releases are not relayed; Finnhub, too, ignores what a plan lacks
        case nil:
            self.answer(FinnhubEncoder.error("Invalid message"))
        }
    }

    func subscribe(_ symbol: String) {
        let index = self.context.index
        // A repeated subscription changes nothing, as with Finnhub.
        guard !index.isSubscribed(self, to: symbol) else { return }
        let isFull = index.symbolCount(of: self) >= self.context.symbolLimit
        switch isFull ? .full : index.subscribe(self, to: symbol) {
        case .invalid:
            self.refuse(symbol, .invalid)
        case .full:
            self.refuse(symbol, .tooMany)
        case .accepted:
            self.symbolsChanged()
            self.context.noteSubscribed()
            if self.options.snapshot, self.catchUp == nil { self.showNewest(symbol) }
            if self.context.isRefused(symbol) { self.refuse(symbol, .upstream) }
        }
    }

    /// Reports a refused symbol of a request: now, or after the client has read the reports before it.
    private func refuse(_ symbol: String, _ reason: SymbolRefusals.Reason) {
        if let refusal = self.refusals.add(symbol, reason) { self.report(refusal) }
    }

    private func report(_ refusal: SymbolRefusals.Refusal) {
        switch refusal.reason {
        case .invalid: self.answer(FinnhubEncoder.error(self.context.invalid(refusal.symbol)))
        case .tooMany: self.answer(FinnhubEncoder.error(SymbolErrors.tooMany(refusal.symbol)))
        case .upstream: self.context.reportRefusal(of: refusal.symbol, to: self)
        }
    }

    func takeDeferred() -> Bool {
        guard let refusal = self.refusals.popFirst() else { return false }
        self.report(refusal)
        return true
    }

    /// The client gets every trade of the symbols to which it has subscribed.
    func symbolsChanged() {
        // Until it has caught up, the client gets the frames from the kept ones.
        guard self.catchUp == nil else { return }
        var filter = SymbolFilter(symbols: self.context.index.symbols(of: self))
        filter.hasPositions = self.canResume
        filter.takesFilled = self.takesFilled
        self.context.index.setTrades(of: self, filter)
    }

    func symbolRefused(_ symbol: String, reason: String) { self.answer(FinnhubEncoder.error(reason)) }

    /// Sends the newest trade of a symbol just subscribed to, if the client has not had it. Live trades come after it:
    /// every trade that the relay has seen of the symbol went to its clients in an earlier turn of the loop.
    private func showNewest(_ symbol: String) {
        let had = self.had.removeValue(forKey: symbol)
        guard let newest = self.context.newest(of: symbol), newest.sequence != had else { return }
        self.deliver(SharedMessage.framed(FinnhubEncoder.newest(newest)), messages: 1, trades: 1)
    }

    /// Notes the newest trade of a symbol that the client has unsubscribed; bounded, for clients that unsubscribe
    /// hundreds.
    private func noteHad(_ symbol: String) {
        guard let newest = self.context.newest(of: symbol) else { return }
        if self.had.count >= Self.maximumHad { self.had = [:] }
        self.had[symbol] = newest.sequence
    }

    /// Sends an answer, except to a client that does not read.
    private func answer(_ message: ByteBuffer) {
        guard self.isWritable else { return }
        var frame = ByteBuffer()
        WebSocketFraming.serverText(message, into: &frame)
        self.write(frame, messages: 1)
    }

    // MARK: Trades

    func write(_ frames: ByteBuffer, messages: Int) {
        self.output.send(framed: frames)
        self.pace.wrote(messages: messages)
    }

    func tradesLost(_ loss: RelayLoss) {
        let symbols = self.context.index.symbols(of: self)
        let trades = loss.count(takesFilled: self.takesFilled) { symbols.contains($0) }
        guard trades > 0 else { return }
        self.obey(self.options.overflow == .close ? .close(missed: trades) : .goOn(missed: trades))
    }

    /// Sends the ping, except to a client that does not read.
    func pingIsDue() {
        if self.isWritable { self.write(Self.pingFrame, messages: 1) }
    }

    // MARK: Pace

    /// Reports the missed trades to the client, or closes it with their count.
    func willStop() { self.pace.endWaiting() }

    func obey(_ verdict: Backlog.Verdict) {
        guard self.isOpen else { return }
        switch verdict {
        case .keep:
            break
        case .goOn(let missed):
            // Reported before any newer trade.
            guard missed > 0 else { return }
            self.context.noteSkipped(missed)
            self.write(
                SharedMessage.framed(ByteBuffer(string: #"{"type":"skipped","trades":\#(missed)}"#)),
                messages: 1
            )
            self.context.flush()
        case .close(let missed):
            self.closeSlow(missed: missed, reason: "too slow: \(missed) trades missed")
        }
    }
}
