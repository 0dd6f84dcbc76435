import Market

/// The factors by which a simulated market is busier than the real one.
package struct SimulatedTempo: Sendable, Equatable {
    /// A burst of trades of one symbol in one millisecond; the symbols take turns.
    package struct Burst: Sendable, Equatable {
        package var trades: Int
        /// The interval between bursts, ms.
        package var interval: Int

        package init(trades: Int, interval: Int) {
            precondition(trades > 0 && interval > 0, "a burst of \(trades) every \(interval) ms")
            self.trades = trades
            self.interval = interval
        }
    }

    /// The factor on the rate of orders.
    package var rate = 1.0
    /// The factor on the moves of the price.
    package var volatility = 1.0
    package var burst: Burst?

    package init() {}
}

extension SimulatedSymbol {
    /// The average trades per second of one symbol at the normal rate, measured over an hour.
    private static let usualRate = 26.0

    /// Returns the rate at which a number of symbols together trade this often per second on average.
    package static func rate(_ tradesPerSecond: Double, symbols: Int) -> Double {
        tradesPerSecond / (Self.usualRate * Double(max(symbols, 1)))
    }

    /// Returns a symbol of any name: bitcoin, ether, or one like ether with a price derived from the name.
    package static func named(_ name: String) -> SimulatedSymbol {
        switch name {
        case SimulatedSymbol.bitcoin.name: return .bitcoin
        case SimulatedSymbol.ether.name: return .ether
        default:
            var symbol = SimulatedSymbol.ether
            symbol.name = name
            // FNV-1a, for the same price on every machine.
            let hash = name.utf8.reduce(UInt64(0xCBF2_9CE4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
            symbol.price = 5_000 + Int(hash % 495_000)
            return symbol
        }
    }
}
