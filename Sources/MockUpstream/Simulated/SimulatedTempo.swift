import Market

/// How much livelier than the real one a simulated market is.
package struct SimulatedTempo: Sendable, Equatable {
    /// A burst of trades of one symbol in one millisecond; the symbols take turns.
    package struct Burst: Sendable, Equatable {
        package var trades: Int
        /// ms.
        package var interval: Int

        package init(trades: Int, interval: Int) {
            precondition(trades > 0 && interval > 0, "a burst of \(trades) every \(interval) ms")
            self.trades = trades
            self.interval = interval
        }
    }

    /// How many times as many orders.
    package var rate = 1.0
    /// How many times as large a move of the price.
    package var volatility = 1.0
    package var burst: Burst?

    package init() {}
}

extension SimulatedSymbol {
    /// Trades a second on average, where nothing makes it livelier; measured over an hour.
    private static let usualRate = 26.0

    /// The tempo at which these symbols together have so many trades a second on average.
    package static func rate(_ tradesPerSecond: Double, symbols: Int) -> Double {
        tradesPerSecond / (Self.usualRate * Double(max(symbols, 1)))
    }

    /// The market of any name: that of bitcoin or ether, or one like ether's at a price that the name decides.
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
