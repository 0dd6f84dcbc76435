import NIOCore
import NIOEmbedded
import TickertapeTesting
import WebSocket
import Wire
@testable import Relay

/// A socket under an embedded channel that takes nothing while it is full: it swallows flushes.
final class SocketGate: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer

    var isOpen = true
    /// Whether it is full again behind the next flush.
    var closesAfterFlush = false
    private var promises: [EventLoopPromise<Void>] = []

    // As with a socket: what has not left is told to have failed when it is closed, which an embedded channel forgets.
    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if let promise { self.promises.append(promise) }
        context.write(data, promise: nil)
    }

    func flush(context: ChannelHandlerContext) {
        guard self.isOpen else { return }
        context.flush()
        if self.closesAfterFlush { (self.isOpen, self.closesAfterFlush) = (false, false) }
        for promise in self.takePromises() { promise.succeed() }
    }

    /// Takes what has been written so far into a kernel whose peer does not read it: it counts as waiting further on.
    func swallow() { for promise in self.takePromises() { promise.succeed() } }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        // An embedded channel takes the end of one side for the end of both.
        guard mode == .all else { return promise?.succeed() ?? () }
        self.fail()
        context.close(mode: mode, promise: promise)
    }

    func handlerRemoved(context: ChannelHandlerContext) { self.fail() }

    private func fail() { for promise in self.takePromises() { promise.fail(ChannelError.ioOnClosedChannel) } }

    private func takePromises() -> [EventLoopPromise<Void>] {
        defer { self.promises = [] }
        return self.promises
    }
}

/// One client on a ``HubBench`` with all of its WebSocket, whose socket takes bytes only while the test lets it.
struct PipedClient {
    let channel: EmbeddedChannel
    private let gate = SocketGate()

    init(channel: EmbeddedChannel, client: some RelayProtocol, deadlines: DeadlineWheel) throws {
        self.channel = channel
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(self.gate)
        try pipeline.addWebSocketHandlers(client.output.webSocketSettings, wheel: deadlines)
        try client.join(pipeline)
    }

    func send(_ text: String) throws { try self.channel.writeInbound(RawClient.masked(opcode: 1, text)) }

    /// Reads nothing any more, so that all that is written waits.
    ///
    /// - Parameter fillsChannel: whether that is so much that the channel says so.
    func stopReading(fillsChannel: Bool = false) {
        self.gate.isOpen = false
        if fillsChannel { self.setWritable(false) }
    }

    /// Takes all that waits, and what comes from now on.
    func goOnReading() {
        self.gate.isOpen = true
        self.channel.flush()
        self.setWritable(true)
    }

    private func setWritable(_ isWritable: Bool) {
        guard self.channel.isWritable != isWritable else { return }
        self.channel.isWritable = isWritable
        self.channel.pipeline.fireChannelWritabilityChanged()
    }

    /// The messages that came since the last call, and the code and the reason of a close frame.
    func takeTexts() throws -> [String] {
        var bytes = ByteBuffer()
        while var part = try self.channel.readOutbound(as: ByteBuffer.self) { bytes.writeBuffer(&part) }
        var texts: [String] = []
        while let (opcode, short) = bytes.readMultipleIntegers(as: (UInt8, UInt8).self) {
            var length = Int(short)
            if length == 126 { length = Int(bytes.readInteger(as: UInt16.self) ?? 0) }
            if length == 127 { length = Int(bytes.readInteger(as: UInt64.self) ?? 0) }
            let payload = bytes.readSlice(length: length) ?? ByteBuffer(string: "cut short")
            let frame = RawClient.Frame(opcode: opcode & 0x0F, payload: payload)
            if frame.opcode != 9 { texts.append(frame.closure ?? frame.text) }
        }
        return texts
    }
}

/// A feed that can wait, and writes down what it was asked.
final class FlowCalls: FlowControl {
    let calls = Calls()
    func pause() { self.calls.add("pause") }
    func resume() { self.calls.add("resume") }
}
