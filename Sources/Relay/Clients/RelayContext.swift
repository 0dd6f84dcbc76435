import Ingest
import Market
import NIOCore
import Wire

/// What a session may use of the relay. Nothing else of ``RelayHub`` is visible to a protocol.
package struct RelayContext {
    private let hub: RelayHub

    init(_ hub: RelayHub) { self.hub = hub }

    var settings: RelaySettings { self.hub.settings }

    // MARK: Time

    var loop: any EventLoop { self.hub.loop }

    var now: NIODeadline { self.hub.now }

    /// Returns the wall clock, ns since 1970.
    func wallClock() -> Int64 { self.hub.wallClock() }

    /// Returns the time since an arrival (wall clock, ns since 1970), ns; never negative.
    func age(ofArrival received: Int64) -> Int64? { self.hub.age(ofArrival: received) }

    // MARK: Output

    /// Makes the output to a client.
    func makeOutput(_ marks: ClientOutput.Marks) -> ClientOutput { ClientOutput(relay: self.hub, marks: marks) }

    /// The direct path to clients for whom nothing waits.
    var slots: DirectSlots { self.hub.slots }

    /// The numbers of the messages to all clients.
    var numbers: MessageNumbers { self.hub.numbers }

    /// Flushes the writes to all clients since the last call.
    func flush() { self.hub.flush() }

    /// Whether the feed waits for lossless clients at present.
    var feedWaits: Bool { self.hub.feedWaits }

    /// Counts trades that were reported to a client as missed.
    func noteSkipped(_ trades: UInt64) { self.hub.counters.noteSkipped(trades) }

    /// Counts a client that is closed because it was too slow.

    // MARK: Subscriptions

    /// The index of the sessions by what they want.
    var index: SessionIndex { self.hub.index }

    /// The most symbols that can be subscribed upstream, and those that are.
    var symbolLimit: Int { self.hub.subscriptions.limit }
    var symbols: [String] { Array(self.hub.subscriptions.symbols) }

    /// Returns the error about a name that cannot be subscribed, with what to write instead if it is a name of another
    /// feed.
    func invalid(_ symbol: String) -> String {
        let hint = SymbolName.isValid(symbol) ? self.hub.subscriptions.hint(symbol) : nil
        return SymbolErrors.invalid(symbol) + (hint.map { ": \($0)" } ?? "")
    }

    /// The rooms of the clients.
    var rooms: RoomService { self.hub.rooms }

    /// Notes that a client has subscribed to something.
    func noteSubscribed() { self.hub.gauges.subscribed() }

    /// Joins the timer of the clients that get prices at an interval.
    func joinInterval(_ session: any RelayProtocol, every milliseconds: Int) {
        self.hub.joinInterval(session, every: milliseconds)
    }

    func leaveInterval(_ session: any RelayProtocol, every milliseconds: Int) {
        self.hub.leaveInterval(session, every: milliseconds)
    }

    /// Subscribes a session to bars; returns the newest bar, or `nil` before the first one.
    func join(_ session: any RelayProtocol, _ topic: BarTopic) -> PublishedBar? { self.hub.join(session, topic) }

    func leave(_ session: any RelayProtocol, _ topic: BarTopic) { self.hub.leave(session, topic) }

    // MARK: The feed

    /// The status that the feed reports.
    var status: FeedStatus { self.hub.reportedStatus }

    /// The replay behind the feed, if it accepts commands.
    var replay: (any ReplayControlling)? { self.hub.replay }

    /// Returns the feed's status of a symbol; `nil` if it is not subscribed upstream.
    func status(of symbol: String) -> SymbolStatus? { self.hub.symbolStates[symbol] }

    /// Returns the venue's own figures of a symbol's last 24 hours; `nil` without any, and if they are too old.
    func day(of symbol: String) -> VenueDay? { self.hub.day(of: symbol) }

    /// Returns the state of a symbol that has traded, as a word of the protocol.
    func word(of symbol: String) -> String { self.hub.word(of: symbol) }

    /// Returns when a symbol that has traded was unsubscribed upstream, ns since 1970; `nil` if it is subscribed.
    func released(_ symbol: String) -> Int64? { self.hub.releasedSince[symbol] }

    /// Returns whether the upstream refuses a symbol.
    func isRefused(_ symbol: String) -> Bool { self.hub.refusal(of: symbol) != nil }

    /// Reports to a session, once, that the upstream refuses a symbol to which it has subscribed.
    func reportRefusal(of symbol: String, to session: any RelayProtocol) {
        self.hub.reportRefusal(of: symbol, to: session)
    }

    // MARK: Prices, by rows

    /// Returns the row of a symbol, and adds one if it has none.
    func row(of symbol: String) -> Int { self.hub.row(of: symbol) }

    func knownRow(of symbol: String) -> Int? { self.hub.prices.knownRow(of: symbol) }

    func symbol(ofRow row: Int) -> String { self.hub.prices.symbol(ofRow: row) }

    /// The rows that belong to a symbol.
    var liveRows: [Int] { self.hub.prices.liveRows }

    /// Returns the newest price of a row; `nil` if its symbol has not traded in this epoch.
    func newest(row: Int) -> PriceTable.Newest? { self.hub.prices.newest(row: row) }

    /// Returns the newest price of a symbol; `nil` if it has not traded.
    func newest(of symbol: String) -> SymbolSummary? { self.hub.newest(of: symbol) }

    /// Returns how many trades the row's symbol has had.
    func taken(row: Int) -> UInt64 { self.hub.prices.taken(row: row) }

    /// The symbols that have traded, in order of first appearance.
    var summaries: [SymbolSummary] { self.hub.prices.summaries }

    // MARK: Trades

    /// The newest trades. Each call is a copy, which is held during a loop over trades and never longer.
    var ring: TradeRing { self.hub.ring }

    /// Returns the newest trades of a symbol, including those of earlier runs; `nil` if there are none.
    func trades(of symbol: String, limit: Int) -> TradeExcerpt? { self.hub.trades(of: symbol, limit: limit) }

    /// Returns the bars of a symbol that are in memory; `nil` if there are none.
    func bars(of symbol: String, _ query: BarQuery) -> BarExcerpt? { self.hub.bars(of: symbol, query) }

    /// Drops the trades that are too old by now.
    func expireRing() { self.hub.expireRing() }

    /// Notes whether a session is catching up from the ring, and so must learn which trades leave it.
    func setResuming(_ session: any RelayProtocol, _ isResuming: Bool) {
        self.hub.resuming[ObjectIdentifier(session)] = isResuming ? session : nil
    }
}
