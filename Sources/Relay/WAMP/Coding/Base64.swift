import NIOCore

/// Base64 (RFC 4648, 4), the form of bytes in WAMP's JSON (WAMP, 2.2.1).
enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let padding = UInt8(ascii: "=")

    /// Writes bytes as text with padding.
    static func write(_ bytes: ByteBufferView, into buffer: inout ByteBuffer) {
        var rest = bytes
        buffer.reserveCapacity(minimumWritableBytes: (bytes.count + 2) / 3 * 4)
        while !rest.isEmpty {
            let group = rest.prefix(3)
            rest = rest.dropFirst(3)
            let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for digit in 0..<4 {
                buffer.writeInteger(
                    digit <= group.count ? Self.alphabet[bits >> (18 - 6 * digit) & 0x3F] : Self.padding
                )
            }
        }
    }

    /// Returns the bytes of a text; `nil` if it is not whole groups of digits with padding at the end.
    static func decode(_ text: some Collection<UInt8>) -> ByteBuffer? {
        guard text.count % 4 == 0 else { return nil }
        var bytes = ByteBuffer()
        bytes.reserveCapacity(text.count / 4 * 3)
        var bits = 0
        var digits = 0
        var paddings = 0
        for byte in text {
            if byte == Self.padding {
                paddings += 1
                bits <<= 6
            } else {
                guard paddings == 0, let value = Self.value(byte) else { return nil }
                bits = bits << 6 | value
            }
            digits += 1
            guard digits == 4 else { continue }
            // Padding in an earlier group is refused by the digits after it.
            guard paddings <= 2 else { return nil }
            for index in 0..<(3 - paddings) { bytes.writeInteger(UInt8(truncatingIfNeeded: bits >> (16 - 8 * index))) }
            (bits, digits) = (0, 0)
        }
        return bytes
    }

    private static func value(_ digit: UInt8) -> Int? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): Int(digit - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): Int(digit - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(digit - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
