import CJSONText
import NIOCore

/// A frame's line in exactly the form that ``RecordingSyntax`` writes, read without a JSON reader.
///
/// A line of any other form is left to the general reader, so that the template only affects the speed. The caller has
/// checked the line's seal.
struct FrameTemplate {
    let number: UInt64
    let wall: Int64
    let at: Int64
    let dialect: FrameDialect
    var numbers: RecordedNumbers?
    /// The text between its quotation marks, still escaped; its escapes are valid.
    let text: UnsafeRawBufferPointer
    let isEscaped: Bool

    /// Whether the line begins like a numbered one; lines of the plain form do not.
    static func isNumbered(_ line: UnsafeRawBufferPointer) -> Bool {
        var cursor = Cursor(line)
        return cursor.take(Self.opening)
    }

    private static let opening: StaticString = "{\"n\":"

    init?(_ line: UnsafeRawBufferPointer) {
        var cursor = Cursor(UnsafeRawBufferPointer(rebasing: line.dropLast(LineSeal.length)))
        guard cursor.take(Self.opening), let number = cursor.digits(), cursor.take(",\"wall\":"),
            let wall = cursor.digits(), cursor.take(",\"mono\":"), let at = cursor.digits(),
            cursor.take(",\"dir\":\"in\""), let dialect = cursor.dialect()
        else { return nil }
        self.number = UInt64(number)
        self.wall = wall
        self.at = at
        self.dialect = dialect
        self.numbers = nil
        if cursor.take(",\"seq\":") {
            guard let first = cursor.digits(), cursor.take(",\"trades\":"),
                let count = cursor.digits().flatMap({ Int32(exactly: $0) })
            else { return nil }
            // `digits` stays far below a number that any program could reach.
            self.numbers = RecordedNumbers(first: UInt64(first), count: Int(count))
        }
        guard cursor.take(",\"frame\":\""), let text = cursor.rest() else { return nil }
        guard let isEscaped = Self.check(text) else { return nil }
        self.text = text
        self.isEscaped = isEscaped
    }

    /// Writes the text, unescaped.
    func write(to frame: inout ByteBuffer) {
        frame.clear(minimumCapacity: self.text.count)
        guard self.isEscaped else {
            frame.writeBytes(self.text)
            return
        }
        frame.writeWithUnsafeMutableBytes(minimumWritableBytes: self.text.count) {
            JSONString.unescape(self.text, into: $0)
        }
    }

    /// Returns whether the text has escapes; `nil` where it is not valid inside a JSON string.
    private static func check(_ text: UnsafeRawBufferPointer) -> Bool? {
        guard let base = text.baseAddress else { return false }
        let count = text.count
        var escapes: CInt = 0
        // Checks the usual text quickly: printable characters and escaped quotation marks.
        var index = tickertape_usual_text(base, count, &escapes)
        var isEscaped = escapes != 0
        while index < count {
            let byte = base.load(fromByteOffset: index, as: UInt8.self)
            index &+= 1
            if byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\") { continue }
            guard byte == UInt8(ascii: "\\"), index < count else { return nil }
            isEscaped = true
            let letter = base.load(fromByteOffset: index, as: UInt8.self)
            index &+= 1
            if letter == UInt8(ascii: "\"") { continue }
            switch letter {
            case UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "n"),
                UInt8(ascii: "r"), UInt8(ascii: "t"):
                continue
            case UInt8(ascii: "u"):
                guard index + 4 <= count else { return nil }
                for place in index..<index + 4 where JSONString.hexDigit(text[place]) == nil { return nil }
                index += 4
            default: return nil
            }
        }
        return isEscaped
    }

    /// A position in a line.
    private struct Cursor {
        private let bytes: UnsafeRawBufferPointer
        private var position = 0

        init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

        /// Steps over `text` if it comes next.
        @inline(__always)
        mutating func take(_ text: StaticString) -> Bool {
            let count = text.utf8CodeUnitCount
            guard self.position + count <= self.bytes.count else { return false }
            for index in 0..<count where self.bytes[self.position + index] != text.utf8Start[index] { return false }
            self.position += count
            return true
        }

        /// Reads the dialect of the text: Finnhub's, where the line names none; `nil` where the dialect is unknown.
        mutating func dialect() -> FrameDialect? {
            guard self.take(",\"dialect\":\"") else { return .finnhub }
            for dialect in FrameDialect.allCases {
                var behind = self
                guard behind.take(dialect.name), behind.take("\"") else { continue }
                self = behind
                return dialect
            }
            return nil
        }

        /// Reads a number of at most 18 digits without leading zeros.
        @inline(__always)
        mutating func digits() -> Int64? {
            let start = self.position
            var value: Int64 = 0
            while self.position < self.bytes.count {
                let digit = self.bytes[self.position] &- UInt8(ascii: "0")
                guard digit < 10 else { break }
                guard self.position - start < 18 else { return nil }
                value = value &* 10 &+ Int64(digit)
                self.position += 1
            }
            let length = self.position - start
            guard length == 1 || length > 1 && self.bytes[start] != UInt8(ascii: "0") else { return nil }
            return value
        }

        /// Returns the rest, without the quotation mark at its end.
        mutating func rest() -> UnsafeRawBufferPointer? {
            guard self.position < self.bytes.count, self.bytes[self.bytes.count - 1] == UInt8(ascii: "\"") else {
                return nil
            }
            return UnsafeRawBufferPointer(rebasing: self.bytes[self.position..<self.bytes.count - 1])
        }
    }
}
