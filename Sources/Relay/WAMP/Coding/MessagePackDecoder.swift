import NIOCore

/// The decoder of MessagePack messages. Extension types are refused: WAMP has no value for them.
struct MessagePackDecoder: WAMPBinaryDecoder {
    var input: ByteBuffer

    mutating func value(depth: Int) throws(WAMPCodingFault) -> WAMPValue {
        let type = try self.read(UInt8.self)
        switch type {
        case 0x00...0x7F: return .integer(Int64(type))
        case 0x80...0x8F: return try self.dictionary(Int(type & 0x0F), depth: depth)
        case 0x90...0x9F: return try self.list(Int(type & 0x0F), depth: depth)
        case 0xA0...0xBF: return try self.text(Int(type & 0x1F))
        case 0xC0: return .null
        case 0xC2: return .bool(false)
        case 0xC3: return .bool(true)
        case 0xC4: return .bytes(try self.slice(Int(try self.read(UInt8.self))))
        case 0xC5: return .bytes(try self.slice(Int(try self.read(UInt16.self))))
        case 0xC6: return .bytes(try self.slice(Int(try self.read(UInt32.self))))
        case 0xCA: return .double(Double(Float(bitPattern: try self.read(UInt32.self))))
        case 0xCB: return .double(Double(bitPattern: try self.read(UInt64.self)))
        case 0xCC: return .integer(Int64(try self.read(UInt8.self)))
        case 0xCD: return .integer(Int64(try self.read(UInt16.self)))
        case 0xCE: return .integer(Int64(try self.read(UInt32.self)))
        case 0xCF: return .number(try self.read(UInt64.self))
        case 0xD0: return .integer(Int64(try self.read(Int8.self)))
        case 0xD1: return .integer(Int64(try self.read(Int16.self)))
        case 0xD2: return .integer(Int64(try self.read(Int32.self)))
        case 0xD3: return .integer(try self.read(Int64.self))
        case 0xD9: return try self.text(Int(try self.read(UInt8.self)))
        case 0xDA: return try self.text(Int(try self.read(UInt16.self)))
        case 0xDB: return try self.text(Int(try self.read(UInt32.self)))
        case 0xDC: return try self.list(Int(try self.read(UInt16.self)), depth: depth)
        case 0xDD: return try self.list(Int(try self.read(UInt32.self)), depth: depth)
        case 0xDE: return try self.dictionary(Int(try self.read(UInt16.self)), depth: depth)
        case 0xDF: return try self.dictionary(Int(try self.read(UInt32.self)), depth: depth)
        case 0xE0...0xFF: return .integer(Int64(Int8(bitPattern: type)))
        // The unused code, and extensions.
        case _: throw .malformed
        }
    }

    private mutating func text(_ count: Int) throws(WAMPCodingFault) -> WAMPValue {
        try Self.text(try self.slice(count))
    }
}
