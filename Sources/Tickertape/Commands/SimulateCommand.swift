import ArgumentParser
import Feeds
import Market
package import MockUpstream
package import NIOCore

/// Follows a market that is made up.
struct SimulateCommand: SettingsCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Show and relay a simulated market, for demos and load.",
        discussion: """
            A market made from a seed, after the statistics of the real one: no key, no network, and the same prices for \
            the same seed. It comes in as a replay does, and is marked as one, SIMULATED. `tickertape serve --simulate` \
            offers it to other programs instead.

            EXAMPLES:
              tickertape simulate
              tickertape simulate --rate 5000 --burst 2000@30s --quiet
              tickertape simulate --symbol BINANCE:BTCUSDT --gap 5s@1m --repeats 0.02
              tickertape simulate --seed 7 --duration 10m --write market.jsonl
            """
    )

    @OptionGroup(title: "The market") var market: MarketOptions

    @Option(
        name: .of(.symbols),
        help: ArgumentHelp("A symbol to trade; several may be given (default: two).", valueName: "symbol")
    )
    var symbols: [String] = []

    @Option(
        name: .customLong("speed"),
        help: ArgumentHelp("So many times the market's pace, 0.01 to 10000, or max.", valueName: "n|max")
    )
    var speed = ReplaySpeed.recorded

    @Option(
        help: ArgumentHelp(
            "Write the market to this file as a recording, and end; needs --duration.",
            valueName: "file"
        ),
        completion: .file()
    )
    var write: String?

    @OptionGroup(title: "Display") var display: DisplayOptions
    @OptionGroup(title: "Display") var alerts: AlertOptions
    @OptionGroup(title: "Relay and recording") var relay: RelayOptions
    @OptionGroup(title: "Relay and recording") var record: RecordOptions
    @OptionGroup var common: CommonOptions

    var groups: [any SettingFlags] {
        [SymbolFlags(symbols: self.symbols), self.display, self.alerts, self.relay, self.record, self.common]
    }

    func validate() throws {
        if self.write != nil, self.market.tempo.duration == nil {
            throw ValidationError("--write needs --duration: a market has no end of its own.")
        }
    }

    mutating func run() async throws {
        let settings = try self.loadSettings().settings
        let chosen = settings.origin(of: .symbols) == .builtIn ? nil : settings.finnhub.symbols
        let order = self.market.order(symbols: chosen)
        if let write {
            try Assembly.write(order, to: write)
        } else {
            try await Assembly.simulate(order, speed: self.speed, settings)
        }
    }
}

/// A simulated market, as it was asked for.
package struct MarketOrder: Sendable, Equatable {
    package var symbols: [String]?
    package var seed: UInt64 = 6
    /// Trades a second of all symbols together; `nil` is as the real ones'.
    package var rate: Double?
    package var volatility = 1.0
    package var burst: SimulatedTempo.Burst?
    package var repeats = 0.0
    /// How often something is missing, and how much.
    package var gap: (length: TimeAmount, interval: TimeAmount)?
    package var duration: TimeAmount?

    package init() {}

    package static func == (left: MarketOrder, right: MarketOrder) -> Bool {
        left.symbols == right.symbols && left.seed == right.seed && left.rate == right.rate
            && left.volatility == right.volatility && left.burst == right.burst && left.repeats == right.repeats
            && left.gap?.length == right.gap?.length && left.gap?.interval == right.gap?.interval
            && left.duration == right.duration
    }

    /// - Parameter start: the exchange's clock at the market's start, ms since 1970; `nil` is always the same.
    func run(start: Int64?) -> SimulatedRun.Settings {
        let symbols = self.symbols?.map(SimulatedSymbol.named) ?? [.bitcoin, .ether]
        var market = SimulatedMarket.Settings(seed: self.seed, symbols: symbols)
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
}

/// The flags for a simulated market.
struct MarketOptions: ParsableArguments {
    @Option(help: ArgumentHelp("What the market is drawn from: the same seed is the same market.", valueName: "n"))
    var seed: UInt64 = 6

    @OptionGroup var tempo: TempoOptions

    func order(symbols: [String]?) -> MarketOrder {
        var order = self.tempo.order(symbols: symbols)
        order.seed = self.seed
        return order
    }
}

/// The flags for what happens in a simulated market.
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
        help: ArgumentHelp("So many times as large moves of the price.", valueName: "x"),
        transform: { try Self.number($0, in: 0...100) }
    )
    var volatility: Double = 1

    @Option(
        help: ArgumentHelp("So many trades in one millisecond, so often: 2000@30s.", valueName: "trades@interval"),
        transform: Self.burst
    )
    var burst: SimulatedTempo.Burst?

    @Option(
        help: ArgumentHelp("The share of messages that come twice, 0 to 1.", valueName: "share"),
        transform: { try Self.number($0, in: 0...1) }
    )
    var repeats: Double = 0

    @Option(
        help: ArgumentHelp("The connection breaks for so long, so often: 5s@1m.", valueName: "length@interval"),
        transform: Self.gap
    )
    var gap: Gap?

    @Option(
        help: ArgumentHelp("End after so long (default: never).", valueName: "duration"),
        transform: { try Self.span($0, in: .milliseconds(1)...(.hours(24 * 365))) }
    )
    var duration: TimeAmount?

    /// How long something is missing, and how often.
    struct Gap: Sendable {
        var length: TimeAmount
        var interval: TimeAmount
    }

    func order(symbols: [String]?) -> MarketOrder {
        var order = MarketOrder()
        order.symbols = symbols
        order.rate = self.rate
        order.volatility = self.volatility
        order.burst = self.burst
        order.repeats = self.repeats
        order.gap = self.gap.map { ($0.length, $0.interval) }
        order.duration = self.duration
        return order
    }

    @Sendable private static func number(_ text: String, in range: ClosedRange<Double>) throws -> Double {
        guard let number = Double(text), range.contains(number) else {
            throw ValidationError("\"\(text)\" is no number from \(range.lowerBound) to \(range.upperBound)")
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
        guard parts.count == 2 else { throw ValidationError("\"\(text)\" says not how often: what@interval") }
        return (String(parts[0]), String(parts[1]))
    }

    @Sendable private static func burst(_ text: String) throws -> SimulatedTempo.Burst {
        let (trades, interval) = try Self.parts(text)
        guard let count = Int(trades), (1...100_000).contains(count) else {
            throw ValidationError("\"\(trades)\" is no number of trades from 1 to 100000")
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
