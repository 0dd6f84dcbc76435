import WebSocket
import NIOCore
import Testing
import TickertapeTesting
@testable import Measurements
@testable import Relay

/// Floods of valid requests, while ten other clients are not disturbed.
@Suite("Abuse by floods", .timeLimit(.minutes(5 * Patience.factor)))
struct AbuseFloodTests {
    @Test(
        "a flood of pings is answered while the client reads, and queues few pongs otherwise",
        arguments: [false, true]
    )
    func pings(isEncrypted: Bool) async throws {
        try await RelayFixture.run(isEncrypted: isEncrypted) {
            $0.sendBufferBytes = 8 << 10
            // A client that reads nothing is not closed for that here, however slow the machine is.
            $0.stallTimeout = .hours(1)
            $0.webSocket.pingInterval = .hours(1)
        } body: { fixture, below in
            try await Bystanders.watch(fixture, below: below) {
                var flood = ByteBuffer()
                let payload = String(repeating: "p", count: 120)
                for _ in 0..<1_000 { flood.writeImmutableBuffer(RawClient.masked(opcode: 9, payload)) }
                let polite = try await RawClient.open(at: fixture.address, below: below)
                let rude = try await RawClient.open(at: fixture.address, receiveBuffer: 4 << 10, below: below)
                try await rude.read(false)
                // 12 MB of pings, each of which would be a pong of as many bytes.
                for _ in 0..<100 { try await rude.channel.writeAndFlush(flood) }
                // A client that reads gets every pong, in order.
                for turn in 0..<20 {
                    var pings = ByteBuffer()
                    for number in 0..<50 {
                        pings.writeImmutableBuffer(RawClient.masked(opcode: 9, "\(turn)-\(number)"))
                    }
                    try await polite.channel.writeAndFlush(pings)
                    for number in 0..<50 {
                        let pong = try await polite.frame()
                        try #require(pong.opcode == 10 && pong.text == "\(turn)-\(number)")
                    }
                }
                let waiting = try await fixture.waitingBytes(below: below)
                #expect(waiting < 16 << 10, "\(waiting)")
                try await rude.close()
            }
        }
    }

    @Test("thousands of symbols are subscribed upstream up to its limit, and refused beyond it")
    func symbols() async throws {
        try await RelayFixture.run(symbolLimit: 50) {
            // Another test checks the rate of requests.
            $0.requestBurst = 100_000
        } body: { fixture in
            try await Bystanders.watch(fixture) {
                for flooder in 0..<3 {
                    let client = try await RawClient.open(at: fixture.address)
                    var requests = ByteBuffer()
                    for number in 0..<1_000 {
                        let text = #"{"type":"subscribe","symbol":"FLOOD:\#(flooder)-\#(number)"}"#
                        requests.writeImmutableBuffer(RawClient.masked(opcode: 1, text))
                    }
                    try await client.channel.writeAndFlush(requests)
                    let answer = try await client.frame().text
                    #expect(answer.contains("too many symbols"), "\(answer)")
                    try await fixture.settleAnswered(client)
                    try await client.close()
                }
                // The places of closed clients are free again, once the relay has noticed.
                while fixture.relay.clientCount > 10 { try await Task.sleep(for: .milliseconds(5)) }
                let honest = try await fixture.tradesClient(Frames.btc)
                fixture.feed(Frames.trade(Frames.btc, "1"))
                try #require(try await honest.frame().text == Frames.trade(Frames.btc, "1"))
                try await honest.close()
            }
            let asked = fixture.calls.all.filter { $0.hasPrefix("FLOOD:") }
            #expect(asked.count <= 3 * 50)
            #expect(!fixture.calls.all.contains { $0.contains("-50") })
        }
    }

    @Test(
        "floods of subscribes are refused and then closed, by the default limits",
        arguments: ["/", "/v1/stream"]
    )
    func subscribes(path: String) async throws {
        let usual = RelaySettings()
        try await RelayFixture.run {
            $0.requestBurst = usual.requestBurst
            $0.requestsPerSecond = usual.requestsPerSecond
        } body: { fixture in
            try await Bystanders.watch(fixture) {
                for flooder in 0..<3 {
                    let client = try await RawClient.open(path, at: fixture.address)
                    var requests = ByteBuffer()
                    for number in 0..<2_000 {
                        let text = #"{"type":"subscribe","symbol":"FLOOD:\#(flooder)-\#(number)"}"#
                        requests.writeImmutableBuffer(RawClient.masked(opcode: 1, text))
                    }
                    // The client may be closed before all of them were read.
                    client.channel.writeAndFlush(requests, promise: nil)
                    var reported = 0
                    var closure: String?
                    while closure == nil {
                        let frame = try await client.frameAnsweringPings()
                        if frame.opcode == 1, frame.text.contains("Too many requests; slow down") { reported += 1 }
                        closure = frame.closure
                    }
                    #expect(closure == "1008 too many requests" && reported > 0, "\(reported) \(closure ?? "")")
                    try await client.close()
                }
            }
            let asked = fixture.calls.all.filter { $0.hasPrefix("FLOOD:") }
            #expect(asked.count <= 3 * 50)
        }
    }

