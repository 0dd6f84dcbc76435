import Market
import NIOCore

/// The digits and times of the venues' frames.
enum VenueDigits {
    /// Writes a number with at least as many decimals as given, by zeros at its end; it is never rounded.
    static func write(_ number: ExactDecimal, decimals: Int, into buffer: inout ByteBuffer) {
        let start = buffer.writerIndex
        JSONText.write(number, into: &buffer)
        guard let text = buffer.getSlice(at: start, length: buffer.writerIndex - start)?.readableBytesView,
            !text.contains(UInt8(ascii: "e"))
        else { return }
        let present = text.firstIndex(of: UInt8(ascii: ".")).map { text.endIndex - $0 - 1 }
        if present == nil, decimals > 0 { buffer.writeStaticString(".") }
        buffer.writeRepeatingByte(UInt8(ascii: "0"), count: max(decimals - (present ?? 0), 0))
    }

    /// Returns ns since 1970 as `2026-08-25T03:35:57.198335Z` (RFC 3339), cut to microseconds.
    static func timestamp(_ nanoseconds: Int64) -> String {
        let rest = nanoseconds % 1_000_000_000
        let fraction = (rest < 0 ? rest + 1_000_000_000 : rest) / 1_000
        let digits = String(1_000_000 + fraction).dropFirst()
        return "\(UTCText.secondStamp(nanoseconds).dropLast()).\(digits)Z"
    }

    /// Returns ns since 1970 in seconds, such as `1790359840.9392912`: with 7 decimals, as Kraken's REST service has them,
    /// or with 9 where fewer would not be exact.
    static func seconds(_ nanoseconds: Int64) -> String {
        let (seconds, rest) = max(nanoseconds, 0).quotientAndRemainder(dividingBy: 1_000_000_000)
        let digits = String(1_000_000_000 + rest).dropFirst()
        return "\(seconds).\(rest % 100 == 0 ? digits.dropLast(2) : digits)"
    }
}
