import NIOCore

/// The decoder of MessagePack messages. Extension types are refused: WAMP has no value for them.
struct MessagePackDecoder {
    private var input: ByteBuffer

    /// Returns the value of bytes that are exactly one value.
    static func decode(_ message: ByteBuffer) throws(WAMPCodingFault) -> WAMPValue {
        var decoder = MessagePackDecoder(input: message)
        let value = try decoder.value(depth: 0)
        guard decoder.input.readableBytes == 0 else { throw .trailingBytes }
        return value
    }

    private mutating func value(depth: Int) throws(WAMPCodingFault) -> WAMPValue {
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

    private mutating func read<Integer: FixedWidthInteger>(_: Integer.Type) throws(WAMPCodingFault) -> Integer {
        guard let integer = self.input.readInteger(as: Integer.self) else { throw .cutShort }
        return integer
    }

    private mutating func slice(_ count: Int) throws(WAMPCodingFault) -> ByteBuffer {
        guard let slice = self.input.readSlice(length: count) else { throw .cutShort }
        return slice
    }

    private mutating func text(_ count: Int) throws(WAMPCodingFault) -> WAMPValue {
        let bytes = try self.slice(count)
        guard let text = String(validating: bytes.readableBytesView, as: UTF8.self) else { throw .notUTF8 }
        // In JSON it would be read as bytes.
        guard text.utf8.first != 0 else { throw .malformed }
        return .text(text)
    }

    private mutating func list(_ count: Int, depth: Int) throws(WAMPCodingFault) -> WAMPValue {
        guard depth < WAMPValue.maximumDepth else { throw .tooDeep }
        // Each element has at least one byte.
        guard count <= self.input.readableBytes else { throw .cutShort }
        var values: [WAMPValue] = []
        values.reserveCapacity(min(count, WAMPValue.reserved))
        for _ in 0..<count { values.append(try self.value(depth: depth + 1)) }
        return .list(values)
    }

    private mutating func dictionary(_ count: Int, depth: Int) throws(WAMPCodingFault) -> WAMPValue {
        guard depth < WAMPValue.maximumDepth else { throw .tooDeep }
        guard count <= self.input.readableBytes / 2 else { throw .cutShort }
        var entries: [WAMPDictionary.Entry] = []
        entries.reserveCapacity(min(count, WAMPValue.reserved))
        for _ in 0..<count {
            guard case .text(let key) = try self.value(depth: depth + 1) else { throw .keyIsNotText }
            entries.append(WAMPDictionary.Entry(key: key, value: try self.value(depth: depth + 1)))
        }
        return .dictionary(WAMPDictionary(entries))
    }
}
