package import Market

/// The line of a trade in the hash of an hour: `id,time,price,size` and a newline.
///
/// The time is in whole µs since 1970, cut. Decimals have no exponent and no trailing zeros, since a venue's REST service
/// and its feed write them differently. Within ``TradeBounds`` every number is short enough to be written in place.
package enum TradeLine {
    /// The space that suffices for any line, bytes.
    private static let maximumLength = 2 * 20 + 2 * ExactDecimal.maximumTextLength + 4

    /// Calls `body` with the line of a trade, whose bytes exist until `body` returns.
    @inline(__always)
    package static func with<Result>(_ trade: Trade, id: UInt64, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        withUnsafeTemporaryAllocation(byteCount: Self.maximumLength, alignment: 8) { buffer in
            body(UnsafeRawBufferPointer(rebasing: buffer[..<Self.write(trade, id: id, to: buffer)]))
        }
    }

    /// Writes a line and returns its length in bytes.
    private static func write(_ trade: Trade, id: UInt64, to buffer: UnsafeMutableRawBufferPointer) -> Int {
        var count = Self.write(id, to: buffer, at: 0)
        buffer[count] = UInt8(ascii: ",")
        count += 1
        let (whole, rest) = trade.exchangeTime.quotientAndRemainder(dividingBy: 1_000)
        let microseconds = rest < 0 ? whole - 1 : whole
        if microseconds < 0 {
            buffer[count] = UInt8(ascii: "-")
            count += 1
        }
        count += Self.write(microseconds.magnitude, to: buffer, at: count)
        for number in [trade.price, trade.size] {
            buffer[count] = UInt8(ascii: ",")
            count += 1
            count += number.write(
                to: UnsafeMutableRawBufferPointer(rebasing: buffer[count...]),
                style: .plain
            )
        }
        buffer[count] = UInt8(ascii: "\n")
        return count + 1
    }

    private static func write(_ number: UInt64, to buffer: UnsafeMutableRawBufferPointer, at start: Int) -> Int {
        var length = 1
        var rest = number
        while rest >= 10 {
            rest /= 10
            length += 1
        }
        rest = number
        for place in stride(from: start + length - 1, through: start, by: -1) {
            buffer[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        return length
    }
}
