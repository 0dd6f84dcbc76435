import Logging
package import Market
import NIOCore
import Recordings
import WebSocket
package import Wire

/// The mock server's handler of one connection: it writes what a ``ReplayPlayer`` plays, filtered by the client's
/// subscriptions.
///
/// A player for one client plays only while the socket has buffer space. A client that reads slowly, or pauses on
/// purpose, therefore slows the replay instead of filling memory. With a shared player that does not wait, the client
/// may lag by ``longestLag`` bytes, and is then disconnected.
package final class MockServerHandler: ChannelInboundHandler, ReplayOutput {
    typealias InboundIn = WebSocketMessage
    typealias OutboundOut = WebSocketOutput

    /// The most bytes queued for a client that does not keep up with a shared clock.
    private static let longestLag = 8 << 20

    /// The most bytes of a gap's reason that are passed on, whatever the file contains.
    private static let longestReason = 1_000

    /// The ownership of the player.
    enum Sharing {
        /// The client has its own player, which ends with it.
        case own
        /// All clients share the player, which waits for each of them.
        case waiting
        /// All clients share the player, which waits for none.
        case goingOn
    }

    private enum State {
        /// Waiting for the first subscription; of a feed of the same program, for the first request.
        case idle
        /// Waiting for ``MockServer/go()``, if that is required.
        case armed
        case playing
        case ended
    }

    private let settings: MockServerSettings
    private let line: FaultyLine?
    private let go: EventLoopFuture<Void>
    private let makePlayer: () throws(RecordingFailure) -> ReplayPlayer
    private let sharing: Sharing
    private let logger: Logger
    private var state = State.idle
    private var session: any MockSession
    /// Passes marks to the feed of the same program that takes this upstream's frames; `nil` without one.
    private let marks: FrameMarks?
    /// The client's port.
    private var port: Int?
    /// Whether the client has sent a message.
    private var hasRequested = false
    /// Called when the upstream would disconnect the client, with the rule that the client has broken.
    private let disconnected: (String) -> Void
    /// Whether the recording says which trades of its newest frame are on the tape, and what the feed has received of that;
    /// `nil` before the first frame. The feed keeps what it received on the connection before.
    private var isJudged: Bool?
    private var announcedJudged: Bool?
    /// Gaps with ids before the first trades, which tell who judges them. Bounded.
    private var earlyGaps: [Gap] = []
    private static let maximumEarlyGaps = 1_000
    /// The number of text frames written.
    private var frames = 0
    private var player: ReplayPlayer?
    /// The bytes written since the socket's buffer filled up.
    private var lag = 0
    private var timer: (task: Scheduled<Void>, deadline: Int64)?
    private var context: ChannelHandlerContext?

    /// - Parameters:
    ///   - makePlayer: makes or finds the player, at the client's first message.
    ///   - disconnected: called when the client breaks a rule of the upstream, with that rule.
    init(
        settings: MockServerSettings,
        session: any MockSession,
        line: FaultyLine? = nil,
        go: EventLoopFuture<Void>,
        logger: Logger,
        sharing: Sharing = .own,
        makePlayer: @escaping () throws(RecordingFailure) -> ReplayPlayer,
        disconnected: @escaping (String) -> Void = { _ in }
    ) {
        self.settings = settings
        self.line = line
        self.go = go
        self.makePlayer = makePlayer
        self.sharing = sharing
        self.logger = logger
        self.session = session
        self.marks = settings.marks[session.dialect]
        self.disconnected = disconnected
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        self.port = context.channel.remoteAddress?.port
        self.take(self.session.opened(now: Self.now(context)))
        context.flush()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.end()
        self.context = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .text(let bytes) = self.unwrapInboundIn(data), let recent = self.recent else { return }
        self.hasRequested = true
        self.take(self.session.received(bytes, recent: recent, now: Self.now(context)))
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event as? WebSocketEvent {
        case .pingReceived: self.take(self.session.pingReceived(now: Self.now(context)))
        case .pongReceived(let payload): self.take(self.session.pongReceived(payload, now: Self.now(context)))
        case .pingSent, .closed, nil: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // Not before the end of the batch of input: a client subscribes to all of its symbols in one write, and must
        // miss no symbol's first trades.
        context.flush()
        if case .idle = self.state, self.session.isSubscribed || self.hasRequested && self.marks != nil {
            self.begin(on: context.eventLoop)
        }
        context.fireChannelReadComplete()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if self.hasRoom {
            self.lag = 0
            if case .playing = self.state { self.player?.outputHasRoom() }
        }
        context.fireChannelWritabilityChanged()
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.end()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private static func now(_ context: ChannelHandlerContext) -> Int64 {
        Int64(context.eventLoop.now.uptimeNanoseconds)
    }

    /// Sends and does what the session has answered, and sets the timer for what it does next.
    private func take(_ outputs: [MockOutput]) {
        for output in outputs {
            switch output {
            // A client that does not read its answers gets no more of them.
            case .text(let text):
                guard self.hasRoom else { continue }
                if self.announcedJudged != false, !self.session.needsRepeats { self.post(.made) }
                self.write(text)
            case .ping(let payload):
                guard self.hasRoom, let signal = RecordedSignal(.ping, payload: payload) else { continue }
                self.context?.write(self.wrapOutboundOut(.framed(signal.frame)), promise: nil)
            case .close(let code, let reason):
                self.end()
                self.close(code, reason: reason)
            case .disconnect(let reason):
                self.disconnected(reason)
                self.broke()
            }
        }
        self.arm()
    }

    /// Sets the timer, unless one is set that is not later: an early call of the session does no harm.
    private func arm() {
        guard let context, let deadline = self.session.deadline else { return }
        if case .ended = self.state { return }
        if let timer {
            guard timer.deadline > deadline else { return }
            timer.task.cancel()
        }
        let due = NIODeadline.uptimeNanoseconds(UInt64(max(deadline, 0)))
        let task = context.eventLoop.assumeIsolated().scheduleTask(deadline: due) {
            self.timer = nil
            guard let context = self.context, let recent = self.recent else { return }
            self.take(self.session.timeReached(recent: recent, now: Self.now(context)))
            context.flush()
        }
        self.timer = (task, deadline)
    }

    /// The newest trades of the player, which is found or made here; `nil` if that fails.
    private var recent: RecentTrades? { self.findPlayer()?.recent }

    private func findPlayer() -> ReplayPlayer? {
        if let player { return player }
        if case .ended = self.state { return nil }
        do throws(RecordingFailure) {
            let player = try self.makePlayer()
            self.player = player
            return player
        } catch {
            self.failed("\(error)")
            return nil
        }
    }

    private func begin(on loop: any EventLoop) {
        guard self.findPlayer() != nil else { return }
        self.state = .armed
        self.go.hop(to: loop).assumeIsolated().whenSuccess {
            guard case .armed = self.state, let player = self.player else { return }
            self.state = .playing
            player.attach(self)
            player.start()
        }
    }

    private func end() {
        self.state = .ended
        self.timer?.task.cancel()
        self.timer = nil
        guard let player else { return }
        self.player = nil
        player.detach(self)
        if self.sharing == .own { player.stop() }
    }

    // MARK: Output of the player

    package var dialect: FrameDialect? { self.session.dialect }

    package var hasRoom: Bool {
        guard let context else { return false }
        return context.channel.isWritable && self.line?.hasRoom ?? true
    }

    package func play(_ message: ReplayMessage) {
        if message.frame.dialect.answering != nil { return self.play(answer: message) }
        // Another connection of the recording, with another upstream.
        guard message.frame.dialect.played == self.session.dialect, let context else { return }
        let isOfSession = message.frame.dialect == self.session.dialect
        guard message.hasTrades else {
            guard isOfSession, self.session.passes(message.frame.frame, now: Self.now(context)) else { return }
            return self.write(message.frame.frame)
        }
        let selection = self.session.select(message, now: Self.now(context))
        if let arrival = message.aheadArrival, selection != .nothing { self.post(.arrival(arrival)) }
        switch selection {
        case .everything:
            self.announceRepeats(message.trades)
            self.announce(message) { _ in true }
            if message.isMoved || !isOfSession && self.marks == nil {
                self.write(encoding: message.trades, of: message)
            } else {
                let symbol = message.trades.first.map { message.symbols.name(of: $0.symbol) }
                self.write(self.session.form(of: message.frame.frame, symbol: symbol))
            }
        case .some(let trades):
            self.announceRepeats(trades)
            self.announce(message) { self.session.isSubscribed(to: message.symbols.name(of: $0.symbol)) }
            self.write(encoding: trades, of: message)
        case .nothing: break
        }
    }

    /// Reports which of a frame's trades may be repeats. The reader cannot tell them by itself: frames cut to fewer
    /// symbols may no longer be equal, and a fast replay's clock does not show an interval of two seconds. The
    /// recording decides instead.
    private func announceRepeats(_ trades: [Trade]) {
        guard self.marks != nil, self.session.needsRepeats else { return }
        let places = trades.indices.filter { trades[$0].marks.contains(.possibleRepeat) }
        if !places.isEmpty { self.post(.repeats(places)) }
    }

    /// Reports what the recording says of the trades of the next frame, if they have ids.
    private func announce(_ message: ReplayMessage, where isSelected: (Trade) -> Bool) {
        guard self.marks != nil, !self.session.needsRepeats, !message.trades.isEmpty else { return }
        let places = message.places(where: isSelected)
        self.isJudged = places != nil
        self.announceJudged()
        if let places, !places.isEmpty { self.post(.places(places)) }
    }

    private func announceJudged() {
        guard let isJudged, isJudged != self.announcedJudged else { return }
        self.announcedJudged = isJudged
        self.post(.judged(isJudged))
        for gap in self.earlyGaps { self.post(.gap(gap)) }
        self.earlyGaps = []
    }

    /// Reports an exchange with the REST service, which the feed of a replay takes beside the connection. A client
    /// without marks asks the REST service itself.
    private func play(answer message: ReplayMessage) {
        let ofConnection = message.frame.dialect.ofConnection
        guard self.marks != nil, !message.isMoved,
            // With Finnhub's trades those of a venue may be recorded that were missing among them.
            self.session.dialect == ofConnection || (self.session.dialect == .finnhub && !message.trades.isEmpty),
            message.trades.allSatisfy({ self.session.isSubscribed(to: message.symbols.name(of: $0.symbol)) })
        else { return }
        if !message.trades.isEmpty {
            self.isJudged = message.numbers != nil
            self.announceJudged()
        }
        if let arrival = message.aheadArrival { self.post(.arrival(arrival)) }
        self.post(.answer(message.frame.frame, message.frame.dialect, message.places { _ in true }))
    }

    package func play(_ outcome: GapOutcome) {
        guard self.session.isSubscribed(to: outcome.symbol) else { return }
        var outcome = outcome
        outcome.reason = outcome.reason?.start(bytes: Self.longestReason)
        self.announceJudged()
        self.post(.settled(outcome))
    }

    package func play(_ signal: RecordedSignal) {
        // A client that does not keep up needs no sign of life.
        guard self.hasRoom, let context else { return }
        guard self.session.passes(signal, now: Self.now(context)) else { return }
        context.write(self.wrapOutboundOut(.framed(signal.frame)), promise: nil)
    }

    package func play(_ gap: RecordedGap) {
        if let symbol = gap.gap.symbol, !self.session.isSubscribed(to: symbol) { return }
        var gap = gap.gap
        gap.reason = gap.reason.start(bytes: Self.longestReason)
        self.announceJudged()
        guard gap.missing == nil || self.announcedJudged != nil || self.session.needsRepeats else {
            if self.earlyGaps.count < Self.maximumEarlyGaps { self.earlyGaps.append(gap) }
            return
        }
        self.post(.gap(gap))
    }

    package func flush() { self.context?.flush() }

    package func changed(_ position: ReplayPosition, movedFrom: Int64?) {
        self.post(
            .changed(
                movedBecause: movedFrom.map { Self.words(from: $0, to: position.at) },
                isPaused: position.isPaused,
                speed: position.speed
            )
        )
    }

    private static func words(from: Int64, to: Int64) -> String {
        let (distance, isOut) = to.subtractingReportingOverflow(from)
        let seconds = isOut ? 0 : distance / 1_000_000
        let way = seconds < 0 ? "back" : "forward"
        return "the replay was moved \(way) by \(abs(seconds) / 1_000).\(Self.padded(abs(seconds) % 1_000)) s"
    }

    private static func padded(_ milliseconds: Int64) -> String {
        let digits = "\(milliseconds)"
        return String(repeating: "0", count: 3 - digits.count) + digits
    }

    /// Posts a mark after the frames written so far.
    private func post(_ mark: FrameMark) {
        self.marks?.post(mark, after: self.frames, on: self.port)
    }

    package func ended() { self.closeWhenWritten(.normal, reason: ReplayEnd.closeReason) }

    package func closed(_ closing: RecordedClosing) {
        self.closeWhenWritten(WebSocketCloseCode(rawValue: closing.code), reason: closing.reason)
    }

    /// Closes once the last frame has left. The closing handshake has a time limit, so a client that reads slowly, or
    /// is paused on purpose, would lose its queue.
    private func closeWhenWritten(_ code: WebSocketCloseCode, reason: String) {
        self.end()
        guard let context else { return }
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenSuccess { self.close(code, reason: reason) }
        context.writeAndFlush(self.wrapOutboundOut(.framed(ByteBuffer())), promise: written)
    }

    package func broke() {
        self.end()
        if let line { line.drop() } else { self.context?.close(promise: nil) }
    }

    package func failed(_ reason: String) {
        self.logger.error("The recording cannot be read", metadata: ["reason": "\(reason)"])
        self.end()
        self.close(.internalError, reason: ReplayEnd.failureReason)
    }

    private func close(_ code: WebSocketCloseCode, reason: String) {
        guard let context else { return }
        context.writeAndFlush(self.wrapOutboundOut(.close(code, reason: reason)), promise: nil)
    }

    private func write(encoding trades: [Trade], of message: ReplayMessage) {
        let frame = message.isMoved ? nil : message.frame.frame
        for text in self.session.encode(trades, of: frame, symbols: message.symbols) { self.write(text) }
    }

    private func write(_ text: ByteBuffer) {
        guard let context else { return }
        if self.sharing == .goingOn, !self.hasRoom {
            self.lag += text.readableBytes
            if self.lag > Self.longestLag {
                self.logger.notice("A client is too slow for the clock that it shares, and is cut off")
                return self.broke()
            }
        }
        self.marks?.willWrite(after: self.frames, on: self.port)
        self.frames += 1
        context.write(self.wrapOutboundOut(.text(text)), promise: nil)
    }
}

extension String {
    /// Returns the longest start within a number of bytes that ends with a whole Unicode scalar. A single character may
    /// have any number of accents.
    fileprivate func start(bytes limit: Int) -> String {
        guard self.utf8.count > limit else { return self }
        var bytes = 0
        let scalars = self.unicodeScalars.prefix { scalar in
            bytes += UTF8.width(scalar)
            return bytes <= limit
        }
        return String(scalars)
    }
}
