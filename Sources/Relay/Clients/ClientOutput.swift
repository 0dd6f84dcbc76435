import NIOCore
import TLS
import WebSocket

/// The output to one client of the relay, at the end of its channel's pipeline, above a WebSocket or another
/// ``ClientTransport``. It lives on the relay's loop.
///
/// It writes the messages of the client's session, whatever the protocol, with one flush for all writes of a turn. It
/// reports the state of the channel to the client's ``ClientPace``, and its messages to its ``ClientRequests``.
package final class ClientOutput: ChannelDuplexHandler {
    typealias InboundIn = WebSocketMessage
    typealias OutboundIn = WebSocketOutput
    typealias OutboundOut = WebSocketOutput

    /// The water marks of the channel, in bytes: above `high` it counts as unwritable, below `low` as writable again.
    struct Marks {
        var low: Int
        var high: Int
    }

    let relay: RelayHub
    /// The client's session, while the client is in a pipeline.
    private(set) var session: (any RelayProtocol)?
    private let marks: Marks
    /// How messages to this client are compressed; `nil` for plain messages. Set before the client joins a pipeline.
    var agreement: DeflateAgreement?
    /// The negotiated subprotocol; set before the client joins a pipeline.
    var subprotocol: String?
    /// Returns why the client may stay no longer after a change of the settings; `nil` if it may. Without a check it may
    /// always. Set before the client joins a pipeline.
    var objection: (() -> String?)?
    private var context: ChannelHandlerContext?
    /// The handler below; set while the client is in a pipeline.
    private var transport: (any ClientTransport)?
    /// The client's TLS handler, which buffers the ciphertext that the socket does not take.
    private var tls: TLSHandler?
    /// Whether messages may be written: from the upgrade until either side begins to close.
    private(set) var isOpen = false
    private var mustFlush = false
    private(set) lazy var pace = ClientPace(of: self)
    private(set) lazy var requests = ClientRequests(of: self)
    /// The total of bytes written before the last flush, without those sent directly by the slot.
    private var flushedBytes = 0
    /// The client's slot in the fan-out, while it is in a pipeline.
    private(set) var slot = DirectSlots.none
    /// The client's socket, if bytes may be sent to it directly.
    private var direct: SlotTransport?

    init(relay: RelayHub, marks: Marks) {
        self.relay = relay
        self.marks = marks
    }

    var webSocketSettings: WebSocketSettings {
        let settings = self.relay.settings
        var webSocket = settings.webSocket
        if settings.compresses { webSocket.compression = .shared }
        // The close frame comes after the whole queue: of a client that reads again in time, or of any client for which
        // a replay waits.
        webSocket.closeTimeout =
            self.relay.flow == nil
            ? max(settings.webSocket.closeTimeout, min(settings.stallTimeout, .seconds(5)))
            : settings.stallTimeout
        return webSocket
    }

    // MARK: Writing

    /// Whether fewer bytes wait than the high mark.
    var isWritable: Bool { self.context?.channel.isWritable ?? false }

    /// The bytes that wait in this program.
    var waitingBytes: Int { (self.transport?.waitingBytes ?? 0) + (self.tls?.pendingBytes ?? 0) }

    /// How many of all bytes written have left this program.
    var sentBytes: Int { min(self.flushedBytes, self.pace.writtenBytes - self.waitingBytes) }

    /// Returns the frames as this client gets them: unchanged, or compressed if that was negotiated.
    func compressed(_ plain: ByteBuffer) -> ByteBuffer {
        self.agreement.map { self.relay.outputs.compression.copy(of: plain, for: $0) } ?? plain
    }

    /// Writes whole plain frames, compressed if that was negotiated; they leave with the hub's next flush.
    func send(framed plain: ByteBuffer) { self.send(asIs: self.compressed(plain)) }

    /// Writes whole frames that are already in this client's form; they leave with the hub's next flush.
    func send(asIs bytes: ByteBuffer) {
        guard self.isOpen else { return }
        self.write(bytes)
        if !self.mustFlush {
            self.mustFlush = true
            self.relay.outputs.mustFlush(self)
        }
    }

    /// Writes bytes as `send(asIs:)` does and flushes at once, for callers that write nothing more in this turn.
    func sendNow(asIs bytes: ByteBuffer) {
        guard self.isOpen else { return }
        self.write(bytes)
        // A client that is already marked for the hub's next flush has nothing left to do there.
        self.push()
    }

    private func write(_ bytes: ByteBuffer) {
        self.pace.wrote(bytes: bytes.readableBytes)
        if let transport = self.transport { return transport.writeFramed(bytes, promise: nil) }
        // Another handler takes the place of the transport, as in tests.
        self.context?.write(Self.wrapOutboundOut(.framed(bytes)), promise: nil)
    }

    /// Flushes the writes.
    func push() {
        self.flushedBytes = self.pace.writtenBytes
        guard let transport = self.transport else { return self.context?.flush() ?? () }
        if transport.flushFramed() { self.pace.leftWaiting() }
    }

    /// Opens the slot if nothing waits for the client and its messages are not compressed. The fan-out then sends to
    /// the socket directly.
    func openSlot() {
        guard self.isOpen, self.agreement == nil, let direct, self.transport?.allowBypass() == true else { return }
        direct.open()
    }

    /// Queues the rest of bytes of which the direct send has taken the first `sent`.
    func finish(_ bytes: ByteBuffer, behind sent: Int) {
        self.pace.wrote(bytes: bytes.readableBytes)
        self.flushedBytes = self.pace.writtenBytes
        if self.transport?.writeRest(of: bytes, behind: sent) == true { self.pace.leftWaiting() }
    }

    func flush() {
        self.mustFlush = false
        self.push()
    }

    /// Calls back once when all bytes written so far have left this program, or never will; returns `false` if it does
    /// not, because the client is in no pipeline.
    func whenDrained(_ done: @escaping (_ isSent: Bool) -> Void) -> Bool {
        guard let transport, let context else { return false }
        let left = context.eventLoop.makePromise(of: Void.self)
        left.futureResult.assumeIsolated().whenComplete { result in
            if case .success = result { done(true) } else { done(false) }
        }
        transport.writeFramed(ByteBuffer(), promise: left)
        self.push()
        return true
    }

    /// Reads the socket again, after reads that ``ClientRequests`` held back.
    func read() { self.context?.read() }

    /// Starts the end of the connection, after all bytes written so far.
    ///
    /// - Parameters:
    ///   - time: how long the client may take to read what was written; `nil` for the default.
    ///   - end: why the session ends; `nil` if the code says it.
    func close(
        _ code: WebSocketCloseCode,
        reason: String,
        within time: TimeAmount? = nil,
        as end: ClientEnd? = nil
    ) {
        guard self.isOpen, let context = self.context else { return }
        if let time { self.transport?.allowForClosing(time) }
        self.session?.willClose(code, reason: reason)
        self.end(as: end ?? ClientEnd(code))
        context.writeAndFlush(Self.wrapOutboundOut(.close(code, reason: reason)), promise: nil)
    }

    // MARK: The channel

    /// Joins the end of a pipeline.
    ///
    /// - Parameter transport: the handler below; `nil` for the WebSocket of the pipeline.
    func join(
        _ pipeline: ChannelPipeline.SynchronousOperations,
        of session: any RelayProtocol,
        over transport: (any ClientTransport)?
    ) throws {
        self.session = session
        self.transport = transport
        do {
            try pipeline.addHandler(self)
        } catch {
            self.session = nil
            throw error
        }
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        self.tls = try? context.pipeline.syncOperations.handler(type: TLSHandler.self)
        // Only a closed channel refuses this, and its closing is reported anyway.
        try? context.channel.syncOptions?.setOption(
            .writeBufferWaterMark,
            value: ChannelOptions.Types.WriteBufferWaterMark(low: self.marks.low, high: self.marks.high)
        )
        let transport =
            self.transport ?? (try? context.pipeline.syncOperations.handler(type: WebSocketHandler.self))
        self.transport = transport
        transport?.below = { self.progressBelow() }
        self.slot = self.relay.slots.make()
        if let transport, let socket = SocketTransport(context.pipeline) {
            let direct = SlotTransport(socket: socket, slot: self.slot, slots: self.relay.slots)
            transport.sendDirectly(through: direct)
            self.direct = direct
        }
        self.isOpen = true
        if let session {
            self.relay.joined(session)
            session.opened()
        }
        self.relay.flush()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.end(as: .lost)
        if let session { self.relay.left(session) }
        self.session = nil
        self.transport?.below = nil
        self.direct = nil
        self.relay.slots.giveBack(self.slot)
        self.slot = DirectSlots.none
        self.context = nil
        self.transport = nil
        self.tls = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard self.isOpen else { return }  // late input of a client that is being closed
        let message = Self.unwrapInboundIn(data)
        if case .binary = message, let session, !type(of: session).takesBinary {
            return self.close(.unsupported, reason: "text messages only")
        }
        self.requests.received(message)
    }

    func channelReadComplete(context: ChannelHandlerContext) { self.relay.flush() }

    func read(context: ChannelHandlerContext) {
        if self.requests.mayRead() { context.read() }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        guard self.isOpen else { return }
        self.pace.writabilityChanged()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case .closed(let closure)? = event as? WebSocketEvent else { return }
        switch closure.cause {
        case .protocolViolation:
            self.relay.counters.noteViolation()
            self.end(as: .protocolViolation)
        case .pongTimeout:
            self.relay.counters.noteLostClient()
            self.end(as: .pongTimeout)
        case .peerClosed: self.end(as: .left)
        // A close of this side has ended the session already.
        case .locallyClosed, .closeTimedOut, .connectionLost: self.end(as: .lost)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    /// Returns how far the layers below the transport are.
    private func progressBelow() -> TransportProgress {
        let kernel = self.context.map { KernelSendProgress(of: $0.channel) } ?? KernelSendProgress()
        return TransportProgress(
            waiting: (self.tls?.pendingBytes ?? 0) + kernel.waiting,
            taken: kernel.taken,
            isWatched: kernel.isAnswered && self.pace.isGivenTime
        )
    }

    private func end(as end: ClientEnd) {
        guard self.isOpen else { return }
        self.isOpen = false
        self.relay.counters.noteEnd(end)
        self.requests.removeAll()
        self.relay.slots.close(self.slot)
        self.pace.ended()
        guard let session else { return }
        session.closed()
        self.relay.index.remove(session)
    }
}

extension ClientEnd {
    /// The reason that a close code of the relay has.
    fileprivate init(_ code: WebSocketCloseCode) {
        self =
            switch code {
            case .normal: .left
            case .goingAway: .stopping
            case .policy: .flood
            case .tryAgainLater: .unavailable
            default: .invalid
            }
    }
}

// The output's members that sessions use.
extension RelayProtocol {
    var isOpen: Bool { self.output.isOpen }

    var isWritable: Bool { self.output.isWritable }

    var waitingBytes: Int { self.output.waitingBytes }

    var writtenBytes: Int { self.pace.writtenBytes }

    var pace: ClientPace { self.output.pace }

    func compressed(_ plain: ByteBuffer) -> ByteBuffer { self.output.compressed(plain) }

    func close(_ code: WebSocketCloseCode, reason: String) { self.output.close(code, reason: reason) }

    /// Counts that the client was too slow, and closes it.
    ///
    /// - Parameter missed: the trades that it has missed and that were not reported to it.
    func closeSlow(missed: UInt64, reason: String) {
        self.output.relay.counters.noteSlowClient(missed: missed)
        self.output.close(.tryAgainLater, reason: reason, as: .tooSlow)
    }

    /// Writes trades that the client wants, and flushes them: the client is in one group of its fan-out, so they are all
    /// that it gets of a batch.
    ///
    /// - Parameters:
    ///   - plain: whole frames.
    ///   - sent: how many of their bytes the direct send has taken.
    ///   - messages: the number of frames.
    /// - Returns: `false` if the client does not keep up, and the trades are left out and counted.
    @discardableResult
    func deliver(_ plain: ByteBuffer, behind sent: Int = 0, messages: Int, trades: UInt64) -> Bool {
        guard sent == 0 else {
            self.output.finish(plain, behind: sent)
            self.pace.wrote(messages: messages)
            return true
        }
        guard self.isOpen else { return true }
        let bytes = self.compressed(plain)
        let offer = self.pace.offered(trades: trades, bytes: bytes.readableBytes, messages: messages)
        guard case .write = offer else { return false }
        self.output.sendNow(asIs: bytes)
        self.pace.wrote(messages: messages)
        // Bytes sent through an open slot leave at once, so neither the backlog nor the count of waiting bytes needs
        // them.
        if !self.pace.isWatched { self.output.openSlot() }
        return true
    }

    /// Puts the client at the end of a pipeline, where its session begins.
    ///
    /// - Parameter transport: the handler below; `nil` for the WebSocket of the pipeline.
    func join(
        _ pipeline: ChannelPipeline.SynchronousOperations,
        over transport: (any ClientTransport)? = nil
    ) throws {
        try self.output.join(pipeline, of: self, over: transport)
    }
}
