package import Market
package import Wire

/// The state machine of the symbols to subscribe to, and of each symbol's state. It outlives the connections.
///
/// The service acknowledges nothing, so only a trade proves that a symbol comes (`live`). A symbol is `quiet` when it
/// has not traded for longer than its threshold, whatever pings, pongs and other symbols do. It is `refused` when the
/// service says so. This is the second of the feed's two clocks; the first, ``ConnectionMonitor``, shows whether the
/// socket is alive at all.
///
/// Its owner passes in the time, sends ``takeRequests(_:)``, publishes ``takeChanges()``, and ends the connection
/// when ``deadlineReached(_:)`` asks for it.
package struct SymbolMonitor: Sendable {
    /// A change for the owner to publish, in order.
    package enum Change: Sendable, Equatable {
        case state(SymbolStatus)
        /// The symbol is no longer subscribed and has no state.
        case unsubscribed(String)
    }

    package enum Action: Sendable, Equatable {
        case none
        /// End the connection and open another one.
        case reconnect(SymbolSilence)
    }

    /// The steps taken in one silence of a symbol. The next trade ends it.
    struct Episode: Sendable, Equatable {
        /// When the symbol was subscribed again on this connection; monotonic ns.
        var resubscribed: Int64?
        /// Whether a connection was closed for it.
        var hasReconnected = false
    }

    struct Refusal: Sendable, Equatable {
        var kind: SymbolStatus.Refusal
        /// The number of refusals in a row.
        var count: Int
        /// When to subscribe again; monotonic ns.
        var retryAt: Int64
        /// Whether the subscription was repeated and is still unanswered.
        var isRetried = false
        /// Whether the symbol was never requested, because the limit was reached.
        var isHeld = false
        /// Whether the service's error did not name the symbol.
        var isGuess = false
    }

    struct Entry: Sendable {
        var status: SymbolStatus
        /// The position of the newest request for the symbol among all on this connection; 0 before the first.
        var order: UInt64 = 0
        /// When the symbol was last requested; monotonic ns.
        var askedAt: Int64 = 0
        /// Whether it has traded since.
        var isConfirmed = false
        var refusal: Refusal?
        /// Why the service may send no trade of a symbol that it does not refuse.
        var remark: String?
        var episode: Episode?
        /// The number of rounds of steps without a long run of trades since, and the end of the pause after them;
        /// monotonic ns.
        var round = 0
        var coolUntil: Int64 = .min

        var symbol: String { self.status.symbol }
        /// Whether the symbol takes one of the service's places.
        var isAccepted: Bool { self.refusal == nil }
    }

    package let settings: Settings
    /// The most symbols to which one connection subscribes.
    let limit: Int
    /// Whose limit that is, for people; `nil` if it is that of the setting.
    private(set) var limitOwner: String?
    /// Whether steps are taken for quiet symbols. A feed attached to another program's relay turns
    /// ``Settings/takesSteps`` off meanwhile.
    package var takesSteps: Bool
    var entries: [Entry] = []
    /// One clock for each entry.
    var clocks: [SymbolClock] = []
    /// The index of the entry of each symbol number on the tape, or -1.
    private var places: [Int32] = []
    var pacer: RequestPacer
    private var changes: [Change] = []
    private var orders: UInt64 = 0
    /// When the present connection opened; monotonic ns.
    private(set) var opened: Int64?
    /// When the newest trade of any symbol came on this connection; monotonic ns.
    private(set) var lastTrade: Int64?
    /// The pauses between reconnects of the whole feed: the number of recent reconnects for silence, the time of the
    /// last one, and the earliest time of the next; monotonic ns.
    var silenceRounds = 0
    var lastReconnect: Int64?
    var reconnectAfter: Int64 = .min
    /// The silence that has ended with a trade, until the owner takes it.
    var endedSilence: SymbolSilence?

    /// The most symbols that are held, requested or not.
    static let maximumEntries = SymbolTable.capacity

    /// - Parameters:
    ///   - limit: the most symbols to which one connection subscribes.
    ///   - limitOwner: whose limit that is, for people; `nil` if it is that of the setting `upstream.max-symbols`.
    package init(symbols: [String], limit: Int, limitOwner: String? = nil, settings: Settings, now: Moment) {
        self.settings = settings
        self.limit = limit
        self.limitOwner = limitOwner
        self.takesSteps = settings.takesSteps
        self.pacer = RequestPacer(
            burst: settings.subscribeBurst,
            interval: settings.subscribeInterval,
            batch: settings.subscribeBatch
        )
        for symbol in symbols { self.subscribed(for: symbol, now: now) }
    }

    /// All wanted symbols, in order.
    package var symbols: [String] { self.entries.map(\.symbol) }

    /// The state of each of them.
    package var states: [SymbolStatus] { self.entries.map(\.status) }

    /// The symbols that were requested on the present connection.
    var requested: [String] { self.entries.filter { $0.order > 0 }.map(\.symbol) }

    // MARK: Subscriptions

    /// Adds a symbol. Beyond the limit it is held back, as refused, until a place becomes free.
    package mutating func subscribed(for symbol: String, now: Moment) {
        guard self.place(of: symbol) == nil else { return }
        guard self.entries.count < Self.maximumEntries else { return }
        let isHeld = self.acceptedCount >= self.limit
        self.entries.append(Entry(status: SymbolStatus(symbol: symbol, state: .asked, since: now.wall)))
        self.clocks.append(SymbolClock())
        self.forgetPlaces()
        if isHeld {
            self.hold(self.entries.count - 1, now: now)
        } else {
            self.changes.append(.state(self.entries[self.entries.count - 1].status))
            self.ask(self.entries.count - 1)
        }
    }

    /// Removes a symbol. Its place goes to the first symbol that waits for one.
    package mutating func unsubscribed(_ symbol: String, now: Moment) {
        guard let place = self.place(of: symbol) else { return }
        let wasAccepted = self.entries[place].isAccepted
        let isAsked = self.entries[place].order > 0
        self.entries.remove(at: place)
        self.clocks.remove(at: place)
        self.forgetPlaces()
        self.changes.append(.unsubscribed(symbol))
        let wasWaiting = self.pacer.remove(.subscribe(symbol))
        // A waiting unsubscribe belongs to a repeated subscription, so the symbol is still subscribed at the service.
        if self.pacer.remove(.unsubscribe(symbol)) || (isAsked && !wasWaiting) {
            self.pacer.append(.unsubscribe(symbol))
        }
        guard wasAccepted else { return }
        self.placeBecameFree(now: now)
    }

    // MARK: Connections

    /// Notes that a connection opened: subscribes to all symbols again, refused ones last.
    package mutating func connectionOpened(_ now: Moment) {
        self.opened = now.monotonic
        self.lastTrade = nil
        self.pacer.reset()
        for place in self.entries.indices where self.entries[place].refusal == nil { self.ask(place) }
        for place in self.entries.indices where self.entries[place].refusal?.isHeld == false {
            self.entries[place].refusal?.isRetried = true
            self.ask(place)
        }
    }

    /// Notes that the connection has ended.
    package mutating func connectionEnded(_ now: Moment) {
        self.opened = nil
        self.pacer.reset()
        for place in self.entries.indices {
            self.clocks[place].disconnected()
            self.entries[place].order = 0
            self.entries[place].isConfirmed = false
            self.entries[place].refusal?.isRetried = false
            self.entries[place].episode?.resubscribed = nil
            // Without a connection no symbol is live, but a silence continues.
            if case .live = self.entries[place].status.state { self.change(place, to: .asked, reason: nil, now: now) }
        }
    }

    /// Notes that another connection has taken the place of the present one, with the same subscriptions.
    ///
    /// - Parameter pacer: the requests that it still has to send.
    mutating func connectionReplaced(_ pacer: RequestPacer) { self.pacer = pacer }

    /// The symbols to which the present connection is subscribed, or is about to be.
    var acceptedSymbols: [String] { self.entries.filter(\.isAccepted).map(\.symbol) }

    /// Returns how long no symbol has traded on the present connection, ns.
    func silence(now: Int64) -> Int64 { (self.lastTrade ?? self.opened).map { now - $0 } ?? 0 }

    /// Takes the trades of one read; returns whether there are changes to publish.
    package mutating func traded(_ trades: [Trade], symbols: SymbolTable, now: Moment) -> Bool {
        guard !trades.isEmpty else { return false }
        if self.places.count != symbols.count { self.learn(symbols) }
        self.lastTrade = now.monotonic
        var before: UInt16?
        for trade in trades where trade.symbol.index != before {
            before = trade.symbol.index
            let place = Int(self.places[Int(trade.symbol.index)])
            guard place >= 0 else { continue }
            if !self.clocks[place].isLive { self.silenceEnded(place, now: now) }
            self.clocks[place].traded(now: now.monotonic)
            if !self.clocks[place].isLive { self.becameLive(place, now: now) }
        }
        return !self.changes.isEmpty
    }

    /// Moves the start of all silences, but not into the future.
    mutating func shiftTrades(by time: Int64, now: Int64) {
        self.opened = self.opened.map { min($0.addingCapped(time), now) }
        self.lastTrade = self.lastTrade.map { min($0.addingCapped(time), now) }
    }

    // MARK: Requests and changes

    /// Removes and returns the requests that may be sent now.
    package mutating func takeRequests(_ now: Moment) -> [SubscriptionChange] {
        guard self.opened != nil else { return [] }
        var requests: [SubscriptionChange] = []
        while let message = self.pacer.take(now: now.monotonic) {
            requests += message
            for request in message { self.requested(request, now: now.monotonic) }
        }
        return requests
    }

    private mutating func requested(_ request: SubscriptionChange, now: Int64) {
        guard case .subscribe(let symbol) = request, let place = self.place(of: symbol) else { return }
        self.orders += 1
        let isFirst = self.entries[place].order == 0
        self.entries[place].order = self.orders
        self.entries[place].askedAt = now
        self.entries[place].isConfirmed = false
        // A repeated subscription on the same connection does not shorten a silence. For a refused symbol the silence
        // starts.
        if isFirst || self.clocks[place].since == nil || self.entries[place].refusal != nil {
            self.clocks[place].asked(now: now)
        }
    }

    package mutating func takeChanges() -> [Change] {
        defer { self.changes.removeAll(keepingCapacity: true) }
        return self.changes
    }
}

