import ArgumentParser
import MockUpstream
import NIOCore
import Wire

extension Venue: ExpressibleByArgument {}

/// The flags for a simulated market.
struct MarketOptions: ParsableArguments {
    @Option(help: ArgumentHelp("What the market is drawn from: the same seed is the same market.", valueName: "n"))
    var seed: UInt64 = 6

    @OptionGroup var tempo: TempoOptions

    /// Returns the market of these flags.
    ///
    /// - Parameter start: the exchange's clock at the market's start, ms since 1970; `nil` for the same start in every
    ///   run.
    func run(symbols: [String]?, start: Int64?) -> SimulatedRun.Settings {
        self.tempo.run(seed: self.seed, symbols: symbols, start: start)
    }
}

/// The flags for the events of a simulated market.
struct TempoOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Trades a second on average, all symbols together (default: as the real ones).",
            valueName: "n"
        ),
        transform: { try Self.number($0, in: 0.01...1_000_000) }
    )
    var rate: Double?

    @Option(
        help: ArgumentHelp(
            "Speak as this exchange's own feed, with trade ids, instead of Finnhub: binance, coinbase or kraken.",
            valueName: "name"
        )
    )
    var venue: Venue?

    @Option(
        help: ArgumentHelp("Multiply the price's moves by this.", valueName: "x"),
        transform: { try Self.number($0, in: 0...100) }
    )
    var volatility: Double = 1

    @Option(
        help: ArgumentHelp(
            "That many trades within one millisecond, at that interval: 2000@30s.",
            valueName: "trades@interval"
        ),
        transform: Self.burst
    )
    var burst: SimulatedTempo.Burst?

    @Option(
        help: ArgumentHelp("The share of messages that come twice, 0 to 1.", valueName: "share"),
        transform: { try Self.number($0, in: 0...1) }
    )
    var repeats: Double = 0

    @Option(
        help: ArgumentHelp(
            "Break the connection for that long, at that interval: 5s@1m.",
            valueName: "length@interval"
        ),
        transform: Self.gap
    )
    var gap: Gap?

    @Option(
        help: ArgumentHelp("End after this time (default: never).", valueName: "duration"),
        transform: { try Self.span($0, in: .milliseconds(1)...(.hours(24 * 365))) }
    )
    var duration: TimeAmount?

    /// The length and the interval of simulated gaps.
    struct Gap: Sendable {
        var length: TimeAmount
        var interval: TimeAmount
    }

    /// Returns the market of these flags.
    ///
    /// - Parameter start: the exchange's clock at the market's start, ms since 1970; `nil` for the same start in every
    ///   run.
    func run(seed: UInt64, symbols: [String]?, start: Int64?) -> SimulatedRun.Settings {
        let symbols = symbols?.map(SimulatedSymbol.named) ?? self.usualSymbols
        var market = SimulatedMarket.Settings(seed: seed, symbols: symbols, dialect: self.venue?.dialect ?? .finnhub)
        if let start { market.start = start }
        if let rate { market.tempo.rate = SimulatedSymbol.rate(rate, symbols: symbols.count) }
        market.tempo.volatility = self.volatility
        market.tempo.burst = self.burst
        var run = SimulatedRun.Settings(market: market)
        run.repeats = self.repeats
        run.gapInterval = self.gap?.interval.nanoseconds
        run.gapLength = self.gap?.length.nanoseconds ?? 0
        run.length = self.duration?.nanoseconds
        return run
    }

    /// The two symbols of a market whose flags name none.
    private var usualSymbols: [SimulatedSymbol] {
        let names: [String] =
            switch self.venue {
            case .coinbase: ["COINBASE:BTC-USD", "COINBASE:ETH-USD"]
            case .kraken: ["KRAKEN:XXBTZUSD", "KRAKEN:XETHZUSD"]
            case .binance, nil: ["BINANCE:BTCUSDT", "BINANCE:ETHUSDT"]
            }
        return zip([SimulatedSymbol.bitcoin, .ether], names).map { symbol, name in
            var symbol = symbol
            symbol.name = name
            return symbol
        }
    }

    /// Refuses symbols of another exchange than that of the flags.
    func check(_ symbols: [String]) throws(OperatorError) {
        guard let venue, let other = symbols.first(where: { Venue(of: $0) != venue }) else { return }
        throw OperatorError(
            "\(other) is not of \(venue.name): leave it out, or write it with \(venue.prefix) (--venue)",
            status: .usage
        )
    }

    @Sendable private static func number(_ text: String, in range: ClosedRange<Double>) throws -> Double {
        guard let number = Double(text), range.contains(number) else {
            throw ValidationError("\"\(text)\" is not a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    @Sendable private static func span(_ text: String, in range: ClosedRange<TimeAmount>) throws -> TimeAmount {
        do {
            return try Syntax<TimeAmount>.duration.within(range).read(text)
        } catch {
            throw ValidationError("\"\(text)\" \(error.reason)")
        }
    }

    @Sendable private static func parts(_ text: String) throws -> (String, String) {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2 else { throw ValidationError("\"\(text)\" does not say how often: write what@interval") }
        return (String(parts[0]), String(parts[1]))
    }

    @Sendable private static func burst(_ text: String) throws -> SimulatedTempo.Burst {
        let (trades, interval) = try Self.parts(text)
        guard let count = Int(trades), (1...100_000).contains(count) else {
            throw ValidationError("\"\(trades)\" is not a number of trades from 1 to 100000")
        }
        let often = try Self.span(interval, in: .milliseconds(10)...(.hours(24)))
        return SimulatedTempo.Burst(trades: count, interval: Int(often.nanoseconds / 1_000_000))
    }

    @Sendable private static func gap(_ text: String) throws -> Gap {
        let (length, interval) = try Self.parts(text)
        let often = try Self.span(interval, in: .milliseconds(100)...(.hours(24)))
        let long = try Self.span(length, in: .milliseconds(1)...(.hours(24)))
        guard long < often else { throw ValidationError("a gap must be shorter than the time from one to the next") }
        return Gap(length: long, interval: often)
    }
}
