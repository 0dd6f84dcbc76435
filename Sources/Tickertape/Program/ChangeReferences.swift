import Feeds
import Market
import ServiceLifecycle
import Terminal

/// The prices from which the screen counts changes where the exchange publishes none: those of 24 hours ago in the
/// program's own history, else Finnhub's previous close.
struct ChangeReferences: Sendable {
    /// The time between two looks at the history, ns.
    private static let interval: Int64 = 60_000_000_000
    /// How long a reference is shown without a newer one, ns.
    private static let goodFor = 2 * QuoteSchedule.interval

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
        var quotes = QuoteSchedule()
        while !Task.isCancelled {
            let began = ContinuousClock.now
            var missing = await self.display.symbolsWithoutDay()
            let now = WallClock.now()
            if let history {
                let known = await history.prices(of: missing, at: now - QuoteSchedule.day)
                self.show(known.map { ($0.key, $0.value, .day) }, now)
                missing.removeAll { known[$0] != nil }
            }
            let asked = self.hasKey ? quotes.next(missing.filter(self.isFinnhub), now: now) : []
            for symbol in asked {
                if let close = await self.close(of: symbol) { self.show([(symbol, close, .close)], WallClock.now()) }
                // The key's other calls must not wait for these.
                guard (try? await Task.sleep(for: .nanoseconds(QuoteSchedule.distance))) != nil else { return }
            }
            let next = began + .nanoseconds(Self.interval)
            guard (try? await Task.sleep(until: next, clock: .continuous)) != nil else { return }
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

/// The times at which Finnhub is asked for a symbol's previous close.
struct QuoteSchedule: Sendable {
    /// A day, ns.
    static let day: Int64 = 86_400_000_000_000
    /// The shortest time between two requests for one symbol, ns.
    static let interval: Int64 = 300_000_000_000
    /// The time between two requests, ns: ten a minute, of the 60 that the key has for everything.
    static let distance: Int64 = 6_000_000_000
    /// The most requests at one time.
    private static let maximum = 9

    private var asked: [String: Int64] = [:]

    /// Returns the symbols to ask for now, those that wait longest first.
    ///
    /// - Parameters:
    ///   - symbols: those on the screen that need a previous close.
    ///   - now: ns since 1970.
    mutating func next(_ symbols: [String], now: Int64) -> [String] {
        self.asked = self.asked.filter { symbols.contains($0.key) && $0.value <= now }
        let due = symbols.filter { now - (self.asked[$0] ?? .min / 2) >= Self.interval }
        let next = due.sorted { (self.asked[$0] ?? .min) < (self.asked[$1] ?? .min) }.prefix(Self.maximum)
        for symbol in next { self.asked[symbol] = now }
        return Array(next)
    }
}
