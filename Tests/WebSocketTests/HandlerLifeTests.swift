import NIOCore
import NIOEmbedded
import Testing
@testable import WebSocket

@Suite struct HandlerLifeTests {
    @Test("Values that pass a pipeline fit into what NIO carries without an allocation")
    func valuesAreSmall() {
        #expect(MemoryLayout<WebSocketMessage>.size <= 24)
        #expect(MemoryLayout<WebSocketOutput>.size <= 24)
    }

    @Test("A text from a server is delivered from the very bytes that were read, without a copy")
    func deliversWithoutCopy() throws {
        let connection = try Connection(.client)
        let taker = AddressTaker()
        try connection.channel.pipeline.syncOperations.addHandler(taker, position: .before(connection.witness))
        let wire = ByteBuffer(bytes: Frame.text("hello").bytes)
        let address = wire.withUnsafeReadableBytes { UInt(bitPattern: $0.baseAddress) }
        try connection.channel.writeInbound(wire)
        #expect(taker.address == address + 2)
    }

    @Test("Pings of one read are answered with one flush")
    func answersPingsTogether() throws {
        let connection = try Connection(.server)
        let flushes = FlushCounter()
        try connection.channel.pipeline.syncOperations.addHandler(flushes, position: .first)
        try connection.receive(
            Frame.ping([1], mask: anyMask).bytes + Frame.ping([2], mask: anyMask).bytes
                + Frame.ping([], mask: anyMask).bytes
        )
        #expect(try connection.sentFrames().map(\.payload) == [[1], [2], []])
        #expect(flushes.count == 1)
    }

    @Test("The end of a read is passed on behind its messages")
    func passesReadComplete() throws {
        let connection = try Connection(.client)
        try connection.receive(Frame.text("a").bytes + Frame.text("b").bytes)
        #expect(connection.witness.seen == [.text("a"), .text("b"), .readComplete])
    }

    @Test("A flood of pings from a peer that does not read leaves one pong, for the newest ping")
    func boundsPingFlood() throws {
        let connection = try Connection(.server)
        connection.channel.isWritable = false
        connection.channel.pipeline.fireChannelWritabilityChanged()
        for number in 0..<1_000 { try connection.receive(Frame.ping([UInt8(number % 251)])) }
        #expect(try connection.sentBytes() == [])
        connection.channel.isWritable = true
        connection.channel.pipeline.fireChannelWritabilityChanged()
        #expect(try connection.sentFrames().map(\.payload) == [[UInt8(999 % 251)]])
        #expect(connection.witness.writabilityChanges == 2)
    }

    @Test(
        "Own pings go out on the interval, any pong keeps the connection",
        arguments: [WebSocketRole.client, .server]
    )
    func pings(role: WebSocketRole) throws {
        let connection = try Connection(role)
        for _ in 0..<5 {
            connection.advance(.seconds(19))
            #expect(try connection.sentFrames().isEmpty)
            connection.advance(.seconds(1))
            #expect(try connection.sentFrames().map(\.first) == [0x89])
            try connection.receive(Frame.pong([0xAB]))
        }
        #expect(connection.closure == nil)
    }

    @Test("A missing pong ends the connection, whatever else the peer sends")
    func endsWithoutPong() throws {
        let connection = try Connection(.server)
        connection.advance(.seconds(20))
        for _ in 0..<9 {
            connection.advance(.seconds(1))
            try connection.receive(Frame.ping())
        }
        #expect(connection.closure == nil)
        connection.advance(.seconds(1))
        #expect(connection.closure?.cause == .pongTimeout)
        #expect(connection.seen.suffix(2).last == .inactive)
        #expect(try connection.sentFrames().last?.first == 0x88)
    }

