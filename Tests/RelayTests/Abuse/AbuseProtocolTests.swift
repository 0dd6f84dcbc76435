import HTTP
import NIOCore
import Testing
import TickertapeTesting
@testable import Measurements
@testable import Relay

/// Floods, silence and slow readers of WAMP, plain lines and rooms, while ten other clients are not disturbed.
@Suite("Abuse of WAMP, plain lines and rooms", .timeLimit(.minutes(5 * Patience.factor)))
struct AbuseProtocolTests {
    enum Entrance: CaseIterable, CustomTestStringConvertible {
        case wampJSON, wampMessagePack, wampCBOR, lines, room

        var testDescription: String { "\(self)" }

        var serialisation: WAMPSerialisation? {
            switch self {
            case .wampJSON: .json
            case .wampMessagePack: .messagePack
            case .wampCBOR: .cbor
            case .lines, .room: nil
            }
        }

        /// The opcode of its WebSocket messages; `nil` for lines.
        var opcode: UInt8? {
            switch self {
            case .lines: nil
            case .room: 1
            case .wampJSON, .wampMessagePack, .wampCBOR: self.serialisation?.isBinary == true ? 2 : 1
            }
        }

        /// Returns messages, given as JSON or as lines, as the bytes that its client sends.
        func bytes(_ messages: [String]) throws -> ByteBuffer {
            var bytes = ByteBuffer()
            for message in messages {
                guard let opcode else { bytes.writeString(message + "\n"); continue }
                let text = ByteBuffer(string: message)
                let payload = try #require(
                    self.serialisation.map { WAMPSerialisation.json.rewritten(text, as: $0) } ?? text
                )
                bytes.writeImmutableBuffer(RawClient.masked(opcode: opcode, bytes: Array(payload.readableBytesView)))
            }
            return bytes
        }

        func connect(_ fixture: RelayFixture, receiveBuffer: Int? = nil) async throws -> RawClient {
            guard self != .lines else {
                let address = try #require(fixture.relay.linesAddress)
                return try await RawClient.connect(to: address, receiveBuffer: receiveBuffer)
            }
            let offer = self.serialisation.map { "Sec-WebSocket-Protocol: \($0.subprotocol)\r\n" } ?? ""
            let path = self.serialisation == nil ? "/v1/room/lobby" : "/wamp"
            return try await RawClient.open(path, at: fixture.address, headers: offer, receiveBuffer: receiveBuffer)
        }

        /// Connects and, with WAMP, opens the session.
        func open(_ fixture: RelayFixture, receiveBuffer: Int? = nil) async throws -> RawClient {
            let client = try await self.connect(fixture, receiveBuffer: receiveBuffer)
            guard self.serialisation != nil else { return client }
            let hello = #"[1,"tickertape",{"roles":{"caller":{}}}]"#
            try await client.channel.writeAndFlush(try self.bytes([hello]))
            _ = try await client.frameAnsweringPings()
            return client
        }

