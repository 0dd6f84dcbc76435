/// Frames of the venues' shapes with one trade each: two symbols in runs, prices and sizes of changing lengths.
enum VenueFrames {
    private static let count = 10_000

    static let binance = make { trade in
        let symbol = trade.isFirst ? "BTCUSDT" : "ETHUSDT"
        let time = 1_790_649_901_000 + trade.number / 7
        return #"{"stream":"\#(symbol.lowercased())@trade","data":{"e":"trade","E":\#(time + 1),"s":"\#(symbol)","#
            + #""t":\#(6_720_857_582 + trade.number),"p":"\#(trade.price)000000","q":"\#(trade.size)000","T":\#(time),"#
            + #""m":\#(trade.isBuy),"M":true}}"#
    }

    static let coinbase = make { trade in
        let order = "4edf-469d-b844-4f670f1e93f1"
        return #"{"type":"match","trade_id":\#(1_081_862_675 + trade.number),"#
            + #""maker_order_id":"\#(10_000_000 + trade.number)-\#(order)","#
            + #""taker_order_id":"\#(20_000_000 + trade.number)-\#(order)","side":"\#(trade.isBuy ? "sell" : "buy")","#
            + #""size":"\#(trade.size)","price":"\#(trade.price)","product_id":"\#(trade.isFirst ? "BTC" : "ETH")-USD","#
            + #""sequence":\#(134_905_860_111 + 9 * trade.number),"time":"\#(trade.time)"}"#
    }

    static let kraken = make { trade in
        #"{"channel":"trade","type":"update","data":[{"symbol":"\#(trade.isFirst ? "BTC" : "ETH")/USD","#
            + #""side":"\#(trade.isBuy ? "buy" : "sell")","price":\#(trade.price.dropLast()),"qty":\#(trade.size)000,"#
            + #""ord_type":"\#(trade.isBuy ? "limit" : "market")","trade_id":\#(109_116_693 + trade.number),"#
            + #""timestamp":"\#(trade.time)"}]}"#
    }

    /// Prints the frames of a venue as a recording.
    static func print(of venue: String) {
        let frames = ["binance": Self.binance, "coinbase": Self.coinbase, "kraken": Self.kraken][venue] ?? []
        for (at, frame) in frames.enumerated() {
            Swift.print(
                #"{"at":\#(at),"frame":"\#(frame.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: #"\""#))"}"#
            )
        }
    }

    /// One trade's values.
    private struct Values {
        var number: Int
        var isFirst: Bool
        var isBuy: Bool
        /// With two decimals.
        var price: String
        /// With five decimals.
        var size: String
        var time: String
    }

    private static func make(_ frame: (Values) -> String) -> [String] {
        var chance = Chance()
        var isFirst = true
        return (0..<Self.count).map { number in
            if UInt8.random(in: 0..<8, using: &chance) == 0 { isFirst.toggle() }
            let cents = isFirst ? Int.random(in: 8_300_000..<8_400_000, using: &chance) : 268_000 + number % 500
            let size = Int.random(in: 1..<[100, 10_000, 1_000_000][number % 3], using: &chance)
            return frame(
                Values(
                    number: number,
                    isFirst: isFirst,
                    isBuy: Bool.random(using: &chance),
                    price: "\(cents / 100).\(Self.padded(cents % 100, 2))",
                    size: "\(size / 100_000).\(Self.padded(size % 100_000, 5))",
                    time: "2026-09-25T17:48:26.\(Self.padded(number * 97 % 1_000_000, 6))Z"
                )
            )
        }
    }

    /// A generator of the same numbers in each run (splitmix64).
    private struct Chance: RandomNumberGenerator {
        var state: UInt64 = 0xBE4C

        mutating func next() -> UInt64 {
            self.state &+= 0x9E37_79B9_7F4A_7C15
            var number = (self.state ^ self.state >> 30) &* 0xBF58_476D_1CE4_E5B9
            number = (number ^ number >> 27) &* 0x94D0_49BB_1331_11EB
            return number ^ number >> 31
        }
    }

    private static func padded(_ number: Int, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
}
