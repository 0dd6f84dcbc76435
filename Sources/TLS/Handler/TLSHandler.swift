package import NIOCore
internal import NIOTLS

/// A channel handler that turns ciphertext into plaintext and back.
///
/// It fires `TLSUserEvent.handshakeCompleted` when bytes may pass, `TLSUserEvent.shutdownCompleted` when both sides have
/// said close_notify, and a ``TLSError`` followed by the close of the channel when anything goes wrong. Writes before
/// the handshake wait for it.
package final class TLSHandler: ChannelDuplexHandler, RemovableChannelHandler {
    package typealias InboundIn = ByteBuffer
    package typealias InboundOut = ByteBuffer
    package typealias OutboundIn = ByteBuffer
    package typealias OutboundOut = ByteBuffer

    /// What the handler waits for.
    enum Phase {
        /// The channel to become active.
        case idle
        /// The peer's next handshake message.
        case handshaking
        /// Bytes of either side.
        case open
        /// What was flushed to leave, and the peer's close_notify.
        case closing
        /// The last ciphertext (an alert, mostly) to leave.
        case draining
        /// Nothing.
        case closed
    }

    /// How the inbound stream ended.
    enum InboundEnd {
        case closeNotify
        case failure(TLSError)
    }

    /// The most ciphertext that the peer's own messages may make this side owe, in bytes.
    ///
    /// A peer may send KeyUpdate for ever (RFC 8446, 4.6.3), each of which wants an answer, and read none: beyond this nothing
    /// more is read until some of it has left. It is a part of the 16 KiB that input may make a connection owe; pongs
    /// and answers of the relay have the rest.
    static let mostOwedBytes = 4 << 10

    /// The plaintext that is gathered before it is passed on in the middle of a read burst.
    static let deliveryBytes = 128 << 10

    let tlsContext: TLSContext
    let peer: TLSPeerName?

    var context: ChannelHandlerContext?
    var connection: TLSConnection?
    var phase = Phase.idle
    /// The one timer: of the handshake, later of the close.
    var deadline: Scheduled<Void>?

    // Inbound.
    var plaintext = ByteBuffer()
    /// Whether somebody asked for bytes and got none yet.
    var isReadRequested = false
    var isProcessing = false
    /// Whether plaintext was passed on and the end of the burst was not.
    var hasDelivered = false
    var inboundEnd: InboundEnd?
    var hasReceivedCloseNotify = false
    /// The ciphertext in answer to the peer's own messages that has not left, in bytes.
    var owedBytes = 0
    /// Whether a read was asked for while that was too much.
    var isReadHeld = false

    // Outbound.
    var pending = PendingWrites()
    var isSending = false
    /// Whether the output side was closed by its own, and what to tell when that is done.
    var isOutputClosed = false
    var outputClosePromise: EventLoopPromise<Void>?
    /// Fulfilled when our close_notify has left; set when it is sent.
    var closeNotifySent: EventLoopFuture<Void>?
    var closePromise: EventLoopPromise<Void>?

    /// What the handshake agreed on; `nil` before it is complete.
    package private(set) var session: TLSSession?

    /// The plaintext that was written and is not encrypted yet, in bytes.
    ///
    /// Grows only while the channel is not writable, or before the handshake is complete.
    package var pendingBytes: Int { self.pending.byteCount }

    /// Makes a handler for one channel; `peer` is whom a client expects, and `nil` on a server.
    package init(context: TLSContext, peer: TLSPeerName?) {
        self.tlsContext = context
        self.peer = peer
    }

    // MARK: Beginning

    package func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if context.channel.isActive { self.start() }
    }

    package func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        self.start()
    }

    private func start() {
        guard self.phase == .idle else { return }
        self.phase = .handshaking
        self.startDeadline(self.tlsContext.handshakeTimeout)
        do throws(TLSError) {
            self.connection = try TLSConnection(context: self.tlsContext, peer: self.peer)
        } catch {
            self.fail(error)
            return
        }
        self.continueHandshake()
        if self.phase == .handshaking { self.context?.read() }
    }

    func continueHandshake() {
        guard let connection = self.connection else { return }
        let isComplete: Bool
        do throws(TLSError) {
            isComplete = try connection.handshake()
        } catch {
            self.fail(error)
            return
        }
        self.sendOutput(promise: nil)
        guard isComplete, self.phase == .handshaking else { return }
        self.stopDeadline()
        self.phase = .open
        let session = connection.session
        self.session = session
        let event = TLSUserEvent.handshakeCompleted(negotiatedProtocol: session.applicationProtocol)
        self.context?.fireUserInboundEventTriggered(event)
        self.sendPending()
    }

    // MARK: Ending

    package func handlerRemoved(context: ChannelHandlerContext) {
        self.stopDeadline()
        self.phase = .closed
        self.failPending(ChannelError.ioOnClosedChannel)
        self.outputClosePromise?.fail(ChannelError.ioOnClosedChannel)
        self.outputClosePromise = nil
        self.closePromise?.fail(ChannelError.ioOnClosedChannel)
        self.closePromise = nil
        self.connection = nil
        self.context = nil
    }

    package func channelInactive(context: ChannelHandlerContext) {
        switch self.phase {
        case .handshaking:
            self.fail(TLSError(kind: .handshakeInterrupted, reason: "the peer closed the connection"))
        case .open:
            // A clean end is behind a close_notify; OpenSSL tells by reading to the end.
            self.connection?.inputEnded()
            self.process()
            self.finishBurst()
        case .idle, .closing, .draining, .closed:
            break
        }
        self.transportClosed()
        context.fireChannelInactive()
    }

    /// Ends what waits for a transport that is gone.
    private func transportClosed() {
        self.stopDeadline()
        self.phase = .closed
        self.failPending(ChannelError.ioOnClosedChannel)
        self.outputClosePromise?.succeed()
        self.outputClosePromise = nil
        self.closePromise?.succeed()
        self.closePromise = nil
    }

    /// Ends the connection for an error: the alert first, then the news, then the close.
    func fail(_ error: TLSError) {
        guard self.phase != .draining, self.phase != .closed, let context = self.context else { return }
        self.phase = .draining
        self.startDeadline(self.tlsContext.closeTimeout)
        self.failPending(error)
        self.outputClosePromise?.fail(error)
        self.outputClosePromise = nil
        let sent = context.eventLoop.makePromise(of: Void.self)
        self.sendOutput(promise: sent)
        context.fireErrorCaught(error)
        self.close(after: sent.futureResult)
    }

    func failPending(_ error: any Error) {
        for promise in self.pending.removeAll() { promise.fail(error) }
    }

    /// Closes the transport when the future is there; a late one is cut short by the deadline.
    func close(after sent: EventLoopFuture<Void>) {
        sent.assumeIsolated().whenComplete { _ in self.closeTransport() }
    }

    func closeTransport() {
        guard self.phase != .closed, let context = self.context else { return }
        self.stopDeadline()
        self.phase = .closed
        self.failPending(ChannelError.ioOnClosedChannel)
        let promise = self.closePromise
        self.closePromise = nil
        context.close(mode: .all, promise: promise)
    }

    // MARK: Time

    func startDeadline(_ limit: TimeAmount) {
        self.stopDeadline()
        guard let context = self.context else { return }
        self.deadline = context.eventLoop.assumeIsolated().scheduleTask(in: limit) { self.deadlinePassed() }
    }

    func stopDeadline() {
        self.deadline?.cancel()
        self.deadline = nil
    }

    private func deadlinePassed() {
        self.deadline = nil
        switch self.phase {
        case .handshaking:
            let limit = self.tlsContext.handshakeTimeout.nanoseconds / 1_000_000
            self.fail(TLSError(kind: .timedOut, reason: "not complete after \(limit) ms"))
        case .closing, .draining:
            self.closeTransport()
        case .idle, .open, .closed:
            break  // Late: what it watched over is done.
        }
    }
}