    @Test("names that are not valid symbols are never subscribed upstream")
    func names() async throws {
        try await RelayFixture.run { fixture in
            try await Bystanders.watch(fixture) {
                let client = try await RawClient.open(at: fixture.address)
                for name in ["", String(repeating: "x", count: 65), #"\u0000"#, #"a\nb"#, #"\u007f"#] {
                    try await client.subscribe(name)
                    let answer = try await client.frame().text
                    #expect(answer.contains("Invalid"), "\(answer)")
                }
                for garbage in ["", "[", "{}", "null", "subscribe", #"{"type":"subscribe","symbol":7}"#, "\u{0}"] {
                    try await client.send(garbage)
                    #expect(try await client.frame().text.contains(#""type":"error""#))
                }
                try await client.send(String(repeating: "[", count: 60_000))
                #expect(try await client.frame().text.contains(#""type":"error""#))
                try await client.close()
            }
            // The bystanders' symbol is unsubscribed some time after they have gone.
            #expect(Set(fixture.calls.all).subtracting(["-\(Bystanders.symbol)"]) == [Bystanders.symbol])
        }
    }

    @Test("a client that only sends costs no memory: it gets no answers unless it reads")
    func unread() async throws {
        try await RelayFixture.run {
            $0.sendBufferBytes = 8 << 10
            $0.requestBurst = 100_000
            $0.stallTimeout = .hours(1)
            $0.webSocket.pingInterval = .hours(1)
        } body: { fixture in
            try await Bystanders.watch(fixture) {
                let client = try await RawClient.open(at: fixture.address, receiveBuffer: 4 << 10)
                try await client.read(false)
                var garbage = ByteBuffer()
                for _ in 0..<20_000 { garbage.writeImmutableBuffer(RawClient.masked(opcode: 1, "garbage")) }
                try await client.channel.writeAndFlush(garbage)
                let waiting = try await fixture.waitingBytes()
                #expect(waiting < 256 << 10, "\(waiting)")
                try await client.close()
            }
            // The bystanders' symbol is unsubscribed some time after they have gone.
            #expect(Set(fixture.calls.all).subtracting(["-\(Bystanders.symbol)"]) == [Bystanders.symbol])
        }
    }

    @Test("half-open clients are reaped, and their places are free again")
    func halfOpen() async throws {
        let instruments = Instruments()
        try await RelayFixture.run(instruments: instruments) {
            $0.webSocket.pingInterval = .milliseconds(250)
            // The clients that answer need enough time for it, on a machine that stalls for a moment.
            $0.webSocket.pongTimeout = .seconds(2)
            $0.maximumClients = 20
        } body: { fixture in
            try await Bystanders.watch(fixture) {
                var silent: [RawClient] = []
                for _ in 0..<10 { silent.append(try await RawClient.open(at: fixture.address)) }
                for client in silent { try await client.ended() }
                let next = try await RawClient.open(at: fixture.address)
                try await next.close()
            }
        }
        #expect(instruments.refusals.all.first { $0.type == "pong-timeout" }?.number == 10)
    }

    @Test("so are clients whose machines vanish, whether trades wait for them or not")
    func gone() async throws {
        let instruments = Instruments()
        try await RelayFixture.run(instruments: instruments) {
            $0.webSocket.pingInterval = .milliseconds(250)
            $0.webSocket.pongTimeout = .seconds(2)
            $0.maximumClients = 20
            $0.sendBufferBytes = 8 << 10
            $0.stallTimeout = .hours(1)
        } body: { fixture in
            try await Bystanders.watch(fixture) {
                var gone: [RawClient] = []
                for index in 0..<10 {
                    let client = try await RawClient.open(at: fixture.address)
                    try await client.subscribe(index < 5 ? Bystanders.symbol : Frames.btc)
                    // Five of them get trades from then on, even before the answer.
                    try await fixture.settleAnswered(client)
                    try await client.goDeaf()
                    gone.append(client)
                }
                // The suite's time limit bounds this loop.
                while fixture.relay.clientCount > 10 { try await Task.sleep(for: .milliseconds(20)) }
                let next = try await RawClient.open(at: fixture.address)
                try await next.close()
                for client in gone { try? await client.close() }
            }
        }
        #expect(instruments.refusals.all.first { $0.type == "pong-timeout" }?.number == 10)
    }
}

extension RelayFixture {
    /// Returns the bytes that wait for all clients, as `/v1/status` shows them.
    func waitingBytes(
        below: @escaping @Sendable () -> [any ChannelHandler] = { [] }
    ) async throws -> Int {
        let client = try await RawClient.connect(to: self.address, below: below)
        _ = try await client.request("GET /v1/status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        let body = try await client.rest()
        let key = #""waitingBytes":"#
        let range = try #require(body.firstRange(of: key))
        return try #require(Int(body[range.upperBound...].prefix { $0.isNumber }))
    }

    /// Waits until the relay has processed all that the client has sent, skipping the answers before that.
    func settleAnswered(_ client: RawClient) async throws {
        try await client.send("?")
        while !(try await client.frameAnsweringPings().text.contains("Invalid message")) {}
    }
}