    @Test("An own close is answered by the peer; a client waits for the server to end the transport")
    func closesAsClient() throws {
        let connection = try Connection(.client)
        try connection.send(.close(.normal, reason: "done")).wait()
        #expect(try connection.sentFrames().map(\.payload) == [Frame.close(1000, "done").payload])
        try connection.receive(Frame.text("late"))
        try connection.receive(Frame.ping())
        #expect(connection.seen == [])
        try connection.receive(Frame.close(1000))
        #expect(
            connection.seen == [.event(.closed(WebSocketClosure(code: .normal, reason: "", cause: .locallyClosed)))]
        )
        #expect(connection.channel.isActive)
        connection.advance(.seconds(1))
        #expect(!connection.channel.isActive)
        #expect(connection.seen.count == 2)
    }

    @Test("A server ends the transport itself once both close frames are exchanged")
    func closesAsServer() throws {
        let connection = try Connection(.server)
        try connection.send(.close(.goingAway, reason: "")).wait()
        try connection.receive(Frame.close(1001))
        #expect(
            connection.seen == [
                .event(.closed(WebSocketClosure(code: .goingAway, reason: "", cause: .locallyClosed))), .inactive,
            ]
        )
    }

    @Test("A close that is not answered ends at the limit", arguments: [WebSocketRole.client, .server])
    func closeTimesOut(role: WebSocketRole) throws {
        let connection = try Connection(role)
        try connection.send(.close(.normal, reason: "")).wait()
        connection.advance(.milliseconds(999))
        #expect(connection.channel.isActive)
        connection.advance(.milliseconds(1))
        #expect(
            connection.seen == [
                .event(.closed(WebSocketClosure(code: nil, reason: "", cause: .closeTimedOut))), .inactive,
            ]
        )
    }

    @Test("Writes after the close frame fail, of every kind")
    func refusesLateWrites() throws {
        let connection = try Connection(.server)
        try connection.send(.close(.normal, reason: "")).wait()
        _ = try connection.sentBytes()
        let outputs: [WebSocketOutput] = [
            .text(ByteBuffer()), .binary(ByteBuffer()), .framed(ByteBuffer(bytes: [0x81, 0])),
            .close(.normal, reason: ""),
        ]
        for output in outputs {
            let written = connection.send(output)
            #expect(throws: WebSocketWriteError.closing) { try written.wait() }
        }
        #expect(try connection.sentBytes() == [])
    }

    @Test("A code that must not travel is refused, and the connection stays open")
    func refusesForbiddenCode() throws {
        let connection = try Connection(.server)
        let code = WebSocketCloseCode(rawValue: 1006)
        let written = connection.send(.close(code, reason: ""))
        #expect(throws: WebSocketWriteError.forbiddenCloseCode(code)) { try written.wait() }
        try connection.send(.text(ByteBuffer(string: "still"))).wait()
        #expect(try connection.sentFrames().map(\.payload) == [Array("still".utf8)])
    }

    @Test("A close reason is cut to what a control frame carries, not inside a character")
    func cutsReason() throws {
        let connection = try Connection(.server)
        try connection.send(.close(.normal, reason: String(repeating: "€", count: 100))).wait()
        #expect(
            try connection.sentFrames().map(\.payload) == [Frame.close(1000, String(repeating: "€", count: 41)).payload]
        )
    }

    @Test("Bytes behind a close frame are ignored, garbage and breaches included")
    func ignoresAfterClose() throws {
        let connection = try Connection(.client)
        let tail = Frame.text("late").bytes + [0xFF, 0xFF, 0xFF] + Frame.close(1000).bytes
        try connection.receive(Frame.close(1001, "bye").bytes + tail)
        try connection.receive(tail)
        #expect(
            connection.seen == [.event(.closed(WebSocketClosure(code: .goingAway, reason: "bye", cause: .peerClosed)))]
        )
        #expect(try connection.sentFrames().count == 1)
    }

    @Test("A transport that ends without a close frame is a lost connection, told before the channel is inactive")
    func tellsLostConnection() throws {
        let connection = try Connection(.client)
        try connection.receive(Array(Frame.text("half").bytes.dropLast()))
        connection.channel.pipeline.fireChannelInactive()
        #expect(
            connection.seen == [
                .event(.closed(WebSocketClosure(code: nil, reason: "", cause: .connectionLost))), .inactive,
            ]
        )
    }

    @Test("A channel closed by the application itself is not called lost")
    func tellsLocalClose() throws {
        let connection = try Connection(.client)
        try connection.channel.close().wait()
        #expect(
            connection.seen == [
                .event(.closed(WebSocketClosure(code: nil, reason: "", cause: .locallyClosed))), .inactive,
            ]
        )
    }

    @Test("Framed bytes go to the wire as they are, in order with messages, sharing their storage")
    func writesFramedBytes() throws {
        let connection = try Connection(.server)
        var framed = ByteBuffer()
        WebSocketFraming.serverText(ByteBuffer(string: "shared"), into: &framed)
        try connection.send(.text(ByteBuffer(string: "one"))).wait()
        try connection.send(.framed(framed)).wait()
        try connection.send(.binary(ByteBuffer(bytes: [2]))).wait()
        #expect(
            try connection.sentBytes() == Frame.text("one").bytes + Frame.text("shared").bytes + Frame.binary([2]).bytes
        )

        try connection.send(.framed(framed)).wait()
        let out = try #require(try connection.channel.readOutbound(as: ByteBuffer.self))
        let addresses = [out, framed].map { $0.withUnsafeReadableBytes { UInt(bitPattern: $0.baseAddress) } }
        #expect(addresses[0] == addresses[1])
    }

    @Test(
        "A frame written by hand has the header that its length asks for",
        arguments: [0, 1, 125, 126, 65_535, 65_536]
    )
    func framesEveryLength(length: Int) {
        let payload = Array(repeating: UInt8(0x61), count: length)
        var framed = ByteBuffer()
        WebSocketFraming.serverText(ByteBuffer(bytes: payload), into: &framed)
        #expect(Array(framed.readableBytesView) == Frame(first: 0x81, payload: payload).bytes)
        framed.clear()
        WebSocketFraming.serverText(ByteBuffer(bytes: payload).readableBytesView, into: &framed)
        #expect(Array(framed.readableBytesView) == Frame(first: 0x81, payload: payload).bytes)
        #expect(framed.readableBytes == WebSocketFraming.serverHeaderBytes(payloadBytes: length) + length)
    }

    @Test("Bytes that come while a message is being delivered follow it, whole and in order")
    func takesReentrantBytes() throws {
        let connection = try Connection(.client)
        let more = ByteBuffer(bytes: Frame.text("three").bytes + Frame.text("four").bytes)
        let reentrant = ReentrantReader(more: more)
        try connection.channel.pipeline.syncOperations.addHandler(reentrant, position: .before(connection.witness))
        try connection.receive(Frame.text("one").bytes + Frame.text("two").bytes)
        #expect(connection.seen == [.text("one"), .text("two"), .text("three"), .text("four")])
    }

    @Test("Errors of the transport are passed on")
    func passesErrors() throws {
        let connection = try Connection(.client)
        connection.channel.pipeline.fireErrorCaught(ChannelError.inputClosed)
        #expect(connection.seen == [.error("\(ChannelError.inputClosed)")])
    }
}

/// A handler that records the address of the last text's bytes.
private final class AddressTaker: ChannelInboundHandler {
    typealias InboundIn = WebSocketMessage

    var address: UInt = 0

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .text(let text) = Self.unwrapInboundIn(data) {
            self.address = text.withUnsafeReadableBytes { UInt(bitPattern: $0.baseAddress) }
        }
        context.fireChannelRead(data)
    }
}

private final class FlushCounter: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer

    var count = 0

    func flush(context: ChannelHandlerContext) {
        self.count += 1
        context.flush()
    }
}

/// A handler that makes the transport deliver more bytes while the first message is delivered.
private final class ReentrantReader: ChannelInboundHandler {
    typealias InboundIn = WebSocketMessage

    private var more: ByteBuffer?

    init(more: ByteBuffer) {
        self.more = more
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if let more = self.more {
            self.more = nil
            context.pipeline.syncOperations.fireChannelRead(NIOAny(more))
        }
        context.fireChannelRead(data)
    }
}
