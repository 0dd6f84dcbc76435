package import NIOCore
package import NIOWebSocket

/// One WebSocket connection in a pipeline: frames below it, messages above it.
///
/// It combines four parts: `ValidatingFrameDecoder` below it validates each header, `MessageAssembler` joins frames,
/// `ClosingMachine` ends the connection, and `KeepaliveMachine` sends pings. Pings of the peer are answered here and
/// not passed on. One timer serves all deadlines: a task of the loop, or a wheel shared with other connections.
package final class WebSocketHandler: ChannelDuplexHandler {
    package typealias InboundIn = WebSocketFrame
    package typealias InboundOut = WebSocketMessage
    package typealias OutboundIn = WebSocketOutput
    package typealias OutboundOut = WebSocketFrame

    let framedOutput: FramedOutput
    private var assembler: MessageAssembler
    var compressor: MessageCompressor?
    var closing: ClosingMachine
    var keepalive: KeepaliveMachine
    var timer: DeadlineTimer
    private var mustFlush = false
    private var context: ChannelHandlerContext?
    /// The receiver of messages by plain calls; without one, messages go up the pipeline.
    package var receiver: (any WebSocketReceiver)?
    /// Returns the state of the layers below the channel's own queue. Called only at deadlines; `nil` without such a
    /// source.
    package var below: (() -> TransportProgress)?
    /// The newest ping that could not be answered because the peer does not read. Older pings need no answer (RFC 6455,
    /// 5.5.3), so a flood of pings holds one pong, not thousands.
    var unansweredPing: ByteBuffer?
    /// The unsent pongs, in bytes.
    private var owedPongBytes = 0
    /// The limit of unsent pongs, in bytes: a part of the 16 KiB that input may make a connection owe; TLS has another
    /// part.
    private static let maximumOwedPongBytes = 8 << 10

    /// - Parameters:
    ///   - agreement: the parameters of compression; `nil` without compression.
    ///   - wheel: the shared timer; `nil` for a task of the loop.
    init(
        _ settings: WebSocketSettings,
        agreement: DeflateAgreement?,
        framedOutput: FramedOutput,
        wheel: DeadlineWheel? = nil
    ) {
        self.timer = DeadlineTimer(wheel: wheel)
        self.framedOutput = framedOutput
        self.assembler = MessageAssembler(
            maximumBytes: settings.maximumMessageBytes,
            maximumFragments: settings.maximumFragments,
            inflater: agreement.map { agreement in
                MessageInflater(
                    agreement.incoming(of: settings.role),
                    maximumBytes: settings.maximumMessageBytes,
                    maximumRatio: settings.compression?.maximumRatio
                )
            }
        )
        self.compressor = agreement.map { MessageCompressor($0.outgoing(of: settings.role)) }
        self.closing = ClosingMachine(role: settings.role, timeout: settings.closeTimeout)
        self.keepalive = KeepaliveMachine(interval: settings.pingInterval, timeout: settings.pongTimeout)
    }

    /// Replaces the time limit of a closing handshake that has not begun.
    package func allowForClosing(_ time: TimeAmount) { self.closing.timeout = time }

    // MARK: Life cycle

    package func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if context.channel.isActive { self.start(context: context) }
    }

    package func channelActive(context: ChannelHandlerContext) {
        self.start(context: context)
        context.fireChannelActive()
    }

    package func channelInactive(context: ChannelHandlerContext) {
        self.framedOutput.interrupt()
        self.perform(self.closing.transportEnded(locally: false), context: context)
        context.fireChannelInactive()
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
        self.timer.cancel()
        self.context = nil
        self.receiver = nil
        self.below = nil
    }

    private func start(context: ChannelHandlerContext) {
        self.keepalive.start(now: context.eventLoop.now)
        self.arm(context: context)
    }

    // MARK: Inbound

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = Self.unwrapInboundIn(data)
        switch frame.opcode {
        case .text:
            self.take(frame, as: .text, context: context)
        case .binary:
            self.take(frame, as: .binary, context: context)
        case .continuation:
            self.take(frame, as: .continuation, context: context)
        case .ping:
            self.pingReceived(self.payload(of: frame, context: context), context: context)
        case .pong:
            guard self.closing.isOpen else { return }  // late: follows a violation in the same read
            self.keepalive.pongReceived()
            context.fireUserInboundEventTriggered(
                WebSocketEvent.pongReceived(self.payload(of: frame, context: context))
            )
        case .connectionClose:
            self.closeReceived(self.payload(of: frame, context: context), context: context)
        default:
            self.fail(.unknownOpcode(UInt8(webSocketOpcode: frame.opcode)), context: context)
        }
    }

    package func channelReadComplete(context: ChannelHandlerContext) {
        // One flush for all pongs of a read.
        if self.mustFlush {
            self.mustFlush = false
            context.flush()
        }
        context.fireChannelReadComplete()
    }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case let part as ValidatingFrameDecoder.PartialFrame:
            self.take(part, context: context)
        case ChannelEvent.inputClosed:
            // No more bytes will arrive, not even a close frame, and a WebSocket has no half-closed state.
            context.fireUserInboundEventTriggered(event)
            context.close(promise: nil)
        default:
            context.fireUserInboundEventTriggered(event)
        }
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case let violation as WebSocketViolation:
            self.fail(violation, context: context)
        case NIOWebSocketError.invalidFrameLength:
            self.fail(.messageTooBig, context: context)
        case is NIOWebSocketError:
            self.fail(.fragmentedControlFrame, context: context)
        default:
            context.fireErrorCaught(error)
        }
    }

    package func channelWritabilityChanged(context: ChannelHandlerContext) {
        self.answerHeldPing()
        context.fireChannelWritabilityChanged()
    }

    private func take(_ frame: WebSocketFrame, as opcode: MessageAssembler.DataOpcode, context: ChannelHandlerContext) {
        guard self.closing.isOpen else { return }  // late: this side has requested the end, or the peer has failed
        let payload = self.payload(of: frame, context: context)
        let action = self.assembler.frameReceived(
            opcode,
            isFinal: frame.fin,
            isCompressed: frame.rsv1,
            payload: payload
        )
        self.obey(action, context: context)
    }

    /// Handles a complete text message in one unmasked frame that has bypassed the frame decoder.
    func wholeTextArrived(_ payload: ByteBuffer) {
        guard self.closing.isOpen, let context else { return }
        self.obey(self.assembler.frameReceived(.text, isFinal: true, payload: payload), context: context)
    }

    private func obey(_ action: MessageAssembler.Action, context: ChannelHandlerContext) {
        switch action {
        case .deliver(let message):
            guard let receiver = self.receiver else {
                return context.fireChannelRead(Self.wrapInboundOut(message))
            }
            receiver.messageArrived(message)
        case .awaitMore:
            break
        case .fail(let violation):
            self.fail(violation, context: context)
        }
    }

    private func take(_ part: ValidatingFrameDecoder.PartialFrame, context: ChannelHandlerContext) {
        guard self.closing.isOpen, let opcode = part.header.dataOpcode else { return }
        let header = part.header
        let bytes =
            header.isMasked
            ? header.mask.removed(from: part.bytes, offset: part.offset, allocator: context.channel.allocator)
            : part.bytes
        let violation = bytes.withUnsafeReadableBytes {
            self.assembler.payloadArrived(
                opcode,
                isCompressed: header.isCompressed,
                frameBytes: header.payloadBytes,
                bytes: $0
            )
        }
        if let violation { self.fail(violation, context: context) }
    }

    private func payload(of frame: WebSocketFrame, context: ChannelHandlerContext) -> ByteBuffer {
        guard let key = frame.maskKey else { return frame.data }
        return FrameMask(key).removed(from: frame.data, allocator: context.channel.allocator)
    }

    private func pingReceived(_ payload: ByteBuffer, context: ChannelHandlerContext) {
        guard self.closing.isOpen else { return }
        let answer = Self.copyWithRoomForHeader(payload, context: context)
        if self.owedPongBytes >= Self.maximumOwedPongBytes, self.mustFlush {
            // Flushing may send them at once, and make place for the next.
            self.mustFlush = false
            context.flush()
        }
        if self.mayAnswerPing(context: context) {
            self.writePong(answer, context: context)
            self.mustFlush = true
        } else {
            self.unansweredPing = answer
        }
        context.fireUserInboundEventTriggered(WebSocketEvent.pingReceived(payload))
    }

    private func mayAnswerPing(context: ChannelHandlerContext) -> Bool {
        context.channel.isWritable && self.owedPongBytes < Self.maximumOwedPongBytes
    }

    private func writePong(_ payload: ByteBuffer, context: ChannelHandlerContext) {
        let bytes = payload.readableBytes + Self.controlHeaderBytes
        self.owedPongBytes += bytes
        let left = context.eventLoop.makePromise(of: Void.self)
        left.futureResult.assumeIsolated().whenComplete { _ in
            self.owedPongBytes -= bytes
            self.answerHeldPing()
        }
        self.write(.pong, payload, context: context, promise: left)
    }

    /// Answers the newest unanswered ping if that is possible now.
    private func answerHeldPing() {
        guard let context = self.context, let payload = self.unansweredPing, self.mayAnswerPing(context: context) else {
            return
        }
        self.unansweredPing = nil
        guard self.closing.isOpen else { return }
        self.writePong(payload, context: context)
        context.flush()
    }

    /// The largest header of a control frame: two bytes and a mask of four.
    private static let controlHeaderBytes = 6

    /// Copies a control frame's payload, so that a waiting answer does not keep a whole read buffer alive. The space in
    /// front lets the encoder put the header there.
    private static func copyWithRoomForHeader(_ payload: ByteBuffer, context: ChannelHandlerContext) -> ByteBuffer {
        let room = Self.controlHeaderBytes
        var copy = context.channel.allocator.buffer(capacity: room + payload.readableBytes)
        copy.writeRepeatingByte(0, count: room)
        copy.writeImmutableBuffer(payload)
        copy.moveReaderIndex(forwardBy: room)
        return copy
    }

    private func closeReceived(_ payload: ByteBuffer, context: ChannelHandlerContext) {
        switch CloseFrame.parse(payload) {
        case .failure(let violation):
            self.fail(violation, context: context)
        case .success(let close):
            let now = context.eventLoop.now
            self.perform(self.closing.closeReceived(close.code, reason: close.reason, now: now), context: context)
        }
    }
}
