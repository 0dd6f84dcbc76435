import Market
import NIOCore
import Recordings
import Wire

/// The player of a recording. It reads the recording at the pace of its ``ReplayMachine`` and passes each message to
/// its outputs.
///
/// It belongs to one event loop and uses only that loop's clock. It holds at most one message and has one timer, for
/// the next message.
package final class ReplayPlayer {
    /// The messages played before other work of the loop runs.
    private static let messagesPerTurn = 256
    /// How long the missing connections may take before that is reported.
    private static let startPatience = TimeAmount.seconds(10)

    let loop: any EventLoop
    let span: RecordingSpan
    let material: ReplayMaterial
    let settings: ReplaySettings
    private let wallClock: @Sendable () -> Int64
    var machine: ReplayMachine
    private(set) var outputs: [any ReplayOutput] = []
    /// The dialects of the connections without which the recording is not begun, nor played at the speed `max`.
    private let awaited: Set<FrameDialect>
    /// Those of them that have no output now.
    private var missing: Set<FrameDialect>
    private var hasPlayed = false
    /// The service of the newest message.
    private var newestDialect: FrameDialect?
    /// Called with one line if the beginning has to wait for long.
    var startDelayed: (String) -> Void = { _ in }
    private var startTimer: Scheduled<Void>?
    var reading: ReplayReading
    private var hasStarted = false
    private(set) var isOver = false
    /// The reason why the rest of the recording cannot be read, in one line.
    private var failure: String?
    /// Whether the recording has a gap at this place, during which connections are refused.
    var isBroken = false
    var isPumping = false
    var timer: Scheduled<Void>?
    var search: GapSearch?
    /// Whether the recording has restarted in this turn.
    private var hasRestarted = false
    /// What is added to the times of a demo's trades, and the time of the newest one; ns.
    var rebase: Int64?
    private var newestMoved = Int64.min
    /// Takes the trades played, for the venues' REST services.
    private let played: PlayedTrades?
    /// The newest trades played, for the venues' answers to a subscription.
    let recent = RecentTrades()
    private var frameReader = FrameReader()
    /// It is kept when the replay is moved or restarts. A clock that was behind in one place of a recording mostly was
    /// behind in the others. Without that memory the first batches of each place would count as ahead.
    private var arrivals = ArrivalCheck()
    private var symbols = SymbolTable()
    private var trades: [Trade] = []
    /// The time of the newest message with trades played, ns since the recording's start.
    var lastTrade: Int64?
    /// Called after every request that changed something, and after a restart.
    var changed: (ReplayPosition) -> Void = { _ in }
    /// Called with the state machine whenever its clock was set.
    var moved: (ReplayMachine) -> Void = { _ in }

    /// - Parameter awaited: the dialects of the connections without which nothing is played; empty for a server whose
    ///   clients are other programs.
    /// - Throws: ``RecordingFailure`` if the file cannot be read, or the range is empty.
    init(
        _ material: ReplayMaterial,
        settings: ReplaySettings,
        loop: any EventLoop,
        awaited: Set<FrameDialect> = [],
        played: PlayedTrades? = nil,
        wallClock: @escaping @Sendable () -> Int64
    ) throws(RecordingFailure) {
        self.material = material
        self.settings = settings
        self.awaited = awaited
        self.missing = awaited
        self.played = played
        self.loop = loop
        self.wallClock = wallClock
        let whole = try material.span()
        let bounds = try material.bounds(from: settings.from, to: settings.to, in: whole)
        self.span = RecordingSpan(start: whole.start, bounds: bounds)
        var machine = settings.machine
        if case .market = material { machine.waitsForFirst = true }
        self.machine = ReplayMachine(machine, bounds: bounds)
        self.reading = ReplayReading(
            try material.cursor(at: settings.from == nil ? nil : bounds.lowerBound),
            bounds: bounds,
            start: whole.start,
            settings: settings
        )
    }

    var now: Int64 { Int64(self.loop.now.uptimeNanoseconds) }

    var position: ReplayPosition { self.machine.position(start: self.span.start, now: self.now) }

    // MARK: Outputs

    package func attach(_ output: any ReplayOutput) {
        if let failure { return output.failed(failure) }
        if self.isOver { return output.ended() }
        self.outputs.append(output)
        if let dialect = output.dialect { self.missing.remove(dialect) }
        // A step may have been requested before the first output was attached. That replay is paused, too.
        let position = self.position
        if position.isPaused { output.changed(position, movedFrom: nil) }
    }

    func detach(_ output: any ReplayOutput) {
        self.outputs.removeAll { $0 === output }
        self.missing = self.awaited.filter { dialect in !self.outputs.contains { $0.dialect == dialect } }
        // This output may have been the one without buffer space, and the others report none.
        if self.hasStarted, !self.isPumping { self.goOnIfFree() }
    }

    /// Continues in the loop's next turn, if nothing holds up the replay and no timer is set.
    private func goOnIfFree() {
        if !self.isOver, self.search == nil, self.timer == nil, self.mayPlay { self.schedule(at: self.now) }
    }

    /// Begins to play.
    func start() {
        self.hasStarted = true
        self.pump()
        guard !self.hasPlayed, !self.missing.isEmpty, self.startTimer == nil else { return }
        let loopBound = NIOLoopBound(self, eventLoop: self.loop)
        self.startTimer = self.loop.scheduleTask(in: Self.startPatience) { loopBound.value.reportMissing() }
    }

    /// Reports which connections the beginning waits for.
    private func reportMissing() {
        guard !self.isOver, !self.hasPlayed, !self.missing.isEmpty else { return }
        let names = self.missing.map(\.serviceName).sorted().joined(separator: " and ")
        self.startDelayed("the replay waits for its own connection to the stand-in of \(names), and begins with it")
    }

    func outputHasRoom() { if self.hasStarted { self.pump() } }

    func stop() {
        self.isOver = true
        self.timer?.cancel()
        self.timer = nil
        self.startTimer?.cancel()
        self.search = nil
        self.outputs = []
    }

    // MARK: Playing

    private var mayPlay: Bool {
        // During a break no client can connect, so the replay waits for no client.
        if self.isBroken { return true }
        // What is played without one of the program's connections is lost to its tape.
        if !self.missing.isEmpty, self.machine.speed == nil || !self.hasPlayed { return false }
        // The speed `max` is that of the slowest client, so it needs a client.
        if self.machine.speed == nil { return !self.outputs.isEmpty && self.outputs.allSatisfy { $0.hasRoom } }
        return !self.settings.waitsForAll || self.outputs.allSatisfy { $0.hasRoom }
    }

    func pump() {
        guard self.hasStarted, !self.isOver, !self.isPumping, self.search == nil else { return }
        self.isPumping = true
        defer { self.isPumping = false }
        self.timer?.cancel()
        self.timer = nil
        let played = self.playOn()
        self.moved(self.machine)
        guard played > 0 else { return }
        for output in self.outputs { output.flush() }
        // A socket that has taken everything at once has buffer space again by now, and does not report that.
        self.goOnIfFree()
    }

    /// Plays until it has to wait; returns how many messages that was.
    private func playOn() -> Int {
        var played = 0
        self.hasRestarted = false
        while self.mayPlay {
            let now = self.now
            let wasBroken = self.isBroken
            guard let next = self.peek() else { return played }
            // The recording's end also ends a break, and then clients are waited for again.
            guard !wasBroken || self.mayPlay else { return played }
            switch self.machine.next(recorded: next.at, now: now) {
            case .hold:
                return played
            case .wait(let until):
                self.schedule(at: until)
                return played
            case .play:
                self.hasPlayed = true
                self.reading.take()
                self.play(next, now: now)
                played += 1
            }
            if self.isOver { return played }
            // A restart opens the files again, which may take as long as many messages.
            if played == Self.messagesPerTurn || self.hasRestarted {
                self.schedule(at: now)
                return played
            }
        }
        return played
    }

    private func play(_ next: ReplayReading.Next, now: Int64) {
        switch next {
        case .message(let frame):
            if frame.dialect != self.newestDialect { self.dialectChanged(frame.dialect) }
            let message = self.read(frame)
            for output in self.outputs { output.play(message) }
            // Finnhub's protocol has no answer with earlier trades, and an exchange with a REST service has no newer ones.
            let isAnswer = frame.dialect.answering != nil
            if frame.dialect.played != .finnhub {
                if !isAnswer { self.recent.take(message.trades, symbols: message.symbols) }
                self.played?.take(message.trades, symbols: message.symbols, now: now)
            }
            // A frame whose trades are all unusable shows no price. The search for places skips it, too.
            if !message.trades.isEmpty { self.lastTrade = frame.at }
            self.machine.played(recorded: frame.at, counts: !message.trades.isEmpty && !isAnswer, now: now)
        case .signal(let signal):
            for output in self.outputs { output.play(signal) }
            self.machine.played(recorded: signal.at, counts: false, now: now)
        case .gap(let at, let gap):
            if let gap = self.moved(gap) { for output in self.outputs { output.play(gap) } }
            self.machine.played(recorded: at, counts: false, now: now)
        case .settled(let at, let outcome):
            if let outcome = self.moved(outcome) { for output in self.outputs { output.play(outcome) } }
            self.machine.played(recorded: at, counts: false, now: now)
        case .breakBegins(let at, let closing):
            self.isBroken = true
            for output in self.outputs {
                output.flush()
                if let closing { output.closed(closing) } else { output.broke() }
            }
            self.machine.played(recorded: at, counts: false, now: now)
        case .breakEnds(let at):
            self.isBroken = false
            self.machine.played(recorded: at, counts: false, now: now)
        }
    }

    /// Notes the service of the next message. One that was not found before has no clients.
    private func dialectChanged(_ dialect: FrameDialect) {
        self.newestDialect = dialect
        guard case .recording(let file) = self.material, !file.dialects.contains(dialect.played) else { return }
        file.damage.foundUnplayed(dialect.ofConnection, path: file.path)
    }

    private func read(_ frame: RecordedFrame) -> ReplayMessage {
        self.trades.removeAll(keepingCapacity: true)
        let content = self.frameReader.read(
            frame.frame,
            of: frame.dialect,
            symbols: &self.symbols,
            into: &self.trades
        )
        guard case .trades = content else {
            // Pings, errors and unknown messages are sent as they were recorded.
            return ReplayMessage(frame: frame, hasTrades: false, trades: [], symbols: self.symbols, isMoved: false)
        }
        var aheadArrival = frame.dialect.answering == nil ? self.judge(frame) : nil
        let numbers = self.reading.mark(&self.trades, of: frame)
        // The times of earlier trades say nothing about the clocks.
        if frame.dialect.answering != nil, self.trades.contains(where: { $0.marks.contains(.ahead) }) {
            aheadArrival = frame.wall.map { $0 &* 1_000 &+ self.arrivals.offset }
        }
        if self.settings.rebasesTimes {
            self.moveToNow()
            aheadArrival = aheadArrival.map { $0 &+ (self.rebase ?? 0) }
        }
        return ReplayMessage(
            frame: frame,
            hasTrades: true,
            trades: self.trades,
            symbols: self.symbols,
            isMoved: self.settings.rebasesTimes,
            aheadArrival: aheadArrival,
            numbers: numbers
        )
    }

    /// Marks the trades of a frame that are ahead of its recorded arrival. If there are any, returns that arrival by
    /// the exchange's clock, ns since 1970. Without a recorded arrival no trade is known to be ahead.
    private func judge(_ frame: RecordedFrame) -> Int64? {
        guard let (received, isOut) = frame.wall?.multipliedReportingOverflow(by: 1_000), !isOut else { return nil }
        return self.arrivals.judge(&self.trades, received: received)
    }

    /// Moves the trades' times so that the recording begins now. This is only for a demo, where old times would
    /// mislead. No trade is in the future, also where the demo plays faster than it was recorded, and none is before
    /// another that came earlier, also behind a move.
    private func moveToNow() {
        guard let last = self.trades.last else { return }
        let newest = self.wallClock() &- last.exchangeTime
        let shift = min(self.rebase ?? newest, newest)
        self.rebase = shift
        for index in self.trades.indices {
            let time = max(self.trades[index].exchangeTime &+ shift, self.newestMoved)
            self.trades[index].exchangeTime = time
            self.newestMoved = time
        }
    }

    /// Returns the gap with its times moved as the trades' are; `nil` before the first trade.
    private func moved(_ gap: RecordedGap) -> RecordedGap? {
        guard self.settings.rebasesTimes else { return gap }
        guard let rebase else { return nil }
        var gap = gap
        gap.gap.from &+= rebase
        gap.gap.to &+= rebase
        return gap
    }

    private func moved(_ outcome: GapOutcome) -> GapOutcome? {
        guard self.settings.rebasesTimes else { return outcome }
        guard let rebase else { return nil }
        var outcome = outcome
        outcome.from &+= rebase
        outcome.to &+= rebase
        return outcome
    }

    /// Returns the next item; at the end, the first one if the recording repeats. `nil` if the replay is over, or
    /// paused at its end.
    private func peek() -> ReplayReading.Next? {
        do throws(RecordingFailure) {
            if let next = try self.reading.peek() { return next }
            if self.settings.repeats {
                let from = self.position.at
                self.reading.goOn(
                    with: try self.material.cursor(at: self.settings.from == nil ? nil : self.span.bounds.lowerBound)
                )
                self.hasRestarted = true
                self.rebase = nil
                // A break that is still open at the recording's end ends there.
                self.isBroken = false
                self.machine.restarted()
                if let next = try self.reading.peek() {
                    // A demo's times continue, so its restart is not reported as a move.
                    self.notify(movedFrom: self.settings.rebasesTimes ? nil : from)
                    return next
                }
            }
        } catch {
            self.fail("\(error)")
            return nil
        }
        // A break that is still open at the recording's end ends there.
        self.isBroken = false
        let wasPaused = self.position.isPaused
        if self.machine.reachedEnd(now: self.now) {
            self.end()
        } else if !wasPaused {
            self.notify(movedFrom: nil)
        }
        return nil
    }

    private func schedule(at deadline: Int64) {
        let loopBound = NIOLoopBound(self, eventLoop: self.loop)
        self.timer = self.loop.scheduleTask(deadline: .uptimeNanoseconds(UInt64(max(deadline, 0)))) {
            loopBound.value.timer = nil
            loopBound.value.pump()
        }
    }

    private func end() {
        self.isOver = true
        self.machine.ended(now: self.now)
        self.moved(self.machine)
        let outputs = self.outputs
        self.outputs = []
        for output in outputs { output.ended() }
        self.changed(self.position)
    }

    func fail(_ reason: String) {
        let outputs = self.outputs
        self.stop()
        self.failure = reason
        if case .recording(let file) = self.material { file.damage.failed(reason) }
        for output in outputs { output.failed(reason) }
    }
}
