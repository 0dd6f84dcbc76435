import NIOCore
import NIOEmbedded
import Testing
@testable import WebSocket

/// A full socket that takes nothing while few enough bytes wait for the channel to stay writable.
private final class FullSocket: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer

    private var waiting: [(bytes: ByteBuffer, promise: EventLoopPromise<Void>?)] = []
    private var isFull = true
    var waitingBytes: Int { self.waiting.reduce(0) { $0 + $1.bytes.readableBytes } }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard self.isFull else { return context.write(data, promise: promise) }
        self.waiting.append((Self.unwrapOutboundIn(data), promise))
    }

    func flush(context: ChannelHandlerContext) { if !self.isFull { context.flush() } }

    /// Lets the peer read this many frames. If no frame is left, the socket takes all further writes.
    func take(_ count: Int, context: ChannelHandlerContext) {
        let taken = self.waiting.prefix(count)
        self.waiting.removeFirst(taken.count)
        self.isFull = !self.waiting.isEmpty
        for (bytes, promise) in taken { context.writeAndFlush(NIOAny(bytes), promise: promise) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        for (_, promise) in self.waiting { promise?.fail(ChannelError.ioOnClosedChannel) }
        self.waiting = []
    }
}

@Suite("Pongs that are not read")
struct OwedPongTests {
    private static let ping = Frame.ping(Array(repeating: 1, count: 125), mask: anyMask)

    @Test("they are 8 KiB at most, and the newest ping is answered when some of them have left")
    func bounds() throws {
        let connection = try Connection(.server)
        let socket = FullSocket()
        try connection.channel.pipeline.syncOperations.addHandler(socket, position: .first)
        let context = try connection.channel.pipeline.syncOperations.context(handler: socket)
        for _ in 0..<1_000 { try connection.receive(Self.ping) }
        try connection.receive(Frame.ping([7]))
        // The same for pings of a single read.
        try connection.receive((0..<100).flatMap { _ in Self.ping.bytes } + Frame.ping([8], mask: anyMask).bytes)
        #expect(connection.channel.isWritable)
        #expect((4 << 10...9 << 10).contains(socket.waitingBytes), "\(socket.waitingBytes)")
        socket.take(10, context: context)
        socket.take(.max, context: context)
        let pongs = try connection.sentFrames()
        #expect(pongs.dropLast().allSatisfy { $0.payload.count == 125 })
        #expect(pongs.last?.payload == [8])
        // The state is as at the beginning.
        try connection.receive(Frame.ping([9]))
        #expect(try connection.sentFrames().map(\.payload) == [[9]])
    }

    @Test("a peer that reads gets one for each ping, however many come in one read")
    func answersAll() throws {
        let connection = try Connection(.server)
        try connection.receive(
            (0..<1_000).flatMap { Frame.ping([UInt8($0 % 251)] + Self.ping.payload.dropLast(), mask: anyMask).bytes }
        )
        #expect(try connection.sentFrames().map { Int($0.payload[0]) } == (0..<1_000).map { $0 % 251 })
    }
}
