import Foundation
import NATS
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import TLS
import Testing
import TickertapeTesting

/// The way to servers on loopback.
struct LoopbackTransport: NATSTransport {
    struct Unreachable: Error, CustomStringConvertible {
        var description: String
    }

    var tls = Certificates.client()
    var identity: NATSIdentity?

    func identity(on loop: any EventLoop) -> EventLoopFuture<NATSIdentity?> { loop.makeSucceededFuture(self.identity) }

    func connect(
        to address: ServerAddress,
        within limit: TimeAmount,
        on loop: any EventLoop
    ) -> EventLoopFuture<any Channel> {
        ClientBootstrap(group: loop).connectTimeout(limit).connect(host: address.host, port: address.port)
            .flatMapErrorThrowing { _ in throw Unreachable(description: "\(address) does not answer") }
    }

    func tlsContext(on loop: any EventLoop) -> EventLoopFuture<TLSContext> {
        loop.makeCompletedFuture { try TLSContext(client: self.tls) }
    }
}

/// A client under test, used from outside of its loop.
final class LoopbackClient: NATSClientDelegate, Sendable {
    private let loop: any EventLoop
    private let client: NIOLockedValueBox<NIOLoopBound<NATSClient>?>
    private let reports: AsyncStream<NATSMachine.Report>
    private let continuation: AsyncStream<NATSMachine.Report>.Continuation
    private let messages: AsyncStream<NATSMessage>
    private let arrivals: AsyncStream<NATSMessage>.Continuation

    /// Makes a client and starts it.
    init(
        _ address: String,
        as identity: NATSIdentity? = nil,
        tls: TLSClientConfiguration = Certificates.client(),
        change: (inout NATSSettings) -> Void = { _ in }
    ) async throws {
        var settings = NATSSettings(servers: [try #require(ServerAddress(address))])
        settings.connectTimeout = settings.connectTimeout * Patience.factor
        settings.handshakeTimeout = settings.handshakeTimeout * Patience.factor
        settings.learnedTimeout = settings.learnedTimeout * Patience.factor
        settings.longestWait = .milliseconds(500)
        change(&settings)
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        self.loop = loop
        self.client = NIOLockedValueBox(nil)
        (self.reports, self.continuation) = AsyncStream.makeStream()
        (self.messages, self.arrivals) = AsyncStream.makeStream()
        let made = settings
        let bound = try await loop.submit {
            let client = NATSClient(
                made,
                transport: LoopbackTransport(tls: tls, identity: identity),
                on: loop,
                delegate: self
            )
            client.start()
            return NIOLoopBound(client, eventLoop: loop)
        }.get()
        self.client.withLockedValue { $0 = bound }
    }

    func natsClientReported(_ report: NATSMachine.Report) { self.continuation.yield(report) }

    /// Calls `body` with the client on its loop.
    func use<Value: Sendable>(_ body: @escaping @Sendable (NATSClient) throws -> Value) async throws -> Value {
        let client = try #require(self.client.withLockedValue { $0 })
        return try await self.loop.submit { try body(client.value) }.get()
    }

    func wait<Value: Sendable>(_ body: @escaping @Sendable (NATSClient) -> EventLoopFuture<Value>) async throws -> Value
    {
        let client = try #require(self.client.withLockedValue { $0 })
        return try await self.loop.flatSubmit { body(client.value) }.get()
    }

    /// Waits for a report; the suite's time limit ends a wait without one.
    @discardableResult
    func report<Value>(_ find: (NATSMachine.Report) -> Value?) async throws -> Value {
        for await report in self.reports { if let value = find(report) { return value } }
        throw CancellationError()
    }

    /// Waits for a connection; returns its port.
    @discardableResult
    func connected() async throws -> Int {
        try await self.report { if case .connected(let address, _) = $0 { address.port } else { nil } }
    }

    /// Waits until the client has learned of a server's port.
    func knows(_ port: Int) async throws {
        try await self.report { report in
            if case .servers(let addresses) = report, addresses.contains(where: { $0.port == port }) {
                true
            } else {
                nil
            }
        }
    }

    /// Subscribes, and waits until the server knows it; the messages come by ``next()``.
    func subscribe(_ pattern: String) async throws {
        let pattern = try #require(NATSPattern(pattern))
        _ = try await self.use { client in try client.subscribe(pattern) { self.arrivals.yield($0) } }
        try await self.wait { $0.flush() }
    }

    func next() async throws -> NATSMessage {
        for await message in self.messages { return message }
        throw CancellationError()
    }

    func publish(_ subject: String, _ text: String = "", reply: String? = nil) async throws {
        let subject = try #require(NATSSubject(subject))
        try await self.use { client in
            try client.publish(subject, reply: reply.flatMap { NATSSubject($0) }, payload: ByteBuffer(string: text))
        }
    }

    func request(
        _ subject: String,
        headers: NATSHeaders = .init(),
        _ payload: ByteBuffer = .init()
    ) async throws -> NATSMessage {
        let subject = try #require(NATSSubject(subject))
        return try await self.wait { client in
            client.request(subject, headers: headers, payload: payload, within: .seconds(20))
        }
    }

    /// Sends a request of a bucket.
    func request(_ request: NATSRequest?) async throws -> NATSMessage {
        let request = try #require(request)
        return try await self.wait { client in
            client.request(request.subject, headers: request.headers, payload: request.payload, within: .seconds(20))
        }
    }

    func drain() async throws { try await self.wait { $0.drain() } }
}
