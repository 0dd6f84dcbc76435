/// Finnhub's trade frames with one trade, whose time encodes a sequence number.
enum TradeMessage {
    static let symbol = "BINANCE:BTCUSDT"
    /// The exchange's time of message 0, ms since 1970.
    private static let firstTime = 1_700_000_000_000
    /// `"t":`
    private static let timeKey = UInt32(bigEndian: 0x2274_223A)

    /// Returns the message with that number as a server's frame.
    static func frame(number: Int, price: String? = nil) -> [UInt8] {
        // Every price differs from the preceding one, as in a real market.
        let price = price ?? "\(61_000 + number % 1_000).\(number % 9 + 1)"
        let time = Self.firstTime + number
        let trade = #"{"c":null,"p":\#(price),"s":"\#(Self.symbol)","t":\#(time),"v":0.02}"#
        return WebSocketText.serverFrame(opcode: 0x1, Array(#"{"data":[\#(trade)],"type":"trade"}"#.utf8))
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
