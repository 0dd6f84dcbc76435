import ArgumentParser
import MockUpstream

/// The flags for a served market. It shares the seed with the server's random choices.
struct ServedMarketOptions: ParsableArguments {
    @Option(
        name: .customLong("market-symbol"),
        help: ArgumentHelp("A symbol to trade; several may be given (default: two).", valueName: "symbol"),
        transform: Self.symbol
    )
    var symbols: [String] = []

    @OptionGroup var tempo: TempoOptions

    @Sendable private static func symbol(_ text: String) throws -> String {
        do {
            return try Syntax<String>.symbol.read(text)
        } catch {
            throw ValidationError("\"\(text)\" \(error.reason)")
        }
    }

    /// Returns the market of these flags.
    ///
    /// - Parameter start: the exchange's clock at the market's start, ms since 1970.
    func run(seed: UInt64, start: Int64) -> SimulatedRun.Settings {
        self.tempo.run(seed: seed, symbols: self.symbols.isEmpty ? nil : self.symbols, start: start)
    }
}
