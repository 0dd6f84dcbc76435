import NIOCore

/// A decoder of a binary serialisation, with what MessagePack and CBOR have in common.
protocol WAMPBinaryDecoder {
    /// The bytes that are not read yet.
    var input: ByteBuffer { get set }

    init(input: ByteBuffer)

    /// Reads one value.
    mutating func value(depth: Int) throws(WAMPCodingFault) -> WAMPValue
}

extension WAMPBinaryDecoder {
    /// Returns the value of bytes that are exactly one value.
    static func decode(_ message: ByteBuffer) throws(WAMPCodingFault) -> WAMPValue {
        var decoder = Self(input: message)
        let value = try decoder.value(depth: 0)
        guard decoder.input.readableBytes == 0 else { throw .trailingBytes }
        return value
    }

    static func text(_ bytes: ByteBuffer) throws(WAMPCodingFault) -> WAMPValue {
        guard let text = String(validating: bytes.readableBytesView, as: UTF8.self) else { throw .notUTF8 }
        // In JSON it would be read as bytes.
        guard text.utf8.first != 0 else { throw .malformed }
        return .text(text)
    }

    mutating func read<Integer: FixedWidthInteger>(_: Integer.Type) throws(WAMPCodingFault) -> Integer {
        guard let integer = self.input.readInteger(as: Integer.self) else { throw .cutShort }
        return integer
    }

    mutating func slice(_ count: Int) throws(WAMPCodingFault) -> ByteBuffer {
        guard let slice = self.input.readSlice(length: count) else { throw .cutShort }
        return slice
    }

    /// Reads the elements of a list.
    mutating func list(_ count: Int, depth: Int) throws(WAMPCodingFault) -> WAMPValue {
        guard depth < WAMPValue.maximumDepth else { throw .tooDeep }
        // Each element has at least one byte.
        guard count <= self.input.readableBytes else { throw .cutShort }
        var values: [WAMPValue] = []
        values.reserveCapacity(min(count, WAMPValue.reserved))
        for _ in 0..<count { values.append(try self.value(depth: depth + 1)) }
        return .list(values)
    }

    /// Reads the entries of a dictionary.
    mutating func dictionary(_ count: Int, depth: Int) throws(WAMPCodingFault) -> WAMPValue {
        guard depth < WAMPValue.maximumDepth else { throw .tooDeep }
        guard count <= self.input.readableBytes / 2 else { throw .cutShort }
        var entries: [WAMPDictionary.Entry] = []
        entries.reserveCapacity(min(count, WAMPValue.reserved))
        for _ in 0..<count { entries.append(try self.entry(depth: depth + 1)) }
        return .dictionary(WAMPDictionary(entries))
    }

    mutating func entry(depth: Int) throws(WAMPCodingFault) -> WAMPDictionary.Entry {
        guard case .text(let key) = try self.value(depth: depth) else { throw .keyIsNotText }
        return WAMPDictionary.Entry(key: key, value: try self.value(depth: depth))
    }
}
