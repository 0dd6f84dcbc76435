package import NIOCore

/// A handler that passes a client's input on in portions of a few requests, one for each read.
///
/// It stands before the decoder of a plain connection, and below the handler of lines. A connection that is answering a
/// request does not read, but unrequested bytes arrive: a TLS record holds up to 16 KiB, and at the end of its input a
/// socket delivers all that it has. Decoded, they could be hundreds of requests at once. Here they wait as bytes, and
/// the end of the input waits behind them.
package final class InputPortions: ChannelDuplexHandler, RemovableChannelHandler {
    package typealias InboundIn = ByteBuffer
    package typealias InboundOut = ByteBuffer
    package typealias OutboundIn = Never

    /// The size of a portion in bytes; most requests fit.
    static let groupBytes = 512
    /// The limit of waiting bytes. Further input is ignored, as if the client had ended its side there.
    static let maximumBytes = 128 << 10

    private var held = ByteBuffer()
    /// Whether a read is unanswered.
    private var isAsked = false
    private var isPassing = false
    private var end = End.open
    private var way = Way.passes
    /// The number of bytes passed on.
    private(set) var passed = 0
    /// The number of discarded bytes.
    private(set) var dropped = 0

    private enum End {
        case open
        /// The limit is reached, and the end is not reported.
        case full
        /// The client has ended its side, and the end is not reported.
        case reached
        case reported
    }

    /// The treatment of input.
    private enum Way: Equatable {
        case passes
        /// It waits until this handler is removed.
        case stopped
        /// It is discarded, up to this many bytes.
        case drops(atMost: Int)
    }

    /// An inbound user event: more bytes have arrived than may be discarded.
    package struct Excess: Sendable {}

    package init() {}

    /// Holds all input until this handler is removed, and passes it on then, to the handlers that replace the decoder.
    func stop() { self.way = .stopped }

    /// Discards the waiting and all further input, up to a number of bytes; beyond it fires ``Excess`` once.
    ///
    /// Returns whether the client has already ended its side, and no handler knows it yet. Then no more input can
    /// arrive.
    package func drop(atMost bytes: Int) -> Bool {
        self.way = .drops(atMost: bytes)
        self.dropped += self.held.readableBytes
        self.held = ByteBuffer()
        guard case .reached = self.end else { return false }
        self.end = .reported
        return true
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = Self.unwrapInboundIn(data)
        if case .drops(let most) = self.way {
            let before = self.dropped
            self.dropped += bytes.readableBytes
            if before <= most, self.dropped > most { context.fireUserInboundEventTriggered(Excess()) }
            return
        }
        guard case .open = self.end else { return }  // late: beyond the limit
        let room = Self.maximumBytes - self.held.readableBytes
        if bytes.readableBytes > room {
            bytes.moveWriterIndex(to: bytes.readerIndex + room)
            self.end = .full
        }
        if self.held.readableBytes == 0 { self.held = bytes } else { self.held.writeBuffer(&bytes) }
        self.pass(fromSocket: true, context: context)
    }

    package func read(context: ChannelHandlerContext) {
        self.isAsked = true
        self.pass(fromSocket: false, context: context)
        if self.isAsked, self.held.readableBytes == 0 { context.read() }
    }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case .inputClosed? = event as? ChannelEvent else { return context.fireUserInboundEventTriggered(event) }
        switch self.end {
        case .open, .full: self.end = .reached
        case .reached, .reported: break
        }
        self.reportEnd(context: context)
    }

    package func removeHandler(context: ChannelHandlerContext, removalToken: ChannelHandlerContext.RemovalToken) {
        if self.held.readableBytes > 0 {
            context.fireChannelRead(Self.wrapInboundOut(self.held))
            context.fireChannelReadComplete()
            self.held = ByteBuffer()
        }
        self.reportEnd(context: context)
        // The next handler requests its own reads.
        if self.isAsked { context.read() }
        context.leavePipeline(removalToken: removalToken)
    }

    private func pass(fromSocket: Bool, context: ChannelHandlerContext) {
        guard !self.isPassing else { return }
        self.isPassing = true
        while self.isAsked, case .passes = self.way, self.held.readableBytes > 0, context.channel.isActive {
            self.isAsked = false
            guard let portion = self.held.readSlice(length: min(Self.groupBytes, self.held.readableBytes)) else {
                break
            }
            if self.held.readableBytes == 0 { self.held = ByteBuffer() }
            self.passed += portion.readableBytes
            context.fireChannelRead(Self.wrapInboundOut(portion))
            // After a read of the socket, the channel fires `channelReadComplete` and reads again by itself.
            guard self.held.readableBytes > 0 || !fromSocket else { break }
            context.fireChannelReadComplete()
            context.channel.read()
        }
        self.isPassing = false
        self.reportEnd(context: context)
    }

    /// Reports the end of the client's input after all waiting bytes are passed on.
    private func reportEnd(context: ChannelHandlerContext) {
        guard self.held.readableBytes == 0 else { return }
        switch self.end {
        case .open, .reported:
            break
        case .full, .reached:
            self.end = .reported
            context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        }
    }
}
