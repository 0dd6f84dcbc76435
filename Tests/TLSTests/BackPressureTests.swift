import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import NIOTLS
import TLS
import Testing
import TickertapeTesting

@Suite("TLS under back-pressure")
struct BackPressureTests {
    /// The test's stream repeats this pattern. Its length is a prime, so a lost or moved part shows.
    private static let pattern: [UInt8] = {
        var state: UInt32 = 1
        return (0..<65_521).map { _ in
            state = state &* 1_664_525 &+ 1_013_904_223
            return UInt8(truncatingIfNeeded: state >> 24)
        }
    }()

    /// Returns a part of the stream from an offset.
    private static func bytes(at place: Int, count: Int) -> ByteBuffer {
        var buffer = ByteBufferAllocator().buffer(capacity: count)
        var start = place % Self.pattern.count
        while buffer.readableBytes < count {
            let part = min(Self.pattern.count - start, count - buffer.readableBytes)
            buffer.writeBytes(Self.pattern[start..<(start + part)])
            start = 0
        }
        return buffer
    }

    /// A reader that requests one read at a time, and only after other work of its loop.
    private final class SlowReader: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        let done: EventLoopPromise<Int>
        private let expected: Int
        private var count = 0
        private var isRight = true
        private var isAsked = false

        init(expected: Int, done: EventLoopPromise<Int>) {
            self.expected = expected
            self.done = done
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            if !self.isAsked { Issue.record("bytes that nobody had asked for") }
            self.isAsked = false
            let buffer = self.unwrapInboundIn(data)
            if buffer != BackPressureTests.bytes(at: self.count, count: buffer.readableBytes) { self.isRight = false }
            self.count += buffer.readableBytes
            if self.count >= self.expected { self.done.succeed(self.isRight ? self.count : -1) }
            self.ask(context, turns: 3)
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if case TLSUserEvent.handshakeCompleted = event { self.ask(context, turns: 100) }
        }

