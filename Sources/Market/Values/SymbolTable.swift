/// The names behind the ``SymbolID``s of one feed, in order of first appearance.
///
/// A value: the feed's loop owns and extends it, and every batch carries the copy that was current. It also recognises
/// symbols in bytes that were just received, without making a `String` of them.
public struct SymbolTable: Sendable {
    /// The most symbols a table holds; more would be a broken or hostile upstream (Finnhub's limit is 50 a connection).
    public static let capacity = 4_096
    /// The longest name a table takes, in bytes of UTF-8.
    public static let maximumNameLength = 128

    @usableFromInline var entries: [SymbolEntry] = []
    /// A hash table with open addressing: the index of an entry, or -1. Never more than half full.
    private var slots: [Int16] = Array(repeating: -1, count: 64)

    public init() {}

    public var count: Int { self.entries.count }

    /// The names in order of first appearance.
    public var names: [String] { self.entries.map(\.name) }

    /// The symbol's name, for an id of this table or of an earlier copy of it.
    public func name(of id: SymbolID) -> String { self.entries[Int(id.index)].name }

    /// The symbol's number if it has one.
    public func id(of name: String) -> SymbolID? {
        var name = name
        return name.withUTF8 { self.id(utf8: UnsafeRawBufferPointer($0)) }
    }

    /// The number of the symbol with this name in UTF-8, if it has one.
    public func id(utf8 name: UnsafeRawBufferPointer) -> SymbolID? {
        let found = self.slots[self.slot(of: name)]
        return found < 0 ? nil : SymbolID(index: UInt16(found))
    }

    /// The symbol's number, given now if it is new; `nil` when the table is full or the name is empty or too long.
    public mutating func intern(_ name: String) -> SymbolID? {
        var name = name
        return name.withUTF8 { self.intern(utf8: UnsafeRawBufferPointer($0)) }
    }

    /// The number of the symbol with this name in UTF-8, given now if it is new; `nil` when the table is full, or the
    /// name is empty, too long or not UTF-8.
    public mutating func intern(utf8 bytes: UnsafeRawBufferPointer) -> SymbolID? {
        var slot = self.slot(of: bytes)
        let found = self.slots[slot]
        if found >= 0 { return SymbolID(index: UInt16(found)) }
        guard
            !bytes.isEmpty, bytes.count <= Self.maximumNameLength, self.entries.count < Self.capacity,
            let name = String(validating: bytes, as: UTF8.self)
        else { return nil }
        if self.entries.count >= self.slots.count / 2 {
            self.grow()
            slot = self.slot(of: bytes)
        }
        let index = self.entries.count
        self.entries.append(SymbolEntry(name: name, utf8: bytes))
        self.slots[slot] = Int16(index)
        return SymbolID(index: UInt16(index))
    }

    /// The slot that holds the name, or the empty one where it belongs.
    private func slot(of bytes: UnsafeRawBufferPointer) -> Int {
        let mask = self.slots.count - 1
        var slot = Int(truncatingIfNeeded: SymbolEntry.hash(bytes)) & mask
        while self.slots[slot] >= 0, !self.entries[Int(self.slots[slot])].isNamed(bytes) { slot = (slot + 1) & mask }
        return slot
    }

    private mutating func grow() {
        self.slots = Array(repeating: -1, count: self.slots.count * 2)
        let mask = self.slots.count - 1
        for index in self.entries.indices {
            var slot = Int(truncatingIfNeeded: self.entries[index].hash) & mask
            while self.slots[slot] >= 0 { slot = (slot + 1) & mask }
            self.slots[slot] = Int16(index)
        }
    }
}

/// One symbol of a table: its name, and what it takes to recognise it in received bytes.
@usableFromInline
struct SymbolEntry: Sendable {
    @usableFromInline let name: String
    @usableFromInline let hash: UInt32
    /// The length of the name in UTF-8 with the quotation mark behind it, or 0 when that is not between 8 and 32.
    @usableFromInline let quotedLength: Int
    /// The name and its quotation mark as words, as they lie in memory: from the start, and up to the end.
    @usableFromInline let head: (UInt64, UInt64)
    @usableFromInline let tail: (UInt64, UInt64)

    init(name: String, utf8 bytes: UnsafeRawBufferPointer) {
        self.name = name
        self.hash = Self.hash(bytes)
        let length = bytes.count + 1
        guard length >= 8, length <= 32 else {
            self.quotedLength = 0
            self.head = (0, 0)
            self.tail = (0, 0)
            return
        }
        let quoted = Array(bytes) + [UInt8(ascii: "\"")]
        let (head, tail) = quoted.withUnsafeBytes { quoted in
            func word(_ offset: Int) -> UInt64 { quoted.loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
            let tail = word(length - 8)
            return length >= 16
                ? ((word(0), word(8)), (word(length - 16), tail))
                : ((word(0), 0), (0, tail))
        }
        self.quotedLength = length
        self.head = head
        self.tail = tail
    }

    /// FNV-1a: short names, no attacker (the table is bounded).
    static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        var hash: UInt32 = 2_166_136_261
        for byte in bytes { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
        return hash
    }

    func isNamed(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var name = self.name
        return name.withUTF8 { $0.count == bytes.count && $0.elementsEqual(bytes) }
    }
}

extension SymbolTable {
    /// The length of the symbol's name and the quotation mark behind it, if that is what stands at `bytes`; else 0.
    ///
    /// It answers 0 for names shorter than 7 or longer than 31 bytes too: they are found by ``id(utf8:)``.
    ///
    /// - Precondition: 32 bytes can be read at `bytes`, and `index` is below ``count``.
    @inlinable
    public func matchQuoted(_ index: Int, at bytes: UnsafeRawPointer) -> Int {
        let entry = self.entries[index]
        let length = entry.quotedLength
        guard length != 0 else { return 0 }
        guard bytes.loadUnaligned(as: UInt64.self) == entry.head.0 else { return 0 }
        guard bytes.loadUnaligned(fromByteOffset: length - 8, as: UInt64.self) == entry.tail.1 else { return 0 }
        guard length > 16 else { return length }
        guard
            bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self) == entry.head.1,
            bytes.loadUnaligned(fromByteOffset: length - 16, as: UInt64.self) == entry.tail.0
        else { return 0 }
        return length
    }
}