        /// Waits for the end; returns its reason.
        func end(_ client: RawClient) async throws -> String {
            guard self.opcode != nil else {
                return try await client.rest().split(separator: "\n").last.map { "\($0)" } ?? ""
            }
            while true { if let closure = try await client.frameAnsweringPings().closure { return closure } }
        }
    }

    private static func run(
        _ change: (inout RelaySettings) -> Void = { _ in },
        instruments: Instruments = Instruments(),
        body: (RelayFixture) async throws -> Void
    ) async throws {
        try await RelayFixture.run(instruments: instruments) {
            $0.lines = Endpoint(host: "127.0.0.1", port: 0)
            $0.wamp = true
            $0.wampBroker = true
            $0.rooms = true
            change(&$0)
        } body: { fixture in
            try await body(fixture)
        }
    }

    @Test("a flood of requests is refused and then closed, by the default limits", arguments: Entrance.allCases)
    func floods(entrance: Entrance) async throws {
        let usual = RelaySettings()
        try await Self.run {
            $0.requestBurst = usual.requestBurst
            $0.requestsPerSecond = usual.requestsPerSecond
        } body: { fixture in
            try await Bystanders.watch(fixture) {
                for flooder in 0..<3 {
                    let client = try await entrance.open(fixture)
                    let requests = (0..<2_000).map { number in
                        switch entrance {
                        case .lines: "prices FLOOD:\(flooder)-\(number)"
                        case .room: #"{"message":"\#(number)","user":"u\#(flooder)"}"#
                        case .wampJSON: #"[32,\#(number + 1),{},"tickertape.price.FLOOD:\#(flooder)-\#(number)"]"#
                        case .wampMessagePack: #"[32,\#(number + 1),{"match":"prefix"},"com.\#(number)"]"#
                        case .wampCBOR: #"[16,\#(number + 1),{"acknowledge":true},"com.flood",[\#(number)]]"#
                        }
                    }
                    // The client may be closed before all of them were read.
                    client.channel.writeAndFlush(try entrance.bytes(requests), promise: nil)
                    let end = try await entrance.end(client)
                    #expect(end == (entrance == .lines ? "# too many commands" : "1008 too many requests"))
                    try? await client.close()
                }
            }
            let asked = fixture.calls.all.filter { $0.hasPrefix("FLOOD:") }
            #expect(asked.count <= 3 * 50, "the relay asked for \(asked.count) symbols")
        }
    }

    @Test("thousands of subscriptions end at the session's limits", arguments: [Entrance.wampJSON, .wampCBOR, .lines])
    func subscriptions(entrance: Entrance) async throws {
        try await Self.run { fixture in
            try await Bystanders.watch(fixture) {
                let client = try await entrance.open(fixture)
                let kinds = ["", #""match":"prefix""#, #""match":"wildcard""#]
                let requests = (0..<3_000).map { number in
                    guard entrance != .lines else { return "trades FLOOD:\(number) MORE:\(number)" }
                    let topic = "com.\(number % 3 == 2 ? "." : "")t\(number)"
                    return #"[32,\#(number + 1),{\#(kinds[number % 3])},"\#(topic)"]"#
                }
                let last = entrance == .lines ? "nonsense" : #"[48,1,{},"wamp.subscription.list"]"#
                try await client.channel.writeAndFlush(try entrance.bytes(requests + [last]))
                guard let serialisation = entrance.serialisation else {
                    while try await client.line() != "# unknown command nonsense; send help" {}
                    return try await client.close()
                }
                var list: WAMPDictionary?
                while list == nil {
                    let elements = try serialisation.decode(try await client.frameAnsweringPings().payload).list ?? []
                    if elements.first?.integer == WAMPCode.result.rawValue { list = elements[3].list?[0].dictionary }
                }
                let counts = WAMPMatch.allCases.map { list?[$0.rawValue]?.list?.count ?? 0 }
                #expect(counts.reduce(0, +) == WAMPLimits.subscriptions && counts[2] == WAMPLimits.wildcardsOfSession)
                try await client.close()
            }
            #expect(fixture.calls.all.count { $0.hasPrefix("FLOOD:") || $0.hasPrefix("MORE:") } <= 50)
        }
    }

    @Test("connections that say nothing are ended in time")
    func silence() async throws {
        try await Self.run {
            $0.handshakeTimeout = .seconds(1)
        } body: { fixture in
            try await Bystanders.watch(fixture) {
                var clients: [(Entrance, RawClient)] = []
                for entrance in Entrance.allCases where entrance != .room {
                    for _ in 0..<10 { clients.append((entrance, try await entrance.connect(fixture))) }
                }
                for (entrance, client) in clients {
                    let end = try await entrance.end(client)
                    #expect(
                        end == (entrance == .lines ? "# no line came in time" : "1008 wamp.error.protocol_violation")
                    )
                    try? await client.close()
                }
            }
        }
    }

    @Test("a message above the limit ends the connection before it is in memory", arguments: Entrance.allCases)
    func oversized(entrance: Entrance) async throws {
        try await Self.run { fixture in
            try await Bystanders.watch(fixture) {
                for _ in 0..<10 {
                    let client = try await entrance.open(fixture)
                    var bytes = ByteBuffer()
                    if let opcode = entrance.opcode {
                        bytes.writeMultipleIntegers(0x80 | opcode, UInt8(0x80 | 127), UInt64(1 << 40), UInt32(0))
                    }
                    bytes.writeRepeatingByte(UInt8(ascii: "["), count: 4_096)
                    client.channel.writeAndFlush(bytes, promise: nil)
                    let end = try await entrance.end(client)
                    #expect(entrance == .lines ? end == "# line too long" : end.hasPrefix("1009 "), "\(end)")
                    try? await client.close()
                }
            }
        }
    }

    @Test(
        "a reader of everything that stops in a burst is closed with what it missed, and little waits for it",
        arguments: Entrance.allCases.filter { $0 != .room }
    )
    func slow(entrance: Entrance) async throws {
        try await Self.run {
            $0.sendBufferBytes = 8 << 10
            $0.stallTimeout = .seconds(30) * Patience.factor
        } body: { fixture in
            try await Bystanders.watch(fixture) {
                let rude = try await entrance.open(fixture, receiveBuffer: 4 << 10)
                let patterns = (0..<4).map { "tickertape.".dropLast($0) }
                let requests =
                    entrance == .lines
                    ? ["trades *", "nonsense"] : patterns.map { #"[32,1,{"match":"prefix"},"\#($0)"]"# }
                try await rude.channel.writeAndFlush(try entrance.bytes(requests))
                if entrance == .lines { _ = try await rude.line() } else { _ = try await rude.frameAnsweringPings() }
                try await rude.read(false)
                for start in stride(from: 0, to: 6_000, by: 100) {
                    fixture.feed((start..<start + 100).map { Frames.trade(Frames.btc, "\($0)", time: $0) })
                }
                try await fixture.readAll()
                let waiting = try await fixture.waitingBytes()
                #expect(waiting <= 2 << 20, "\(waiting)")
                try await rude.read(true)
                let end = try await entrance.end(rude)
                let isTold = end.hasPrefix("1013 too slow: ") || end.hasPrefix("# too slow: ")
                #expect(isTold && end.hasSuffix(" trades missed"), "\(end)")
                try? await rude.close()
            }
        }
    }

    @Test(
        "a reader that pauses gets each trade once and in order, directly or through its queue",
        arguments: Entrance.allCases.filter { $0 != .room }
    )
    func pausing(entrance: Entrance) async throws {
        try await Self.run {
            $0.sendBufferBytes = 8 << 10
            $0.stallTimeout = .seconds(30) * Patience.factor
        } body: { fixture in
            let client = try await entrance.open(fixture, receiveBuffer: 4 << 10)
            let subscription = #"[32,1,{},"tickertape.trades.\#(Frames.btc)"]"#
            let request = entrance == .lines ? "trades \(Frames.btc) json" : subscription
            try await client.channel.writeAndFlush(try entrance.bytes([request]))
            if entrance == .lines { _ = try await client.line() } else { _ = try await client.frameAnsweringPings() }

            func sequence() async throws -> Int? {
                guard let serialisation = entrance.serialisation else {
                    let line = try await client.line()
                    return line.contains(#""type":"trade""#) ? RunningProgram.number(in: line, behind: #""seq":"#) : nil
                }
                let frame = try await client.frameAnsweringPings()
                let event = try serialisation.decode(frame.payload).list ?? []
                guard event.first?.integer == WAMPCode.event.rawValue else { return nil }
                return event[4].list?[0].dictionary?["seq"]?.integer.map { Int($0) }
            }
            var sequences: [Int] = []
            for part in 0..<20 {
                // What is fed meanwhile fills the kernel's buffers, then the client's queue.
                if part % 4 == 1 { try await client.read(false) }
                let start = part * 100
                fixture.feed((1...100).map { Frames.trade(Frames.btc, "\(start + $0)", time: start + $0) })
                try await fixture.readAll()
                guard part % 4 == 3 else { continue }
                #expect(try await fixture.waitingBytes() > 0)
                try await client.read(true)
                while sequences.count < start + 100 { if let next = try await sequence() { sequences.append(next) } }
            }
            #expect(sequences == Array(sequences[0]..<sequences[0] + 2_000))
            try await client.close()
        }
    }
}
