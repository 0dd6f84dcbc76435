package import Market
package import Wire

/// Which symbols are asked for, and what is true of each: a machine that outlives the connections.
///
/// The service acknowledges nothing, so a symbol is believed to come only when it trades (`live`). It is `quiet` when it
/// has not traded for longer than its threshold, whatever pings, pongs and other symbols do, and `refused` when the service
/// says so. This is the second of the feed's two clocks; the first, whether the socket is alive at all, is
/// ``FinnhubSession``.
///
/// Its owner calls it with the time, sends ``takeRequests(now:)``, publishes ``takeChanges()`` and ends the connection
/// where ``deadlineReached(_:)`` says so.
package struct SymbolMonitor: Sendable {
    /// What the owner publishes, in order.
    package enum Change: Sendable, Equatable {
        case state(SymbolStatus)
        /// Nobody asks for the symbol any more; it has no state.
        case unsubscribed(String)
    }

    package enum Action: Sendable, Equatable {
        case none
        /// End the connection and make another one.
        case reconnect(SymbolSilence)
    }

    /// What a symbol's silence has led to; over when it trades.
    struct Episode: Sendable, Equatable {
        /// When it was asked for anew on this connection; monotonic ns.
        var resubscribed: Int64?
        /// Whether the connection was given up for it.
        var hasReconnected = false
    }

    struct Refusal: Sendable, Equatable {
        var kind: SymbolStatus.Refusal
        /// How often in a row.
        var count: Int
        /// Monotonic ns.
        var retryAt: Int64
        /// Whether it has been asked for again and not been answered yet.
        var isRetried = false
        /// Whether it was never asked for, because the limit was reached.
        var isHeld = false
        /// Whether the service's words did not name the symbol.
        var isGuess = false
    }

    struct Entry: Sendable {
        var status: SymbolStatus
        /// Its place among all that were asked for on this connection; 0 before.
        var order: UInt64 = 0
        /// Monotonic ns, when it was asked for last.
        var askedAt: Int64 = 0
        /// Whether it has traded since.
        var isConfirmed = false
        var refusal: Refusal?
        var episode: Episode?
        /// Rounds of steps taken without a long run of trades since, and until when there is no other; monotonic ns.
        var round = 0
        var coolUntil: Int64 = .min

        var symbol: String { self.status.symbol }
        /// Whether the symbol takes one of the places that the service gives.
        var isAccepted: Bool { self.refusal == nil }
    }

    package let settings: Settings
    /// ``Settings/takesSteps``, which whoever attaches to another program's relay turns off meanwhile.
    package var takesSteps: Bool
    var entries: [Entry] = []
    /// For each entry.
    var clocks: [SymbolClock] = []
    /// The entry of each symbol number on the tape, or -1.
    private var places: [Int32] = []
    var pacer: RequestPacer
    private var changes: [Change] = []
    private var orders: UInt64 = 0
    /// When the connection opened, while there is one; monotonic ns.
    private(set) var opened: Int64?
    /// When the newest trade of any symbol came on this connection; monotonic ns.
    private(set) var lastTrade: Int64?
    /// The feed's own cool-down: reconnects for silence since one was long ago, the last of them, and when another may be.
    var silenceRounds = 0
    var lastReconnect: Int64?
    var reconnectAfter: Int64 = .min
    /// Silences that ended with a trade, until the owner takes them.
    var endedSilence: SymbolSilence?

    /// The most symbols that are remembered, asked for or not.
    static let maximumEntries = SymbolTable.capacity

    package init(symbols: [String], settings: Settings, now: Moment) {
        self.settings = settings
        self.takesSteps = settings.takesSteps
        self.pacer = RequestPacer(burst: settings.subscribeBurst, interval: settings.subscribeInterval)
        for symbol in symbols { self.subscribed(for: symbol, now: now) }
    }

    /// All symbols that are wished for, in order.
    package var symbols: [String] { self.entries.map(\.symbol) }

    /// What is true of each of them.
    package var states: [SymbolStatus] { self.entries.map(\.status) }

    // MARK: Wishes

    /// Takes a wish for one more symbol. Beyond the limit it is held back, as refused, until a place becomes free.
    package mutating func subscribed(for symbol: String, now: Moment) {
        guard self.place(of: symbol) == nil else { return }
        guard self.entries.count < Self.maximumEntries else { return }
        let isHeld = self.acceptedCount >= self.settings.symbolLimit
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

    /// Takes the end of a wish. The place that becomes free goes to the first symbol that waits for one.
    package mutating func unsubscribed(_ symbol: String, now: Moment) {
        guard let place = self.place(of: symbol) else { return }
        let wasAccepted = self.entries[place].isAccepted
        let isAsked = self.entries[place].order > 0
        self.entries.remove(at: place)
        self.clocks.remove(at: place)
        self.forgetPlaces()
        self.changes.append(.unsubscribed(symbol))
        let wasWaiting = self.pacer.remove(.subscribe(symbol))
        // Asked anew, it was unsubscribed just before.
        if self.pacer.remove(.unsubscribe(symbol)) || (isAsked && !wasWaiting) {
            self.pacer.append(.unsubscribe(symbol))
        }
        guard wasAccepted else { return }
        self.placeBecameFree(now: now)
    }

    // MARK: Connections

    /// Notes that a connection opened: everything is asked for again, what was refused last.
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

    /// Notes that the connection is gone.
    package mutating func connectionEnded(_ now: Moment) {
        self.opened = nil
        self.pacer.reset()
        for place in self.entries.indices {
            self.clocks[place].disconnected()
            self.entries[place].order = 0
            self.entries[place].isConfirmed = false
            self.entries[place].refusal?.isRetried = false
            self.entries[place].episode?.resubscribed = nil
            // What a connection is not there for is not live; a silence goes on.
            if case .live = self.entries[place].status.state { self.change(place, to: .asked, reason: nil, now: now) }
        }
    }

    /// Takes the trades of one read; returns whether there are changes to be taken.
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

    /// Moves the moments that silence counts from, but not into the future.
    mutating func shiftTrades(by time: Int64, now: Int64) {
        self.opened = self.opened.map { min($0.addingCapped(time), now) }
        self.lastTrade = self.lastTrade.map { min($0.addingCapped(time), now) }
    }

    // MARK: What the owner takes

    /// The requests whose turn it is.
    package mutating func takeRequests(_ now: Moment) -> [FinnhubRequest] {
        guard self.opened != nil else { return [] }
        var requests: [FinnhubRequest] = []
        while let request = self.pacer.take(now: now.monotonic) {
            requests.append(request)
            guard case .subscribe(let symbol) = request, let place = self.place(of: symbol) else { continue }
            self.orders += 1
            let isFirst = self.entries[place].order == 0
            self.entries[place].order = self.orders
            self.entries[place].askedAt = now.monotonic
            self.entries[place].isConfirmed = false
            // A silence is not shortened by asking again on the same connection; a refused symbol's begins here.
            if isFirst || self.clocks[place].since == nil || self.entries[place].refusal != nil {
                self.clocks[place].asked(now: now.monotonic)
            }
        }
        return requests
    }

    package mutating func takeChanges() -> [Change] {
        defer { self.changes.removeAll(keepingCapacity: true) }
        return self.changes
    }
}

extension SymbolMonitor {
    var acceptedCount: Int { self.entries.count { $0.isAccepted } }

    func place(of symbol: String) -> Int? { self.entries.firstIndex { $0.symbol == symbol } }

    /// Puts a symbol into the queue of what is asked for, where there is a connection.
    mutating func ask(_ place: Int) {
        guard self.opened != nil else { return }
        self.pacer.append(.subscribe(self.entries[place].symbol))
    }

    mutating func change(_ place: Int, to state: SymbolStatus.State, reason: String?, now: Moment) {
        let before = self.entries[place].status
        var status = before
        status.state = state
        status.reason = reason
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
        self.entries[place].refusal = nil
        self.change(place, to: .live, reason: nil, now: now)
        // It was not this one that the service meant.
        if let refusal, refusal.isGuess, !refusal.isRetried { self.suspect(refusal.kind, text: nil, now: now) }
    }

    private mutating func forgetPlaces() { self.places = [] }

    /// Finds the entries of the tape's symbol numbers; only when there is a new symbol or wish.
    private mutating func learn(_ symbols: SymbolTable) {
        var known: [String: Int32] = [:]
        for (place, entry) in self.entries.enumerated() { known[entry.symbol] = Int32(place) }
        self.places = symbols.names.map { known[$0] ?? -1 }
    }
}
