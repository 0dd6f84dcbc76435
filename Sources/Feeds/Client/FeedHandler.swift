import Ingest
import Market
import NIOCore
import WebSocket
import Wire

/// The last handler of a feed's connection: passes frames to the tape and requests to the service, and owns the one
/// timer.
///
/// It follows the decisions of ``ConnectionMonitor`` and, through its owner, of ``SymbolMonitor``.
final class FeedHandler: ChannelInboundHandler, WebSocketReceiver, KeptConnection {
    typealias InboundIn = WebSocketMessage
    typealias OutboundOut = WebSocketOutput

    var monitor: ConnectionMonitor
    private let input: FeedInput
    /// The service's protocol on this connection.
    private let dialect: any ConnectionDialect
    private let wallClock: @Sendable () -> Int64
    private weak var owner: FeedClient?
    private var context: ChannelHandlerContext?
    /// The WebSocket handler below, which passes its messages by a plain call.
    private var webSocket: WebSocketHandler?
    private var timer: (task: Scheduled<Void>, at: Int64)?
    private var ending: ConnectionEnding?
    /// What is known of this connection while it is the client's second one, or has just taken the first one's place.
    var second: SecondConnection?
    /// Whether the first connection brings the trades, and this one is beside it.
    var isBeside: Bool { self.second?.isBeside ?? false }
    /// The position in the relay's frames, if the peer is one.
    let resumption: RelayResumption?
    /// When the connection opened or the newest request was sent; monotonic ns.
    private var lastSent: Int64
    private var isGivenUp = false
    /// The frames of a replay that wait until those of other connections are on the tape.
    private var early = TurnQueue()
    /// Whether the connection has ended, and its end waits as well.
    private var endsLater = false
    /// Whether the owner wants to read, and whether the socket is read.
    private var isReading = (wanted: true, actual: true)
    /// How another connection has taken this one's place; `nil` if none has.
    private(set) var retired: String?
    private var hasEnded = false

    init(
        monitor: ConnectionMonitor,
        input: FeedInput,
        dialect: any ConnectionDialect,
        resumption: RelayResumption?,
        wallClock: @escaping @Sendable () -> Int64,
        owner: FeedClient
    ) {
        self.monitor = monitor
        self.input = input
        self.dialect = dialect
        self.resumption = resumption
        self.wallClock = wallClock
        self.owner = owner
        self.lastSent = monitor.opened
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        self.webSocket = try? context.pipeline.syncOperations.handler(type: WebSocketHandler.self)
        self.webSocket?.receiver = self
        if let request = self.resumption?.takeRequest() {
            context.writeAndFlush(self.wrapOutboundOut(.text(request.encoded())), promise: nil)
        }
        self.requestsWait()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.webSocket?.receiver = nil
        self.webSocket = nil
        self.end()
        self.context = nil
    }

    /// Sends the requests that may go now, and sets the timer for the others.
    func requestsWait() {
        guard let context else { return }
        self.sendRequests(self.moment(context))
        self.armTimer(context)
    }

    var tradedFor: Int64 { self.monitor.tradedFor }

    /// Starts the closing handshake.
    func close() {
        self.context?.writeAndFlush(self.wrapOutboundOut(.close(.normal, reason: "")), promise: nil)
    }

    /// Brings nothing to the tape any more, because another connection has taken this one's place.
    ///
    /// - Parameter words: what happened.
    func retire(_ words: String) {
        self.retired = words
        self.isGivenUp = true
        self.timer?.task.cancel()
        self.timer = nil
    }

    /// Takes frames that waited, as one read.
    func bring(_ frames: [ByteBuffer], now: Int64) {
        for frame in frames { self.take(frame, now: now) }
        self.input.endRead(wall: self.wallClock())
    }

    /// Stops or resumes reading from the socket. While reading is stopped, the service's data waits in the kernel.
    func setReading(_ isReading: Bool) {
        self.isReading.wanted = isReading
        self.adjustReading()
    }

