import Market

/// The statistics of one simulated symbol's trades. The two predefined symbols follow ten busy minutes of the real
/// market.
package struct SimulatedSymbol: Sendable {
    /// The symbol's name in frames.
    package var name: String
    /// The starting price, near which it stays, in ticks of 0.01.
    package var price: Int
    /// The decimal places of a size: a lot is `10^-sizePlaces`.
    package var sizePlaces: Int
    /// The milliseconds between two orders.
    var gaps: QuantileTable
    /// The trades of one order in one millisecond.
    var fills: QuantileTable
    /// The changes of the price in ticks, from one fill to the next of an order and from one order to the next.
    var steps: QuantileTable
    var jumps: QuantileTable
    /// How often the price is unchanged, in percent, within an order and from one order to the next.
    var sameInOrder: Int
    var sameBetween: Int
    /// The sizes in lots, and the one common small size with its share in percent.
    var sizes: QuantileTable
    var commonSize: Int
    var commonSizeShare: Int
}

extension SimulatedSymbol {
    /// Bitcoin: 30 trades a second on average, 14 in the median second, some 900 in the busiest.
    package static let bitcoin = SimulatedSymbol(
        name: "BINANCE:BTCUSDT",
        price: 6_000_000,
        sizePlaces: 5,
        gaps: QuantileTable([
            (0, 1), (180_000, 2), (250_000, 4), (500_000, 24), (750_000, 109), (900_000, 263), (950_000, 412),
            (990_000, 762), (999_000, 1_213), (1_000_000, 2_014),
        ]),
        fills: QuantileTable([
            (0, 1), (700_000, 2), (800_000, 3), (900_000, 6), (950_000, 10), (990_000, 22), (999_000, 82),
            (999_600, 160), (1_000_000, 735),
        ]),
        steps: QuantileTable([
            (0, 1), (150_000, 2), (250_000, 3), (500_000, 13), (750_000, 52), (900_000, 126), (950_000, 186),
            (990_000, 341), (1_000_000, 1_914),
        ]),
        jumps: QuantileTable([
            (0, 1), (520_000, 2), (750_000, 52), (900_000, 191), (950_000, 255), (990_000, 687), (1_000_000, 3_268),
        ]),
        sameInOrder: 67,
        sameBetween: 55,
        sizes: QuantileTable([
            (0, 1), (20_000, 4), (200_000, 10), (400_000, 67), (690_000, 1_406), (880_000, 5_763), (940_000, 10_000),
            (988_000, 32_425), (998_800, 73_143), (1_000_000, 693_716),
        ]),
        commonSize: 9,
        commonSizeShare: 17
    )

    /// Ether: 22 trades a second on average, some 260 in the busiest.
    package static let ether = SimulatedSymbol(
        name: "BINANCE:ETHUSDT",
        price: 260_000,
        sizePlaces: 4,
        gaps: QuantileTable([
            (0, 1), (180_000, 2), (250_000, 3), (500_000, 17), (750_000, 137), (900_000, 404), (950_000, 661),
            (990_000, 1_237), (999_000, 2_417), (1_000_000, 3_787),
        ]),
        fills: QuantileTable([
            (0, 1), (620_000, 2), (750_000, 3), (900_000, 7), (950_000, 11), (990_000, 20), (999_000, 45),
            (1_000_000, 219),
        ]),
        steps: QuantileTable([
            (0, 1), (450_000, 2), (750_000, 6), (900_000, 9), (950_000, 11), (990_000, 19), (1_000_000, 61),
        ]),
        jumps: QuantileTable([
            (0, 1), (600_000, 2), (750_000, 6), (900_000, 11), (950_000, 16), (990_000, 27), (1_000_000, 281),
        ]),
        sameInOrder: 74,
        sameBetween: 56,
        sizes: QuantileTable([
            (0, 1), (20_000, 11), (150_000, 24), (400_000, 110), (680_000, 1_743), (880_000, 8_000), (935_000, 16_000),
            (987_000, 37_230), (998_600, 114_415), (1_000_000, 522_222),
        ]),
        commonSize: 20,
        commonSizeShare: 26
    )
}

