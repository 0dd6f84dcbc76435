import NIOCore

/// A writer of a line's fixed part into memory of a known size, which saves the buffer's checks for each piece.
struct LineWriter {
    /// The length reserved for a number, bytes: as many digits as the largest has.
    private static let longestNumber = 20
    /// `00` to `99`.
    private static let pairs: StaticString = """
        0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849\
        5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899
        """

    private let bytes: UnsafeMutableRawBufferPointer
    /// The bytes written so far.
    private(set) var count = 0

    /// Calls `body` to write at the buffer's end.
    ///
    /// - Parameter most: the limit of what it writes, bytes. The last number must leave 20 bytes from its start.
    static func write(into buffer: inout ByteBuffer, atMost most: Int, _ body: (inout LineWriter) -> Void) {
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: most) { bytes in
            var pen = LineWriter(bytes: bytes)
            body(&pen)
            return pen.count
        }
    }

    private init(bytes: UnsafeMutableRawBufferPointer) { self.bytes = bytes }

    /// Writes a key or another constant text.
    @inline(__always)
    mutating func write(_ text: StaticString) {
        let length = text.utf8CodeUnitCount
        precondition(length <= self.bytes.count - self.count, "a line's fixed part is longer than was said")
        (self.bytes.baseAddress.unsafelyUnwrapped + self.count).copyMemory(from: text.utf8Start, byteCount: length)
        self.count += length
    }

    /// Writes an integer's digits.
    mutating func write(_ number: Int64) {
        if number < 0 { self.write("-") }
        self.write(number.magnitude)
    }

    /// Writes an integer's digits, two at a time.
    mutating func write(_ number: UInt64) {
        precondition(Self.longestNumber <= self.bytes.count - self.count, "a line's fixed part is longer than was said")
        let length = Self.digits(of: number)
        let end = self.bytes.baseAddress.unsafelyUnwrapped + self.count + length
        self.count += length
        var rest = number
        var written = 0
        while rest >= 100 {
            let (quotient, pair) = rest.quotientAndRemainder(dividingBy: 100)
            written += 2
            (end - written).copyMemory(from: Self.pairs.utf8Start + 2 * Int(pair), byteCount: 2)
            rest = quotient
        }
        if rest >= 10 {
            (end - written - 2).copyMemory(from: Self.pairs.utf8Start + 2 * Int(rest), byteCount: 2)
        } else {
            (end - written - 1).storeBytes(of: UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest), as: UInt8.self)
        }
    }

    private static func digits(of number: UInt64) -> Int {
        var rest = number
        var count = 1
        while rest >= 10_000 {
            rest /= 10_000
            count += 4
        }
        return rest < 10 ? count : rest < 100 ? count + 1 : rest < 1_000 ? count + 2 : count + 3
    }
}