    private func adjustReading() {
        let isReading = self.isReading.wanted && !self.early.isFull
        guard let context, isReading != self.isReading.actual else { return }
        self.isReading.actual = isReading
        context.channel.setOption(.autoRead, value: isReading).whenFailure { _ in }
        if isReading { context.read() }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { self.messageArrived(self.unwrapInboundIn(data)) }

    func messageArrived(_ message: WebSocketMessage) {
        // Whatever a connection sends after it was given up is part of the gap.
        guard !self.isGivenUp, !self.hasEnded, let context else { return }
        // The clock is read once a read. Binary messages are not part of the protocol and are ignored.
        guard case .text(var bytes) = message else { return }
        if let second, second.take(bytes, now: self.moment(context)) { return }
        if let resumption {
            switch resumption.read(bytes) {
            case .frame(let frame, _): bytes = frame
            case .position: return self.input.caughtUp()
            case .gap(let gap):
                // The frames before it go onto the tape first.
                self.input.endRead(wall: self.wallClock())
                self.owner?.ownerGapFound(gap)
                return
            case .resumed(let isComplete): return self.input.resumed(isComplete: isComplete)
            case nil: break
            }
        }
        if self.isEarly(self.moment(context)) {
            self.early.append(bytes)
            return self.adjustReading()
        }
        self.take(bytes, now: self.input.readAt ?? self.now(context))
    }

    private func take(_ frame: ByteBuffer, now: Int64) {
        if let event = self.dialect.take(frame, into: self.input, now: now) {
            self.owner?.take(event, on: self, now: Moment(monotonic: now, wall: self.wallClock()))
        }
    }

    /// Applies the marks of a replay before the next frame; returns whether that has come before its turn.
    @inline(__always)
    private func isEarly(_ now: @autoclosure () -> Moment) -> Bool {
        guard self.early.isEmpty else { return true }
        return self.input.hasDueMarks && !self.obeyMarks(now())
    }

    /// Applies the marks of a replay that are due; returns whether the next frame may be taken.
    private func obeyMarks(_ now: Moment) -> Bool {
        self.input.obeyMarks(now: now)
        return !self.input.hasDueMarks
    }

    /// Takes what has waited for other connections of a replay, as far as its turn has come.
    func turnCame(_ now: Moment) {
        guard !self.early.isEmpty || self.endsLater else { return }
        while !self.early.isEmpty, !self.input.hasDueMarks || self.obeyMarks(now) {
            self.take(self.early.removeFirst(), now: now.monotonic)
        }
        self.input.endRead(wall: now.wall)
        // The turn may end here.
        if self.input.hasDueMarks { self.input.obeyMarks(now: now) }
        self.adjustReading()
        if self.endsLater { self.end() }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if !self.isBeside { self.input.endRead(wall: self.wallClock()) }
        context.fireChannelReadComplete()
    }

    /// Notes that a read with frames is on the tape.
    func readEnded(hasTrades: Bool, hasChanges: Bool, now: Moment) {
        self.monitor.framesArrived(hasTrades: hasTrades, now: now.monotonic)
        if hasChanges { self.deadlineMoved() }
    }

    /// Notes that a deadline may have moved nearer.
    func deadlineMoved() { if let context { self.armTimer(context) } }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? WebSocketEvent {
            switch event {
            case .closed(let closure):
                self.ending = self.ending ?? .closed(closure)
            case .pingReceived, .pongReceived:
                self.monitor.signOfLifeArrived(now: self.now(context))
                self.notify(of: event, at: self.input.readAt ?? self.now(context))
            case .pingSent: self.notify(of: event, at: self.now(context))
            }
        }
        context.fireUserInboundEventTriggered(event)
    }

