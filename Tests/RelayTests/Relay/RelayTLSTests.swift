import Logging
import Market
import NIOConcurrencyHelpers
import NIOCore
import TLS
import Testing
import TickertapeTesting
@testable import Measurements
@testable import Relay

@Suite("The relay over TLS", .timeLimit(.minutes(5 * Patience.factor)))
struct RelayTLSTests {
    /// Runs the body with a relay with a certificate, its instruments, and the folder of the two files.
    private func run(
        changing change: (inout RelaySettings) -> Void = { _ in },
        _ body: (_ fixture: RelayFixture, _ tls: RelayTLS, _ instruments: Instruments, TemporaryFolder) async throws ->
            Void
    ) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let instruments = Instruments()
        let tls = try RelayTLS.sample(in: folder, instruments: instruments)
        try await RelayFixture.run(instruments: instruments, tls: tls, change) { fixture in
            try await body(fixture, tls, instruments, folder)
        }
    }

    /// Returns the handlers below a client's application: a counter of records, and TLS that trusts the tests'
    /// authority.
    private static func client(
        _ records: RecordCounter? = nil,
        context: TLSContext? = nil
    ) throws -> @Sendable () -> [any ChannelHandler] {
        let context = try context ?? TLSContext(client: Certificates.client())
        return {
            let below: [any ChannelHandler] = records.map { [RecordHandler($0)] } ?? []
            return below + [TLSHandler(context: context, peer: .host("localhost"))]
        }
    }

    private func count(_ name: String, _ label: String, _ instruments: Instruments) -> String? {
        var text = PrometheusText()
        instruments.registry.write(to: &text)
        return String(buffer: text.buffer).split(separator: "\n").first { $0.hasPrefix("\(name){\(label)}") }?
            .split(separator: " ").last.map(String.init)
    }

    /// Waits for a count: the relay's loop may still be updating it when a client has finished.
    private func counts(
        _ value: String,
        _ name: String,
        _ label: String,
        _ instruments: Instruments
    ) async throws -> Bool {
        for _ in 0..<1_000 where self.count(name, label, instruments) != value {
            try await Task.sleep(for: .milliseconds(10))
        }
        return self.count(name, label, instruments) == value
    }

    @Test("a failed request for a WebSocket is answered with a hint to use wss://")
    func namesItsScheme() async throws {
        try await self.run { fixture, _, _, _ in
            let client = try await RawClient.connect(to: fixture.address, below: try Self.client())
            let head = try await client.request("GET /v1/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
            #expect(head.hasPrefix("HTTP/1.1 426 "))
            #expect(try await client.rest().contains("here, by wss://"))
        }
    }

    @Test("clients of both protocols and of HTTP get what they get without it, and handshakes are counted")
    func serves() async throws {
        try await self.run { fixture, tls, instruments, _ in
            let context = try TLSContext(client: Certificates.client())
            let below = try Self.client(context: context)
            let trades = try await RawClient.open(at: fixture.address, below: below)
            try await trades.subscribe(Frames.btc)
            try await fixture.settle(trades)
            let frame = Frames.trade(Frames.btc, "61837.63")
            fixture.feed(frame)
            #expect(try await trades.frame().text == frame)
            let stream = try await RawClient.open("/v1/stream", at: fixture.address, below: below)
            #expect(try await stream.frame().text.hasPrefix(#"{"type":"hello","n":"#))
            let get = try await RawClient.connect(to: fixture.address, below: below)
            let head = try await get.request("GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            #expect(head.hasPrefix("HTTP/1.1 200 OK"))
            #expect(try await get.rest() == "ok\n")
            #expect(self.count(MetricName.tlsHandshakes, #"resumed="false""#, instruments) == "1")
            #expect(self.count(MetricName.tlsHandshakes, #"resumed="true""#, instruments) == "2")
            #expect(tls.warnings.allSatisfy { $0.contains("chmod 600") })
        }
    }

    @Test("an unread answer ends the connection, and one that is read slowly arrives whole")
    func unreadAnswers() async throws {
        let request = "GET /v1/trades/\(Frames.btc)?limit=3000 HTTP/1.1\r\nHost: localhost\r\n\r\n"
        for patience in [TimeAmount.milliseconds(300), .hours(1)] {
            try await self.run(changing: {
                $0.sendBufferBytes = 8 << 10
                $0.stallTimeout = patience
            }) { fixture, _, instruments, _ in
                fixture.feed((1...3_000).map { Frames.trade(Frames.btc, "\($0)") })
                let client = try await RawClient.connect(
                    to: fixture.address,
                    receiveBuffer: 4 << 10,
                    below: try Self.client()
                )
                // The client must read during the handshake.
                _ = try await client.request("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
                try await client.skip("ok\n".utf8.count)
                try await client.read(false)
                try await client.channel.writeAndFlush(ByteBuffer(string: request))
                func unread() -> Int { instruments.refusals.all.count { $0.type == "answer-unread" && $0.number == 1 } }
                if patience < .hours(1) {
                    // The suite's time limit bounds this loop.
                    while unread() == 0 { try await Task.sleep(for: .milliseconds(10)) }
                    try await client.close()
                } else {
                    // Bytes that wait for encryption are counted, too.
                    while try await fixture.waitingBytes(below: try Self.client()) == 0 { try Task.checkCancellation() }
                    try await client.read(true)
                    let head = try await client.head().lowercased()
                    let length = try #require(head.firstRange(of: "content-length: ").map { head[$0.upperBound...] })
                    try await client.skip(try #require(Int(length.prefix { $0.isNumber })))
                    #expect(unread() == 0)
                }
            }
        }
    }

    @Test("what one read of the feed brought leaves in one record for each client")
    func oneRecord() async throws {
        try await self.run { fixture, _, _, _ in
            let records = RecordCounter()
            let client = try await RawClient.open(at: fixture.address, below: try Self.client(records))
            try await client.subscribe(Frames.btc)
            try await fixture.settle(client)
            let before = records.count
            let frames = (0..<20).map { Frames.trade(Frames.btc, "618\($0)") }
            fixture.feed(frames)
            for frame in frames { #expect(try await client.frame().text == frame) }
            #expect(records.count - before == 1)
        }
    }

    @Test("a request without TLS gets one line that says so, and is counted")
    func plainRequest() async throws {
        try await self.run { fixture, _, instruments, _ in
            for request in [RawClient.upgrade("/"), "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "get"] {
                let client = try await RawClient.connect(to: fixture.address)
                let head = try await client.request(request)
                #expect(head.hasPrefix("HTTP/1.1 400 Bad Request\r\n"), "\(head)")
                #expect(try await client.rest().contains("this port speaks TLS"))
            }
            #expect(self.count(MetricName.tlsFailures, #"kind="plain-http""#, instruments) == "3")
        }
    }

    @Test("garbage, an old version and a client that distrusts the certificate are counted, and disturb no other")
    func hostile() async throws {
        try await self.run { fixture, _, instruments, _ in
            let good = try await RawClient.open(at: fixture.address, below: try Self.client())
            try await good.subscribe(Frames.btc)
            try await fixture.settle(good)

            let garbage = try await RawClient.connect(to: fixture.address)
            try await garbage.channel.writeAndFlush(ByteBuffer(repeating: 0, count: 4_096))
            try await garbage.ended()
            // A ClientHello's record header of SSL 3.0 with nothing sensible in it.
            let cut = try await RawClient.connect(to: fixture.address)
            try await cut.channel.writeAndFlush(ByteBuffer(bytes: [22, 3, 0, 0, 4, 1, 0, 0, 0]))
            try await cut.ended()
            let stranger = try TLSContext(client: Certificates.client(trusting: CertificateAuthority(name: "other")))
            let distrusting = try await RawClient.connect(
                to: fixture.address,
                below: try Self.client(context: stranger)
            )
            try await distrusting.ended()

            fixture.feed(Frames.trade(Frames.btc, "1"), Frames.trade(Frames.btc, "2"))
            #expect(try await good.frame().text == Frames.trade(Frames.btc, "1"))
            #expect(try await good.frame().text == Frames.trade(Frames.btc, "2"))
            #expect(try await self.counts("1", MetricName.tlsFailures, #"kind="alert""#, instruments))
            let refused = ["protocol", "version"].compactMap {
                Int(self.count(MetricName.tlsFailures, #"kind="\#($0)""#, instruments) ?? "")
            }
            #expect(refused.reduce(0, +) == 2)
        }
    }

    @Test("a new pair is for new connections, a connected client continues, and a bad pair changes nothing")
    func reloads() async throws {
        try await self.run { fixture, tls, _, folder in
            let old = try await RawClient.open(at: fixture.address, below: try Self.client())
            try await old.subscribe(Frames.btc)
            try await fixture.settle(old)
            let before = tls.facts

            let other = try CertificateAuthority(name: "second authority")
            let next = try other.issue(names: ["localhost"])
            _ = try folder.write(next.certificateChainPEM, to: "certificate.pem")
            let refused = tls.reload()
            #expect(refused.count == 1)
            #expect(refused[0].hasPrefix("the new certificate is not used, the one before stays: "), "\(refused)")
            #expect(refused[0].contains("does not belong to"))
            #expect(tls.facts == before)
            let still = try await RawClient.open(at: fixture.address, below: try Self.client())
            try await still.close()

            _ = try folder.write(next.privateKeyPEM, to: "key.pem")
            #expect(tls.reload().first?.contains(tls.facts.fingerprint) == true)
            #expect(tls.facts != before)
            let trusting = try TLSContext(client: Certificates.client(trusting: other))
            let new = try await RawClient.open(at: fixture.address, below: try Self.client(context: trusting))
            try await new.subscribe(Frames.btc)
            try await fixture.settle(new)
            await #expect(throws: (any Error).self) {
                try await RawClient.open(at: fixture.address, below: try Self.client())
            }

            fixture.feed(Frames.trade(Frames.btc, "7"))
            #expect(try await old.frame().text == Frames.trade(Frames.btc, "7"))
            #expect(try await new.frame().text == Frames.trade(Frames.btc, "7"))
            #expect(tls.reload().first?.hasSuffix("the certificate is the same as before") == true)
        }
    }

    @Test("a client that never finishes its handshake is closed")
    func slowHandshake() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let instruments = Instruments()
        let tls = try RelayTLS.sample(in: folder, handshakeTimeout: .milliseconds(100), instruments: instruments)
        try await RelayFixture.run(instruments: instruments, tls: tls) { fixture in
            let silent = try await RawClient.connect(to: fixture.address)
            let halting = try await RawClient.connect(to: fixture.address)
            // On a busy machine its time may be over before it has sent anything.
            try? await halting.channel.writeAndFlush(ByteBuffer(bytes: [22, 3, 1, 2, 0, 1, 0]))
            try await silent.ended()
            try await halting.ended()
            #expect(try await self.counts("2", MetricName.tlsFailures, #"kind="timeout""#, instruments))
        }
    }
}

/// The count of received records of application data (RFC 8446, 5.1).
private final class RecordCounter: Sendable {
    private let value = NIOLockedValueBox(0)
    var count: Int { self.value.withLockedValue { $0 } }
    func add() { self.value.withLockedValue { $0 += 1 } }
}

/// A handler that splits ciphertext into records, counts them and passes them on.
private final class RecordHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let records: RecordCounter
    private var waiting = ByteBuffer()

    init(_ records: RecordCounter) { self.records = records }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = Self.unwrapInboundIn(data)
        self.waiting.writeBuffer(&bytes)
        while let header = self.waiting.getBytes(at: self.waiting.readerIndex, length: 5) {
            let length = Int(header[3]) << 8 | Int(header[4])
            guard self.waiting.readSlice(length: 5 + length) != nil else { break }
            if header[0] == 23 { self.records.add() }
        }
        context.fireChannelRead(data)
    }
}
