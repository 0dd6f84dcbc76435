/// Finnhub's trade frames. The time of each trade encodes a sequence number.
enum TradeMessage {
    static let symbol = "BINANCE:BTCUSDT"
    /// The exchange's time of trade 0, ms since 1970.
    static let firstTime = 1_700_000_000_000
    /// `"t":`
    private static let timeKey = UInt32(bigEndian: 0x2274_223A)

    /// Returns the message with the trade of that number as a server's frame.
    static func frame(number: Int, price: String? = nil) -> [UInt8] { Self.frame([Self.trade(number, price: price)]) }

    /// Returns a message with the trades of these numbers as a server's frame.
    static func frame(numbers: Range<Int>) -> [UInt8] { Self.frame(numbers.map { Self.trade($0, price: nil) }) }

    private static func frame(_ trades: [String]) -> [UInt8] {
        let text = #"{"data":[\#(trades.joined(separator: ","))],"type":"trade"}"#
        return WebSocketText.serverFrame(opcode: 0x1, Array(text.utf8))
    }

    private static func trade(_ number: Int, price: String?) -> String {
        // Every price differs from the preceding one, as in a real market.
        let price = price ?? "\(61_000 + number % 1_000).\(number % 9 + 1)"
        let time = Self.firstTime + number
        return #"{"c":null,"p":\#(price),"s":"\#(Self.symbol)","t":\#(time),"v":0.02}"#
    }

    /// Returns the number of a message that passed a relay; `nil` for any other message.
    static func number(in payload: UnsafeRawBufferPointer) -> Int? {
        var here = 0
        while here + 17 <= payload.count {
            if payload.loadUnaligned(fromByteOffset: here, as: UInt32.self) == Self.timeKey {
                return payload[here + 4..<here + 17].reduce(0) { $0 * 10 + Int($1) - 48 } - Self.firstTime
            }
            here += 1
        }
        return nil
    }
}
