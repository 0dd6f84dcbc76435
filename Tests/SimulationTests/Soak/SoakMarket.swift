import Market
import NIOCore

/// A market in which every trade is unique: its size is its number. It trades with or without a client.
struct SoakMarket {
    struct Event {
        /// The symbol's index in ``SoakMarket/names``.
        var symbol: Int
        /// The first trade's number; the others follow.
        var first: Int
        /// The time of each trade, wall clock, ms.
        var times: [Int64]
        /// The time of the event, wall clock, ns since 1970.
        var at: Int64
    }

    static let names = ["BINANCE:BTCUSDT", "BINANCE:ETHUSDT", "BINANCE:XMRBTC"]
    /// The longest pause of each symbol without a fault, ns.
    static let longestPauses: [Int64] = [80, 180, 480].map { $0 * SoakClock.second }

    private var generator: SeededGenerator
    private var next: [Int64]
    private var counts = [0, 0, 0]

    init(seed: UInt64) {
        self.generator = SeededGenerator(seed: seed)
        self.next = (0..<3).map { SoakClock.start + 200_000_000 + Int64($0) * 77_000_000 }
    }

    /// The time of the next event, wall clock, ns since 1970.
    var nextAt: Int64 { self.next.min() ?? .max }

    /// Returns the next event: one to three trades of one symbol, sent in one message.
    mutating func take() -> Event {
        var symbol = 0
        for place in 1..<3 where self.next[place] < self.next[symbol] { symbol = place }
        let at = self.next[symbol]
        let count = Int.random(in: 0..<10, using: &self.generator) == 0 ? 3 : 1
        // Some trades are within one millisecond, some are not.
        let step = Int64.random(in: 0...1, using: &self.generator)
        let event = Event(
            symbol: symbol,
            first: self.counts[symbol] + 1,
            times: (0..<count).map { at / 1_000_000 - step * Int64(count - 1 - $0) },
            at: at
        )
        self.counts[symbol] += count
        self.next[symbol] = at + self.pause(symbol)
        return event
    }

    private mutating func pause(_ symbol: Int) -> Int64 {
        let ms: Int64
        switch symbol {
        case 0: ms = .random(in: 50_000...80_000, using: &self.generator)
        case 1: ms = .random(in: 120_000...180_000, using: &self.generator)
        default:
            let isLong = Int.random(in: 0..<20, using: &self.generator) == 0
            ms =
                isLong
                ? .random(in: 60_000...480_000, using: &self.generator)
                : .random(in: 10_000...100_000, using: &self.generator)
        }
        return ms * 1_000_000
    }

    /// Returns a message of the service: trades of one symbol, with their numbers and their times in ms.
    static func message(_ symbol: Int, _ trades: some Sequence<(number: Int, time: Int64)>) -> String {
        let parts = trades.map { trade in
            #"{"c":null,"p":\#(100 + trade.number % 7),"s":"\#(Self.names[symbol])","t":\#(trade.time),"v":\#(trade.number)}"#
        }
        return #"{"data":["# + parts.joined(separator: ",") + #"],"type":"trade"}"#
    }
}
