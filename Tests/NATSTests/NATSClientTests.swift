import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import TLS
import Testing
import TickertapeTesting

@testable import NATS

/// A client on a virtual clock, with a test in the place of the server.
// Sendable: all of it stays on the test's thread.
private final class EmbeddedClient: NATSTransport, NATSClientDelegate, @unchecked Sendable {
    let loop = EmbeddedEventLoop()
    private(set) var client: NATSClient!
    /// The connections, the newest last.
    private(set) var channels: [EmbeddedChannel] = []
    private(set) var endings: [NATSEnding] = []
    /// The proofs of the next attempts; the last one is for all later ones.
    var identities: [Result<NATSIdentity?, Unreadable>] = [.success(nil)]
    private(set) var reports: [NATSMachine.Report] = []
    private var tokens = 0
    /// Whether attempts wait for the test.
    var holdsConnections = false
    private(set) var held: [EventLoopPromise<any Channel>] = []

    struct Unreadable: Error, CustomStringConvertible {
        var description: String { "the file of credentials cannot be read" }
    }

    init(_ identity: NATSIdentity? = nil, change: (inout NATSSettings) -> Void = { _ in }) {
        self.identities = [.success(identity)]
        var settings = NATSSettings(servers: [ServerAddress(host: "localhost")])
        change(&settings)
        self.client = NATSClient(settings, transport: self, on: self.loop, delegate: self, chance: { 0.5 }) {
            self.tokens += 1
            return "t\(self.tokens)"
        }
    }

    func identity(on loop: any EventLoop) -> EventLoopFuture<NATSIdentity?> {
        let identity = self.identities.count > 1 ? self.identities.removeFirst() : self.identities[0]
        return loop.makeCompletedFuture(identity.mapError { $0 as any Error })
    }

    func connect(
        to address: ServerAddress,
        within limit: TimeAmount,
        on loop: any EventLoop
    ) -> EventLoopFuture<any Channel> {
        guard !self.holdsConnections else {
            let promise = loop.makePromise(of: (any Channel).self)
            self.held.append(promise)
            return promise.futureResult
        }
        return loop.makeCompletedFuture { try self.channel() }
    }

    func channel() throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(loop: self.loop)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 4_222)).wait()
        self.channels.append(channel)
        return channel
    }

    func tlsContext(on loop: any EventLoop) -> EventLoopFuture<TLSContext> {
        loop.makeCompletedFuture { try TLSContext(client: Certificates.client()) }
    }

    /// Holds the client no longer.
    func forget() { self.client = nil }

    func natsClientReported(_ report: NATSMachine.Report) {
        self.reports.append(report)
        switch report {
        case .waiting(let ending, _), .stopped(let ending): self.endings.append(ending)
        case .connecting, .connected, .refused, .dropped, .exposed, .leaving, .servers: break
        }
    }

    func receive(_ text: String) throws { try #require(self.channels.last).writeInbound(ByteBuffer(string: text)) }

    /// Takes what the client has sent on its newest connection.
    func sent() throws -> String {
        var text = ""
        while let bytes = try self.channels.last?.readOutbound(as: ByteBuffer.self) { text += String(buffer: bytes) }
        return text
    }

    /// Lets the server accept the client.
    func accept() throws {
        self.client.start()
        try self.receive("INFO {\"headers\":true,\"max_payload\":1048576}\r\nPONG\r\n")
        #expect(try self.sent().hasPrefix("CONNECT {"))
        #expect(self.client.connection != nil)
    }
}

@Suite struct NATSClientTests {
    @Test(
        "takes nothing that stands behind an INFO that asks for TLS, and sends nothing",
        arguments: ["PING\r\n", "P", "INFO {}\r\n", "\u{16}\u{3}\u{1}"]
    )
    func plainText(behind: String) throws {
        let test = EmbeddedClient(.user("joe", password: Secret("s3cret")))
        test.client.start()
        try test.receive("INFO {\"tls_required\":true}\r\n" + behind)
        #expect(test.endings == [.violation(.plainTextBeforeTLS)])
        #expect(try test.sent() == "")
        #expect(test.channels.last?.isActive == false)
        test.client.stop()
    }

