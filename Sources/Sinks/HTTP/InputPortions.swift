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
    /// Whether no more portions are passed on until this handler goes.
    private var isStopped = false

    private enum End {
        case open
        /// The client has ended its side, and nobody has been told.
        case reached
        case told
    }

    /// Passes nothing on any more until it leaves the pipeline, and then all: for who takes the decoder's place.
    func stop() { self.isStopped = true }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .open = self.end else { return }  // late: more than is taken
        var bytes = Self.unwrapInboundIn(data)
        let room = Self.mostBytes - self.held.readableBytes
        if bytes.readableBytes > room {
            bytes.moveWriterIndex(to: bytes.readerIndex + room)
            self.end = .reached
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
        if case .open = self.end { self.end = .reached }
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
        while self.isAsked, !self.isStopped, self.held.readableBytes > 0, context.channel.isActive {
            self.isAsked = false
            guard let portion = self.held.readSlice(length: min(Self.portionBytes, self.held.readableBytes)) else {
                break
            }
            if self.held.readableBytes == 0 { self.held = ByteBuffer() }
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
        guard case .reached = self.end, self.held.readableBytes == 0 else { return }
        self.end = .told
        context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    }
}
