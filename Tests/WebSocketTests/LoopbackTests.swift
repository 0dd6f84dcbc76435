import HTTP
import MockUpstream
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix
import Testing
import TickertapeTesting
@testable import WebSocket

/// Tests with a client and a server over a real local socket.
@Suite struct LoopbackTests {
    private static let limit = TimeAmount.seconds(20) * Patience.factor

    /// Makes a promise that fails after a time limit.
    private func promise<Value: Sendable>(of type: Value.Type) -> EventLoopPromise<Value> {
        let promise = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: Value.self)
        promise.futureResult.eventLoop.scheduleTask(in: Self.limit) {
            promise.fail(ChannelError.connectTimeout(Self.limit))
        }
        return promise
    }

    private func serve(
        refusal: HTTPAnswer? = nil,
        adding handler: @escaping @Sendable () -> any ChannelHandler & Sendable
    ) async throws -> any Channel {
        try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let service = MockService(
                        refusal: { _ in refusal },
                        opened: { channel, _, _ in try channel.pipeline.syncOperations.addHandler(handler()) }
                    )
                    try HTTPServerConnection.addHandlers(to: channel.pipeline.syncOperations, service)
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    private func connect(
        to server: any Channel,
        adding handler: any ChannelHandler & Sendable
    ) async throws -> any Channel {
        let address = try #require(server.localAddress)
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup).connect(to: address).get()
        let request = WebSocketClientRequest(host: "localhost", target: "/")
        var settings = WebSocketSettings(role: .client)
        // Long enough that a busy machine does not count as an unresponsive peer.
        settings.closeTimeout = .seconds(30)
        try await channel.upgradeToWebSocket(request, settings: settings) { channel, _ in
            try channel.pipeline.syncOperations.addHandler(handler)
        }.get()
        return channel
    }

    @Test("Messages of every size class go there and back, and the closing handshake ends both sides")
    func echoes() async throws {
        let server = try await self.serve { Echo() }
        let sizes = [0, 1, 125, 126, 65_535, 65_536, 1 << 20]
        let done = self.promise(of: [Int].self)
        let closure = self.promise(of: WebSocketClosure.self)
        let client = try await self.connect(
            to: server,
            adding: Collector(count: sizes.count, done: done, closure: closure)
        )
        for size in sizes {
            try await client.writeAndFlush(WebSocketOutput.binary(ByteBuffer(repeating: 7, count: size))).get()
        }
        #expect(try await done.futureResult.get() == sizes)
        try await client.writeAndFlush(WebSocketOutput.close(.normal, reason: "done")).get()
        #expect(
            try await closure.futureResult.get() == WebSocketClosure(code: .normal, reason: "", cause: .locallyClosed)
        )
        try await client.closeFuture.get()
        try await server.close().get()
    }

    @Test("A refused upgrade gives its status and body over a real socket")
    func refuses() async throws {
        let server = try await self.serve(refusal: .text(.unauthorized, "Invalid API key")) {
            Echo()
        }
        await #expect {
            _ = try await self.connect(to: server, adding: Echo())
        } throws: { error in
            guard case WebSocketUpgradeError.refused(.unauthorized, _, "Invalid API key") = error else { return false }
            return true
        }
        try await server.close().get()
    }

    @Test("A breach is answered with a close frame that arrives although the peer goes on sending")
    func closesAfterBreach() async throws {
        let server = try await self.serve { Echo() }
        let bytes = self.promise(of: [UInt8].self)
        let raw = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(RawCollector(done: bytes))
                }
            }
            .connect(to: #require(server.localAddress)).get()
        let request =
            "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
            + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        raw.write(ByteBuffer(string: request), promise: nil)
        let unmasked = Frame.binary(Array(repeating: 1, count: 1_000)).bytes
        for _ in 0..<200 { raw.write(ByteBuffer(bytes: unmasked), promise: nil) }
        raw.flush()
        let received = try await bytes.futureResult.get()
        let end = Array("\r\n\r\n".utf8)
        let start = try #require(received.indices.first { received[$0...].starts(with: end) }) + 4
        let frames = try #require(Frame.parse(Array(received[start...])))
        #expect(frames.map(\.first) == [0x88])
        #expect(frames.first?.payload.prefix(2) == [0x03, 0xEA])
        try await server.close().get()
    }
}

private final class Echo: ChannelInboundHandler, Sendable {
    typealias InboundIn = WebSocketMessage
    typealias OutboundOut = WebSocketOutput

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch Self.unwrapInboundIn(data) {
        case .text(let text): context.writeAndFlush(Self.wrapOutboundOut(.text(text)), promise: nil)
        case .binary(let bytes): context.writeAndFlush(Self.wrapOutboundOut(.binary(bytes)), promise: nil)
        }
    }
}

/// A handler that collects the sizes of messages until there are enough, and the closure.
private final class Collector: ChannelInboundHandler, Sendable {
    typealias InboundIn = WebSocketMessage

    private let count: Int
    private let done: EventLoopPromise<[Int]>
    private let closure: EventLoopPromise<WebSocketClosure>
    private let sizes = NIOLockedValueBox<[Int]>([])

    init(count: Int, done: EventLoopPromise<[Int]>, closure: EventLoopPromise<WebSocketClosure>) {
        self.count = count
        self.done = done
        self.closure = closure
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .binary(let bytes) = Self.unwrapInboundIn(data) else { return }
        let sizes = self.sizes.withLockedValue { sizes in
            sizes.append(bytes.readableBytes)
            return sizes
        }
        if sizes.count == self.count { self.done.succeed(sizes) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .closed(let closure)? = event as? WebSocketEvent { self.closure.succeed(closure) }
    }
}

/// A handler that collects bytes until the peer ends the connection, cleanly or by a reset.
private final class RawCollector: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    private let done: EventLoopPromise<[UInt8]>
    private let bytes = NIOLockedValueBox<[UInt8]>([])

    init(done: EventLoopPromise<[UInt8]>) {
        self.done = done
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.bytes.withLockedValue { $0 += Self.unwrapInboundIn(data).readableBytesView }
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.done.succeed(self.bytes.withLockedValue { $0 })
    }
}
