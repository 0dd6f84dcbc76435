package import Market
package import NIOCore

/// A client's request on `/v1/stream`: `{"type":"subscribe","symbol":"…"}`, `"symbols":["…",…]`, or neither for all
/// symbols.
package enum StreamRequest: Sendable, Equatable {
    /// The fault of an invalid request.
    package enum Fault: Error, Sendable, Equatable {
        case delivery, every, since, overflow, id, noSymbols, bars, barsAlone

        /// A stable word for programs.
        package var code: String {
            switch self {
            case .delivery: "bad-delivery"
            case .every: "bad-every"
            case .since: "bad-since"
            case .overflow: "bad-overflow"
            case .id: "bad-id"
            case .noSymbols: "invalid-symbol"
            case .bars, .barsAlone: "bad-bars"
            }
        }

        /// One line for people.
        package var message: String {
            switch self {
            case .delivery: "delivery must be latest, all, or every with an interval"
            case .every: "every must be 100ms to 1h, such as 250ms"
            case .since: "since must be EPOCH:SEQ, two whole numbers"
            case .overflow: "overflow must be latest or close"
            case .id: "the id of a ping must not be longer than \(StreamRequest.maximumIDBytes) bytes"
            case .noSymbols: "symbols is empty; leave it out to mean everything"
            case .bars: "bars must be one of \(BarWidth.words)"
            case .barsAlone: "bars needs a symbol and cannot be combined with delivery, every or since"
            }
        }
    }

    /// Subscribes to these symbols, or to all of the feed if the list is empty.
    case subscribe([String], delivery: StreamDelivery? = nil, since: TapePosition? = nil)
    case unsubscribe([String])
    /// Subscribes to bars of these symbols in addition to their prices; the list is not empty.
    case subscribeBars([String], BarWidth)
    /// Unsubscribes from the bars of these symbols, of one width or of all.
    case unsubscribeBars([String], BarWidth?)
    case overflow(StreamOverflow)
    /// Asks the relay for a pong, which contains the same id; the id is any JSON.
    case ping(id: ByteBuffer?)
    /// A request to a replay, as ``ReplayRequestText`` reads it.
    case replay(ByteBuffer)
    /// A request with an invalid member.
    case faulty(Fault)
    /// A request of an unknown type.
    case other(String)

    /// The largest number of symbols in one list; a longer list makes the request invalid.
    package static let maximumSymbols = 4_096
    /// The longest id of a ping, in bytes.
    package static let maximumIDBytes = 256

    /// Reads a request; `nil` if the text is not a JSON object, has no type, or names symbols that are not strings.
    package static func parse(_ text: ByteBuffer) -> StreamRequest? {
        text.withUnsafeReadableBytes { bytes in
            guard let fields = RequestFields(bytes) else { return nil }
            do throws(Fault) {
                // An empty list is refused. It could have become empty by accident, and must not subscribe to
                // everything.
                if fields.isListed, fields.symbols.isEmpty, fields.type?.hasSuffix("subscribe") == true {
                    throw .noSymbols
                }
                switch fields.type {
                case "subscribe" where fields.bars != nil, "unsubscribe" where fields.bars != nil:
                    return try fields.barRequest()
                case "subscribe":
                    if fields.isEveryWrong { throw .every }
                    let delivery = try StreamDelivery.parse(word: fields.delivery, milliseconds: fields.every)
                    var since: TapePosition?
                    if let text = fields.since {
                        since = TapePosition(text)
                        if since == nil { throw .since }
                    }
                    return .subscribe(fields.symbols, delivery: delivery, since: since)
                case "unsubscribe":
                    return .unsubscribe(fields.symbols)
                case "overflow":
                    guard let policy = fields.policy.flatMap({ StreamOverflow(rawValue: $0) }) else {
                        throw .overflow
                    }
                    return .overflow(policy)
                case "ping":
                    if let id = fields.id, id.readableBytes > Self.maximumIDBytes { throw .id }
                    return .ping(id: fields.id)
                case "replay":
                    return .replay(text)
                case .some(let type):
                    return .other(type)
                case nil:
                    return nil
                }
            } catch {
                return .faulty(error)
            }
        }
    }

    /// The request as text.
    package func encoded() -> ByteBuffer {
        switch self {
        case .subscribe(let symbols, let delivery, let since):
            var line = JSONWriter(type: "subscribe")
            if !symbols.isEmpty { line.field("symbols", symbols) }
            if let delivery {
                line.field("delivery", delivery.word)
                if case .every(let milliseconds) = delivery { line.field("every", milliseconds) }
            }
            if let since { line.field("since", since.description) }
            return line.finish()
        case .unsubscribe(let symbols):
            var line = JSONWriter(type: "unsubscribe")
            if !symbols.isEmpty { line.field("symbols", symbols) }
            return line.finish()
        case .subscribeBars(let symbols, let width):
            var line = JSONWriter(type: "subscribe")
            line.field("symbols", symbols)
            line.field("bars", width.word)
            return line.finish()
        case .unsubscribeBars(let symbols, let width):
            var line = JSONWriter(type: "unsubscribe")
            if !symbols.isEmpty { line.field("symbols", symbols) }
            line.field("bars", width?.word ?? "all")
            return line.finish()
        case .overflow(let policy):
            var line = JSONWriter(type: "overflow")
            line.field("policy", policy.rawValue)
            return line.finish()
        case .ping(let id):
            var line = JSONWriter(type: "ping")
            if let id { line.field("id", json: id) }
            return line.finish()
        case .replay(let text):
            return text
        case .other(let type):
            var line = JSONWriter()
            line.field("type", type)
            return line.finish()
        case .faulty(let fault):
            preconditionFailure("a request that cannot be is not written: \(fault)")
        }
    }
}

