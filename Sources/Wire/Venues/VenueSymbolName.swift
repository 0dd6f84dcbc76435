import Market

/// One of a venue's names, the tape's name for it, and a guess of the tape's number.
struct VenueSymbolName: Sendable {
    private typealias Words = (UInt64, UInt64, UInt64, UInt64)

    /// The length of the venue's name with the quotation mark after it, at most 32.
    let quotedLength: Int
    /// The venue's name with its quotation mark as words in memory order, and the bits of these words that count.
    private let native: Words
    private let mask: Words
    /// The tape's name with a quotation mark.
    private let name: Words
    /// The tape's number, if the table has not changed.
    var index: Int

    /// - Returns: `nil` for a name that is too long for a comparison by words. Those are looked up each time.
    /// - Precondition: `native` has no byte that JSON escapes.
    init?(native: UnsafeRawBufferPointer, name: String, index: Int) {
        guard native.count < 32, (7..<32).contains(name.utf8.count) else { return nil }
        self.quotedLength = native.count + 1
        self.native = Self.words(of: native)
        self.mask = Self.mask(of: native.count + 1)
        var name = name
        self.name = name.withUTF8 { Self.words(of: UnsafeRawBufferPointer($0)) }
        self.index = index
    }

    /// Returns the length of the venue's name and its quotation mark if they stand at `bytes`, otherwise 0.
    ///
    /// - Precondition: 32 bytes can be read at `bytes`.
    @inline(__always)
    func matchQuoted(at bytes: UnsafeRawPointer) -> Int {
        func word(_ offset: Int) -> UInt64 { bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
        let head = (word(0) ^ self.native.0) & self.mask.0 | (word(8) ^ self.native.1) & self.mask.1
        guard head == 0 else { return 0 }
        guard self.quotedLength > 16 else { return self.quotedLength }
        let tail = (word(16) ^ self.native.2) & self.mask.2 | (word(24) ^ self.native.3) & self.mask.3
        return tail == 0 ? self.quotedLength : 0
    }

    /// Returns whether the tape's name has the remembered number in this table.
    @inline(__always)
    func isCurrent(in symbols: SymbolTable) -> Bool {
        guard self.index < symbols.count else { return false }
        return withUnsafeBytes(of: self.name) {
            symbols.matchQuoted(self.index, at: $0.baseAddress.unsafelyUnwrapped) != 0
        }
    }

    /// Returns the number of the tape's name in this table.
    func find(in symbols: SymbolTable) -> Int? {
        withUnsafeBytes(of: self.name) { symbols.findQuoted(at: $0.baseAddress.unsafelyUnwrapped)?.index }
    }

    /// Calls `body` with the venue's name and its quotation mark, at which 32 bytes can be read.
    func withQuoted<Result>(_ body: (UnsafeRawPointer) -> Result) -> Result {
        withUnsafeBytes(of: self.native) { body($0.baseAddress.unsafelyUnwrapped) }
    }

    var hash: Int { self.withQuoted { Self.hash(at: $0) } }

    /// Computes a hash of the name that stands at `bytes` with its quotation mark, from its first 16 bytes.
    ///
    /// - Precondition: 16 bytes can be read at `bytes`.
    static func hash(at bytes: UnsafeRawPointer) -> Int {
        func masked(_ word: UInt64) -> UInt64 {
            let marks = PlainText.marks(of: word, equal: UInt8(ascii: "\""))
            // All bytes below the quotation mark; all bytes without one.
            return marks == 0 ? word : word & ((marks & (0 &- marks)) >> 7 &- 1)
        }
        let first = bytes.word()
        let head = masked(first)
        let tail = head == first ? masked(bytes.word(8)) : 0
        var hash = (head &* 0x9E37_79B9_7F4A_7C15) ^ tail
        hash = (hash ^ hash >> 32) &* 0x9FB2_1C65_1E98_DF25
        return Int(truncatingIfNeeded: hash >> 40)
    }

    private static func words(of bytes: UnsafeRawBufferPointer) -> Words {
        var words: Words = (0, 0, 0, 0)
        withUnsafeMutableBytes(of: &words) {
            $0.copyBytes(from: bytes)
            $0[bytes.count] = UInt8(ascii: "\"")
        }
        return words
    }

    private static func mask(of length: Int) -> Words {
        var words: Words = (0, 0, 0, 0)
        withUnsafeMutableBytes(of: &words) { for index in 0..<length { $0[index] = 0xFF } }
        return words
    }
}
