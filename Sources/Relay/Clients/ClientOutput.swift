import NIOCore
import TLS
import WebSocket

/// The output to one WebSocket client of the relay, at the end of its channel's pipeline. It lives on the relay's loop.
///
/// It writes the messages of the client's session, whatever the protocol, with one flush for all writes of a turn. It
/// reports the state of the channel to the session.
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
    /// The client's session. The relay owns it while the client is in a pipeline.
    weak var session: (any RelayProtocol)?
    private(set) var webSocketSettings: WebSocketSettings
    private let marks: Marks
    /// How messages to this client are compressed; `nil` for plain messages. Set before the client joins a pipeline.
    var agreement: DeflateAgreement?
    /// The negotiated subprotocol; set before the client joins a pipeline.
    var subprotocol: String?
    private var context: ChannelHandlerContext?
    /// The WebSocket handler of the pipeline; set while the client is in a pipeline.
    private var webSocket: WebSocketHandler?
    /// The client's TLS handler, which buffers the ciphertext that the socket does not take.
    private var tls: TLSHandler?
    /// Whether messages may be written: from the upgrade until either side begins to close.
    private(set) var isOpen = false
    private var mustFlush = false
    private var queue: OutboundQueue
    private var requests = RequestQueue()
    /// Whether a request is being answered.
    private(set) var isAnswering = false
    /// The total of bytes written before the last flush, without those sent directly by the slot.
    private var flushedBytes = 0
    /// Whether a call of ``drained()`` is pending.
    private var awaitsDrain = false
    /// The last time at which the client was watched.
    private var lastWatched: NIODeadline?
    /// The client's slot in the fan-out, while it is in a pipeline.
    private(set) var slot = DirectSlots.none
    /// The client's socket, if bytes may be sent to it directly.
    private var transport: SlotTransport?

    init(relay: RelayHub, webSocketSettings: WebSocketSettings, marks: Marks) {
        self.relay = relay
        let settings = relay.settings
        self.queue = OutboundQueue(
            Backlog(limit: settings.maximumWaitingBytes, patience: settings.stallTimeout, feedWaits: false),
            maximumWaiting: 2 * settings.waitingLimit(feedWaits: relay.flow != nil)
        )
        self.webSocketSettings = webSocketSettings
        if relay.settings.compresses { self.webSocketSettings.compression = .shared }
        self.marks = marks
    }

    // MARK: Writing

    /// Whether fewer bytes wait than the high mark.
    var isWritable: Bool { self.context?.channel.isWritable ?? false }

    /// The bytes that wait in this program.
    var waitingBytes: Int { (self.webSocket?.waitingBytes ?? 0) + (self.tls?.pendingBytes ?? 0) }

    /// Returns the frames as this client gets them: unchanged, or compressed if that was negotiated.
    func compressed(_ plain: ByteBuffer) -> ByteBuffer {
        self.agreement.map { self.relay.compression.copy(of: plain, for: $0) } ?? plain
    }

    /// Writes whole plain frames, compressed if that was negotiated; they leave with the hub's next flush.
    func send(framed plain: ByteBuffer) { self.send(asIs: self.compressed(plain)) }

    /// Writes whole frames that are already in this client's form; they leave with the hub's next flush.
    func send(asIs bytes: ByteBuffer) {
        guard self.isOpen else { return }
        self.write(bytes)
        if !self.mustFlush {
            self.mustFlush = true
            self.relay.mustFlush(self)
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
        self.queue.wrote(bytes: bytes.readableBytes)
        if let webSocket = self.webSocket { return webSocket.writeFramed(bytes) }
        // Another handler takes the place of the WebSocket handler, as in tests.
        self.context?.write(Self.wrapOutboundOut(.framed(bytes)), promise: nil)
    }

    private func push() {
        self.flushedBytes = self.writtenBytes
        guard let webSocket = self.webSocket else { return self.context?.flush() ?? () }
        if webSocket.flushFramed() { self.leftWaiting() }
    }

    /// Opens the slot if nothing waits for the client and its messages are not compressed. The fan-out then sends to
    /// the socket directly.
    func openSlot() {
        guard self.isOpen, self.agreement == nil, let transport, self.webSocket?.allowBypass() == true else { return }
        transport.open()
    }

    /// Queues the rest of bytes of which the direct send has taken the first `sent`.
    func finish(_ bytes: ByteBuffer, behind sent: Int) {
        self.queue.wrote(bytes: bytes.readableBytes)
        self.flushedBytes = self.writtenBytes
        if self.webSocket?.writeRest(of: bytes, behind: sent) == true { self.leftWaiting() }
    }

    func flush() {
        self.mustFlush = false
        self.push()
    }

    /// Starts the closing handshake, after all bytes written so far.
    ///
    /// - Parameter time: how long the client may take to read what was written; `nil` for the default.
    func close(_ code: WebSocketCloseCode, reason: String, within time: TimeAmount? = nil) {
        guard self.isOpen, let context = self.context else { return }
        if let time, let handler = try? context.pipeline.syncOperations.handler(type: WebSocketHandler.self) {
            handler.allowForClosing(time)
        }
        self.end()
        context.writeAndFlush(Self.wrapOutboundOut(.close(code, reason: reason)), promise: nil)
    }

    // MARK: Pace

    private var drainedBytes: Int { self.writtenBytes - self.waitingBytes }

    /// The total of bytes written to the channel.
    var writtenBytes: Int { self.queue.writtenBytes }

    /// The largest number of bytes that can ever wait.
    var maximumWaiting: Int { self.queue.maximumWaiting }

    /// Whether bytes wait for the client in this program while a limit applies to how long it may read none of them.
    var isWatched: Bool { self.queue.backlog.isWatched }

    /// Whether nothing more is queued for the client.
    var isBehind: Bool { self.queue.backlog.isBehind }

    /// Whether the feed can be asked to wait for the client.
    var feedWaits: Bool { self.queue.backlog.feedWaits }

    /// The trades that the client has missed and that were not reported to it.
    var missed: UInt64 { self.queue.backlog.missed }

    /// Returns how many messages the given number of waiting bytes makes up.
    func waitingMessages(_ waiting: Int) -> Int { self.queue.waitingMessages(waiting) }

    /// Notes how many messages were in the bytes written last.
    func wrote(messages: Int) { self.queue.wrote(messages: messages) }

    /// Returns whether trades may be written; trades that may not are counted as missed.
    func offered(trades: UInt64, bytes: Int, messages: Int) -> Backlog.Offer {
        let before = self.queue.pace
        // A few bytes can be many messages, so both are counted for a client that is watched.
        let waiting = self.isWritable && !before.isWatched ? 0 : self.waitingBytes
        let offer = self.queue.offered(
            trades: trades,
            bytes: bytes,
            messages: messages,
            waiting: waiting,
            now: self.relay.now
        )
        self.paceChanged(from: before)
        if offer == .leaveOut { self.goOnSoon() }
        return offer
    }

    /// Changes the limits of what may wait for the client, and the action beyond them.
    func setPolicy(feedWaits: Bool, limit: Int, messageLimit: Int, closes: Bool) {
        self.change { $0.change(feedWaits: feedWaits, limit: limit, messageLimit: messageLimit, closes: closes) }
    }

    /// Notes whether the session is catching up.
    func setCatchingUp(_ isCatchingUp: Bool) {
        let before = self.queue.pace
        self.queue.isCatchingUp = isCatchingUp
        self.paceChanged(from: before)
    }

    /// Notes that the trades missed so far were reported to the client.
    func reportedMissed() { self.change { $0.reported() } }

    /// Makes the session act as if nothing waited any more, since the relay ends.
    func endWaiting() { self.session?.obey(self.change { $0.becameWritable() }) }

    /// Checks the progress of a client that the relay watches.
    func timePassed() {
        let (drained, waiting, now) = (self.drainedBytes, self.waitingBytes, self.relay.now)
        let wasBehind = self.isBehind
        self.session?.obey(self.change { $0.timePassed(drained: drained, waiting: waiting, now: now) })
        // If little waited, the channel stayed writable and reports no change when the client has read it.
        if wasBehind, !self.isBehind { self.session?.becameWritable() }
        self.goOnSoon()
    }

    /// Lets a client that is behind go on as soon as it has read its queue. While little waits for it, the channel
    /// stays writable and reports no change. Without this, the client would miss trades until the next check of all
    /// watched clients.
    private func goOnSoon() {
        if self.isWatched, self.isBehind, self.isWritable { self.awaitDrain() }
    }

    /// Schedules a call of ``drained()`` for when all bytes written so far have left this program.
    private func awaitDrain() {
        guard !self.awaitsDrain, let webSocket, let context else { return }
        self.awaitsDrain = true
        let left = context.eventLoop.makePromise(of: Void.self)
        let loop = context.eventLoop.assumeIsolated()
        left.futureResult.assumeIsolated().whenComplete { result in
            self.awaitsDrain = false
            // In a later turn, because this may run in the middle of a write.
            if case .success = result { loop.execute { self.drained() } }
        }
        webSocket.writeFramed(ByteBuffer(), promise: left)
        self.push()
    }

    private func drained() {
        guard self.isOpen else { return }
        if self.isBehind, self.waitingBytes == 0 { self.timePassed() }
        self.takeRequests()
        self.relay.flush()
    }

    /// Notes that some written bytes could not leave at once.
    private func leftWaiting() {
        guard !self.isWatched else { return }
        let (drained, now) = (self.drainedBytes, self.relay.now)
        self.change { $0.leftWaiting(drained: drained, now: now) }
    }

    /// Whether the client's reading is timed, or was so until recently. In the second case its backlog may have moved
    /// from this program into the kernel's buffer, and a client that has just begun to read again cannot have reached
    /// the newest ping.
    private var isGivenTime: Bool {
        if self.isWatched { return true }
        return self.lastWatched.map { self.relay.now - $0 < self.relay.settings.stallTimeout } ?? false
    }

    private func change<Answer>(_ event: (inout Backlog) -> Answer) -> Answer {
        let before = self.queue.pace
        let answer = self.queue.change(event)
        self.paceChanged(from: before)
        return answer
    }

    private func paceChanged(from before: OutboundQueue.Pace) {
        let pace = self.queue.pace
        guard pace != before else { return }
        switch (before.holdsUpFeed, pace.holdsUpFeed) {
        case (false, true): self.relay.flow?.clientBecameSlow()
        case (true, false): self.relay.flow?.clientCaughtUp()
        case (true, true), (false, false): break
        }
        switch (before.isWatched, pace.isWatched) {
        case (false, true): self.relay.watch(self)
        case (true, false):
            self.lastWatched = self.relay.now
            self.relay.unwatch(self)
        case (true, true), (false, false): break
        }
    }

    // MARK: The channel

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        self.tls = try? context.pipeline.syncOperations.handler(type: TLSHandler.self)
        // Only a closed channel refuses this, and its closing is reported anyway.
        try? context.channel.syncOptions?.setOption(
            .writeBufferWaterMark,
            value: ChannelOptions.Types.WriteBufferWaterMark(low: self.marks.low, high: self.marks.high)
        )
        self.webSocket = try? context.pipeline.syncOperations.handler(type: WebSocketHandler.self)
        let channel = context.channel
        self.webSocket?.below = { [tls, weak self] in
            let kernel = KernelSendProgress(of: channel)
            return TransportProgress(
                waiting: (tls?.pendingBytes ?? 0) + kernel.waiting,
                taken: kernel.taken,
                isWatched: kernel.isAnswered && self?.isGivenTime == true
            )
        }
        self.slot = self.relay.slots.make()
        if let webSocket = self.webSocket, let socket = SocketTransport(context.pipeline) {
            let transport = SlotTransport(socket: socket, slot: self.slot, slots: self.relay.slots)
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
        self.relay.slots.giveBack(self.slot)
        self.slot = DirectSlots.none
        self.context = nil
        self.webSocket = nil
        self.tls = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard self.isOpen else { return }  // late input of a client that is being closed
        switch Self.unwrapInboundIn(data) {
        case .text(let text):
            self.requests.append(text)
            self.takeRequests()
        case .binary:
            self.close(.unsupported, reason: "text messages only")
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) { self.relay.flush() }

    func read(context: ChannelHandlerContext) {
        if self.requests.isEmpty { context.read() } else { self.requests.isReadHeld = true }
    }

    /// Answers the queued requests until too many bytes of answers wait. A session that has held back answers calls it
    /// when some of them were written.
    func takeRequests() {
        // A request may end a catch-up, which calls this again.
        guard !self.isAnswering else { return }
        self.isAnswering = true
        defer { self.isAnswering = false }
        while self.isOpen, let session {
            guard self.mayAnswer else {
                self.awaitDrain()
                break
            }
            guard session.heldAnswerBytes < RequestQueue.maximumOwedBytes else { break }
            let before = self.writtenBytes
            if !session.takeDeferred() {
                guard let request = self.requests.popFirst() else { break }
                session.received(request)
            }
            self.requests.answered(before..<self.writtenBytes)
        }
        if self.requests.isEmpty { self.goOnReading() }
    }

    private var mayAnswer: Bool {
        if self.owedBytes < RequestQueue.maximumOwedBytes { return true }
        // A flush may let them leave at once.
        self.push()
        return self.owedBytes < RequestQueue.maximumOwedBytes
    }

    private var owedBytes: Int {
        self.requests.owedBytes { min(self.flushedBytes, self.writtenBytes - self.waitingBytes) }
    }

    private func goOnReading() {
        guard self.requests.isReadHeld else { return }
        self.requests.isReadHeld = false
        self.context?.read()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        guard self.isOpen else { return }
        let (drained, now) = (self.drainedBytes, self.relay.now)
        guard self.isWritable else { return self.change { $0.becameUnwritable(drained: drained, now: now) } }
        self.session?.obey(self.change { $0.becameWritable() })
        self.session?.becameWritable()
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
        self.requests.removeAll()
        // The client's close frame may follow requests that were held back.
        self.goOnReading()
        self.relay.slots.close(self.slot)
        self.change { $0.ended() }
        guard let session else { return }
        session.closed()
        self.relay.index.remove(session)
    }
}

// The output's members that sessions use.
extension RelayProtocol {
    var isOpen: Bool { self.output.isOpen }

    var isWritable: Bool { self.output.isWritable }

    var waitingBytes: Int { self.output.waitingBytes }

    var writtenBytes: Int { self.output.writtenBytes }

    func compressed(_ plain: ByteBuffer) -> ByteBuffer { self.output.compressed(plain) }

    func close(_ code: WebSocketCloseCode, reason: String) { self.output.close(code, reason: reason) }

    /// Puts the client at the end of a pipeline, where its session begins.
    func join(_ pipeline: ChannelPipeline.SynchronousOperations) throws {
        try withExtendedLifetime(self) { try pipeline.addHandler(self.output) }
    }
}
