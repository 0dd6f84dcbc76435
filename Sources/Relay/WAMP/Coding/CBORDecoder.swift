import NIOCore

/// The decoder of CBOR messages (RFC 8949). A tag is skipped, except those of numbers that WAMP's values cannot hold.
struct CBORDecoder: WAMPBinaryDecoder {
    /// The first byte of an item: its major type (0 to 7) and its additional information (0 to 31).
    private struct Head {
        let type: UInt8
        let info: UInt8

        init(_ byte: UInt8) {
            self.type = byte >> 5
            self.info = byte & 0x1F
        }

        /// Whether the length is indefinite, or in type 7 the item is a break.
        var isIndefinite: Bool { self.info == 31 }
    }

    /// The byte that ends an item of indefinite length.
    private static let breakByte: UInt8 = 0xFF
    /// The tags of integers and fractions that need more than 64 bits (RFC 8949, 3.4.3 and 3.4.4).
    private static let bigNumbers: ClosedRange<UInt64> = 2...5

    var input: ByteBuffer

    mutating func value(depth: Int) throws(WAMPCodingFault) -> WAMPValue {
        let head = Head(try self.read(UInt8.self))
        switch head.type {
        case 0: return .number(try self.argument(head))
        case 1:
            let argument = try self.argument(head)
            guard argument <= UInt64(Int64.max) else { throw .malformed }
            return .integer(-1 - Int64(argument))
        case 2: return .bytes(try self.string(head))
        case 3: return try Self.text(try self.string(head))
        case 4 where head.isIndefinite: return try self.openList(depth: depth)
        case 4: return try self.list(try self.count(head), depth: depth)
        case 5 where head.isIndefinite: return try self.openDictionary(depth: depth)
        case 5: return try self.dictionary(try self.count(head), depth: depth)
        case 6:
            let tag = try self.argument(head)
            guard !Self.bigNumbers.contains(tag) else { throw .malformed }
            guard depth < WAMPValue.maximumDepth else { throw .tooDeep }
            return try self.value(depth: depth + 1)
        case _: return try self.simple(head)
        }
    }

    /// Reads the number behind a first byte.
    private mutating func argument(_ head: Head) throws(WAMPCodingFault) -> UInt64 {
        switch head.info {
        case 0...23: UInt64(head.info)
        case 24: UInt64(try self.read(UInt8.self))
        case 25: UInt64(try self.read(UInt16.self))
        case 26: UInt64(try self.read(UInt32.self))
        case 27: try self.read(UInt64.self)
        case _: throw .malformed
        }
    }

    /// Reads a length or a number of elements; what no message can hold becomes the largest.
    private mutating func count(_ head: Head) throws(WAMPCodingFault) -> Int { Int(clamping: try self.argument(head)) }

    /// Takes the break of an item of indefinite length, if it comes next.
    private mutating func takeBreak() throws(WAMPCodingFault) -> Bool {
        guard let next = self.input.getInteger(at: self.input.readerIndex, as: UInt8.self) else { throw .cutShort }
        guard next == Self.breakByte else { return false }
        self.input.moveReaderIndex(forwardBy: 1)
        return true
    }

    /// Reads the bytes of a text or of a byte string, whose pieces have definite lengths.
    private mutating func string(_ head: Head) throws(WAMPCodingFault) -> ByteBuffer {
        guard head.isIndefinite else { return try self.slice(try self.count(head)) }
        var whole = ByteBuffer()
        while !(try self.takeBreak()) {
            let piece = Head(try self.read(UInt8.self))
            guard piece.type == head.type, !piece.isIndefinite else { throw .malformed }
            whole.writeImmutableBuffer(try self.string(piece))
        }
        return whole
    }

    /// Reads the elements of a list of indefinite length.
    private mutating func openList(depth: Int) throws(WAMPCodingFault) -> WAMPValue {
        guard depth < WAMPValue.maximumDepth else { throw .tooDeep }
        var values: [WAMPValue] = []
        while !(try self.takeBreak()) { values.append(try self.value(depth: depth + 1)) }
        return .list(values)
    }

    /// Reads the entries of a dictionary of indefinite length.
    private mutating func openDictionary(depth: Int) throws(WAMPCodingFault) -> WAMPValue {
        guard depth < WAMPValue.maximumDepth else { throw .tooDeep }
        var entries: [WAMPDictionary.Entry] = []
        while !(try self.takeBreak()) { entries.append(try self.entry(depth: depth + 1)) }
        return .dictionary(WAMPDictionary(entries))
    }

    /// Reads a literal or a floating-point number.
    private mutating func simple(_ head: Head) throws(WAMPCodingFault) -> WAMPValue {
        switch head.info {
        case 20: .bool(false)
        case 21: .bool(true)
        case 22, 23: .null  // null and undefined
        case 25: .double(Double(HalfFloat.float(try self.read(UInt16.self))))
        case 26: .double(Double(Float(bitPattern: try self.read(UInt32.self))))
        case 27: .double(Double(bitPattern: try self.read(UInt64.self)))
        case _: throw .malformed
        }
    }
}
