import NIOCore

/// The encoder of CBOR messages (RFC 8949). Lengths and integers take their shortest form.
enum CBOREncoder {
    static func write(_ value: WAMPValue, into buffer: inout ByteBuffer) {
        switch value {
        case .null: buffer.writeInteger(0xF6, as: UInt8.self)
        case .bool(let bool): buffer.writeInteger(bool ? 0xF5 : 0xF4, as: UInt8.self)
        case .integer(let integer):
            // -1 - n has the bits of ~n.
            Self.head(integer < 0 ? 1 : 0, UInt64(bitPattern: integer < 0 ? ~integer : integer), &buffer)
        case .large(let integer): Self.head(0, integer, &buffer)
        // A JSON number always is a floating-point number, too.
        case .decimal(let digits): Self.write(Double(digits) ?? .nan, into: &buffer)
        case .double(let double): Self.write(double, into: &buffer)
        case .text(let text):
            Self.head(3, UInt64(text.utf8.count), &buffer)
            buffer.writeString(text)
        case .bytes(let bytes):
            Self.head(2, UInt64(bytes.readableBytes), &buffer)
            buffer.writeImmutableBuffer(bytes)
        case .list(let values):
            Self.head(4, UInt64(values.count), &buffer)
            for value in values { Self.write(value, into: &buffer) }
        case .dictionary(let dictionary):
            Self.head(5, UInt64(dictionary.entries.count), &buffer)
            for entry in dictionary.entries {
                Self.write(.text(entry.key), into: &buffer)
                Self.write(entry.value, into: &buffer)
            }
        case .json(let json): Self.write(WAMPJSONEncoder.value(ofOwn: json), into: &buffer)
        }
    }

    private static func write(_ double: Double, into buffer: inout ByteBuffer) {
        buffer.writeMultipleIntegers(0xFB as UInt8, double.bitPattern)
    }

    /// Writes the major type and the number of an item.
    private static func head(_ type: UInt8, _ argument: UInt64, _ buffer: inout ByteBuffer) {
        let first = type << 5
        switch argument {
        case 0...23: buffer.writeInteger(first | UInt8(argument))
        case 24...0xFF: buffer.writeMultipleIntegers(first | 24, UInt8(argument))
        case 0x100...0xFFFF: buffer.writeMultipleIntegers(first | 25, UInt16(argument))
        case 0x1_0000...0xFFFF_FFFF: buffer.writeMultipleIntegers(first | 26, UInt32(argument))
        case _: buffer.writeMultipleIntegers(first | 27, argument)
        }
    }
}
