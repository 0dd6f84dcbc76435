import Logging
import Market
import NIOCore
import WebSocket
import Wire

/// The stand-in's end of one connection: plays the recording to one client at its pace.
///
/// It writes only while the socket takes it, so a client that reads slowly, or holds back on purpose, slows the replay
/// instead of filling memory. One timer: the next frame's.
final class StandInHandler: ChannelInboundHandler {
    typealias InboundIn = WebSocketMessage
    typealias OutboundOut = WebSocketOutput

    /// Frames written before other work of the loop gets its turn.
    private static let framesPerTurn = 256

    private enum State {
        /// Waiting for the first subscription.
        case idle
        /// Waiting for the go, where there is one to wait for.
        case armed
        case playing
        case ended
    }

    private let settings: StandInSettings
    private let recording: RecordingFile
    private let line: FaultyLine?
    private let go: EventLoopFuture<Void>
    private let wallClock: @Sendable () -> Int64
    private let logger: Logger
    private var state = State.idle
    private var session: StandInSession
    private var pacer: ReplayPacer
    private var reader: RecordingFile.Reader?
    private var next: RecordedFrame?
    private var rebase: Int64?
    private var symbols = SymbolTable()
    private var parser = FinnhubParser()
    private var trades: [Trade] = []
    private var timer: Scheduled<Void>?
    private var pings: RepeatedTask?
    private var context: ChannelHandlerContext?

    init(
        settings: StandInSettings,
        recording: RecordingFile,
        line: FaultyLine? = nil,
        go: EventLoopFuture<Void>,
        wallClock: @escaping @Sendable () -> Int64,
        logger: Logger
    ) {
        self.settings = settings
        self.recording = recording
        self.line = line
        self.go = go
        self.wallClock = wallClock
        self.logger = logger
        self.session = StandInSession(known: recording.allSymbols, limit: settings.symbolLimit)
        self.pacer = ReplayPacer(speed: settings.speed)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        let loopBound = NIOLoopBound(self, eventLoop: context.eventLoop)
        let interval = self.settings.pingInterval
        self.pings = context.eventLoop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { _ in
            loopBound.value.ping()
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.end()
        self.context = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .text(let bytes) = self.unwrapInboundIn(data) else { return }
        switch self.session.requested(FinnhubRequest.parse(bytes)) {
        case .none: break
        case .error(let text):
            // Who asks without reading the answers does not get more of them to keep.
            if self.hasRoom(context) { self.write(FinnhubEncoder.error(text)) }
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // Not before the end of the read: a client subscribes to all of its symbols in one go, and none shall miss the
        // first trades.
        context.flush()
        if case .idle = self.state, !self.session.subscribed.isEmpty { self.begin(on: context.eventLoop) }
        context.fireChannelReadComplete()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if self.hasRoom(context) { self.pump() }
        context.fireChannelWritabilityChanged()
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.end()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func ping() {
        // Who does not read gets no more of them to keep.
        guard let context, self.hasRoom(context) else { return }
        self.write(FinnhubEncoder.ping)
        context.flush()
    }

    private func begin(on loop: any EventLoop) {
        do {
            self.reader = try self.recording.makeReader()
        } catch {
            self.giveUp(because: "\(error)")
            return
        }
        self.state = .armed
        self.go.hop(to: loop).assumeIsolated().whenSuccess {
            guard case .armed = self.state else { return }
            self.state = .playing
            self.pump()
        }
    }

    private func end() {
        self.state = .ended
        self.timer?.cancel()
        self.timer = nil
        self.pings?.cancel()
        self.pings = nil
        self.reader = nil
    }

    private func pump() {
        guard case .playing = self.state, let context, self.timer == nil else { return }
        var written = 0
        defer { if written > 0 { context.flush() } }
        while self.hasRoom(context) {
            let now = Int64(context.eventLoop.now.uptimeNanoseconds)
            guard let frame = self.peek() else { return }
            let due = self.pacer.due(recorded: frame.at, now: now)
            if due > now {
                self.schedule(at: due, on: context.eventLoop)
                return
            }
            self.next = nil
            self.send(frame)
            written += 1
            if written == Self.framesPerTurn {
                self.schedule(at: now, on: context.eventLoop)
                return
            }
        }
    }

    private func hasRoom(_ context: ChannelHandlerContext) -> Bool {
        context.channel.isWritable && self.line?.hasRoom ?? true
    }

    /// The next frame of the recording, which begins anew where it is told to loop.
    private func peek() -> RecordedFrame? {
        if let next { return next }
        do {
            self.next = try self.reader?.next()
            if self.next == nil, self.settings.repeats {
                self.pacer.restart()
                self.rebase = nil
                self.reader = try self.recording.makeReader()
                self.next = try self.reader?.next()
            }
        } catch {
            self.giveUp(because: "\(error)")
            return nil
        }
        if self.next == nil {
            self.end()
            self.closeWhenWritten()
        }
        return self.next
    }

    /// Closes once the last frame has left: the closing handshake has a limit, and a client that reads slowly, or is held
    /// back on purpose, would lose what still waits for it.
    private func closeWhenWritten() {
        guard let context else { return }
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenSuccess { self.close(.normal, reason: StandIn.endOfRecording) }
        context.writeAndFlush(self.wrapOutboundOut(.framed(ByteBuffer())), promise: written)
    }

    private func giveUp(because reason: String) {
        self.logger.error("The recording cannot be read", metadata: ["reason": "\(reason)"])
        self.end()
        self.close(.internalError, reason: "the recording cannot be read")
    }

    private func close(_ code: WebSocketCloseCode, reason: String) {
        guard let context else { return }
        context.writeAndFlush(self.wrapOutboundOut(.close(code, reason: reason)), promise: nil)
    }

    private func schedule(at deadline: Int64, on loop: any EventLoop) {
        let loopBound = NIOLoopBound(self, eventLoop: loop)
        self.timer = loop.scheduleTask(deadline: .uptimeNanoseconds(UInt64(deadline))) {
            loopBound.value.timer = nil
            loopBound.value.pump()
        }
    }

    private func send(_ frame: RecordedFrame) {
        self.trades.removeAll(keepingCapacity: true)
        guard case .trade = self.parser.parse(frame.frame, symbols: &self.symbols, into: &self.trades) else {
            // Pings, errors and what nobody knows go out as they were recorded.
            self.write(frame.frame)
            return
        }
        if self.settings.rebasesTimes { self.moveToNow() }
        switch self.session.select(self.trades, symbols: self.symbols) {
        case .everything where !self.settings.rebasesTimes: self.write(frame.frame)
        case .everything: self.write(encoding: self.trades)
        case .some(let trades): self.write(encoding: trades)
        case .nothing: break
        }
    }

    /// Moves the trades' times so that the recording's beginning is now; only for a demo, where old times would mislead.
    /// A frame comes after its last trade, so that no trade is from the future.
    private func moveToNow() {
        guard let last = self.trades.last else { return }
        let shift = self.rebase ?? (self.wallClock() &- last.exchangeTime)
        self.rebase = shift
        for index in self.trades.indices { self.trades[index].exchangeTime &+= shift }
    }

    private func write(encoding trades: [Trade]) {
        guard let context else { return }
        var frame = context.channel.allocator.buffer(capacity: 96 * trades.count + 32)
        FinnhubEncoder.trade(trades, symbols: self.symbols, into: &frame)
        self.write(frame)
    }

    private func write(_ text: ByteBuffer) {
        self.context?.write(self.wrapOutboundOut(.text(text)), promise: nil)
    }
}