extension SymbolMonitor {
    var acceptedCount: Int { self.entries.count { $0.isAccepted } }

    func place(of symbol: String) -> Int? { self.entries.firstIndex { $0.symbol == symbol } }

    /// Queues the subscription to a symbol, if there is a connection.
    mutating func ask(_ place: Int) {
        guard self.opened != nil else { return }
        self.pacer.append(.subscribe(self.entries[place].symbol))
    }

    /// Takes what the service's list says of each symbol that it may send no trade of.
    mutating func remark(_ words: (String) -> String?, now: Moment) {
        for place in self.entries.indices {
            let remark = words(self.entries[place].symbol)
            guard self.entries[place].remark != remark else { continue }
            self.entries[place].remark = remark
            switch self.entries[place].status.state {
            case .asked: self.change(place, to: .asked, reason: nil, now: now)
            // Its trades say more than a list; its refusal, too. The next change of a quiet one has the remark.
            case .live, .quiet, .refused: break
            }
        }
    }

    mutating func change(_ place: Int, to state: SymbolStatus.State, reason: String?, now: Moment) {
        let before = self.entries[place].status
        var status = before
        status.state = state
        status.reason = reason
        switch state {
        case .asked, .quiet:
            if let remark = self.entries[place].remark { status.reason = reason.map { "\($0); \(remark)" } ?? remark }
        case .live, .refused: break
        }
        if status.word != before.word { status.since = now.wall }
        guard status != before else { return }
        self.entries[place].status = status
        self.changes.append(.state(status))
    }

    private mutating func becameLive(_ place: Int, now: Moment) {
        self.clocks[place].becameLive(now: now.monotonic)
        self.entries[place].isConfirmed = true
        self.entries[place].episode = nil
        let refusal = self.entries[place].refusal
        let text = self.entries[place].status.reason
        self.entries[place].refusal = nil
        self.change(place, to: .live, reason: nil, now: now)
        // The suspicion was wrong: the service meant another symbol.
        if let refusal, refusal.isGuess, !refusal.isRetried { self.suspect(refusal.kind, text: text ?? "", now: now) }
    }

    private mutating func forgetPlaces() { self.places = [] }

    /// Finds the entries of the tape's symbol numbers. Needed only after a new symbol or a changed subscription.
    private mutating func learn(_ symbols: SymbolTable) {
        var known: [String: Int32] = [:]
        for (place, entry) in self.entries.enumerated() { known[entry.symbol] = Int32(place) }
        self.places = symbols.names.map { known[$0] ?? -1 }
    }
}