        private func ask(_ context: ChannelHandlerContext, turns: Int) {
            context.eventLoop.assumeIsolated().execute {
                if turns > 0 { return self.ask(context, turns: turns - 1) }
                self.isAsked = true
                context.read()
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { self.done.fail(error) }
        func channelInactive(context: ChannelHandlerContext) { self.done.fail(ChannelError.eof) }
    }

    /// A writer that writes everything at once, and measures how much ciphertext waits.
    private final class Writer: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        let written: EventLoopPromise<Void>
        let maximumWaiting: NIOLockedValueBox<Int>
        private let pieces: [ByteBuffer]

        init(pieces: [ByteBuffer], written: EventLoopPromise<Void>) {
            self.pieces = pieces
            self.written = written
            self.maximumWaiting = NIOLockedValueBox(0)
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            guard case TLSUserEvent.handshakeCompleted = event else { return }
            for piece in self.pieces.dropLast() { context.write(self.wrapOutboundOut(piece), promise: nil) }
            context.writeAndFlush(self.wrapOutboundOut(self.pieces[self.pieces.count - 1]), promise: self.written)
            self.watch(context)
        }

        func channelWritabilityChanged(context: ChannelHandlerContext) { self.watch(context) }

        private func watch(_ context: ChannelHandlerContext) {
            let waiting = (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? .max
            self.maximumWaiting.withLockedValue { $0 = max($0, waiting) }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { self.written.fail(error) }
    }

    @Test(
        "50 MB written at once reach a slow reader whole, with little ciphertext waiting",
        arguments: [
            50_000_000, 1_000_003, 800,
        ]
    )
    func bigWrite(pieceBytes: Int) throws {
        let total = pieceBytes >= 1_000_000 ? 50_000_000 : 8_000_000
        let group = MultiThreadedEventLoopGroup.singleton
        var pieces: [ByteBuffer] = []
        for start in stride(from: 0, to: total, by: pieceBytes) {
            let count = min(pieceBytes, total - start)
            pieces.append(Self.bytes(at: start, count: count))
        }
        let written = group.any().makePromise(of: Void.self)
        let maximumWaiting = group.any().makePromise(of: Int.self)
        let context = try TLSContext(server: Certificates.server())
        let server = try ServerBootstrap(group: group)
            .childChannelInitializer { [pieces] channel in
                channel.eventLoop.makeCompletedFuture {
                    let writer = Writer(pieces: pieces, written: written)
                    written.futureResult.hop(to: channel.eventLoop).assumeIsolated().whenComplete { _ in
                        maximumWaiting.succeed(writer.maximumWaiting.withLockedValue { $0 })
                    }
                    try channel.pipeline.syncOperations.addHandlers([TLSHandler(context: context, peer: nil), writer])
                }
            }
            .bind(host: "127.0.0.1", port: 0)
            .wait()
        defer { server.close(promise: nil) }
        let received = group.any().makePromise(of: Int.self)
        let client = try ClientBootstrap(group: group)
            .channelOption(.autoRead, value: false)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let context = try TLSContext(client: Certificates.client())
                    let handler = TLSHandler(context: context, peer: .host("localhost"))
                    let reader = SlowReader(expected: total, done: received)
                    try channel.pipeline.syncOperations.addHandlers([handler, reader])
                }
            }
            .connect(to: #require(server.localAddress))
            .wait()
        let late = group.any().scheduleTask(in: .seconds(60) * Patience.factor) {
            received.fail(ChannelError.connectTimeout(.seconds(60)))
        }
        #expect(try received.futureResult.wait() == total)
        late.cancel()
        try written.futureResult.wait()
        // The high watermark plus one chunk.
        #expect(try maximumWaiting.futureResult.wait() <= 128 << 10)
        client.close(promise: nil)
    }

    /// An application that writes more than any socket takes, and closes at once.
    private final class WriteAndClose: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        let written: EventLoopPromise<Void>
        let closed: EventLoopPromise<Void>

        init(written: EventLoopPromise<Void>, closed: EventLoopPromise<Void>) {
            self.written = written
            self.closed = closed
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            guard case TLSUserEvent.handshakeCompleted = event else { return }
            context.writeAndFlush(
                self.wrapOutboundOut(ByteBuffer(repeating: 1, count: 64 << 20)),
                promise: self.written
            )
            context.close(promise: self.closed)
        }
    }

    @Test("a reader that never reads holds up a close only for its time limit")
    func stuckReader() throws {
        let group = MultiThreadedEventLoopGroup.singleton
        let written = group.any().makePromise(of: Void.self)
        let closed = group.any().makePromise(of: Void.self)
        let context = try TLSContext(server: Certificates.server())
        let server = try ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let application = WriteAndClose(written: written, closed: closed)
                    try channel.pipeline.syncOperations.addHandlers([
                        TLSHandler(context: context, peer: nil), application,
                    ])
                }
            }
            .bind(host: "127.0.0.1", port: 0)
            .wait()
        defer { server.close(promise: nil) }
        // Before the close begins, so that a delay of this thread cannot shorten the measured time.
        let start = NIODeadline.now()
        let client = try ClientBootstrap(group: group)
            .channelOption(.autoRead, value: false)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let context = try TLSContext(client: Certificates.client())
                    let handler = TLSHandler(context: context, peer: .host("localhost"))
                    try channel.pipeline.syncOperations.addHandler(handler)
                }
            }
            .connect(to: #require(server.localAddress))
            .wait()
        let late = group.any().scheduleTask(in: .seconds(20) * Patience.factor) {
            closed.fail(ChannelError.connectTimeout(.seconds(20)))
        }
        try closed.futureResult.wait()
        late.cancel()
        #expect(NIODeadline.now() - start > .milliseconds(500))
        #expect(throws: ChannelError.ioOnClosedChannel) { try written.futureResult.wait() }
        client.close(promise: nil)
    }
}
