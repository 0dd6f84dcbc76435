import NIOCore
import NIOEmbedded
import Testing

@testable import Feeds

private final class Permission: UpstreamPermission {
    var isAllowed = true
    private(set) var connections: [any GuardedConnection] = []

    func opened(_ connection: any GuardedConnection) { self.connections.append(connection) }
    func closed(_ connection: any GuardedConnection) { self.connections.removeAll { $0 === connection } }
}

/// Stands for TLS, which would write to the peer before it closes, and wait.
private final class WaitingCloser: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    private(set) var closes = 0

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) { self.closes += 1 }
}

@Suite("A connection that needs a permission")
struct GuardedConnectorTests {
    private let permission = Permission()
    private let closer = WaitingCloser()
    private let channel: EmbeddedChannel

    init() throws {
        self.channel = EmbeddedChannel(handlers: [GuardHandler(self.permission), self.closer])
        try self.channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    }

    @Test("what has come is read while it is allowed, and afterwards no byte of it")
    func reads() throws {
        try self.channel.writeInbound(ByteBuffer(string: "1"))
        #expect(try self.channel.readInbound(as: ByteBuffer.self) == ByteBuffer(string: "1"))
        self.permission.isAllowed = false
        try self.channel.writeInbound(ByteBuffer(string: "2"))
        self.channel.embeddedEventLoop.run()
        #expect(try self.channel.readInbound(as: ByteBuffer.self) == nil)
        #expect(!self.channel.isActive && self.closer.closes == 0)
        #expect(self.permission.connections.isEmpty)
    }

    @Test("it is closed at once, whatever the handlers above it want to say to the peer")
    func cuts() throws {
        #expect(self.permission.connections.count == 1)
        self.permission.connections.first?.cut()
        self.channel.embeddedEventLoop.run()
        #expect(!self.channel.isActive && self.closer.closes == 0)
        #expect(try self.channel.readOutbound(as: ByteBuffer.self) == nil)
        #expect(self.permission.connections.isEmpty)
    }
}
