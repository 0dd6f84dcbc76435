import Market
import NIOCore
import Testing
import Wire

#if canImport(Glibc)
import Glibc
#endif

/// Comparison of `docs/asyncapi.yaml` with the messages that are written and read. Each of its examples and properties
/// is on a single line, so that no YAML parser is needed.
@Suite("The specification of /v1/stream")
struct StreamSpecificationTests {
    private static let lines: [Substring] = {
        let path = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        guard let file = fopen("/\(path)/docs/asyncapi.yaml", "r") else { return [] }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n")
    }()

    /// The examples by their `type`.
    private static let examples: [String: [ByteBuffer]] = {
        var examples: [String: [ByteBuffer]] = [:]
        for line in Self.lines {
            guard let start = line.firstRange(of: "- payload: ")?.upperBound else { continue }
            let json = ByteBuffer(substring: line[start...])
            examples[Self.members(json)?.first { $0.key == "type" }?.text ?? "", default: []].append(json)
        }
        return examples
    }()

    /// Returns the members of a JSON object, in order.
    private static func members(_ json: ByteBuffer) -> [(key: String, text: String)]? {
        json.withUnsafeReadableBytes { bytes in
            var reader = JSONReader(bytes)
            guard reader.take(UInt8(ascii: "{")) else { return nil }
            var members: [(key: String, text: String)] = []
            var isFirst = true
            while true {
                switch reader.nextMember(isFirst: &isFirst) {
                case .end: return reader.isAtEnd() ? members : nil
                case .invalid: return nil
                case .key(let key):
                    guard let raw = reader.rawValue() else { return nil }
                    let text = String(decoding: raw, as: UTF8.self)
                    members.append((key.text, text.replacing("\"", with: "")))
                }
            }
        }
    }

    /// Returns the properties of a schema, and those that it requires, from the file.
    private static func schema(_ name: String) -> (properties: [String], required: [String])? {
        guard let schemas = Self.lines.firstIndex(of: "  schemas:") else { return nil }
        guard let start = Self.lines[schemas...].firstIndex(of: "    \(name):") else { return nil }
        let body = Self.lines[(start + 1)...].prefix { $0.hasPrefix("      ") }
        let properties = body.filter { $0.hasPrefix("        ") }.map { String($0.dropFirst(8).prefix { $0 != ":" }) }
        let line = body.first { $0.hasPrefix("      required: [") }
        let required = line.map { $0.dropFirst("      required: [".count).dropLast().split(separator: ", ") } ?? []
        return (properties, required.map(String.init))
    }

    private static let position = ReplayPosition(start: 0, end: 2_000_000_000, at: 1_000_000_000, speed: 10)

    private static func everyMessage() throws -> [ByteBuffer] {
        let price = try #require(ExactDecimal("1.5"))
        let summary = SymbolSummary(
            symbol: "A",
            price: price,
            size: price,
            exchangeTime: 0,
            received: 0,
            sequence: 1,
            open: price,
            high: price,
            low: price,
            volume: ExactSum(price),
            trades: 1
        )
        let update = PriceUpdate(summary: summary, skipped: 2)
        let reconnecting = FeedStatus(
            source: .live,
            phase: .reconnecting(attempt: 1, retryAt: 2),
            since: 1,
            reason: "r",
            cause: .lost
        )
        let refused = SymbolStatus(symbol: "A", state: .refused(.noSuchSymbol, retryAt: 1), since: 1, reason: "r")
        let hello = StreamHello(
            version: "1",
            epoch: 7,
            newest: 1,
            oldest: 1,
            resumeTrades: 1,
            resumeSeconds: 1,
            limits: StreamHello.Limits(),
            time: 1,
            status: reconnecting,
            symbols: [StreamHello.Symbol(name: "A", summary: summary, age: 1, state: "live")]
        )
        var replayed = hello
        replayed.replay = Self.position
        replayed.earliest = TapePosition(epoch: 6, sequence: 1)
        var trade = ByteBuffer()
        StreamEncoder.trade(
            Trade(price: price, size: price, exchangeTime: 0, symbol: SymbolID(index: 0)),
            symbol: ByteBuffer(string: "\"A\""),
            sequence: 1,
            received: 1,
            number: 1,
            into: &trade
        )
        var suspect = ByteBuffer()
        let repeated = Trade(
            price: price,
            size: price,
            exchangeTime: 0,
            symbol: SymbolID(index: 0),
            marks: .possibleRepeat
        )
        StreamEncoder.trade(
            repeated,
            symbol: ByteBuffer(string: "\"A\""),
            sequence: 1,
            received: 1,
            number: 1,
            into: &suspect
        )
        var compared = Gap(from: 1, to: 2, reason: "r", nextSequence: 3, epoch: 7, cause: .lost)
        compared.overlapBounds = OverlapBounds(least: 0, most: 1)
        var identified = ByteBuffer()
        StreamEncoder.trade(
            Trade(price: price, size: price, exchangeTime: 0, symbol: SymbolID(index: 0), id: 7),
            symbol: ByteBuffer(string: "\"A\""),
            sequence: 1,
            received: 1,
            number: 1,
            into: &identified
        )
        var filled = ByteBuffer()
        StreamEncoder.trade(
            Trade(price: price, size: price, exchangeTime: 0, symbol: SymbolID(index: 0), id: 7, marks: .filled),
            symbol: ByteBuffer(string: "\"A\""),
            sequence: 1,
            received: 1,
            number: 1,
            into: &filled
        )
        var hole = Gap(from: 1, to: 2, reason: "r", nextSequence: 3, epoch: 7, cause: .lost, symbol: "A")
        hole.missing = 7...9
        let outcome = GapOutcome(symbol: "A", missing: 7...9, from: 1, to: 2, lost: [8...8], reason: "r")
        var day = VenueDay(
            symbol: "A",
            open: price,
            high: price,
            low: price,
            last: price,
            volume: price,
            received: 1
        )
        let whole = StreamEncoder.venueDay(day, number: 1)
        day.open = nil
        return [
            StreamEncoder.hello(hello, number: 1),
            StreamEncoder.hello(replayed, number: 1),
            StreamEncoder.settled(outcome, number: 1),
            StreamEncoder.settled(GapOutcome(symbol: "A", missing: nil, from: 1, to: 2), number: 1),
            whole, StreamEncoder.venueDay(day, number: 1),
            suspect, identified, filled, StreamEncoder.gap(compared, number: 1), StreamEncoder.gap(hole, number: 1),
            StreamEncoder.bar(
                PublishedBar(symbol: "A", width: .minute, bar: Bar(pieceFrom: repeated), isClosed: true),
                number: 1
            ),
            StreamEncoder.replay(Self.position, number: 1),
            StreamEncoder.snapshot(summary, age: 1, number: 1),
            StreamEncoder.price(update, number: 1),
            StreamEncoder.trades(summary, number: 1),
            trade,
            StreamEncoder.status(reconnecting, number: 1),
            StreamEncoder.status(
                FeedStatus(source: .simulated(seed: 7, speed: 2), phase: .live, since: 5_000_000),
                number: 1
            ),
            StreamEncoder.symbol(refused, number: 1),
            StreamEncoder.released("A", since: 1, number: 1),
            StreamEncoder.gap(Gap(from: 1, to: 2, reason: "r", nextSequence: 3, epoch: 7, cause: .lost), number: 1),
            StreamEncoder.resumeGap(from: nil, to: 1, reason: "r", nextSequence: 1, epoch: 7, number: 1),
            StreamEncoder.subscribed(["A"], delivery: .latest, number: 1),
            StreamEncoder.subscribed(nil, delivery: .every(milliseconds: 250), number: 1),
            StreamEncoder.resumed(epoch: 7, from: 1, to: 2, trades: 1, isComplete: true, number: 1),
            StreamEncoder.skipped(trades: 1, in: 1...1, number: 1),
            StreamEncoder.subscribed(["A"], bars: .minute, number: 1),
            StreamEncoder.bar(
                PublishedBar(
                    symbol: "A",
                    width: .minute,
                    bar: Bar(pieceFrom: Trade(price: price, size: price, exchangeTime: 0, symbol: SymbolID(index: 0))),
                    isClosed: true
                ),
                number: 1
            ),
            StreamEncoder.pong(id: ByteBuffer(string: "7"), time: 1, number: 1),
            StreamEncoder.error("no", code: "busy", number: 1),
        ]
    }

