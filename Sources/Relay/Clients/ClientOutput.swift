import NIOCore
import TLS
import WebSocket

/// The way to one WebSocket client of the relay, at the end of its channel's pipeline; lives on the relay's loop.
///
/// It writes what the client's session says, in whatever protocol that is, with one flush however much was written, and tells
/// the session what becomes of the channel.
package final class ClientOutput: ChannelDuplexHandler {
    typealias InboundIn = WebSocketMessage
    typealias OutboundIn = WebSocketOutput
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
    private var queue: OutboundQueue
    private var requests = RequestQueue()
    /// All bytes that were written before the last flush; without those that went by the lane.
    private var flushedBytes = 0
    /// Whether ``drained()`` is to be called.
    private var awaitsDrain = false
    /// When the client was watched for the last time.
    private var lastWatched: NIODeadline?
    /// The client's place in the fan-out, while it is in a pipeline.
    private(set) var slot = DirectSlots.none
    /// The socket behind it, where bytes may go straight to one.
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

    // MARK: The way out

    /// Whether less waits than the high mark.
    var isWritable: Bool { self.context?.channel.isWritable ?? false }

    /// The bytes that wait in this program.
    var waitingBytes: Int { (self.webSocket?.waitingBytes ?? 0) + (self.tls?.pendingBytes ?? 0) }

    /// Returns what stands for plain frames on the way to this client: themselves, unless compression was agreed on.
    func compressed(_ plain: ByteBuffer) -> ByteBuffer {
        self.agreement.map { self.relay.compression.copy(of: plain, for: $0) } ?? plain
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
        self.queue.wrote(bytes: bytes.readableBytes)
        if let webSocket = self.webSocket { return webSocket.writeFramed(bytes) }
        // Another handler plays the WebSocket.
        self.context?.write(Self.wrapOutboundOut(.framed(bytes)), promise: nil)
    }

    private func push() {
        self.flushedBytes = self.writtenBytes
        guard let webSocket = self.webSocket else { return self.context?.flush() ?? () }
        if webSocket.flushFramed() { self.leftWaiting() }
    }

    /// Opens the lane, where nothing waits for the client and it gets what all get: then the fan-out passes by it.
    func openSlot() {
        guard self.isOpen, self.agreement == nil, let transport, self.webSocket?.allowBypass() == true else { return }
        transport.open()
    }

    /// Takes over bytes of which the lane has taken the first.
    func finish(_ bytes: ByteBuffer, behind sent: Int) {
        self.queue.wrote(bytes: bytes.readableBytes)
        self.flushedBytes = self.writtenBytes
        if self.webSocket?.writeRest(of: bytes, behind: sent) == true { self.leftWaiting() }
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

    // MARK: Pace

    private var drainedBytes: Int { self.writtenBytes - self.waitingBytes }

    /// All bytes that were written to the channel.
    var writtenBytes: Int { self.queue.writtenBytes }

    /// The most bytes that can ever wait.
    var maximumWaiting: Int { self.queue.maximumWaiting }

    /// Whether something waits for the client in this program, and a limit is kept of how long it may take none of that.
    var isWatched: Bool { self.queue.backlog.isWatched }

    /// Whether nothing more is queued for the client.
    var isBehind: Bool { self.queue.backlog.isBehind }

    /// Whether the feed can be asked to wait for the client.
    var feedWaits: Bool { self.queue.backlog.feedWaits }

    /// The trades that the client has missed and that were not reported to it.
    var missed: UInt64 { self.queue.backlog.missed }

    /// How many messages wait when so many bytes do.
    func waitingMessages(_ waiting: Int) -> Int { self.queue.waitingMessages(waiting) }

    /// Notes how many messages were in the bytes written last.
    func wrote(messages: Int) { self.queue.wrote(messages: messages) }

    /// Returns whether trades may be written; those that may not are counted as missed.
    func offered(trades: UInt64, bytes: Int, messages: Int) -> Backlog.Offer {
        let before = self.queue.pace
        // Few bytes can be many messages, so of a client that is watched both are counted.
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

    /// Changes what may wait for the client, and what becomes of it then.
    func setPolicy(feedWaits: Bool, limit: Int, messageLimit: Int, closes: Bool) {
        self.change { $0.change(feedWaits: feedWaits, limit: limit, messageLimit: messageLimit, closes: closes) }
    }

    /// Notes whether the session catches up.
    func setCatchingUp(_ isCatchingUp: Bool) {
        let before = self.queue.pace
        self.queue.isCatchingUp = isCatchingUp
        self.paceChanged(from: before)
    }

    /// Notes that what was missed so far is reported to the client.
    func reportedMissed() { self.change { $0.reported() } }

    /// Has the session act as if nothing waited any more, for the relay ends.
    func endWaiting() { self.session?.obey(self.change { $0.becameWritable() }) }

    /// Time has passed for a client that the relay keeps an eye on.
    func timePassed() {
        let (drained, waiting, now) = (self.drainedBytes, self.waitingBytes, self.relay.now)
        let wasBehind = self.isBehind
        self.session?.obey(self.change { $0.timePassed(drained: drained, waiting: waiting, now: now) })
        // Where little waited the channel stayed writable, and does not report that it was read.
        if wasBehind, !self.isBehind { self.session?.becameWritable() }
        self.goOnSoon()
    }

    /// Has a client that is behind go on as soon as it has taken what was written. Where little waits for it the channel stays
    /// writable and does not report that; until the next look at all slow clients it would miss trades for nothing.
    private func goOnSoon() {
        if self.isWatched, self.isBehind, self.isWritable { self.awaitDrain() }
    }

    /// Has ``drained()`` called when all that was written so far has left this program.
    private func awaitDrain() {
        guard !self.awaitsDrain, let webSocket, let context else { return }
        self.awaitsDrain = true
        let left = context.eventLoop.makePromise(of: Void.self)
        let loop = context.eventLoop.assumeIsolated()
        left.futureResult.assumeIsolated().whenComplete { result in
            self.awaitsDrain = false
            // Later, for this may be amid a write.
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

    /// Some of what was written could not leave at once.
    private func leftWaiting() {
        guard !self.isWatched else { return }
        let (drained, now) = (self.drainedBytes, self.relay.now)
        self.change { $0.leftWaiting(drained: drained, now: now) }
    }

    /// Whether a limit is kept of how long the client may take nothing, or was until so recently that what waited here may now
    /// wait in the kernel: then a client that has just begun to read again cannot have come to the newest ping.
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
        // Only a channel that is gone refuses this, and that one is reported as such.
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
        guard self.isOpen else { return }  // late: it is being closed
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

    /// Answers the requests that have come, as long as not too much of the answers waits.
    private func takeRequests() {
        while self.isOpen, !self.requests.isEmpty, self.mayAnswer, let request = self.requests.popFirst() {
            let before = self.writtenBytes
            self.session?.received(request)
            self.requests.answered(before..<self.writtenBytes)
        }
        if self.requests.isEmpty { self.goOnReading() } else { self.awaitDrain() }
    }

    private var mayAnswer: Bool {
        if self.owedBytes < RequestQueue.maximumOwedBytes { return true }
        // They may leave at once.
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
        // The client's close frame may stand behind requests.
        self.goOnReading()
        self.relay.slots.close(self.slot)
        self.change { $0.ended() }
        self.session?.closed()
    }
}

// What a session says to its client.
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