    /// Reports a ping or pong to the tape's readers.
    private func notify(of event: WebSocketEvent, at now: Int64) {
        switch event {
        case .pingSent: self.input.connectionChanged(.ping(.outgoing), monotonic: now)
        case .pongReceived(let payload):
            self.input.connectionChanged(.pong(.incoming, payload: self.dialect.safe(payload)), monotonic: now)
        case .pingReceived(let payload):
            let payload = self.dialect.safe(payload)
            self.input.connectionChanged(.ping(.incoming, payload: payload), monotonic: now)
            self.input.connectionChanged(.pong(.outgoing, payload: payload), monotonic: now)
        case .closed: break
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.ending = self.ending ?? .failed(error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.end()
        context.fireChannelInactive()
    }

    private func end() {
        guard !self.hasEnded else { return }
        // What a replay wrote earlier to other connections comes before the end, too.
        self.endsLater = !self.isGivenUp && (!self.early.isEmpty || self.input.waitsForTurn)
        if self.endsLater, let owner {
            self.timer?.task.cancel()
            self.timer = nil
            return owner.keep(self)
        }
        self.hasEnded = true
        // A read that an error interrupted has no `channelReadComplete`. Its trades came before the interruption, and
        // must not wait in the input for the next connection.
        if !self.isBeside, !self.isGivenUp { self.input.endRead(wall: self.wallClock()) }
        self.timer?.task.cancel()
        self.timer = nil
        self.owner?.ended(self.ending ?? .inactive, handler: self)
    }

    private func sendRequests(_ now: Moment) {
        guard let context, let changes = self.owner?.takeRequests(for: self, now), !changes.isEmpty else { return }
        self.dialect.requests(for: changes) { changes, text in
            for change in changes {
                self.input.connectionChanged(.requested(change, text: text), monotonic: now.monotonic)
            }
            context.write(self.wrapOutboundOut(.text(text)), promise: nil)
        }
        self.lastSent = now.monotonic
        context.flush()
    }

    /// Sends the message that keeps the connection open, if the protocol has one and it is due.
    private func keepAlive(_ now: Moment) {
        guard let context, let due = self.keepaliveDeadline, now.monotonic >= due else { return }
        self.lastSent = now.monotonic
        let text = self.dialect.keepalive()
        self.input.connectionChanged(.requested(nil, text: text), monotonic: now.monotonic)
        context.writeAndFlush(self.wrapOutboundOut(.text(text)), promise: nil)
    }

    /// When ``keepAlive(_:)`` is next due; monotonic ns.
    private var keepaliveDeadline: Int64? { self.dialect.keepaliveInterval.map { self.lastSent + $0 } }

    private func now(_ context: ChannelHandlerContext) -> Int64 {
        Int64(context.eventLoop.now.uptimeNanoseconds)
    }

    private func moment(_ context: ChannelHandlerContext) -> Moment {
        Moment(monotonic: self.now(context), wall: self.wallClock())
    }

    /// Makes the timer fire no later than the nearest deadline. A timer that fires too early is set again.
    private func armTimer(_ context: ChannelHandlerContext) {
        guard !self.hasEnded, !self.isGivenUp, let owner else { return }
        let deadlines = [owner.deadline(of: self, now: self.now(context)), self.keepaliveDeadline]
        guard let deadline = deadlines.compactMap(\.self).min() else { return }
        if let timer, timer.at <= deadline { return }
        self.timer?.task.cancel()
        let loopBound = NIOLoopBound(self, eventLoop: context.eventLoop)
        let task = context.eventLoop.scheduleTask(deadline: .uptimeNanoseconds(UInt64(max(deadline, 0)))) {
            loopBound.value.deadlineReached()
        }
        self.timer = (task, deadline)
    }

    private func deadlineReached() {
        self.timer = nil
        guard let context, let owner, !self.hasEnded else { return }
        let now = self.moment(context)
        if let ending = owner.deadlineReached(on: self, now: now) { return self.giveUp(ending) }
        self.sendRequests(now)
        self.keepAlive(now)
        self.armTimer(context)
    }

    /// Ends the connection without a closing handshake: a peer that sends nothing would not answer one.
    private func giveUp(_ ending: ConnectionEnding) {
        self.ending = self.ending ?? ending
        self.isGivenUp = true
        self.context?.close(mode: .all, promise: nil)
    }
}
