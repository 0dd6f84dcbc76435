import HTTP
import NIOCore
import WebSocket

// The end of a connection of lines: the last line, the client's input that is discarded meanwhile, and the time limits.
extension LineHandler {
    /// The size of a read of discarded input, in bytes; larger than for commands, so that it ends sooner.
    private static let readBytes = 16 << 10

    var isClosing: Bool { if case .closing = self.state { true } else { false } }

    // MARK: Deadlines

    func arm(context: ChannelHandlerContext) {
        var first: NIODeadline?
        if case .new(let until) = self.state { first = until }
        self.timer.arm(for: [first, self.closing.deadline], on: context.eventLoop) {
            self.timeReached(context: context)
        }
    }

    private var sendProgress: SendProgress {
        self.output.sendProgress(below: self.below?() ?? TransportProgress(waiting: 0))
    }

    private func timeReached(context: ChannelHandlerContext) {
        self.timer.fired()
        let now = context.eventLoop.now
        if case .new(let until) = self.state, now >= until {
            // A beginning of HTTP without its line end gets no answer, either.
            guard !ForeignProtocol.begins(self.splitter.start) else { return self.drop(context: context) }
            return self.refuse("line-timeout", "no line came in time", context: context)
        }
        if self.closing.timeReached(now, sendProgress: self.sendProgress).transport == .close {
            return context.close(promise: nil)
        }
        self.arm(context: context)
    }

    // MARK: End

    /// Closes the connection without an answer: its client speaks another protocol, and a web page must learn nothing.
    func drop(context: ChannelHandlerContext) {
        self.service.refused("not-lines")
        self.state = .closing
        context.close(promise: nil)
    }

    /// Refuses a client that has no session.
    func refuse(_ refusal: HTTPRefusal, context: ChannelHandlerContext) {
        self.refuse(refusal.type, refusal.message, context: context)
    }

    func refuse(_ type: String, _ reason: String, context: ChannelHandlerContext) {
        self.service.refused(type)
        self.output.writeFrames(LineForm.plain.message.framed(ByteBuffer(string: "# \(reason)")), promise: nil)
        self.end(context: context)
    }

    /// Ends the sending side after all bytes written, then waits for the client's end. Closing the socket with input
    /// unread would reset it, and the reset can overtake the last line.
    func end(context: ChannelHandlerContext) {
        guard !self.isClosing else { return }
        self.state = .closing
        _ = self.closing.closeAsked(.normal, reason: "", now: context.eventLoop.now, sendProgress: self.sendProgress)
        let portions = try? context.pipeline.syncOperations.handler(type: InputPortions.self)
        if portions?.drop(atMost: Lingering.maximumBytes) == true { self.isInputOver = true }
        // Only a closed channel refuses this.
        try? context.channel.syncOptions?.setOption(
            .recvAllocator,
            value: FixedSizeRecvByteBufferAllocator(capacity: Self.readBytes)
        )
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenComplete { result in
            self.isWritten = true
            guard case .success = result, !self.isInputOver else { return context.close(promise: nil) }
            context.close(mode: .output, promise: nil)
        }
        self.output.writeFrames(ByteBuffer(), promise: written)
        context.flush()
        context.read()
        self.arm(context: context)
    }
}

// The output, as a session sees it.
extension LineHandler: ClientTransport {
    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch Self.unwrapOutboundIn(data) {
        case .framed(let bytes): self.writeFramed(bytes, promise: promise)
        case .close:
            self.end(context: context)
            promise?.succeed()
        case .text, .binary: preconditionFailure("a session of lines wrote a message that is no line")
        }
    }

    var waitingBytes: Int { self.output.waitingBytes }

    func writeFramed(_ bytes: ByteBuffer, promise: EventLoopPromise<Void>?) {
        guard !self.isClosing else { return promise?.fail(ChannelError.outputClosed) ?? () }
        self.output.writeFrames(bytes, promise: promise)
    }

    func flushFramed() -> Bool { self.output.flushFrames() }

    func sendDirectly(through transport: any DirectTransport) { self.output.use(transport) }

    func allowBypass() -> Bool { !self.isClosing && self.output.allowBypass() }

    func writeRest(of bytes: ByteBuffer, behind sent: Int) -> Bool { self.output.writeRest(of: bytes, behind: sent) }

    func allowForClosing(_ time: TimeAmount) { self.closing.timeout = time }
}
