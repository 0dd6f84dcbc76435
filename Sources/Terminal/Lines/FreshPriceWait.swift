package import Market

/// The wait for one fresh price of each symbol, for an output that ends when it has them.
///
/// A pure state machine: time is an argument, monotonic ns.
package struct FreshPriceWait: Sendable {
    package struct Settings: Sendable, Equatable {
        /// The time limit of the wait, ns.
        package var within: Int64
        /// The age from which a price is not fresh, ns.
        package var freshFor: Int64
        /// The symbols to wait for; `nil` for those that the feed reports.
        package var symbols: [String]?

        package init(within: Int64, freshFor: Int64, symbols: [String]?) {
            self.within = within
            self.freshFor = freshFor
            self.symbols = symbols
        }
    }

    /// The most symbols that a report names.
    private static let maximumNamed = 5

    private let settings: Settings
    /// The end of the wait, monotonic ns.
    package let deadline: Int64
    private var wanted: [String]?
    private var printed: Set<String> = []
    /// The age of the newest price of each symbol whose price was not fresh.
    private var old: [String: Int64] = [:]
    private var states: [String: SymbolStatus] = [:]
    private var status: FeedStatus

    package init(_ settings: Settings, status: FeedStatus, now: Int64) {
        self.settings = settings
        self.deadline = now + settings.within
        self.wanted = settings.symbols
        self.status = status
    }

    /// Whether each symbol has been printed. Where the symbols are the feed's, the refused ones do not count.
    package var isComplete: Bool {
        guard let wanted, wanted.contains(where: { self.printed.contains($0) }) else { return false }
        let isNamed = self.settings.symbols != nil
        return wanted.allSatisfy { self.printed.contains($0) || (!isNamed && self.isRefused($0)) }
    }

    /// Whether no missing price can come any more: the service refuses every symbol that has not been printed.
    private var isHopeless: Bool {
        guard let wanted, !wanted.isEmpty else { return false }
        return wanted.allSatisfy { self.printed.contains($0) || self.isRefused($0) }
    }

    private func isRefused(_ symbol: String) -> Bool { self.states[symbol]?.isRefused == true }

    /// Whether the wait is over.
    package func isOver(now: Int64) -> Bool { self.isComplete || self.isHopeless || now >= self.deadline }

    /// Takes an item; returns whether it is to be printed.
    package mutating func took(_ item: LineItem, now: Int64) -> Bool {
        switch item {
        case .price(let update, let arrived):
            return self.tookPrice(of: update.summary.symbol, age: arrived.map { now - $0 } ?? 0, now: now)
        case .snapshot(let update, let arrived):
            return self.tookPrice(of: update.summary.symbol, age: now - arrived, now: now)
        case .status(let status):
            self.status = status
        case .symbol(let status):
            if self.states.count < SymbolTable.capacity { self.states[status.symbol] = status }
        case .expected(let symbols):
            self.wanted = self.wanted ?? symbols
        case .day, .gap, .settled, .unsubscribed, .paused, .step, .alert:
            break
        }
        return false
    }

    private mutating func tookPrice(of symbol: String, age: Int64, now: Int64) -> Bool {
        guard !self.isOver(now: now), self.wanted?.contains(symbol) ?? true, !self.printed.contains(symbol) else {
            return false
        }
        guard age < self.settings.freshFor else {
            if self.old.count < SymbolTable.capacity { self.old[symbol] = age }
            return false
        }
        self.printed.insert(symbol)
        return true
    }

    /// Names the symbols without a fresh price and the reasons, in one line; `nil` when every symbol has one.
    package func report(now: Int64) -> String? {
        guard !self.isComplete else { return nil }
        let time =
            now >= self.deadline
            ? " within \(AgeText.record(self.settings.within))" : self.isHopeless ? "" : " before the end"
        guard let wanted, !wanted.isEmpty else {
            let why = self.wanted == nil ? self.trouble : "the relay has no symbol; name one with --symbol"
            return "no fresh price\(time): \(why)"
        }
        let missing = wanted.filter { !self.printed.contains($0) }
        var parts = missing.prefix(Self.maximumNamed).map { symbol in
            "\(ScreenText.clean(symbol, columns: 128)) (\(self.why(symbol)))"
        }
        if missing.count > Self.maximumNamed { parts.append("\(missing.count - Self.maximumNamed) more") }
        return "no fresh price\(time) of \(parts.joined(separator: ", "))"
    }

    private func why(_ symbol: String) -> String {
        if let status = self.states[symbol], status.isRefused {
            return SymbolText.refusal(status)
        }
        switch self.status.phase {
        case .live, .late, .stale, .waiting, .ended:
            if let age = self.old[symbol] { return "its newest trade is \(AgeText.words(age)) old" }
            return self.status.phase == .ended ? "the recording has none" : "it has not traded"
        case .connecting, .reconnecting, .rateLimited, .keyRejected, .keyInUse, .noSuchSymbol, .notPermitted, .stopped:
            return self.trouble
        }
    }

    /// The feed's status, as the reason for the missing prices.
    private var trouble: String { LineFormat.sentence(self.status) }
}
