import Ingest
import NIOCore
import Wire

/// The index of the relay's sessions by what they want; the one place where a session subscribes, unsubscribes and
/// leaves.
///
/// A price or a report is about one symbol, and the sessions of that symbol are looked up by its name. A batch of
/// trades may be about many symbols, and is encoded once for each group of sessions that want the same ones
/// (``SubscriberGroups``, one for each protocol, in its fan-out). Neither table can replace the other: every price would
/// visit all groups, or every batch would join the sessions of its symbols.
///
/// Its results are copies: a write may close a session's client, and the session then leaves the index at once.
final class SessionIndex {
    private typealias Sessions = [ObjectIdentifier: any RelayProtocol]

    /// The upstream subscriptions, for the clients and the program itself.
    private let upstream: Subscriptions
    private var subscribers: [String: Sessions] = [:]
    /// Those of them that show prices.
    private var priceReaders: [String: Sessions] = [:]
    /// The symbols to which each session has subscribed by their names.
    private var symbols: [ObjectIdentifier: Set<String>] = [:]
    /// Those whose refusal was reported to the session.
    private var reportedRefused: [ObjectIdentifier: Set<String>] = [:]
    private var followers: Sessions = [:]
    /// The fan-outs of trades, one for each protocol.
    private var fanouts: [any TradeFanout] = []
    private var fanoutOfProtocol: [ObjectIdentifier: any TradeFanout] = [:]

    init(_ upstream: Subscriptions) { self.upstream = upstream }

    /// Adds the fan-out of trades to the sessions of a protocol.
    func add(_ fanout: any TradeFanout, of spoken: any RelayProtocol.Type) {
        self.fanouts.append(fanout)
        self.fanoutOfProtocol[ObjectIdentifier(spoken)] = fanout
    }

    // MARK: Subscriptions

    /// Subscribes a session to a symbol by its name; a repeated subscription changes nothing.
    ///
    /// A session that has ended has left the index for good, also if the answers to the request itself ended it.
    func subscribe(_ session: any RelayProtocol, to symbol: String) -> SubscriptionTable.Answer {
        guard session.isOpen else { return .invalid }
        let id = ObjectIdentifier(session)
        if self.symbols[id]?.contains(symbol) == true { return .accepted }
        let answer = self.upstream.subscribe(symbol)
        if answer == .accepted {
            self.symbols[id, default: []].insert(symbol)
            self.subscribers[symbol, default: [:]][id] = session
            if type(of: session).showsPrices { self.priceReaders[symbol, default: [:]][id] = session }
        }
        return answer
    }

    /// Ends a session's subscription to a symbol, if it has one.
    func unsubscribe(_ session: any RelayProtocol, from symbol: String) {
        let id = ObjectIdentifier(session)
        guard self.symbols[id]?.remove(symbol) != nil else { return }
        self.reportedRefused[id]?.remove(symbol)
        self.removeSubscriber(id, of: symbol)
    }

    /// Ends a session's subscriptions to all symbols that it has subscribed to by their names.
    func unsubscribeAll(_ session: any RelayProtocol) {
        let id = ObjectIdentifier(session)
        self.reportedRefused[id] = nil
        for symbol in self.symbols.removeValue(forKey: id) ?? [] { self.removeSubscriber(id, of: symbol) }
    }

    private func removeSubscriber(_ id: ObjectIdentifier, of symbol: String) {
        self.subscribers[symbol]?[id] = nil
        if self.subscribers[symbol]?.isEmpty == true { self.subscribers[symbol] = nil }
        self.priceReaders[symbol]?[id] = nil
        if self.priceReaders[symbol]?.isEmpty == true { self.priceReaders[symbol] = nil }
        self.upstream.unsubscribe(symbol)
    }

    /// Returns whether a session has subscribed to a symbol by its name.
    func isSubscribed(_ session: any RelayProtocol, to symbol: String) -> Bool {
        self.symbols[ObjectIdentifier(session)]?.contains(symbol) == true
    }

    /// Returns the symbols to which a session has subscribed by their names.
    func symbols(of session: any RelayProtocol) -> Set<String> { self.symbols[ObjectIdentifier(session)] ?? [] }

