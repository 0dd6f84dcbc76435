import NIOCore

/// What a client has sent, passed on in portions of a few requests, each when it is asked for.
///
/// It stands before the decoder of a plain connection. Who answers asks for no more meanwhile, but bytes come that nobody asked
/// for: a TLS record holds up to 16 KiB, and at the end of its input a socket gives all that it has. As requests that would be
/// hundreds at once; here they wait as bytes, and the end of the input waits behind them.
final class InputPortions: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = Never

    /// The bytes of a portion; most requests fit.
    static let portionBytes = 512
    /// The bytes that wait at most. Behind them nothing is taken any more, as if the client had ended its side there.
    static let mostBytes = 128 << 10

    private var held = ByteBuffer()
    /// Whether somebody asked for bytes and got none yet.
    private var isAsked = false
    private var isPassing = false
    private var end = End.open
    private var way = Way.passes
    /// The bytes that were passed on.
    private(set) var passed = 0
    /// The bytes that were thrown away.
    private(set) var dropped = 0

    private enum End {
        case open
        /// Nothing more is taken, and nobody has been told.
        case full
        /// The client has ended its side, and nobody has been told.
        case reached
        case told
    }

    /// What becomes of what comes.
    private enum Way: Equatable {
        case passes
        /// It waits until this handler goes.
        case stopped
        /// It is thrown away, as many bytes of it at most.
        case drops(atMost: Int)
    }

    /// The news, passed on up the pipeline, that more has come than is thrown away.
    struct Excess: Sendable {}

    /// Passes nothing on any more until it leaves the pipeline, and then all: for whoever takes the decoder's place.
    func stop() { self.way = .stopped }

    /// Throws away what waits and what comes from now on, up to so many bytes; then ``Excess`` is told, once.
    ///
    /// Answers whether the client has ended its side, so that nothing more can come.
    func drop(atMost bytes: Int) -> Bool {
        self.way = .drops(atMost: bytes)
        self.dropped += self.held.readableBytes
        self.held = ByteBuffer()
        guard case .reached = self.end else { return false }
        self.end = .told
        return true
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = Self.unwrapInboundIn(data)
        if case .drops(let most) = self.way {
            let before = self.dropped
            self.dropped += bytes.readableBytes
            if before <= most, self.dropped > most { context.fireUserInboundEventTriggered(Excess()) }
            return
        }
        guard case .open = self.end else { return }  // late: more than is taken
        let room = Self.mostBytes - self.held.readableBytes
        if bytes.readableBytes > room {
            bytes.moveWriterIndex(to: bytes.readerIndex + room)
            self.end = .full
        }
        if self.held.readableBytes == 0 { self.held = bytes } else { self.held.writeBuffer(&bytes) }
        self.pass(fromSocket: true, context: context)
    }

    func read(context: ChannelHandlerContext) {
        self.isAsked = true
        self.pass(fromSocket: false, context: context)
        if self.isAsked, self.held.readableBytes == 0 { context.read() }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case .inputClosed? = event as? ChannelEvent else { return context.fireUserInboundEventTriggered(event) }
        switch self.end {
        case .open, .full: self.end = .reached
        case .reached, .told: break
        }
        self.tellEnd(context: context)
    }

    func removeHandler(context: ChannelHandlerContext, removalToken: ChannelHandlerContext.RemovalToken) {
        if self.held.readableBytes > 0 {
            context.fireChannelRead(Self.wrapInboundOut(self.held))
            context.fireChannelReadComplete()
            self.held = ByteBuffer()
        }
        self.tellEnd(context: context)
        // Who comes after it asks for itself.
        if self.isAsked { context.read() }
        context.leavePipeline(removalToken: removalToken)
    }

    private func pass(fromSocket: Bool, context: ChannelHandlerContext) {
        guard !self.isPassing else { return }
        self.isPassing = true
        while self.isAsked, case .passes = self.way, self.held.readableBytes > 0, context.channel.isActive {
            self.isAsked = false
            guard let portion = self.held.readSlice(length: min(Self.portionBytes, self.held.readableBytes)) else {
                break
            }
            if self.held.readableBytes == 0 { self.held = ByteBuffer() }
            self.passed += portion.readableBytes
            context.fireChannelRead(Self.wrapInboundOut(portion))
            // Behind what it reads the channel does both by itself.
            guard self.held.readableBytes > 0 || !fromSocket else { break }
            context.fireChannelReadComplete()
            context.channel.read()
        }
        self.isPassing = false
        self.tellEnd(context: context)
    }

    /// Tells that the client has ended its side, behind all that it has sent.
    private func tellEnd(context: ChannelHandlerContext) {
        guard self.held.readableBytes == 0 else { return }
        switch self.end {
        case .open, .told:
            break
        case .full, .reached:
            self.end = .told
            context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        }
    }
}
