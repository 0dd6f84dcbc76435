package import NIOCore
internal import NIOTLS

/// A channel handler that turns ciphertext into plaintext and back.
///
/// It fires `TLSUserEvent.handshakeCompleted` when bytes may pass, and `TLSUserEvent.shutdownCompleted` after both
/// sides have sent close_notify. On any failure it fires a ``TLSError`` and closes the channel. Writes before the
/// handshake wait for it.
package final class TLSHandler: ChannelDuplexHandler, RemovableChannelHandler {
    package typealias InboundIn = ByteBuffer
    package typealias InboundOut = ByteBuffer
    package typealias OutboundIn = ByteBuffer
    package typealias OutboundOut = ByteBuffer

    /// The state of the handler; each case says what the handler waits for.
    enum Phase {
        /// The channel to become active.
        case idle
        /// The peer's next handshake message.
        case handshaking
        /// Bytes in either direction.
        case open
        /// The sending of the flushed bytes, and the peer's close_notify.
        case closing
        /// The sending of the last ciphertext (usually an alert).
        case draining
        /// Nothing.
        case closed
    }

    /// The way in which the inbound stream ended.
    enum InboundEnd {
        case closeNotify
        case failure(TLSError)
    }

    /// The limit of unsent ciphertext that answers the peer's own messages, in bytes.
    ///
    /// A peer may send KeyUpdate without end (RFC 8446, 4.6.3), each of which needs an answer, and read no answer. At
    /// the limit the handler stops reading until some answers are sent. The limit is a part of the 16 KiB that input
    /// may make a connection owe; pongs and the relay's answers have the rest.
    static let maximumOwedBytes = 4 << 10

    /// The amount of plaintext, in bytes, that is passed on before the end of a read burst.
    static let deliveryBytes = 128 << 10

    let tlsContext: TLSContext
    let peer: TLSPeerName?

    var context: ChannelHandlerContext?
    var connection: TLSConnection?
    var phase = Phase.idle
    /// The only timer: of the handshake, later of the close.
    var deadline: Scheduled<Void>?

    // Inbound.
    var plaintext = ByteBuffer()
    /// Whether a read was requested and no bytes were passed on since.
    var isReadRequested = false
    var isProcessing = false
    /// Whether plaintext was passed on without a `channelReadComplete` since.
    var hasDelivered = false
    var inboundEnd: InboundEnd?
    var hasReceivedCloseNotify = false
    /// The unsent ciphertext that answers the peer's own messages, in bytes.
    var owedBytes = 0
    /// Whether a read was requested while ``owedBytes`` was at its limit.
    var isReadHeld = false

    // Outbound.
    var pending = PendingWrites()
    var isSending = false
    /// Whether the output side alone was closed, and the promise of that close.
    var isOutputClosed = false
    var outputClosePromise: EventLoopPromise<Void>?
    /// Completes after our close_notify is sent; set when the close_notify is written.
    var closeNotifySent: EventLoopFuture<Void>?
    var closePromise: EventLoopPromise<Void>?

    /// The result of the handshake; `nil` before it is complete.
    package private(set) var session: TLSSession?

    /// The plaintext that is written and not encrypted yet, in bytes.
    ///
    /// It grows with unflushed writes, while the channel is not writable, and before the handshake is complete.
    package var pendingBytes: Int { self.pending.byteCount }

    /// Makes a handler for one channel; `peer` is the server that a client expects, and `nil` on a server.
    package init(context: TLSContext, peer: TLSPeerName?) {
        self.tlsContext = context
        self.peer = peer
    }

    // MARK: Start

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

    // MARK: End

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
            // A clean end has a close_notify; OpenSSL finds out by reading to the end.
            self.connection?.inputEnded()
            self.process()
            self.finishBurst()
        case .idle, .closing, .draining, .closed:
            break
        }
        self.transportClosed()
        context.fireChannelInactive()
    }

    /// Completes the promises that wait for a transport that is closed now.
    private func transportClosed() {
        self.stopDeadline()
        self.phase = .closed
        self.failPending(ChannelError.ioOnClosedChannel)
        self.outputClosePromise?.succeed()
        self.outputClosePromise = nil
        self.closePromise?.succeed()
        self.closePromise = nil
    }

    /// Ends the connection with an error: it sends the alert, fires the error, and then closes the transport.
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

    /// Closes the transport when the future completes; the deadline bounds the wait.
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

    // MARK: Deadline

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
            break  // Late: the phase that the timer limited is over.
        }
    }
}
