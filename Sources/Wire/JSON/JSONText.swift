import CJSONText
package import Market
package import NIOCore

/// The primitives of the JSON encoders, which write straight into a buffer.
package enum JSONText {
    /// Writes `text` as a JSON string with its quotation marks (RFC 8259, 7), escaping only what must be escaped.
    package static func escape(_ text: String, into buffer: inout ByteBuffer) {
        var text = text
        text.withUTF8 { Self.escape(UnsafeRawBufferPointer($0), into: &buffer) }
    }

    /// Writes UTF-8 bytes as a JSON string with its quotation marks.
    package static func escape(_ bytes: UnsafeRawBufferPointer, into buffer: inout ByteBuffer) {
        buffer.writeInteger(UInt8(ascii: "\""))
        var start = 0
        while start < bytes.count, let input = bytes.baseAddress {
            // In pieces, because each byte may become six.
            let end = min(start + Self.escapedAtOnce, bytes.count)
            buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: 6 * (end - start)) { out in
                let target = out.baseAddress.unsafelyUnwrapped
                // Up to a byte that is neither plain nor a quotation mark.
                let usual = tickertape_escape_quotes(input + start, end - start, target)
                guard usual.read < end - start else { return usual.written }
                return usual.written + Self.escape(bytes, start + usual.read..<end, into: target + usual.written)
            }
            start = end
        }
        buffer.writeInteger(UInt8(ascii: "\""))
    }

    /// The number of bytes escaped at a time.
    private static let escapedAtOnce = 1_024

    /// Writes the escaped form into sufficient space; returns its length.
    private static func escape(
        _ bytes: UnsafeRawBufferPointer,
        _ range: Range<Int>,
        into out: UnsafeMutableRawPointer
    ) -> Int {
        let input = bytes.baseAddress.unsafelyUnwrapped
        var to = 0
        for from in range {
            let byte = input.load(fromByteOffset: from, as: UInt8.self)
            if byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\") {
                out.storeBytes(of: byte, toByteOffset: to, as: UInt8.self)
                to &+= 1
                continue
            }
            out.storeBytes(of: UInt8(ascii: "\\"), toByteOffset: to, as: UInt8.self)
            if let letter = Self.letter(of: byte) {
                out.storeBytes(of: letter, toByteOffset: to &+ 1, as: UInt8.self)
                to &+= 2
            } else {
                let digits: StaticString = "0123456789abcdef"
                let code: StaticString = "u00"
                (out + to + 1).copyMemory(from: code.utf8Start, byteCount: 3)
                out.storeBytes(of: digits.utf8Start[Int(byte >> 4)], toByteOffset: to &+ 4, as: UInt8.self)
                out.storeBytes(of: digits.utf8Start[Int(byte & 15)], toByteOffset: to &+ 5, as: UInt8.self)
                to &+= 6
            }
        }
        return to
    }

    /// The letter after the backslash; `nil` if the byte has no one-letter escape.
    @inline(__always)
    private static func letter(of byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): byte
        case 0x08: UInt8(ascii: "b")
        case 0x0C: UInt8(ascii: "f")
        case 0x0A: UInt8(ascii: "n")
        case 0x0D: UInt8(ascii: "r")
        case 0x09: UInt8(ascii: "t")
        default: nil
        }
    }

    /// Returns JSON text for display: characters that ``PrintableText`` would replace are escaped. They occur only
    /// within strings, where an escape is allowed. Any JSON already escapes control characters up to U+001F.
    package static func printable(_ json: some Sequence<UInt8>) -> [UInt8] {
        let bytes = Array(json)
        guard bytes.contains(where: { $0 >= 0x7F }) else { return bytes }
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count + 16)
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
            guard scalar.value >= 0x7F, PrintableText.form(of: scalar) != scalar else {
                text += UTF8.encode(scalar).map(Array.init) ?? []
                continue
            }
            for unit in UTF16.encode(scalar).map(Array.init) ?? [] {
                let digits = String(unit, radix: 16)
                text += Array("\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8)
            }
        }
        return text
    }

    /// Writes a number's digits without quotation marks.
    package static func write(
        _ number: ExactDecimal,
        style: ExactDecimal.TextStyle = .plain,
        into buffer: inout ByteBuffer
    ) {
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: ExactDecimal.maximumTextLength) {
            number.write(to: $0, style: style)
        }
    }

    /// Writes a sum's digits without quotation marks.
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
