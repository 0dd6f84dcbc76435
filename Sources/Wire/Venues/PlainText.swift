/// The search for the end of a JSON string without escapes, eight bytes at a time.
enum PlainText {
    /// Returns the length of the text up to its quotation mark; `nil` if an escape or a control character comes first,
    /// or the text is longer than `limit` bytes or has no end.
    ///
    /// The bytes are not checked for UTF-8.
    @inline(__always)
    static func length(at start: UnsafeRawPointer, end: UnsafeRawPointer, limit: Int) -> Int? {
        var length = 0
        while length <= limit {
            if end - start >= length + 8 {
                let marks = self.marks(of: start.word(length))
                guard marks != 0 else {
                    length += 8
                    continue
                }
                length += marks.trailingZeroBitCount / 8
            } else {
                while start + length < end, self.isPlain(start.byte(length)) { length += 1 }
            }
            guard length <= limit, start + length < end, start.byte(length) == "\"" else { return nil }
            return length
        }
        return nil
    }

    /// Marks, by its highest bit, the lowest byte that is a quotation mark, a backslash or a control character. Higher
    /// bytes may be marked although they are none of these.
    @inline(__always)
    static func marks(of word: UInt64) -> UInt64 {
        let control = (word &- 0x2020_2020_2020_2020) & ~word & 0x8080_8080_8080_8080
        return control | self.marks(of: word, equal: UInt8(ascii: "\""))
            | self.marks(of: word, equal: UInt8(ascii: "\\"))
    }

    /// Marks, by its highest bit, the lowest byte that equals `byte`. Higher bytes may be marked although they differ.
    @inline(__always)
    static func marks(of word: UInt64, equal byte: UInt8) -> UInt64 {
        let difference = word ^ (0x0101_0101_0101_0101 &* UInt64(byte))
        return (difference &- 0x0101_0101_0101_0101) & ~difference & 0x8080_8080_8080_8080
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    /// Returns whether none of the bytes from `offset` on, 16 for each offset, is a quotation mark, a backslash or a
    /// control character.
    @inline(__always)
    static func isPlain(_ bytes: UnsafeRawPointer, _ first: Int, _ second: Int, _ third: Int) -> Bool {
        let marks =
            self.marks(of: bytes.words(first)) | self.marks(of: bytes.words(second))
            | self.marks(of: bytes.words(third))
        return marks[0] | marks[1] == 0
    }

    /// Marks bytes as ``marks(of:)-(UInt64)`` does, in two words at once.
    @inline(__always)
    private static func marks(of words: SIMD2<UInt64>) -> SIMD2<UInt64> {
        let ones = SIMD2<UInt64>(repeating: 0x0101_0101_0101_0101)
        let quotes = words ^ SIMD2(repeating: 0x2222_2222_2222_2222)
        let backslashes = words ^ SIMD2(repeating: 0x5C5C_5C5C_5C5C_5C5C)
        let control = (words &- SIMD2(repeating: 0x2020_2020_2020_2020)) & ~words
        let others = (quotes &- ones) & ~quotes | (backslashes &- ones) & ~backslashes
        return (control | others) & SIMD2(repeating: 0x8080_8080_8080_8080)
    }
}

extension UnsafeRawPointer {
    /// Returns the 16 bytes from `offset` on as two words.
    @inline(__always)
    func words(_ offset: Int) -> SIMD2<UInt64> { self.loadUnaligned(fromByteOffset: offset, as: SIMD2<UInt64>.self) }
}
