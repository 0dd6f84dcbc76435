import Market
import NIOCore
import Recordings
import Wire

/// The player of a recording: reads it at the pace of its ``ReplayMachine`` and hands each message to its outputs.
///
/// Belongs to one event loop, whose clock is its only one. It never holds more than one message. One timer: the next
/// message's.
package final class ReplayPlayer {
    /// Messages played before other work of the loop gets its turn.
    private static let messagesPerTurn = 256

    let loop: any EventLoop
    let span: RecordingSpan
    let material: ReplayMaterial
    let settings: ReplaySettings
    private let wallClock: @Sendable () -> Int64
    var machine: ReplayMachine
    private(set) var outputs: [any ReplayOutput] = []
    var reading: ReplayReading
    private var hasStarted = false
    private(set) var isOver = false
    /// Why the rest of the recording cannot be read, in one line.
    private var failure: String?
    /// Whether the recording has a gap here, in which nobody can connect.
    var isBroken = false
    var isPumping = false
    var timer: Scheduled<Void>?
    var search: GapSearch?
    private var rebase: Int64?
    private var frameReader = FrameReader()
    /// Kept where the replay is moved or begins again: a clock that was behind in one place of a recording mostly was so in the
    /// others, and with no memory the first reads of each place would be ahead.
    private var arrivals = ArrivalCheck()
    private var symbols = SymbolTable()
    private var trades: [Trade] = []
    /// The newest message with trades that was played, ns since the recording's start.
    var lastTrade: Int64?
    /// Is told of every request that changed something, and of a restart.
    var changed: (ReplayPosition) -> Void = { _ in }
    /// Is told the machine whenever its clock was set.
    var moved: (ReplayMachine) -> Void = { _ in }

    /// - Throws: ``RecordingFailure`` when the file cannot be read, or nothing is between the two ends.
    init(
        _ material: ReplayMaterial,
        settings: ReplaySettings,
        loop: any EventLoop,
        wallClock: @escaping @Sendable () -> Int64
    ) throws(RecordingFailure) {
        self.material = material
        self.settings = settings
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
        // Somebody may have asked for a step before anyone listened: that is a replay which stands, too.
        let position = self.position
        if position.isPaused { output.changed(position, movedFrom: nil) }
    }

    func detach(_ output: any ReplayOutput) {
        self.outputs.removeAll { $0 === output }
        // It may have been the one that had no room, and no other tells of any.
        if self.hasStarted, !self.isPumping { self.goOnIfFree() }
    }

    /// Goes on in the loop's next turn, where nothing holds it up and it has none to come.
    private func goOnIfFree() {
        if !self.isOver, self.search == nil, self.timer == nil, self.mayPlay { self.schedule(at: self.now) }
    }

    /// Lets it begin, or go on where an output has room again.
    func start() {
        self.hasStarted = true
        self.pump()
    }

    func outputHasRoom() { if self.hasStarted { self.pump() } }

    func stop() {
        self.isOver = true
        self.timer?.cancel()
        self.timer = nil
        self.search = nil
        self.outputs = []
    }

    // MARK: Playing

    private var mayPlay: Bool {
        // Where connections are broken nobody can come to be waited for.
        if self.isBroken { return true }
        // As fast as it goes is as fast as the slowest takes it, and nobody is slowest where nobody is.
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
        // A socket that takes all that was written at once has room again by now, and tells no more of that.
        self.goOnIfFree()
    }

    /// Plays until something has to be waited for, and returns how many messages that was.
    private func playOn() -> Int {
        var played = 0
        while self.mayPlay {
            let now = self.now
            let wasBroken = self.isBroken
            guard let next = self.peek() else { return played }
            // With the recording's end a break ends as well, and then somebody is waited for again.
            guard !wasBroken || self.mayPlay else { return played }
            switch self.machine.next(recorded: next.at, now: now) {
            case .hold:
                return played
            case .wait(let until):
                self.schedule(at: until)
                return played
            case .play:
                self.reading.take()
                self.play(next, now: now)
                played += 1
            }
            if self.isOver { return played }
            if played == Self.messagesPerTurn {
                self.schedule(at: now)
                return played
            }
        }
        return played
    }

    private func play(_ next: ReplayReading.Next, now: Int64) {
        switch next {
        case .message(let frame):
            let message = self.read(frame)
            for output in self.outputs { output.play(message) }
            // A frame for trades whose trades are all unusable shows nothing: the search for places passes over it too.
            let counts = !message.trades.isEmpty
            if counts { self.lastTrade = frame.at }
            self.machine.played(recorded: frame.at, counts: counts, now: now)
        case .signal(let signal):
            for output in self.outputs { output.play(signal) }
            self.machine.played(recorded: signal.at, counts: false, now: now)
        case .gap(let at, let gap):
            if let gap = self.moved(gap) { for output in self.outputs { output.play(gap) } }
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

    private func read(_ frame: RecordedFrame) -> ReplayMessage {
        self.trades.removeAll(keepingCapacity: true)
        let content = self.frameReader.read(
            frame.frame,
            of: frame.dialect,
            symbols: &self.symbols,
            into: &self.trades
        )
        guard case .trades = content else {
            // Pings, errors and what nobody knows go out as they were recorded.
            return ReplayMessage(frame: frame, hasTrades: false, trades: [], symbols: self.symbols, isMoved: false)
        }
        var aheadArrival = self.judge(frame)
        self.reading.mark(&self.trades, of: frame)
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
            aheadArrival: aheadArrival
        )
    }

    /// Finds out whether trades of a frame are ahead of its recorded arrival; returns that by the exchange's clock, ns since
    /// 1970. Where none was recorded, no trade is known to be ahead.
    private func judge(_ frame: RecordedFrame) -> Int64? {
        guard let (received, isOut) = frame.wall?.multipliedReportingOverflow(by: 1_000), !isOut else { return nil }
        return self.arrivals.judge(&self.trades, received: received)
    }

    /// Moves the trades' times so that the recording's beginning is now; only for a demo, where old times would mislead.
    /// A frame comes after its last trade, so that no trade is from the future.
    private func moveToNow() {
        guard let last = self.trades.last else { return }
        let shift = self.rebase ?? (self.wallClock() &- last.exchangeTime)
        self.rebase = shift
        for index in self.trades.indices { self.trades[index].exchangeTime &+= shift }
    }

    /// The gap by the clock of the trades, where theirs was moved; `nil` before the first of them.
    private func moved(_ gap: RecordedGap) -> RecordedGap? {
        guard self.settings.rebasesTimes else { return gap }
        guard let rebase else { return nil }
        var gap = gap
        gap.gap.from &+= rebase
        gap.gap.to &+= rebase
        return gap
    }

    /// What comes next; at the end the recording's beginning, where it repeats. `nil` when it is over, or paused at its end.
    private func peek() -> ReplayReading.Next? {
        do throws(RecordingFailure) {
            if let next = try self.reading.peek() { return next }
            if self.settings.repeats {
                let from = self.position.at
                self.reading.goOn(
                    with: try self.material.cursor(at: self.settings.from == nil ? nil : self.span.bounds.lowerBound)
                )
                self.rebase = nil
                // A break that the recording does not end ends with it.
                self.isBroken = false
                self.machine.restarted()
                if let next = try self.reading.peek() {
                    // A demo's times go on as if nothing had happened.
                    self.notify(movedFrom: self.settings.rebasesTimes ? nil : from)
                    return next
                }
            }
        } catch {
            self.fail("\(error)")
            return nil
        }
        // A break that the recording does not end ends with it.
        self.isBroken = false
        if self.machine.reachedEnd(now: self.now) { self.end() }
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
