package import Market
package import NIOCore

/// A writer of one JSON object, member by member; it adds the commas.
package struct JSONWriter {
    private var buffer = ByteBuffer()
    private var needsComma = false

    /// Begins an object; ``finish()`` ends it.
    package init() { self.buffer.writeStaticString("{") }

    /// Begins a message of `/v1/stream`.
    ///
    /// - Parameter number: the message's number; `nil` leaves it out.
    package init(type: StaticString, number: UInt64? = nil) {
        self.buffer.reserveCapacity(416)
        self.buffer.writeStaticString("{\"type\":\"")
        self.buffer.writeStaticString(type)
        self.buffer.writeStaticString("\"")
        self.needsComma = true
        if let number { self.field("n", number) }
    }

    /// Returns one object.
    package static func object(_ body: (inout JSONWriter) -> Void) -> ByteBuffer {
        var writer = JSONWriter()
        body(&writer)
        return writer.finish()
    }

    /// Returns one array whose elements `body` writes.
    package static func array(_ body: (inout JSONWriter) -> Void) -> ByteBuffer {
        var writer = JSONWriter(nothing: ())
        writer.nest("[", "]", body)
        return writer.buffer
    }

    private init(nothing: Void) {}

    /// Returns one object followed by a line feed.
    package static func line(_ body: (inout JSONWriter) -> Void) -> ByteBuffer {
        var line = Self.object(body)
        line.writeStaticString("\n")
        return line
    }

    /// Ends the object and returns it.
    package consuming func finish() -> ByteBuffer {
        self.buffer.writeStaticString("}")
        return self.buffer
    }

    // MARK: Members

    package mutating func field(_ key: StaticString, _ value: String?) {
        self.key(key)
        if let value { JSONText.escape(value, into: &self.buffer) } else { self.writeNull() }
    }

    package mutating func field(_ key: StaticString, _ value: (some FixedWidthInteger)?) {
        self.key(key)
        if let value { JSONText.write(value, into: &self.buffer) } else { self.writeNull() }
    }

    package mutating func field(_ key: StaticString, _ value: Bool) {
        self.key(key)
        self.buffer.writeStaticString(value ? "true" : "false")
    }

    /// Writes an exact decimal as a string.
    package mutating func field(_ key: StaticString, _ value: ExactDecimal) {
        self.key(key)
        self.buffer.writeStaticString("\"")
        JSONText.write(value, into: &self.buffer)
        self.buffer.writeStaticString("\"")
    }

    /// Writes a sum as a string, or null if it lacks an addend.
    package mutating func field(_ key: StaticString, _ value: ExactSum) {
        self.key(key)
        guard value.isWhole else { return self.writeNull() }
        self.buffer.writeStaticString("\"")
        JSONText.write(value, into: &self.buffer)
        self.buffer.writeStaticString("\"")
    }

    /// Writes seconds with three decimals.
    ///
    /// - Parameter nanoseconds: the value, which must not be negative.
    package mutating func field(_ key: StaticString, seconds nanoseconds: Int64?) {
        self.key(key)
        self.write(thousandths: nanoseconds.map { $0 / 1_000_000 })
    }

    /// Writes milliseconds with three decimals.
    ///
    /// - Parameter nanoseconds: the value, which must not be negative.
    package mutating func field(_ key: StaticString, milliseconds nanoseconds: Int64?) {
        self.key(key)
        self.write(thousandths: nanoseconds.map { $0 / 1_000 })
    }

    /// Writes a value that already is JSON.
    package mutating func field(_ key: StaticString, json: ByteBuffer) {
        self.key(key)
        self.buffer.writeImmutableBuffer(json)
    }

    package mutating func field(_ key: StaticString, _ values: [String]) {
        self.array(key) { out in for value in values { out.element(value) } }
    }

    /// Writes an array of values that already are JSON.
    package mutating func field(_ key: StaticString, json values: [ByteBuffer]) {
        self.array(key) { out in for value in values { out.element(json: value) } }
    }

    package mutating func object(_ key: StaticString, _ body: (inout JSONWriter) -> Void) {
        self.key(key)
        self.nest("{", "}", body)
    }

    /// Writes an array whose elements `body` writes.
    package mutating func array(_ key: StaticString, _ body: (inout JSONWriter) -> Void) {
        self.key(key)
        self.nest("[", "]", body)
    }

    /// Writes members that already are JSON, each with a comma before it; the object is not empty.
    mutating func append(_ members: (inout ByteBuffer) -> Void) { members(&self.buffer) }

    // MARK: Members whose names are data

    package mutating func field(named key: String, _ value: (some FixedWidthInteger)?) {
        self.key(named: key)
        if let value { JSONText.write(value, into: &self.buffer) } else { self.writeNull() }
    }

    package mutating func field(named key: String, _ value: String?) {
        self.key(named: key)
        if let value { JSONText.escape(value, into: &self.buffer) } else { self.writeNull() }
    }

    package mutating func field(named key: String, _ value: Bool) {
        self.key(named: key)
        self.buffer.writeStaticString(value ? "true" : "false")
    }

    package mutating func object(named key: String, _ body: (inout JSONWriter) -> Void) {
        self.key(named: key)
        self.nest("{", "}", body)
    }

    // MARK: Elements

    package mutating func element(_ value: String) {
        self.separate()
        JSONText.escape(value, into: &self.buffer)
    }

    /// Writes an element that already is JSON.
    package mutating func element(json: ByteBuffer) {
        self.separate()
        self.buffer.writeImmutableBuffer(json)
    }

    package mutating func element(_ body: (inout JSONWriter) -> Void) {
        self.separate()
        self.nest("{", "}", body)
    }

    // MARK: Pieces

    private mutating func key(_ key: StaticString) {
        self.buffer.writeStaticString(self.needsComma ? ",\"" : "\"")
        self.needsComma = true
        self.buffer.writeStaticString(key)
        self.buffer.writeStaticString("\":")
    }

    private mutating func key(named key: String) {
        self.separate()
        JSONText.escape(key, into: &self.buffer)
        self.buffer.writeStaticString(":")
    }

    private mutating func nest(_ open: StaticString, _ close: StaticString, _ body: (inout JSONWriter) -> Void) {
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

    private mutating func write(thousandths: Int64?) {
        guard let thousandths else { return self.writeNull() }
        let number = max(thousandths, 0)
        self.buffer.writeString("\(number / 1_000).\("\(1_000 + number % 1_000)".dropFirst())")
    }

    private mutating func writeNull() { self.buffer.writeStaticString("null") }
}
