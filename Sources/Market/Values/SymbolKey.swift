/// The data by which a symbol of a table is recognised in received bytes.
@usableFromInline
struct SymbolKey: Sendable {
    @usableFromInline let hash: UInt32
    /// The length of the name in UTF-8 with the quotation mark after it; 0 if that is not between 8 and 32, or if JSON
    /// would escape a character of the name.
    @usableFromInline let quotedLength: Int
    /// The name and its quotation mark as words in memory order: the first words, and the last words.
    @usableFromInline let head: (UInt64, UInt64)
    @usableFromInline let tail: (UInt64, UInt64)

    init(utf8 bytes: UnsafeRawBufferPointer) {
        self.hash = Self.hash(bytes)
        let length = bytes.count + 1
        let isPlain = bytes.allSatisfy { $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
        guard length >= 8, length <= 32, isPlain else {
            self.quotedLength = 0
            self.head = (0, 0)
            self.tail = (0, 0)
            return
        }
        let quoted = Array(bytes) + [UInt8(ascii: "\"")]
        let (head, tail) = quoted.withUnsafeBytes { quoted in
            func word(_ offset: Int) -> UInt64 { quoted.loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
            let last = word(length - 8)
            return length > 16 ? ((word(0), word(8)), (word(length - 16), last)) : ((word(0), 0), (0, last))
        }
        self.quotedLength = length
        self.head = head
        self.tail = tail
    }

    /// Computes a hash of a name: of its length and of its first and last 16 bytes, a word at a time if there are at
    /// least 8 bytes.
    ///
    /// Names that differ only in the middle are rare, and merely collide. The table is bounded, which limits what
    /// deliberate collisions cost.
    static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        var hash = UInt64(bytes.count) &* 0x9E37_79B9_7F4A_7C15
        func mix(_ word: UInt64) {
            hash = (hash ^ word) &* 0x9FB2_1C65_1E98_DF25
            hash ^= hash >> 32
        }
        if bytes.count >= 8 {
            mix(bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self))
            mix(bytes.loadUnaligned(fromByteOffset: bytes.count - 8, as: UInt64.self))
            if bytes.count > 16 {
                mix(bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
                mix(bytes.loadUnaligned(fromByteOffset: bytes.count - 16, as: UInt64.self))
            }
        } else {
            for byte in bytes { mix(UInt64(byte)) }
        }
        return UInt32(truncatingIfNeeded: hash)
    }

    /// Returns the length of the name with its quotation mark if they stand at `bytes`, otherwise 0.
    ///
    /// - Precondition: 32 bytes can be read at `bytes`.
    @inlinable
    func matchQuoted(at bytes: UnsafeRawPointer) -> Int {
        let length = self.quotedLength
        guard
            length != 0,
            bytes.loadUnaligned(as: UInt64.self) == self.head.0,
            bytes.loadUnaligned(fromByteOffset: length - 8, as: UInt64.self) == self.tail.1
        else { return 0 }
        guard length > 16 else { return length }
        guard
            bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self) == self.head.1,
            bytes.loadUnaligned(fromByteOffset: length - 16, as: UInt64.self) == self.tail.0
        else { return 0 }
        return length
    }
}
