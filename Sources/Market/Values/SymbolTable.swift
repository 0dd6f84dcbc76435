/// The names of the ``SymbolID``s of one feed, in order of first appearance.
///
/// A value: the feed's loop owns and extends it, and every batch carries the copy that was current. It also recognises
/// symbols in received bytes without creating a `String`.
public struct SymbolTable: Sendable {
    /// The largest number of symbols. More would mean a broken or hostile upstream (Finnhub's limit is 50 a
    /// connection).
    public static let capacity = 4_096
    /// The longest name, in bytes of UTF-8.
    public static let maximumNameLength = 128

    /// The names in order of first appearance.
    public private(set) var names: [String] = []
    @usableFromInline var keys: [SymbolKey] = []
    /// A hash table with open addressing: the index of an entry, or -1. At most half of it is in use.
    private var slots: [Int16] = Array(repeating: -1, count: 64)

    public init() {}

    @inlinable
    public var count: Int { self.keys.count }

    /// Whether the table can take no further symbol.
    public var isFull: Bool { self.keys.count >= Self.capacity }
    /// The number of trades left out because the table was full; written by the parser.
    public internal(set) var leftOut = 0

    /// Counts a trade left out because the table is full.
    package mutating func noteLeftOut() { self.leftOut += 1 }

    /// Returns the symbol's name, for an id of this table or of an earlier copy of it.
    public func name(of id: SymbolID) -> String { self.names[Int(id.index)] }

    /// Returns the symbol's number, if it has one.
    public func id(of name: String) -> SymbolID? {
        var name = name
        return name.withUTF8 { self.id(utf8: UnsafeRawBufferPointer($0)) }
    }

    /// Returns the number of the symbol with this name in UTF-8, if it has one.
    public func id(utf8 name: UnsafeRawBufferPointer) -> SymbolID? {
        let found = self.slots[self.slot(of: name)]
        return found < 0 ? nil : SymbolID(index: UInt16(found))
    }

    /// Returns the symbol's number, a new one for a new symbol; `nil` if the table is full or the name is empty or too
    /// long.
    public mutating func intern(_ name: String) -> SymbolID? {
        var name = name
        return name.withUTF8 { self.intern(utf8: UnsafeRawBufferPointer($0)) }
    }

    /// Returns the number of the symbol with this name in UTF-8, a new one for a new symbol; `nil` if the table is
    /// full, or the name is empty, too long or not UTF-8.
    public mutating func intern(utf8 bytes: UnsafeRawBufferPointer) -> SymbolID? {
        var slot = self.slot(of: bytes)
        let found = self.slots[slot]
        if found >= 0 { return SymbolID(index: UInt16(found)) }
        guard self.keys.count < Self.capacity, let name = Self.name(utf8: bytes) else { return nil }
        if self.keys.count >= self.slots.count / 2 {
            self.grow()
            slot = self.slot(of: bytes)
        }
        let index = self.keys.count
        self.names.append(name)
        self.keys.append(SymbolKey(utf8: bytes))
        self.slots[slot] = Int16(index)
        return SymbolID(index: UInt16(index))
    }

    /// Returns whether a table with free space accepts the name.
    package static func isName(_ bytes: UnsafeRawBufferPointer) -> Bool { Self.name(utf8: bytes) != nil }

    /// Returns the bytes as a name; `nil` if they are empty, too many or not UTF-8. Names that ``SymbolName`` refuses
    /// are accepted here: no trade of the market is left out because of its symbol's name.
    private static func name(utf8 bytes: UnsafeRawBufferPointer) -> String? {
        guard !bytes.isEmpty, bytes.count <= Self.maximumNameLength else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Returns the slot that holds the name, or the empty slot where it belongs.
    private func slot(of bytes: UnsafeRawBufferPointer) -> Int {
        let mask = self.slots.count - 1
        var slot = Int(truncatingIfNeeded: SymbolKey.hash(bytes)) & mask
        while self.slots[slot] >= 0, !self.isNamed(Int(self.slots[slot]), bytes) { slot = (slot + 1) & mask }
        return slot
    }

    private func isNamed(_ index: Int, _ bytes: UnsafeRawBufferPointer) -> Bool {
        var name = self.names[index]
        return name.withUTF8 { name in
            guard name.count == bytes.count else { return false }
            for index in 0..<name.count where name[index] != bytes[index] { return false }
            return true
        }
    }

    private mutating func grow() {
        self.slots = Array(repeating: -1, count: self.slots.count * 2)
        let mask = self.slots.count - 1
        for index in self.keys.indices {
            var slot = Int(truncatingIfNeeded: self.keys[index].hash) & mask
            while self.slots[slot] >= 0 { slot = (slot + 1) & mask }
            self.slots[slot] = Int16(index)
        }
    }
}

/// The recognition of symbols in received bytes, each followed by its quotation mark, by comparing words.
extension SymbolTable {
    /// Returns the length of the symbol's name and its quotation mark if they stand at `bytes`, otherwise 0.
    ///
    /// It also returns 0 for names shorter than 7 or longer than 31 bytes; ``id(utf8:)`` finds those.
    ///
    /// - Precondition: 32 bytes can be read at `bytes`, and `index` is below ``count``.
    @inlinable
    public func matchQuoted(_ index: Int, at bytes: UnsafeRawPointer) -> Int {
        self.keys[index].matchQuoted(at: bytes)
    }

    /// Returns the symbol whose name and quotation mark stand at `bytes`, and their length, if it is known and has 7 to
    /// 31 bytes.
    ///
    /// - Precondition: 32 bytes can be read at `bytes`.
    public func findQuoted(at bytes: UnsafeRawPointer) -> (index: Int, length: Int)? {
        var length = 0
        while true {
            let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: length, as: UInt64.self))
            // Marks the lowest byte that is a quotation mark (and perhaps higher bytes that are not).
            let difference = word ^ 0x2222_2222_2222_2222
            let marks = (difference &- 0x0101_0101_0101_0101) & ~difference & 0x8080_8080_8080_8080
            if marks != 0 {
                length += marks.trailingZeroBitCount / 8
                break
            }
            length += 8
            guard length < 32 else { return nil }
        }
        guard length >= 7 else { return nil }
        let mask = self.slots.count - 1
        let name = UnsafeRawBufferPointer(start: bytes, count: length)
        var slot = Int(truncatingIfNeeded: SymbolKey.hash(name)) & mask
        while self.slots[slot] >= 0 {
            let index = Int(self.slots[slot])
            if self.keys[index].matchQuoted(at: bytes) == length + 1 { return (index, length + 1) }
            slot = (slot + 1) & mask
        }
        return nil
    }
}
