import Market
import NIOCore
import Wire

/// JSON of any shape, being written: objects and arrays by closures, commas by itself.
struct JSONWriter {
    private(set) var buffer = ByteBuffer()
    private var needsComma = false

    /// Writes one object as a line.
    static func line(_ body: (inout JSONWriter) -> Void) -> ByteBuffer {
        var writer = JSONWriter()
        writer.object(body)
        writer.buffer.writeStaticString("\n")
        return writer.buffer
    }

    mutating func key(_ key: String) {
        self.separate()
        JSONText.escape(key, into: &self.buffer)
        self.buffer.writeStaticString(":")
        self.needsComma = false
    }

    mutating func object(_ body: (inout JSONWriter) -> Void) { self.nest("{", "}", body) }

    mutating func array(_ body: (inout JSONWriter) -> Void) { self.nest("[", "]", body) }

    mutating func text(_ value: String?) {
        self.separate()
        if let value { JSONText.escape(value, into: &self.buffer) } else { self.buffer.writeStaticString("null") }
    }

    mutating func number(_ value: (some FixedWidthInteger)?) {
        self.separate()
        if let value { JSONText.write(value, into: &self.buffer) } else { self.buffer.writeStaticString("null") }
    }

    mutating func flag(_ value: Bool) {
        self.separate()
        self.buffer.writeStaticString(value ? "true" : "false")
    }

    /// An exact decimal, as a string.
    mutating func decimal(_ value: ExactDecimal) {
        self.separate()
        self.buffer.writeStaticString("\"")
        JSONText.write(value, into: &self.buffer)
        self.buffer.writeStaticString("\"")
    }

    /// Seconds with milliseconds, from nanoseconds.
    mutating func seconds(_ nanoseconds: Int64) { self.thousandths(nanoseconds / 1_000_000) }

    /// Milliseconds with microseconds, from nanoseconds.
    mutating func milliseconds(_ nanoseconds: Int64) { self.thousandths(nanoseconds / 1_000) }

    /// None of what is written so is ever negative.
    private mutating func thousandths(_ number: Int64) {
        self.separate()
        let number = max(number, 0)
        self.buffer.writeString("\(number / 1_000).\("\(1_000 + number % 1_000)".dropFirst())")
    }

    /// JSON that is written already.
    mutating func raw(_ json: ByteBuffer) {
        self.separate()
        self.buffer.writeImmutableBuffer(json)
    }

    private mutating func nest(_ open: StaticString, _ close: StaticString, _ body: (inout JSONWriter) -> Void) {
        self.separate()
        self.buffer.writeStaticString(open)
        self.needsComma = false
        body(&self)
        self.buffer.writeStaticString(close)
        self.needsComma = true
    }

    private mutating func separate() {
        if self.needsComma { self.buffer.writeStaticString(",") }
        self.needsComma = true
    }
}
