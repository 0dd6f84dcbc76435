import NIOCore
import NIOEmbedded
import Testing
@testable import HTTP

@Suite("Bytes of requests that nobody has asked for")
struct InputPortionsTests {
    private let channel = EmbeddedChannel()
    private let portions = InputPortions()
    private let taker = PortionTaker()

    init() throws {
        try self.channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        try self.channel.pipeline.syncOperations.addHandlers([self.portions, self.taker])
    }

    private func receive(_ bytes: [UInt8]) throws { try self.channel.writeInbound(ByteBuffer(bytes: bytes)) }

    private func endInput() { self.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed) }

    private static func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8($0 % 251) } }

    @Test("they wait, and come in portions, each when it is asked for, with the end of the input behind them")
    func waits() throws {
        let bytes = Self.bytes(1_100)
        self.taker.reads = 0
        try self.receive(bytes)
        self.endInput()
        #expect(self.taker.portions.isEmpty && self.taker.ends == 0)
        for portion in [bytes[..<512], bytes[512..<1_024], bytes[1_024...]] {
            #expect(self.taker.ends == 0)
            self.taker.reads = 1
            self.channel.read()
            #expect(self.taker.portions.last == Array(portion))
        }
        #expect(self.taker.portions.count == 3 && self.taker.ends == 1)
    }

    @Test("who goes on asking gets all of them at once, and what comes later at once")
    func passes() throws {
        let bytes = Self.bytes(60_000)
        self.channel.read()
        try self.receive(bytes)
        #expect(self.taker.portions.flatMap { $0 } == bytes)
        #expect(self.taker.portions.allSatisfy { $0.count <= 512 })
        // After a read of the socket the channel requests the next read by itself.
        self.channel.read()
        try self.receive([1, 2, 3])
        #expect(self.taker.portions.last == [1, 2, 3])
        self.endInput()
        #expect(self.taker.ends == 1)
    }

    @Test("of more than 128 KiB the rest is not taken, and the input counts as ended there")
    func bounds() throws {
        let bytes = Self.bytes(InputPortions.maximumBytes)
        self.taker.reads = 0
        try self.receive(bytes)
        try self.receive([1])
        try self.receive(bytes)
        self.endInput()
        self.taker.reads = .max
        self.channel.read()
        #expect(self.taker.portions.flatMap { $0 } == bytes)
        #expect(self.taker.ends == 1)
    }

    @Test("once it is stopped nothing comes until it leaves, and then the rest, and the end")
    func leaves() throws {
        self.taker.reads = 0
        try self.receive(Self.bytes(1_000))
        self.taker.reads = 1
        self.channel.read()
        #expect(self.taker.portions.count == 1)
        self.portions.stop()
        self.taker.reads = 1
        self.channel.read()
        self.endInput()
        #expect(self.taker.portions.count == 1 && self.taker.ends == 0)
        try self.channel.pipeline.syncOperations.removeHandler(self.portions).wait()
        #expect(self.taker.portions.flatMap { $0 } == Self.bytes(1_000) && self.taker.ends == 1)
    }
}

/// A receiver of portions, which requests as many reads as the test allows.
private final class PortionTaker: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = Never

    /// The number of further reads; those of the channel itself count too.
    var reads = Int.max
    private(set) var portions: [[UInt8]] = []
    private(set) var ends = 0

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.portions.append(Array(Self.unwrapInboundIn(data).readableBytesView))
    }

    func read(context: ChannelHandlerContext) {
        guard self.reads > 0 else { return }
        self.reads -= 1
        context.read()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .inputClosed? = event as? ChannelEvent { self.ends += 1 }
    }
}