/// The generator of one symbol's orders.
struct SimulatedOrderFlow: Sendable {
    let symbol: SimulatedSymbol
    let id: SymbolID
    private let tempo: SimulatedTempo
    /// The same as ``next`` in µs, used if the rate differs from that of the tables.
    private var nextMicroseconds: Int
    /// The time of the next order, ms since the market's start.
    private(set) var next = 0
    /// The price of the last fill, in ticks.
    private var price: Int
    /// The factor on the gaps of the table, in percent, until `paceEnd`.
    private var pace = 100
    private var paceEnd = 0

    init(symbol: SimulatedSymbol, id: SymbolID, first: Int, tempo: SimulatedTempo = SimulatedTempo()) {
        self.tempo = tempo
        self.nextMicroseconds = first * 1_000
        self.symbol = symbol
        self.id = id
        self.next = first
        self.price = symbol.price
    }

    /// Generates the fills of the order at ``next``, and the time of the next order.
    mutating func takeOrder(start: Int64, into trades: inout [Trade], random: inout SeededGenerator) {
        let count = self.symbol.fills.draw(&random)
        let isBuy = self.drawDirection(&random)
        if Int.random(in: 0..<100, using: &random) >= self.symbol.sameBetween {
            self.move(by: self.symbol.jumps.draw(&random), up: isBuy)
        }
        let before = self.price
        let size = self.symbol.sizes.draw(&random)
        for fill in 0..<count {
            if fill > 0, Int.random(in: 0..<100, using: &random) >= self.symbol.sameInOrder {
                self.move(by: self.symbol.steps.draw(&random), up: isBuy)
            }
            let isCommon = Int.random(in: 0..<100, using: &random) < self.symbol.commonSizeShare
            let lots = isCommon ? self.symbol.commonSize : fill == 0 ? size : self.symbol.sizes.draw(&random)
            self.append(lots: lots, at: self.next, start: start, to: &trades)
        }
        // A large order's effect on the price does not last: half of it is gone before the next order.
        if abs(self.price - before) > self.symbol.price / 20_000 { self.price -= (self.price - before) / 2 }
        self.settle(&random)
    }

    /// Generates a number of fills at one moment, as when a large order sweeps the book.
    mutating func burst(
        trades count: Int,
        at time: Int,
        start: Int64,
        into trades: inout [Trade],
        random: inout SeededGenerator
    ) {
        let isBuy = self.drawDirection(&random)
        for _ in 0..<count {
            if Int.random(in: 0..<100, using: &random) >= self.symbol.sameInOrder {
                self.move(by: self.symbol.steps.draw(&random), up: isBuy)
            }
            self.append(lots: self.symbol.sizes.draw(&random), at: time, start: start, to: &trades)
        }
    }

    private func append(lots: Int, at milliseconds: Int, start: Int64, to trades: inout [Trade]) {
        guard
            let price = ExactDecimal(significand: Int64(self.price), exponent: -2),
            let size = ExactDecimal(significand: Int64(max(1, lots)), exponent: -self.symbol.sizePlaces)
        else { preconditionFailure("a simulated price of \(self.price) ticks") }
        let time = (start + Int64(milliseconds)) * 1_000_000
        trades.append(Trade(price: price, size: size, exchangeTime: time, symbol: self.id))
    }

    private mutating func settle(_ random: inout SeededGenerator) {
        if self.next >= self.paceEnd {
            // Calm and busy periods of some seconds.
            self.pace = [40, 80, 150, 240, 320][Int.random(in: 0..<5, using: &random)]
            self.paceEnd = self.next + Int.random(in: 1_000..<5_000, using: &random)
        }
        let gap = self.symbol.gaps.draw(&random) * self.pace / 100
        if self.tempo.rate == 1 {
            self.next += max(1, gap)
        } else {
            self.nextMicroseconds += max(1, Int(Double(gap) * 1_000 / self.tempo.rate))
            self.next = self.nextMicroseconds / 1_000
        }
    }

    /// Draws the direction. The farther the price is from its start, the more often it moves back.
    private func drawDirection(_ random: inout SeededGenerator) -> Bool {
        // One percent away, the odds are 3 to 1.
        let pull = (self.price - self.symbol.price) * 2_500 / self.symbol.price
        return Int.random(in: 0..<100, using: &random) >= 50 + min(max(pull, -45), 45)
    }

    private mutating func move(by ticks: Int, up: Bool) {
        let ticks = self.tempo.volatility == 1 ? ticks : Int((Double(ticks) * self.tempo.volatility).rounded())
        // The price never falls below half the starting price.
        self.price = max(self.symbol.price / 2, self.price + (up ? ticks : -ticks))
    }
}
