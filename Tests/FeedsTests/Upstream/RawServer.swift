import Glibc
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// A server on raw bytes: a test can give any answer in the place of a service or a proxy.
final class RawServer: Sendable {
    /// The reaction to a whole head.
    enum Answer: Sendable {
        case send(String)
        case sendAndClose(String)
        /// Byte by byte, with this time between two bytes.
        case drip(String, every: TimeAmount)
        /// Bytes without an end.
        case endless(String)
        case silence
        case close
        /// These bytes; from then on everything is forwarded to a port of 127.0.0.1, as a proxy does.
        case tunnel(String, to: Int)
    }

    let port: Int
    private let channel: any Channel
    private let seen: HeadList

    /// Listens on a free port. The closure chooses the reaction to each head (a request up to its empty line).
    static func start(
        host: String = "127.0.0.1",
        answer: @escaping @Sendable (_ head: String) -> Answer
    ) async throws -> RawServer {
        let seen = HeadList()
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(RawHandler(seen: seen, answer: answer))
                }
            }
            .bind(host: host, port: 0).get()
        return RawServer(channel: channel, seen: seen)
    }

    private init(channel: any Channel, seen: HeadList) {
        self.channel = channel
        self.port = channel.localAddress?.port ?? 0
        self.seen = seen
    }

    /// The heads that came, in order.
    var heads: [String] { self.seen.all }

    func stop() async throws { try await self.channel.close().get() }
}

/// A list to which several threads add.
private final class HeadList: Sendable {
    private let texts = NIOLockedValueBox<[String]>([])

    var all: [String] { self.texts.withLockedValue { $0 } }

    func add(_ text: String) { self.texts.withLockedValue { $0.append(text) } }
}

private final class RawHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let seen: HeadList
    private let answer: @Sendable (String) -> RawServer.Answer
    private var bytes = ByteBuffer()
    private var peer: (any Channel)?
    private var isTunnel = false

    init(seen: HeadList, answer: @escaping @Sendable (String) -> RawServer.Answer) {
        self.seen = seen
        self.answer = answer
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var new = self.unwrapInboundIn(data)
        if let peer = self.peer {
            peer.writeAndFlush(new, promise: nil)
            return
        }
        self.bytes.writeBuffer(&new)
        guard !self.isTunnel, String(buffer: self.bytes).contains("\r\n\r\n") else { return }
        let head = String(buffer: self.bytes)
        self.bytes.clear()
        self.seen.add(head)
        self.act(self.answer(head), context: context)
    }

    private func act(_ answer: RawServer.Answer, context: ChannelHandlerContext) {
        let channel = context.channel
        switch answer {
        case .silence: break
        case .close: channel.close(promise: nil)
        case .send(let text): channel.writeAndFlush(ByteBuffer(string: text), promise: nil)
        case .sendAndClose(let text):
            channel.writeAndFlush(ByteBuffer(string: text)).whenComplete { _ in channel.close(promise: nil) }
        case .drip(let text, let pause):
            Self.drip(ArraySlice(text.utf8), every: pause, on: channel)
        case .endless(let text):
            @Sendable func more() {
                channel.writeAndFlush(ByteBuffer(string: text)).whenSuccess { channel.eventLoop.execute { more() } }
            }
            more()
        case .tunnel(let text, let port):
            self.isTunnel = true
            ClientBootstrap(group: channel.eventLoop)
                .channelInitializer { peer in
                    peer.eventLoop.makeCompletedFuture {
                        try peer.pipeline.syncOperations.addHandler(BackHandler(to: channel))
                    }
                }
                .connect(host: "127.0.0.1", port: port)
                .assumeIsolated()
                .whenSuccess { peer in
                    self.peer = peer
                    channel.writeAndFlush(ByteBuffer(string: text), promise: nil)
                    if self.bytes.readableBytes > 0 { peer.writeAndFlush(self.bytes, promise: nil) }
                }
        }
    }

    private static func drip(_ bytes: ArraySlice<UInt8>, every pause: TimeAmount, on channel: any Channel) {
        guard channel.isActive, let byte = bytes.first else { return }
        channel.writeAndFlush(ByteBuffer(bytes: [byte]), promise: nil)
        channel.eventLoop.scheduleTask(in: pause) { Self.drip(bytes.dropFirst(), every: pause, on: channel) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.peer?.close(promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}

/// The way back of a tunnel.
private final class BackHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let front: any Channel

    init(to front: any Channel) {
        self.front = front
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.front.writeAndFlush(self.unwrapInboundIn(data), promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.front.close(promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}

/// An address of this machine that answers no attempt to connect: a listener with a full queue, which drops them.
final class BlackHole {
    let address: SocketAddress
    private var descriptors: [Int32] = []

    /// Returns `nil` if the machine lacks the address, or refuses attempts instead of dropping them.
    init?(_ host: String) {
        guard let free = try? SocketAddress(ipAddress: host, port: 0) else { return nil }
        let family = host.contains(":") ? AF_INET6 : AF_INET
        let listener = socket(family, Int32(SOCK_STREAM.rawValue), 0)
        var bound = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let isBound = free.withSockAddr { bind(listener, $0, socklen_t($1)) } == 0 && listen(listener, 0) == 0
        let isNamed = withUnsafeMutablePointer(to: &bound) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(listener, $0, &size) } == 0
        }
        // The port has the same offset in both families.
        let port = withUnsafeBytes(of: bound) {
            UInt16(bigEndian: $0.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
        }
        guard isBound, isNamed, let address = try? SocketAddress(ipAddress: host, port: Int(port)) else {
            close(listener)
            return nil
        }
        self.address = address
        self.descriptors = [listener]
        // A queue of 0 holds one connection; the others make sure that it is full.
        for _ in 0..<4 {
            let client = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
            _ = address.withSockAddr { connect(client, $0, socklen_t($1)) }
            self.descriptors.append(client)
        }
    }

    deinit {
        for descriptor in self.descriptors { close(descriptor) }
    }

    /// Returns a port of a host on which no program listens.
    static func closedPort(_ host: String) -> SocketAddress? {
        // The socket is closed as soon as it is released.
        BlackHole(host)?.address
    }
}