    /// Returns to how many symbols a session has subscribed by their names.
    func symbolCount(of session: any RelayProtocol) -> Int { self.symbols[ObjectIdentifier(session)]?.count ?? 0 }

    /// Notes that a symbol's refusal is reported to a session; returns whether it is due: once for each refusal, if the
    /// session has subscribed to the symbol.
    func noteRefusal(of symbol: String, to session: any RelayProtocol) -> Bool {
        let id = ObjectIdentifier(session)
        guard self.symbols[id]?.contains(symbol) == true else { return false }
        return self.reportedRefused[id, default: []].insert(symbol).inserted
    }

    /// Notes that the upstream sends a symbol, so that a later refusal is another one.
    func noteAccepted(_ symbol: String) {
        guard !self.reportedRefused.isEmpty else { return }
        for id in self.subscribers[symbol, default: [:]].keys { self.reportedRefused[id]?.remove(symbol) }
    }

    /// Notes whether a session follows all symbols.
    func setFollowsAll(_ session: any RelayProtocol, _ followsAll: Bool) {
        self.followers[ObjectIdentifier(session)] = followsAll ? session : nil
    }

    /// Changes the symbols of which a session gets every trade.
    func setTrades<Session: RelayProtocol>(of session: Session, _ filter: SymbolFilter) {
        self.fanout(of: Session.self).groups.place(session, wanting: filter, slot: session.output.slot)
    }

    /// Returns the fan-out of trades to the sessions of a protocol.
    func fanout<Session: RelayProtocol>(of spoken: Session.Type) -> Session.Fanout {
        guard let fanout = self.fanoutOfProtocol[ObjectIdentifier(spoken)] as? Session.Fanout else {
            preconditionFailure("\(spoken) is not among the protocols of the relay")
        }
        return fanout
    }

    /// Removes a session from everything, since it has ended.
    func remove(_ session: any RelayProtocol) {
        self.unsubscribeAll(session)
        self.followers[ObjectIdentifier(session)] = nil
        self.fanoutOfProtocol[ObjectIdentifier(type(of: session))]?.remove(ObjectIdentifier(session))
    }

    // MARK: Reports and prices

    /// Returns the sessions that have subscribed to a symbol by its name.
    func subscribers(of symbol: String) -> [any RelayProtocol] {
        self.subscribers[symbol].map { Array($0.values) } ?? []
    }

    /// The sessions that follow all symbols.
    var allFollowers: [any RelayProtocol] { Array(self.followers.values) }

    /// Returns the sessions that follow a symbol, by its name or because they follow all.
    func sessions(of symbol: String) -> [any RelayProtocol] { self.joined(self.subscribers[symbol]) }

    /// Returns those of them that show prices. A protocol whose sessions follow all symbols shows prices.
    func priceSessions(of symbol: String) -> [any RelayProtocol] { self.joined(self.priceReaders[symbol]) }

    private func joined(_ named: Sessions?) -> [any RelayProtocol] {
        guard let named else { return self.allFollowers }
        var sessions = Array(named.values)
        for (id, session) in self.followers where named[id] == nil { sessions.append(session) }
        return sessions
    }

    // MARK: Trades

    /// Whether no trade is needed: no session wants any, and no frames are kept for clients that resume.
    var needsNoTrades: Bool { self.fanouts.allSatisfy(\.isEmpty) }

    /// Sends every trade to the sessions that want it; returns whether there are any.
    func send(_ batches: ArraySlice<TapeBatch>) -> Bool {
        var symbols: SymbolSet?
        var isDelivered = false
        for fanout in self.fanouts where !fanout.isEmpty {
            let present = symbols ?? SymbolSet(of: batches)
            symbols = present
            if fanout.send(batches, of: present) { isDelivered = true }
        }
        return isDelivered
    }

    /// Notes that trades may be missing from here on; of one symbol, or of all if it is `nil`.
    func interrupted(_ symbol: String?) { for fanout in self.fanouts { fanout.interrupted(symbol) } }

    /// Forgets which symbol each number means; the next epoch assigns the numbers anew.
    func epochBegan() { for fanout in self.fanouts { fanout.epochBegan() } }
}
