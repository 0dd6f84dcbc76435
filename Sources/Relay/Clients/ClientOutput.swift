import NIOCore
import TLS
import WebSocket

/// The way to one WebSocket client of the relay, at the end of its channel's pipeline; lives on the relay's loop.
///
/// It writes what the client's session says, in whatever protocol that is, with one flush however much was written, and tells
/// the session what becomes of the channel.
package final class ClientOutput: ChannelInboundHandler {
    typealias InboundIn = WebSocketMessage
    typealias OutboundOut = WebSocketOutput

    /// How much may wait in the channel before it counts as unwritable, and how little makes it writable again, in bytes.
    struct Marks {
        var low: Int
        var high: Int
    }

    let relay: RelayHub
    /// What the client speaks; the relay owns it while the client is in a pipeline.
    weak var session: (any RelayProtocol)?
    private(set) var webSocketSettings: WebSocketSettings
    private let marks: Marks
    /// How messages to this client are compressed, if it has asked for that; set before the client joins a pipeline.
    var agreement: DeflateAgreement?
    /// The subprotocol that was agreed on; set before the client joins a pipeline.
    var subprotocol: String?
    private var context: ChannelHandlerContext?
    /// The WebSocket below; there while the client is in a pipeline.
    private var webSocket: WebSocketHandler?
    /// What encrypts for this client, and holds back what the socket does not take.
    private var tls: TLSHandler?
    /// Whether messages may be written: from the upgrade until either side begins to close.
    private(set) var isOpen = false
    private var mustFlush = false
    /// All bytes that were written to the channel, compressed ones as such; without those that went by the lane.
    private(set) var writtenBytes = 0
    /// The client's place in the fan-out, while it is in a pipeline.
    private(set) var lane = ClientLanes.none
    /// The socket behind it, where bytes may go straight to one.
    private var transport: LaneTransport?

    init(relay: RelayHub, webSocketSettings: WebSocketSettings, marks: Marks) {
        self.relay = relay
        self.webSocketSettings = webSocketSettings
        if relay.settings.compresses { self.webSocketSettings.compression = .shared }
        self.marks = marks
    }

    // MARK: The way out

    /// Whether less waits than the high mark.
    var isWritable: Bool { self.context?.channel.isWritable ?? false }

    /// The bytes that wait in this program.
    var waitingBytes: Int { (self.webSocket?.waitingBytes ?? 0) + (self.tls?.pendingBytes ?? 0) }

    /// Returns what stands for plain frames on the way to this client: themselves, unless compression was agreed on.
    func compressed(_ plain: ByteBuffer) -> ByteBuffer {
        self.agreement.map { self.relay.compression.twin(of: plain, for: $0) } ?? plain
    }

    /// Writes bytes that are whole frames, compressed if that was agreed on; they leave with the hub's next flush.
    func send(framed plain: ByteBuffer) { self.send(asIs: self.compressed(plain)) }

    /// Writes bytes that are whole frames as this client gets them; they leave with the hub's next flush.
    func send(asIs bytes: ByteBuffer) {
        guard self.isOpen else { return }
        self.write(bytes)
        if !self.mustFlush {
            self.mustFlush = true
            self.relay.mustFlush(self)
        }
    }

    /// Writes bytes as `send(asIs:)` does, with everything written before, and sends them at once: for whoever knows that no
    /// more will come in this turn.
    func sendNow(asIs bytes: ByteBuffer) {
        guard self.isOpen else { return }
        self.write(bytes)
        // With the hub's next flush, nothing is left to do for one that was to be flushed.
        self.push()
    }

    private func write(_ bytes: ByteBuffer) {
        self.writtenBytes += bytes.readableBytes
        if let webSocket = self.webSocket { return webSocket.writeFramed(bytes) }
        // Another handler plays the WebSocket.
        self.context?.write(Self.wrapOutboundOut(.framed(bytes)), promise: nil)
    }

    private func push() {
        guard let webSocket = self.webSocket else { return self.context?.flush() ?? () }
        if webSocket.flushFramed() { self.session?.leftWaiting() }
    }

    /// Opens the lane, where nothing waits for the client and it gets what all get: then the fan-out passes by it.
    func openLane() {
        guard self.isOpen, self.agreement == nil, let transport, self.webSocket?.letPast() == true else { return }
        transport.open()
    }

    /// Takes over bytes of which the lane has taken the first.
    func finish(_ bytes: ByteBuffer, behind sent: Int) {
        self.writtenBytes += bytes.readableBytes
        if self.webSocket?.writeRest(of: bytes, behind: sent) == true { self.session?.leftWaiting() }
    }

    func flush() {
        self.mustFlush = false
        self.push()
    }

    /// Starts the closing handshake, behind all that was written.
    ///
    /// - Parameter time: how long the client may take to read what was written; `nil` for the usual.
    func close(_ code: WebSocketCloseCode, reason: String, within time: TimeAmount? = nil) {
        guard self.isOpen, let context = self.context else { return }
        if let time, let handler = try? context.pipeline.syncOperations.handler(type: WebSocketHandler.self) {
            handler.allowForClosing(time)
        }
        self.end()
        context.writeAndFlush(Self.wrapOutboundOut(.close(code, reason: reason)), promise: nil)
    }

    // MARK: The channel

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        self.tls = try? context.pipeline.syncOperations.handler(type: TLSHandler.self)
        // Only a channel that is gone refuses this, and that one is reported as such.
        try? context.channel.syncOptions?.setOption(
            .writeBufferWaterMark,
            value: ChannelOptions.Types.WriteBufferWaterMark(low: self.marks.low, high: self.marks.high)
        )
        self.webSocket = try? context.pipeline.syncOperations.handler(type: WebSocketHandler.self)
        let channel = context.channel
        self.webSocket?.below = { [tls, weak self] in
            let kernel = KernelOutflow(of: channel)
            return OutflowBelow(
                waiting: (tls?.pendingBytes ?? 0) + kernel.waiting,
                taken: kernel.taken,
                isWatched: kernel.isAnswered && self?.session?.isGivenUpBySlowness == true
            )
        }
        self.lane = self.relay.lanes.make()
        if let webSocket = self.webSocket, let socket = SocketTransport(context.pipeline) {
            let transport = LaneTransport(socket: socket, lane: self.lane, lanes: self.relay.lanes)
            webSocket.sendDirectly(through: transport)
            self.transport = transport
        }
        self.isOpen = true
        if let session {
            self.relay.joined(session)
            session.opened()
        }
        self.relay.flush()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.end()
        if let session { self.relay.left(session) }
        self.transport = nil
        self.relay.lanes.giveBack(self.lane)
        self.lane = ClientLanes.none
        self.context = nil
        self.webSocket = nil
        self.tls = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard self.isOpen else { return }  // late: it is being closed
        switch Self.unwrapInboundIn(data) {
        case .text(let text):
            self.session?.received(text)
        case .binary:
            self.close(.unsupported, reason: "text messages only")
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) { self.relay.flush() }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        guard self.isOpen else { return }
        self.session?.writabilityChanged()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case .closed(let closure)? = event as? WebSocketEvent else { return }
        switch closure.cause {
        case .protocolViolation: self.relay.instruments.refusals.add("websocket-violation")
        case .pongTimeout: self.relay.noteLostClient()
        case .peerClosed, .locallyClosed, .closeTimedOut, .connectionLost: break
        }
        self.end()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func end() {
        guard self.isOpen else { return }
        self.isOpen = false
        self.relay.lanes.close(self.lane)
        self.session?.closed()
    }
}

// What a session says to its client.
extension RelayProtocol {
    var isOpen: Bool { self.output.isOpen }

    var isWritable: Bool { self.output.isWritable }

    var waitingBytes: Int { self.output.waitingBytes }

    var writtenBytes: Int { self.output.writtenBytes }

    /// The bytes that have left this program.
    var drainedBytes: Int { self.writtenBytes - self.waitingBytes }

    func compressed(_ plain: ByteBuffer) -> ByteBuffer { self.output.compressed(plain) }

    func close(_ code: WebSocketCloseCode, reason: String) { self.output.close(code, reason: reason) }

    /// Puts the client at the end of a pipeline, where its session begins.
    func join(_ pipeline: ChannelPipeline.SynchronousOperations) throws {
        try withExtendedLifetime(self) { try pipeline.addHandler(self.output) }
    }
}
