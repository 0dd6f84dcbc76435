package import NIOCore
package import WebSocket

/// The handler that applies ``ConnectionFaults`` to an open WebSocket; the handler above it writes as if nothing were
/// wrong.
package final class FaultHandler: ChannelDuplexHandler {
    package typealias InboundIn = WebSocketMessage
    package typealias InboundOut = WebSocketMessage
    package typealias OutboundIn = WebSocketOutput
    package typealias OutboundOut = WebSocketOutput

    private var faults: ConnectionFaults
    private let upstream: any MockProtocol
    private let wallClock: () -> Int64
    private let line: FaultyLine
    private let reported: (ConnectionFaults.Event) -> Void
    private var timer: Scheduled<Void>?
    private var isOver = false
    private var context: ChannelHandlerContext?

    /// - Parameters:
    ///   - upstream: the protocol of the connection.
    ///   - wallClock: returns ns since 1970.
    ///   - reported: called with each event when it happens.
    init(
        _ faults: ConnectionFaults,
        of upstream: any MockProtocol = FinnhubMock(),
        line: FaultyLine,
        wallClock: @escaping () -> Int64 = { 0 },
        reported: @escaping (ConnectionFaults.Event) -> Void
    ) {
        self.faults = faults
        self.upstream = upstream
        self.wallClock = wallClock
        self.line = line
        self.reported = reported
    }

    package func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        self.faults.webSocketOpened(now: Self.now(context), as: self.upstream)
        // Events that are due at once must not wait for the loop's next turn: the client's first request may be read in
        // this one.
        self.timeReached(context: context)
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
        self.end()
        self.context = nil
    }

    package func channelInactive(context: ChannelHandlerContext) {
        self.end()
        context.fireChannelInactive()
    }

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch self.unwrapOutboundIn(data) {
        case .text(let frame):
            self.write(frame, promise: promise, context: context)
        case .close(let code, let reason):
            self.writeHeld(context: context)
            context.write(self.wrapOutboundOut(.close(code, reason: reason)), promise: promise)
        case .framed(let bytes):
            // The mark of the recording's end: its promise completes when everything before it has left. Pings overtake
            // what is held.
            if bytes.readableBytes == 0 { self.writeHeld(context: context) }
            context.write(self.wrapOutboundOut(.framed(bytes)), promise: promise)
        case .binary:
            context.write(data, promise: promise)
        }
    }

    /// Executes an event at once; for tests that choose the moment themselves.
    package func happen(_ event: ConnectionFaults.Event) {
        guard !self.isOver, let context else { return }
        guard let event = self.encoded(event) else { return }
        self.reported(event)
        switch event {
        case .drop: self.line.drop()
        case .reset: self.line.reset()
        case .cutNextFrame: break
        case .fallSilent: self.line.fallSilent()
        case .halfOpen: self.line.vanish()
        case .close(let code, let reason):
            let close = WebSocketOutput.close(WebSocketCloseCode(rawValue: code), reason: reason)
            context.writeAndFlush(self.wrapOutboundOut(close), promise: nil)
        case .sendText(let text): context.writeAndFlush(self.wrapOutboundOut(.text(text)), promise: nil)
        case .sendBytes(let bytes): context.writeAndFlush(self.wrapOutboundOut(.framed(bytes)), promise: nil)
        case .sendError, .announce: preconditionFailure("\(event) is a text by now")
        case .limitRate(let rate): self.line.limitRate(rate)
        }
    }

    /// Returns a message of the upstream as its text; `nil` for an announcement that the upstream does not have.
    private func encoded(_ event: ConnectionFaults.Event) -> ConnectionFaults.Event? {
        switch event {
        case .sendError(let text): .sendText(self.upstream.errorMessage(text))
        case .announce: self.upstream.announcement(at: self.wallClock()).map { .sendText($0) }
        case .drop, .reset, .cutNextFrame, .fallSilent, .halfOpen, .close, .sendText, .sendBytes, .limitRate: event
        }
    }

    private func write(_ frame: ByteBuffer, promise: EventLoopPromise<Void>?, context: ChannelHandlerContext) {
        switch self.faults.frameWritten(frame, now: Self.now(context)) {
        case .pass:
            context.write(self.wrapOutboundOut(.text(frame)), promise: promise)
        case .texts(let texts):
            guard let last = texts.last else {
                promise?.succeed(())
                return
            }
            for text in texts.dropLast() { context.write(self.wrapOutboundOut(.text(text)), promise: nil) }
            context.write(self.wrapOutboundOut(.text(last)), promise: promise)
        case .cut:
            context.writeAndFlush(self.wrapOutboundOut(.framed(Self.start(of: frame))), promise: promise)
            self.line.drop()
        }
    }

    private func writeHeld(context: ChannelHandlerContext) {
        for held in self.faults.takeHeld() { context.write(self.wrapOutboundOut(.text(held)), promise: nil) }
    }

    /// Returns the header of a frame and half of its payload (RFC 6455, 5.2).
    private static func start(of frame: ByteBuffer) -> ByteBuffer {
        let count = frame.readableBytes
        var bytes = ByteBuffer(bytes: [0x81])
        if count < 126 {
            bytes.writeInteger(UInt8(count))
        } else if count < 65_536 {
            bytes.writeInteger(UInt8(126))
            bytes.writeInteger(UInt16(count))
        } else {
            bytes.writeInteger(UInt8(127))
            bytes.writeInteger(UInt64(count))
        }
        bytes.writeImmutableBuffer(frame.getSlice(at: frame.readerIndex, length: count / 2) ?? ByteBuffer())
        return bytes
    }

    private static func now(_ context: ChannelHandlerContext) -> Int64 {
        Int64(context.eventLoop.now.uptimeNanoseconds)
    }

    private func end() {
        self.isOver = true
        self.timer?.cancel()
        self.timer = nil
    }

    private func arm(context: ChannelHandlerContext) {
        guard !self.isOver, let deadline = self.faults.deadline else { return }
        let due = NIODeadline.uptimeNanoseconds(UInt64(max(deadline, 0)))
        self.timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: due) {
            self.timer = nil
            self.timeReached(context: context)
        }
    }

    private func timeReached(context: ChannelHandlerContext) {
        for event in self.faults.timeReached(now: Self.now(context)) { self.happen(event) }
        self.arm(context: context)
    }
}
