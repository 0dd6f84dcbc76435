import Feeds
import Market
import ServiceLifecycle
import Terminal

/// The prices from which the screen counts changes where the exchange publishes none: those of 24 hours ago in the
/// program's own history, else Finnhub's previous close.
struct ChangeReferences: Sendable {
    private static let day: Int64 = 86_400_000_000_000
    /// The time between two turns, ns. Each asks Finnhub for one symbol at most: ten a minute, of the 60 requests that the
    /// key has for everything.
    private static let turn: Int64 = 6_000_000_000
    /// The shortest time between two looks at the history for one symbol, ns.
    private static let historyInterval: Int64 = 60_000_000_000
    /// The shortest time between two requests to Finnhub for one symbol, ns.
    static let quoteInterval: Int64 = 300_000_000_000
    /// How long a reference is shown without a newer one, ns.
    private static let goodFor = 2 * Self.quoteInterval

    let display: PriceDisplay
    let history: HistoryService?
    let lookup: SharedLookup
    let hasKey: Bool
    /// Whether a symbol's trades are Finnhub's.
    let isFinnhub: @Sendable (String) -> Bool

    var part: NamedService {
        NamedService("changes") { await cancelWhenGracefulShutdown { await self.run() } }
    }

    private func run() async {
        var looks = RequestPace(interval: Self.historyInterval)
        var quotes = RequestPace(interval: Self.quoteInterval)
        var inHistory: Set<String> = []
        while !Task.isCancelled {
            let missing = await self.display.symbolsWithoutDay()
            let now = WallClock.now()
            if let history {
                let due = looks.next(missing, most: .max, now: now)
                let known = await history.prices(of: due, at: now - Self.day)
                inHistory.subtract(due)
                inHistory.formUnion(known.keys)
                self.show(known.map { ($0.key, $0.value, .day) }, now)
            }
            let unknown = missing.filter { self.isFinnhub($0) && !inHistory.contains($0) }
            if self.hasKey, let symbol = quotes.next(unknown, most: 1, now: now).first,
                let close = await self.close(of: symbol)
            {
                self.show([(symbol, close, .close)], WallClock.now())
            }
            guard (try? await Task.sleep(for: .nanoseconds(Self.turn))) != nil else { return }
        }
    }

    private func close(of symbol: String) async -> ExactDecimal? {
        guard case .success(let lookup) = self.lookup.get() else { return nil }
        return await lookup.directory.previousClose(of: symbol)
    }

    private func show(_ prices: [(symbol: String, price: ExactDecimal, span: ChangeReference.Span)], _ now: Int64) {
        guard !prices.isEmpty else { return }
        self.display.count(
            from: prices.map {
                ChangeReference(symbol: $0.symbol, price: $0.price, span: $0.span, until: now + Self.goodFor)
            }
        )
    }
}

/// The symbols for which something is requested again and again, at most once in an interval for each.
struct RequestPace: Sendable {
    /// The shortest time between two requests for one symbol, ns.
    let interval: Int64
    private var asked: [String: Int64] = [:]

    init(interval: Int64) {
        self.interval = interval
    }

    /// Returns the symbols to ask for now, those that wait longest first.
    ///
    /// - Parameters:
    ///   - symbols: all that are needed; others are forgotten.
    ///   - now: ns since 1970.
    mutating func next(_ symbols: [String], most: Int, now: Int64) -> [String] {
        let needed = Set(symbols)
        self.asked = self.asked.filter { needed.contains($0.key) && $0.value <= now }
        let due = symbols.filter { symbol in self.asked[symbol].map { now - $0 >= self.interval } ?? true }
        let next = due.sorted { (self.asked[$0] ?? .min) < (self.asked[$1] ?? .min) }.prefix(most)
        for symbol in next { self.asked[symbol] = now }
        return Array(next)
    }
}
