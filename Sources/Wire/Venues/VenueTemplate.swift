/// The parts that the templates of the venues' frames share: each compares or reads words at a position.
///
/// None of them checks the end of the frame: each says how many bytes it reads, and its caller ensures that they are
/// there.
enum VenueTemplate {
    /// Moves past a fixed text; `false` if something else stands at `here`. It reads as many bytes as the text has, of
    /// which there must be at least four.
    @inline(__always)
    static func take(_ text: StaticString, _ here: inout UnsafeRawPointer) -> Bool {
        guard self.difference(text, here) == 0 else { return false }
        here += text.utf8CodeUnitCount
        return true
    }

    /// Moves past `true` or `false`, without a branch that depends on which it is. It reads five bytes.
    @inline(__always)
    static func takeBool(_ here: inout UnsafeRawPointer) -> Bool {
        self.take("true", or: "false", &here)
    }

    /// Moves past one of two texts of 4 to 19 bytes, without a branch that depends on which it is; `false` if neither
    /// stands at `here`. It reads as many bytes as the longer text has.
    @inline(__always)
    static func take(_ one: StaticString, or other: StaticString, _ here: inout UnsafeRawPointer) -> Bool {
        let (difference, differenceOfOther) = (self.difference(one, here), self.difference(other, here))
        here += difference == 0 ? one.utf8CodeUnitCount : other.utf8CodeUnitCount
        return min(difference, differenceOfOther) == 0
    }

    /// Returns 0 if the text stands at `here`.
    @inline(__always)
    private static func difference(_ text: StaticString, _ here: UnsafeRawPointer) -> UInt64 {
        let expected = UnsafeRawPointer(text.utf8Start)
        let count = text.utf8CodeUnitCount
        if count < 8 {
            let end = count - 4
            return UInt64((Self.half(here) ^ Self.half(expected)) | (Self.half(here + end) ^ Self.half(expected + end)))
        }
        guard count >= 16 else {
            return (here.word() ^ expected.word()) | (here.word(count - 8) ^ expected.word(count - 8))
        }
        var differences = here.words(count - 16) ^ expected.words(count - 16)
        var offset = 0
        while offset + 16 <= count {
            differences |= here.words(offset) ^ expected.words(offset)
            offset += 16
        }
        return differences[0] | differences[1]
    }

    @inline(__always)
    private static func half(_ bytes: UnsafeRawPointer) -> UInt32 { bytes.loadUnaligned(as: UInt32.self) }
}
