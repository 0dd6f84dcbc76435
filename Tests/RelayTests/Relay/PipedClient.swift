import NIOCore
import NIOEmbedded
import TickertapeTesting
import WebSocket
import Wire
@testable import Relay

/// A socket below an embedded channel. While it is full it takes nothing: it swallows flushes.
final class SocketGate: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer

    var isOpen = true
    /// Whether it is full again after the next flush.
    var closesAfterFlush = false
    private var promises: [EventLoopPromise<Void>] = []

    // As with a socket, the promises of unsent bytes fail when it is closed, which an embedded channel omits.
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

    /// Moves all bytes written so far into a kernel whose peer does not read them, where they count as waiting.
    func swallow() { for promise in self.takePromises() { promise.succeed() } }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        // An embedded channel takes the end of one side for that of both.
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

/// One client on a ``HubBench`` with its whole WebSocket; its socket takes bytes only while the test lets it.
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

    /// Stops reading, so that all written bytes wait.
    ///
    /// - Parameter fillsChannel: whether so many bytes wait that the channel becomes unwritable.
    func stopReading(fillsChannel: Bool = false) {
        self.gate.isOpen = false
        if fillsChannel { self.setWritable(false) }
    }

    /// Reads all waiting bytes, and those to come.
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

    /// Returns the messages that came since the last call, and the code and the reason of a close frame.
    func takeTexts() throws -> [String] {
        var bytes = ByteBuffer()
        while var part = try self.channel.readOutbound(as: ByteBuffer.self) { bytes.writeBuffer(&part) }
        var texts: [String] = []
        while let (opcode, short) = bytes.readMultipleIntegers(as: (UInt8, UInt8).self) {
            var length = Int(short)
            if length == 126 { length = Int(bytes.readInteger(as: UInt16.self) ?? 0) }
            if short == 127 { length = Int(bytes.readInteger(as: UInt64.self) ?? 0) }
            let payload = bytes.readSlice(length: length) ?? ByteBuffer(string: "cut short")
            let frame = RawClient.Frame(opcode: opcode & 0x0F, payload: payload)
            if frame.opcode != 9 { texts.append(frame.closure ?? frame.text) }
        }
        return texts
    }
}

/// A feed that can wait and records the calls.
final class FlowCalls: FlowControl {
    let calls = Calls()
    func pause() { self.calls.add("pause") }
    func resume() { self.calls.add("resume") }
}
