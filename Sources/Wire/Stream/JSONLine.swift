import Market
import NIOCore

/// One JSON object being written, key by key.
struct JSONLine {
    private(set) var buffer = ByteBuffer()
    private var isEmpty = true

    /// An object without a type, as part of another one.
    init() { self.buffer.writeStaticString("{") }

    /// - Parameter number: the message's number; nil leaves it out.
    init(type: StaticString, number: UInt64?) {
        self.buffer.reserveCapacity(416)
        self.buffer.writeStaticString("{\"type\":\"")
        self.buffer.writeStaticString(type)
        self.buffer.writeStaticString("\"")
        self.isEmpty = false
        if let number { self.field("n", number) }
    }

    private mutating func key(_ key: StaticString) {
        self.buffer.writeStaticString(self.isEmpty ? "\"" : ",\"")
        self.isEmpty = false
        self.buffer.writeStaticString(key)
        self.buffer.writeStaticString("\":")
    }

    mutating func field(_ key: StaticString, _ value: String?) {
        self.key(key)
        if let value {
            JSONText.escape(value, into: &self.buffer)
        } else {
            self.buffer.writeStaticString("null")
        }
    }

    mutating func field(_ key: StaticString, _ value: ExactDecimal) {
        self.key(key)
        self.buffer.writeStaticString("\"")
        JSONText.write(value, into: &self.buffer)
        self.buffer.writeStaticString("\"")
    }

    /// A sum, or null for one that is not the whole sum.
    mutating func field(_ key: StaticString, _ value: ExactSum) {
        self.key(key)
        guard value.isWhole else {
            self.buffer.writeStaticString("null")
            return
        }
        self.buffer.writeStaticString("\"")
        JSONText.write(value, into: &self.buffer)
        self.buffer.writeStaticString("\"")
    }

    mutating func field(_ key: StaticString, _ value: some FixedWidthInteger) {
        self.key(key)
        JSONText.write(value, into: &self.buffer)
    }

    mutating func field(_ key: StaticString, _ value: Int?) {
        self.key(key)
        if let value {
            JSONText.write(value, into: &self.buffer)
        } else {
            self.buffer.writeStaticString("null")
        }
    }

    mutating func field(_ key: StaticString, _ value: UInt64?) {
        self.key(key)
        if let value {
            JSONText.write(value, into: &self.buffer)
        } else {
            self.buffer.writeStaticString("null")
        }
    }

    /// A value that is JSON already.
    mutating func field(_ key: StaticString, json: ByteBuffer) {
        self.key(key)
        self.buffer.writeImmutableBuffer(json)
    }

    mutating func field(_ key: StaticString, _ values: [String]) {
        self.key(key)
        self.buffer.writeStaticString("[")
        for (index, value) in values.enumerated() {
            if index > 0 { self.buffer.writeStaticString(",") }
            JSONText.escape(value, into: &self.buffer)
        }
        self.buffer.writeStaticString("]")
    }

    mutating func field(_ key: StaticString, _ values: [ByteBuffer]) {
        self.key(key)
        self.buffer.writeStaticString("[")
        for (index, value) in values.enumerated() {
            if index > 0 { self.buffer.writeStaticString(",") }
            self.buffer.writeImmutableBuffer(value)
        }
        self.buffer.writeStaticString("]")
    }

    mutating func field(_ key: StaticString, _ value: Bool) {
        self.key(key)
        self.buffer.writeStaticString(value ? "true" : "false")
    }

    /// The price, the size, the times and the statistics of a symbol.
    mutating func summary(_ summary: SymbolSummary, skipped: UInt64?) {
        self.field("price", summary.price)
        self.field("size", summary.size)
        self.field("time", summary.exchangeTime / 1_000_000)
        self.field("received", summary.received / 1_000)
        self.field("seq", summary.sequence)
        if let skipped { self.field("skipped", skipped) }
        self.field("open", summary.open)
        self.field("high", summary.high)
        self.field("low", summary.low)
        self.field("volume", summary.volume)
        self.field("trades", summary.trades)
    }

    mutating func source(_ word: String, file: String?, speed: Double?) {
        self.field("source", word)
        self.field("file", file)
        self.key("speed")
        if let speed, speed.isFinite {
            // Swift writes every finite double as a JSON number.
            self.buffer.writeString(speed.description)
        } else {
            self.buffer.writeStaticString("null")
        }
    }

    consuming func finish() -> ByteBuffer {
        self.buffer.writeStaticString("}")
        return self.buffer
    }
}