    @Test("its examples have the keys that are written, in their order, and its schemas have no others")
    func messages() throws {
        try #require(!Self.examples.isEmpty)
        var types: Set<String> = []
        for message in try Self.everyMessage() {
            let written = try #require(Self.members(message))
            let type = try #require(written.first?.text)
            types.insert(type)
            let keys = written.map(\.key)
            let examples = try #require(Self.examples[type], "no example of \(type)")
            #expect(examples.contains { Self.members($0)?.map(\.key) == keys }, "no example of \(type) has \(keys)")
            let schema = try #require(Self.schema(type), "no schema of \(type)")
            #expect(Set(keys).isSubset(of: schema.properties), "\(type) has \(keys)")
            #expect(Set(schema.required).isSubset(of: keys), "\(type) requires \(schema.required)")
        }
        let requests: Set<String> = ["subscribe", "unsubscribe", "overflow", "ping"]
        #expect(Set(Self.examples.keys) == types.union(requests))
        let nested = try #require(try Self.everyMessage().first.flatMap(Self.members))
        for (key, name) in [("limits", "limits"), ("resume", "resume"), ("status", "statusObject")] {
            let schema = try #require(Self.schema(name))
            let hello = try #require(Self.examples["hello"]?.first.flatMap(Self.members))
            for object in [hello, nested] {
                let text = try #require(object.first { $0.key == key }?.text)
                for required in schema.required { #expect(text.contains("\(required):"), "\(key) has no \(required)") }
            }
        }
    }

    @Test("its examples of requests are understood, and its words are those of the program")
    func requests() throws {
        for type in ["subscribe", "unsubscribe", "overflow", "ping", "replay"] {
            for example in try #require(Self.examples[type]) {
                // Only the relay's own message of that type has a number.
                if Self.members(example)?.contains(where: { $0.key == "n" }) == true { continue }
                let request = try #require(StreamRequest.parse(example), "\(String(buffer: example))")
                switch request {
                case .faulty, .other: Issue.record("\(String(buffer: example)) is \(request)")
                case .replay(let text): _ = try ReplayRequestText.parse(text, position: Self.position)
                case .subscribe, .unsubscribe, .subscribeBars, .unsubscribeBars, .overflow, .ping: break
                }
            }
        }
        let text = Self.lines.joined(separator: "\n")
        for fault in [StreamRequest.Fault.delivery, .every, .since, .overflow, .id, .bars] {
            #expect(text.contains(fault.code))
        }
        #expect(text.contains("over-limit, \(StreamEncoder.releasedState)]}"))
        #expect(text.contains(StreamHello.subprotocol) && text.contains(StreamHello.protocolName))
    }
}
