package import NIOCore

/// Base64 (RFC 4648): the form of bytes in WAMP's JSON (WAMP, 2.2.1), in JetStream's, in JWTs and in the signatures of
/// NATS.
package enum Base64 {
    package enum Form: Sendable {
        /// With padding (RFC 4648, 4).
        case standard
        /// With the alphabet for URLs, without padding (RFC 4648, 5).
        case url
    }

    private static let standard = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let url: [UInt8] = Self.standard.dropLast(2) + Array("-_".utf8)
    private static let padding = UInt8(ascii: "=")

    /// Writes bytes as text.
    package static func write(_ bytes: ByteBufferView, as form: Form = .standard, into buffer: inout ByteBuffer) {
        let alphabet =
            switch form {
            case .standard: Self.standard
            case .url: Self.url
            }
        var rest = bytes
        buffer.reserveCapacity(minimumWritableBytes: (bytes.count + 2) / 3 * 4)
        while !rest.isEmpty {
            let group = rest.prefix(3)
            rest = rest.dropFirst(3)
            let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for digit in 0...group.count { buffer.writeInteger(alphabet[bits >> (18 - 6 * digit) & 0x3F]) }
            guard form == .standard else { continue }
            for _ in group.count..<3 { buffer.writeInteger(Self.padding) }
        }
    }

    /// Returns bytes as text.
    package static func text(_ bytes: [UInt8], as form: Form) -> String {
        var buffer = ByteBuffer()
        Self.write(ByteBuffer(bytes: bytes).readableBytesView, as: form, into: &buffer)
        return String(buffer: buffer)
    }

    /// Returns the bytes of a text; `nil` if it has another character or is not whole, with the padding of its form.
    package static func decode(_ text: Substring.UTF8View, as form: Form = .standard) -> ByteBuffer? {
        var digits = text
        switch form {
        case .standard:
            guard text.count % 4 == 0 else { return nil }
            for _ in 0..<2 where digits.last == Self.padding { digits.removeLast() }
        case .url: break
        }
        guard digits.count % 4 != 1 else { return nil }
        var bytes = ByteBuffer()
        bytes.reserveCapacity(digits.count / 4 * 3 + 2)
        var (bits, count) = (0, 0)
        for digit in digits {
            guard let value = Self.value(digit, form) else { return nil }
            bits = (bits << 6 | value) & 0xFFFF
            count += 6
            guard count >= 8 else { continue }
            count -= 8
            bytes.writeInteger(UInt8(truncatingIfNeeded: bits >> count))
        }
        return bytes
    }

    private static func value(_ digit: UInt8, _ form: Form) -> Int? {
        switch (digit, form) {
        case (UInt8(ascii: "A")...UInt8(ascii: "Z"), _): Int(digit - UInt8(ascii: "A"))
        case (UInt8(ascii: "a")...UInt8(ascii: "z"), _): Int(digit - UInt8(ascii: "a")) + 26
        case (UInt8(ascii: "0")...UInt8(ascii: "9"), _): Int(digit - UInt8(ascii: "0")) + 52
        case (UInt8(ascii: "+"), .standard), (UInt8(ascii: "-"), .url): 62
        case (UInt8(ascii: "/"), .standard), (UInt8(ascii: "_"), .url): 63
        default: nil
        }
    }
}
