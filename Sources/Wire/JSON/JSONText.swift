package import Market
package import NIOCore

/// The pieces of JSON text that the encoders are made of, written straight into a buffer.
package enum JSONText {
    /// Writes `text` as a JSON string with its quotation marks (RFC 8259, 7): only what must be escaped is.
    package static func escape(_ text: String, into buffer: inout ByteBuffer) {
        var text = text
        text.withUTF8 { Self.escape(UnsafeRawBufferPointer($0), into: &buffer) }
    }

    /// Writes UTF-8 bytes as a JSON string with its quotation marks.
    package static func escape(_ bytes: UnsafeRawBufferPointer, into buffer: inout ByteBuffer) {
        buffer.writeInteger(UInt8(ascii: "\""))
        var start = 0
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else { continue }
            buffer.writeBytes(UnsafeRawBufferPointer(rebasing: bytes[start..<index - 1]))
            start = index
            Self.writeEscape(of: byte, into: &buffer)
        }
        buffer.writeBytes(UnsafeRawBufferPointer(rebasing: bytes[start...]))
        buffer.writeInteger(UInt8(ascii: "\""))
    }

    private static func writeEscape(of byte: UInt8, into buffer: inout ByteBuffer) {
        buffer.writeInteger(UInt8(ascii: "\\"))
        switch byte {
        case 0x08: buffer.writeInteger(UInt8(ascii: "b"))
        case 0x0C: buffer.writeInteger(UInt8(ascii: "f"))
        case 0x0A: buffer.writeInteger(UInt8(ascii: "n"))
        case 0x0D: buffer.writeInteger(UInt8(ascii: "r"))
        case 0x09: buffer.writeInteger(UInt8(ascii: "t"))
        case 0..<0x20:
            buffer.writeStaticString("u00")
            let digits: StaticString = "0123456789abcdef"
            buffer.writeInteger(digits.utf8Start[Int(byte >> 4)])
            buffer.writeInteger(digits.utf8Start[Int(byte & 15)])
        default: buffer.writeInteger(byte)
        }
    }

    /// Writes the number's digits, without quotation marks.
    package static func write(
        _ number: ExactDecimal,
        style: ExactDecimal.TextStyle = .plain,
        into buffer: inout ByteBuffer
    ) {
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: ExactDecimal.maximumTextLength) {
            number.write(to: $0, style: style)
        }
    }

    /// Writes the sum's digits, without quotation marks.
    package static func write(_ sum: ExactSum, into buffer: inout ByteBuffer) {
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: ExactDecimal.maximumTextLength) { sum.write(to: $0) }
    }

    /// Writes an integer's digits.
    package static func write(_ integer: some FixedWidthInteger, into buffer: inout ByteBuffer) {
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: 24) { bytes in
            var start = 24
            var rest = UInt64(integer.magnitude)
            repeat {
                let (quotient, remainder) = rest.quotientAndRemainder(dividingBy: 10)
                start -= 1
                bytes[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: remainder)
                rest = quotient
            } while rest != 0
            if integer < 0 {
                start -= 1
                bytes[start] = UInt8(ascii: "-")
            }
            for index in start..<24 { bytes[index - start] = bytes[index] }
            return 24 - start
        }
    }
}
