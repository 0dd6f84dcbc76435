/// An incremental validator of UTF-8 (RFC 3629), which fails at the first byte that no valid text can have.
///
/// It takes pieces of any size, so that a text message can be checked on arrival. Overlong forms, surrogates and values
/// beyond U+10FFFF fail at their second byte at the latest, by the range that is allowed there.
package struct UTF8Validator: Sendable, Equatable {
    /// The number of continuation bytes that the current scalar still needs.
    private var needed: UInt8 = 0
    /// The range of the next continuation byte.
    private var lower: UInt8 = 0x80
    private var upper: UInt8 = 0xBF

    package init() {}

    /// Whether the text may end here, without an incomplete scalar.
    package var isAtBoundary: Bool { self.needed == 0 }

    /// Checks the next bytes; returns false when no continuation can make the text valid.
    package mutating func consume(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var index = 0
        let count = bytes.count
        while index < count {
            if self.needed == 0 {
                index = Self.skipASCII(bytes, from: index)
                guard index < count else { return true }
                guard self.lead(bytes[index]) else { return false }
            } else {
                let byte = bytes[index]
                guard byte >= self.lower, byte <= self.upper else { return false }
                self.needed -= 1
                self.lower = 0x80
                self.upper = 0xBF
            }
            index += 1
        }
        return true
    }

    private mutating func lead(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x00...0x7F:
            break
        case 0xC2...0xDF:
            self.needed = 1
        case 0xE0...0xEF:
            self.needed = 2
            if byte == 0xE0 { self.lower = 0xA0 }  // below it: overlong
            if byte == 0xED { self.upper = 0x9F }  // above it: surrogates
        case 0xF0...0xF4:
            self.needed = 3
            if byte == 0xF0 { self.lower = 0x90 }  // below it: overlong
            if byte == 0xF4 { self.upper = 0x8F }  // above it: beyond U+10FFFF
        default:
            return false
        }
        return true
    }

    /// Returns the index of the first byte at or after `start` that is not ASCII. It checks eight bytes at a time.
    private static func skipASCII(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        var index = start
        while index + 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            let high = UInt64(littleEndian: word) & 0x8080_8080_8080_8080
            if high != 0 { return index + high.trailingZeroBitCount / 8 }
            index += 8
        }
        while index < bytes.count, bytes[index] < 0x80 { index += 1 }
        return index
    }
}
