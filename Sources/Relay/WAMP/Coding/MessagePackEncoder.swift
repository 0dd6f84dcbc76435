import NIOCore

/// The encoder of MessagePack messages. Each value takes its shortest form.
enum MessagePackEncoder {
    static func write(_ value: WAMPValue, into buffer: inout ByteBuffer) {
        switch value {
        case .null: buffer.writeInteger(0xC0, as: UInt8.self)
        case .bool(let bool): buffer.writeInteger(bool ? 0xC3 : 0xC2, as: UInt8.self)
        case .integer(let integer): Self.write(integer, into: &buffer)
        case .large(let integer): buffer.writeMultipleIntegers(0xCF as UInt8, integer)
        // A JSON number always is a floating-point number, too.
        case .decimal(let digits): Self.write(Double(digits) ?? .nan, into: &buffer)
        case .double(let double): Self.write(double, into: &buffer)
        case .text(let text):
            Self.head(text.utf8.count, short: 0xA0, shortLimit: 32, byte: 0xD9, word: 0xDA, long: 0xDB, &buffer)
            buffer.writeString(text)
        case .bytes(let bytes):
            Self.head(bytes.readableBytes, short: 0, shortLimit: 0, byte: 0xC4, word: 0xC5, long: 0xC6, &buffer)
            buffer.writeImmutableBuffer(bytes)
        case .list(let values):
            Self.head(values.count, short: 0x90, shortLimit: 16, byte: nil, word: 0xDC, long: 0xDD, &buffer)
            for value in values { Self.write(value, into: &buffer) }
        case .dictionary(let dictionary):
            Self.head(dictionary.entries.count, short: 0x80, shortLimit: 16, byte: nil, word: 0xDE, long: 0xDF, &buffer)
            for entry in dictionary.entries {
                Self.write(.text(entry.key), into: &buffer)
                Self.write(entry.value, into: &buffer)
            }
        case .json(let json): Self.write(WAMPJSONEncoder.value(ofOwn: json), into: &buffer)
        }
    }

    private static func write(_ double: Double, into buffer: inout ByteBuffer) {
        buffer.writeMultipleIntegers(0xCB as UInt8, double.bitPattern)
    }

    private static func write(_ integer: Int64, into buffer: inout ByteBuffer) {
        switch integer {
        case 0...0x7F: buffer.writeInteger(UInt8(integer))
        case 0x80...0xFF: buffer.writeMultipleIntegers(0xCC as UInt8, UInt8(integer))
        case 0x100...0xFFFF: buffer.writeMultipleIntegers(0xCD as UInt8, UInt16(integer))
        case 0x1_0000...0xFFFF_FFFF: buffer.writeMultipleIntegers(0xCE as UInt8, UInt32(integer))
        case 0x1_0000_0000...: buffer.writeMultipleIntegers(0xCF as UInt8, UInt64(integer))
        case -0x20..<0: buffer.writeInteger(Int8(integer))
        case -0x80 ..< -0x20: buffer.writeMultipleIntegers(0xD0 as UInt8, Int8(integer))
        case -0x8000 ..< -0x80: buffer.writeMultipleIntegers(0xD1 as UInt8, Int16(integer))
        case -0x8000_0000 ..< -0x8000: buffer.writeMultipleIntegers(0xD2 as UInt8, Int32(integer))
        case _: buffer.writeMultipleIntegers(0xD3 as UInt8, integer)
        }
    }

    /// Writes the first bytes of a text, of bytes or of a container.
    ///
    /// - Parameters:
    ///   - count: the length or the number of elements.
    ///   - shortLimit: the number from which on the count has its own bytes.
    private static func head(
        _ count: Int,
        short: UInt8,
        shortLimit: Int,
        byte: UInt8?,
        word: UInt8,
        long: UInt8,
        _ buffer: inout ByteBuffer
    ) {
        if count < shortLimit {
            buffer.writeInteger(short | UInt8(count))
        } else if let byte, count <= 0xFF {
            buffer.writeMultipleIntegers(byte, UInt8(count))
        } else if count <= 0xFFFF {
            buffer.writeMultipleIntegers(word, UInt16(count))
        } else {
            buffer.writeMultipleIntegers(long, UInt32(count))
        }
    }
}