    @Test("sends a TLS handshake and no CONNECT before it is complete")
    func handshake() throws {
        let test = EmbeddedClient(.user("joe", password: Secret("s3cret")))
        test.client.start()
        try test.receive("INFO {\"tls_required\":true}\r\n")
        let sent = try test.sent()
        #expect(sent.utf8.first == 0x16 && !sent.contains("CONNECT") && !sent.contains("joe"))
        // What is not TLS ends the attempt.
        try test.receive("PONG\r\n")
        guard case .insecure = test.endings.first else { return #expect(Bool(false), "\(test.endings)") }
        test.client.stop()
    }

    @Test("gives up a silent server at its time, and tries again")
    func silence() throws {
        let test = EmbeddedClient()
        test.client.start()
        test.loop.advanceTime(by: .milliseconds(4_999))
        #expect(test.endings == [])
        test.loop.advanceTime(by: .milliseconds(1))
        #expect(test.endings == [.late] && test.channels.count == 1)
        test.loop.advanceTime(by: .milliseconds(250))
        #expect(test.channels.count == 2 && test.channels[0].isActive == false)
        try test.receive("INFO {}\r\nPONG\r\n")
        #expect(test.client.connection != nil)
        // Pings keep it, and their absence ends it.
        test.loop.advanceTime(by: .seconds(20))
        #expect(try test.sent().hasSuffix("PING\r\nPING\r\n"))
        try test.receive("PONG\r\n")
        test.loop.advanceTime(by: .seconds(60))
        #expect(test.endings == [.late, .silent])
        test.client.stop()
        test.client.stop()
        #expect(test.endings == [.late, .silent, .stopped])
    }

    @Test("a reader may use the client while it is called: the order of what it sends stays")
    func reentry() throws {
        let test = EmbeddedClient()
        try test.accept()
        let client = try #require(test.client)
        let subject = try #require(NATSSubject("b"))
        var texts: [String] = []
        try client.subscribe(try #require(NATSPattern("a"))) { message in
            texts.append(String(buffer: message.payload))
            try? client.publish(subject, payload: message.payload)
        }
        try test.receive("MSG a 1 1\r\n1\r\nMSG a 1 1\r\n2\r\n")
        #expect(texts == ["1", "2"])
        #expect(try test.sent() == "SUB a 1\r\nPUB b 1\r\n1\r\nPUB b 1\r\n2\r\n")
        // A reader that stops the client is the last.
        try client.subscribe(try #require(NATSPattern("c"))) { _ in client.stop() }
        try test.receive("MSG c 2 0\r\n\r\nMSG c 2 0\r\n\r\n")
        #expect(test.endings == [.stopped])
    }

    @Test("requests and flushes end with the connection, and may have had an effect")
    func lost() throws {
        let test = EmbeddedClient()
        try test.accept()
        let subject = try #require(NATSSubject("a"))
        let request = test.client.request(subject)
        let flush = test.client.flush()
        try #require(test.channels.last).close().wait()
        #expect(throws: RequestFailure.connectionLost) { try request.wait() }
        #expect(throws: RequestFailure.connectionLost) { try flush.wait() }
        #expect(test.endings == [.lost])
        #expect(throws: RequestFailure.notSent(.notConnected)) { try test.client.request(subject).wait() }
        test.client.stop()
    }

    @Test("what the connection has taken waits no more")
    func written() throws {
        let test = EmbeddedClient { $0.maximumWaitingBytes = 2_000 }
        try test.accept()
        let subject = try #require(NATSSubject("a"))
        for _ in 0..<10 { try test.client.publish(subject, payload: ByteBuffer(repeating: 0x61, count: 1_500)) }
        #expect(throws: SendRefusal.self) {
            try test.client.publish(subject, payload: ByteBuffer(repeating: 0x61, count: 2_000))
        }
        test.client.stop()
    }

    @Test("a connection that comes after the client was stopped is closed")
    func lateConnection() throws {
        let test = EmbeddedClient()
        test.holdsConnections = true
        test.client.start()
        test.client.stop()
        let channel = try test.channel()
        test.held[0].succeed(channel)
        #expect(!channel.isActive && test.endings == [.stopped])
        // The same for an attempt that took too long.
        let other = EmbeddedClient()
        other.holdsConnections = true
        other.client.start()
        other.loop.advanceTime(by: .seconds(5))
        #expect(other.endings == [.unreachable("no answer from localhost port 4222 within 5 s: is the network up?")])
        let late = try other.channel()
        other.held[0].succeed(late)
        #expect(!late.isActive)
        other.client.stop()
    }

    @Test("takes the identity of each attempt from the transport, and goes on where it cannot be had")
    func identities() throws {
        let test = EmbeddedClient()
        let secret = Secret("s3cret")
        test.identities = [.failure(.init()), .success(.token(secret)), .success(.user("joe", password: secret))]
        test.client.start()
        #expect(test.endings == [.noIdentity("the file of credentials cannot be read")] && test.channels.isEmpty)
        for part in ["auth_token", "\"user\":\"joe\""] {
            test.loop.advanceTime(by: .seconds(1))
            try test.receive("INFO {}\r\n")
            #expect(try test.sent().contains(part))
            try #require(test.channels.last).close().wait()
        }
        test.client.stop()
    }

    @Test("a connection that has ended before it is used fails at once")
    func endedConnection() throws {
        let test = EmbeddedClient()
        test.holdsConnections = true
        test.client.start()
        let channel = try test.channel()
        try channel.close().wait()
        test.held[0].succeed(channel)
        #expect(test.endings == [.lost])
        test.client.stop()
    }

    @Test("goes on after a message with malformed headers")
    func unreadable() throws {
        let test = EmbeddedClient()
        try test.accept()
        var count = 0
        try test.client.subscribe(try #require(NATSPattern("a"))) { _ in count += 1 }
        let request = test.client.request(try #require(NATSSubject("b")))
        let bad = "4 4\r\nHTTP\r\n"
        try test.receive("HMSG a 1 \(bad)HMSG _INBOX.t1.t2 3 \(bad)MSG a 1 0\r\n\r\n")
        #expect(throws: RequestFailure.unreadable) { try request.wait() }
        #expect(count == 1 && test.endings == [])
        #expect(test.reports.contains(.dropped(subject: "a", others: 0)))
        test.client.stop()
    }

    @Test("answers the PINGs of one read by one write")
    func pings() throws {
        let test = EmbeddedClient()
        try test.accept()
        try test.receive("PING\r\nPING\r\nPI")
        try test.receive("NG\r\n")
        let channel = try #require(test.channels.last)
        #expect(try channel.readOutbound(as: ByteBuffer.self) == ByteBuffer(string: "PONG\r\nPONG\r\n"))
        #expect(try channel.readOutbound(as: ByteBuffer.self) == ByteBuffer(string: "PONG\r\n"))
        test.client.stop()
    }

    @Test("each request has an answer's subject of its own, which only the token's source knows")
    func tokens() throws {
        let test = EmbeddedClient()
        try test.accept()
        let subject = try #require(NATSSubject("b"))
        let answer = test.client.request(subject).map { String(buffer: $0.payload) }
        _ = test.client.request(subject)
        #expect(try test.sent() == "SUB _INBOX.t1.* 2\r\nPUB b _INBOX.t1.t2 0\r\n\r\nPUB b _INBOX.t1.t3 0\r\n\r\n")
        try test.receive("MSG _INBOX.t1.1 2 1\r\nx\r\nMSG _INBOX.t1.t2 2 1\r\ny\r\n")
        #expect(try answer.wait() == "y")
        test.client.stop()
        let texts = Set((0..<100).map { _ in NATSClient.randomToken() })
        #expect(texts.count == 100 && texts.allSatisfy { $0.utf8.count == 22 && NATSSubject($0) != nil })
    }

    @Test("a future of a drain fails with what came before the confirmation; a second one changes nothing")
    func drains() throws {
        let test = EmbeddedClient()
        try test.accept()
        let first = test.client.drain()
        let second = test.client.drain()
        #expect(test.endings == [])
        try #require(test.channels.last).close().wait()
        #expect(throws: NATSEnding.lost) { try first.wait() }
        #expect(throws: NATSEnding.lost) { try second.wait() }
        try test.client.drain().wait()

        let other = EmbeddedClient()
        try other.accept()
        let drain = other.client.drain()
        try other.receive("PONG\r\n")
        try drain.wait()
    }

    @Test("a refusal for slowness is reported with the server's words")
    func slowConsumer() throws {
        let test = EmbeddedClient()
        try test.accept()
        try test.receive("-ERR 'Slow Consumer'\r\n")
        #expect(test.endings == [.refused(ServerRefusal("Slow Consumer"))])
        #expect(test.endings.first?.description.contains("too slow for what it subscribes to") == true)
        test.client.stop()
    }

    @Test("a stopped client is held by no reader")
    func release() throws {
        let test = EmbeddedClient()
        try test.accept()
        weak var client: NATSClient?
        do {
            let held = try #require(test.client)
            client = held
            try held.subscribe(try #require(NATSPattern("a"))) { _ in held.stop() }
            held.stop()
        }
        #expect(client != nil)
        test.forget()
        #expect(client == nil)
    }
}