/// The members of a request that are understood.
private struct RequestFields {
    var type: String?
    var symbols: [String] = []
    /// Whether `symbols` is present, even if empty.
    var isListed = false
    var delivery: String?
    /// The interval in milliseconds.
    var every: Int?
    var isEveryWrong = false
    var since: String?
    var policy: String?
    var bars: String?
    var id: ByteBuffer?

    init?(_ bytes: UnsafeRawBufferPointer) {
        guard JSONReader.wholeObject(bytes, { self.take($0, from: &$1) }) else { return nil }
    }

    private mutating func take(_ key: JSONString, from reader: inout JSONReader) -> Bool {
        if key.equals("symbol") {
            guard let symbol = reader.string() else { return false }
            self.symbols.append(symbol.text)
            return true
        }
        if key.equals("symbols") {
            guard let names = reader.strings(atMost: StreamRequest.maximumSymbols) else { return false }
            self.symbols += names
            self.isListed = true
            return true
        }
        if key.equals("id") {
            guard let id = reader.rawValue() else { return false }
            self.id = ByteBuffer(bytes: id)
            return true
        }
        if key.equals("every") {
            if reader.kind() == .string {
                guard let text = reader.string() else { return false }
                self.every = StreamDelivery.milliseconds(text.text)
                self.isEveryWrong = self.every == nil
                return true
            }
            guard reader.kind() == .number else {
                self.isEveryWrong = true
                return reader.skipValue()
            }
            self.every = reader.integer().flatMap { Int(exactly: $0) }
            self.isEveryWrong = self.every == nil
            return true
        }
        guard reader.kind() == .string else {
            // A value of the wrong kind is treated as a wrong word, except that a wrong `type` counts as absent.
            if key.equals("delivery") { self.delivery = "" }
            if key.equals("since") { self.since = "" }
            if key.equals("policy") { self.policy = "" }
            if key.equals("bars") { self.bars = "" }
            return reader.skipValue()
        }
        guard let value = reader.string() else { return false }
        if key.equals("type") { self.type = value.text }
        if key.equals("delivery") { self.delivery = value.text }
        if key.equals("since") { self.since = value.text }
        if key.equals("policy") { self.policy = value.text }
        if key.equals("bars") { self.bars = value.text }
        return true
    }

    /// Returns the request for a message with `bars`.
    func barRequest() throws(StreamRequest.Fault) -> StreamRequest {
        let width = self.bars.flatMap { BarWidth(word: $0) }
        if self.type == "unsubscribe" {
            guard width != nil || self.bars == "all" else { throw .bars }
            return .unsubscribeBars(self.symbols, width)
        }
        guard let width else { throw .bars }
        guard !self.symbols.isEmpty, self.delivery == nil, self.every == nil, !self.isEveryWrong, self.since == nil
        else {
            throw .barsAlone
        }
        return .subscribeBars(self.symbols, width)
    }
}
