import NIOCore
import NIOEmbedded
import NIOTLS
import TLS
import TickertapeTesting

/// An event that the application above a TLS handler receives.
enum Seen: Equatable {
    case bytes(String)
    case handshake(String?)
    case shutdown
    case inputClosed
    case error(TLSError)
    case otherError
    case inactive
}

/// An application that records its events.
final class Application: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    var seen: [Seen] = []
    var reads = 0
    var readCompletes = 0
    /// Called in the middle of a read.
    var onRead: ((ChannelHandlerContext, ByteBuffer) -> Void)?
    var onHandshake: ((ChannelHandlerContext) -> Void)?

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = self.unwrapInboundIn(data)
        self.reads += 1
        let text = String(buffer: buffer)
        if case .bytes(let before)? = self.seen.last {
            self.seen[self.seen.count - 1] = .bytes(before + text)
        } else {
            self.seen.append(.bytes(text))
        }
        self.onRead?(context, buffer)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        self.readCompletes += 1
        context.fireChannelReadComplete()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case TLSUserEvent.handshakeCompleted(let negotiated):
            self.seen.append(.handshake(negotiated))
            self.onHandshake?(context)
        case TLSUserEvent.shutdownCompleted: self.seen.append(.shutdown)
        case ChannelEvent.inputClosed: self.seen.append(.inputClosed)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.seen.append((error as? TLSError).map(Seen.error) ?? .otherError)
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.seen.append(.inactive)
        context.fireChannelInactive()
    }

    /// The bytes of all reads.
    var received: String {
        self.seen.map { if case .bytes(let text) = $0 { text } else { "" } }.joined()
    }

    /// The first error.
    var error: TLSError? {
        for case .error(let error) in self.seen { return error }
        return nil
    }
}

/// The wire below a TLS handler: it can cut the connection, hold writes back, and count reads.
final class Wire: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer

    private var context: ChannelHandlerContext?
    var reads = 0
    var outputCloses = 0
    /// Whether writes wait, as for a socket whose peer does not read.
    var isFull = false
    private var waiting: [(bytes: ByteBuffer, promise: EventLoopPromise<Void>?)] = []
    var waitingBytes: Int { self.waiting.reduce(0) { $0 + $1.bytes.readableBytes } }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard self.isFull else { return context.write(data, promise: promise) }
        self.waiting.append((self.unwrapOutboundIn(data), promise))
    }

    /// Sends the waiting writes, as when the peer reads again.
    func drain() {
        self.isFull = false
        let waiting = self.waiting
        self.waiting = []
        for (bytes, promise) in waiting { self.context?.writeAndFlush(NIOAny(bytes), promise: promise) }
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        for (_, promise) in self.waiting { promise?.fail(ChannelError.ioOnClosedChannel) }
        self.waiting = []
    }

    func read(context: ChannelHandlerContext) {
        self.reads += 1
        context.read()
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        // The embedded channel has no half-close.
        guard mode == .output else { return context.close(mode: mode, promise: promise) }
        self.outputCloses += 1
        promise?.succeed()
    }

    /// Ends the connection without a close_notify, like a peer that disappears.
    func cut() { self.context?.close(promise: nil) }
}

/// One end of a connection in memory.
final class End {
    let channel: EmbeddedChannel
    let wire = Wire()
    let handler: TLSHandler
    let application = Application()

    init(_ context: TLSContext, peer: TLSPeerName?, loop: EmbeddedEventLoop) throws {
        self.channel = EmbeddedChannel(loop: loop)
        self.handler = TLSHandler(context: context, peer: peer)
        try self.channel.pipeline.syncOperations.addHandlers([self.wire, self.handler, self.application])
    }

    // A pipeline and its handlers retain each other until the channel is closed and the loop has run.
    deinit {
        self.wire.cut()
        self.channel.embeddedEventLoop.run()
    }

    func start() throws {
        try self.channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    }

    /// Writes and flushes; the future completes with the write.
    @discardableResult
    func send(_ text: String) -> EventLoopFuture<Void> {
        self.channel.writeAndFlush(ByteBuffer(string: text))
    }

    /// Returns all ciphertext that this end has written.
    func takeCiphertext() throws -> ByteBuffer {
        var all = ByteBuffer()
        while var part = try self.channel.readOutbound(as: ByteBuffer.self) { all.writeBuffer(&part) }
        return all
    }
}

/// A client and a server connected in memory; only `settle` moves bytes.
final class MemoryPair {
    let loop = EmbeddedEventLoop()
    let client: End
    let server: End

    init(
        client: TLSContext,
        server: TLSContext,
        peer: TLSPeerName = .host("localhost")
    ) throws {
        self.client = try End(client, peer: peer, loop: self.loop)
        self.server = try End(server, peer: nil, loop: self.loop)
    }

    convenience init(
        client: TLSClientConfiguration = Certificates.client(),
        server: TLSServerConfiguration = Certificates.server(),
        peer: TLSPeerName = .host("localhost")
    ) throws {
        try self.init(client: TLSContext(client: client), server: TLSContext(server: server), peer: peer)
    }

    /// Connects both ends and completes the handshake.
    func start() throws {
        try self.client.start()
        try self.server.start()
        try self.settle()
    }

    /// Carries ciphertext both ways, in pieces of `bytes`, until none is left. A closed end cuts the other.
    func settle(pieces bytes: Int = .max) throws {
        var hasMoved = true
        while hasMoved {
            hasMoved = false
            for (from, to) in [(self.client, self.server), (self.server, self.client)] {
                var ciphertext = try from.takeCiphertext()
                while let piece = ciphertext.readSlice(length: min(bytes, ciphertext.readableBytes)),
                    piece.readableBytes > 0
                {
                    hasMoved = true
                    if to.channel.isActive { try to.channel.writeInbound(piece) }
                }
            }
            self.loop.run()
            // Bytes that an end has sent before it closed arrive first.
            guard !hasMoved else { continue }
            for (from, to) in [(self.client, self.server), (self.server, self.client)] {
                if !from.channel.isActive, to.channel.isActive {
                    hasMoved = true
                    to.wire.cut()
                }
            }
        }
    }
}
