import Market
import NIOCore
import Wire

/// A synthetic recording of half a minute and three symbols: steady trades, some of them at the same instant, a silence
/// of twelve seconds, a ping, an unreadable message, and a constant price at the end.
struct ScriptedMarket {
    static let start: Int64 = 1_767_225_600_000_000_000
    static let symbols = ["BINANCE:BTCUSDT", "BINANCE:ETHUSDT", "COINBASE:SOL-USD"]
    /// The time from the first message to the last, ns.
    static let length: Int64 = 36_000_000_000
    /// The highest price of the first symbol, which occurs once, at 22 s.
    var peak = "60999.75"
    /// Whether the silence contains a gap.
    var hasGap = false

    /// The recording's text.
    var text: String {
        var recording = RecordingBuffer(RecordingHeader(symbols: Self.symbols, start: Self.start))
        func add(_ milliseconds: Int64, _ frame: String) {
            recording.frame(ByteBuffer(string: frame), at: milliseconds * 1_000_000)
        }
        func trade(_ milliseconds: Int64, _ trades: [(symbol: Int, price: String, size: String)]) {
            let data = trades.map { trade in
                let time = Self.start / 1_000_000 + milliseconds - 30
                return
                    #"{"c":null,"p":\#(trade.price),"s":"\#(Self.symbols[trade.symbol])","t":\#(time),"v":\#(trade.size)}"#
            }
            add(milliseconds, #"{"data":[\#(data.joined(separator: ","))],"type":"trade"}"#)
        }
        // A random walk that is the same on every platform.
        var state: UInt64 = 20_260_101
        func next(_ bound: UInt64) -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state >> 33) % bound
        }
        var time: Int64 = 100
        while time < 10_000 {
            let count = 1 + next(3)
            trade(
                time,
                (0..<count).map { _ in
                    let symbol = Int(next(3))
                    let price = ["60000", "2600", "180"][symbol] + ".\(10 + next(80))"
                    return (symbol, price, "0.0\(1 + next(9))")
                }
            )
            // A third of the messages arrive at the same instant as the preceding one.
            time += next(3) == 0 ? 0 : Int64(20 + next(240))
        }
        add(10_000, #"{"type":"ping"}"#)
        if self.hasGap {
            let from = Self.start + 10_000_000_000
            let gap = Gap(from: from, to: from + 12_000_000_000, reason: "lost", nextSequence: 7)
            recording.gap(gap, at: 22_000_000_000)
        }
        trade(22_000, [(0, self.peak, "0.5"), (1, "2601.5", "1")])
        trade(22_500, [(1, "2601.25", "0.25")])
        add(23_000, #"{"data":[{"p":"x"}],"type":"trade"}"#)
        trade(24_000, [(2, "179.5", "3")])
        trade(36_100, [(1, "2599.75", "0.125")])
        return String(buffer: recording.bytes)
    }
}
