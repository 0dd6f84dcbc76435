package import Market
import NIOCore
import Wire

/// A client of a replay: what a ``ReplayPlayer`` plays to. Everything is called on the player's loop.
protocol ReplayOutput: AnyObject {
    /// Whether it takes more without keeping it in memory.
    var hasRoom: Bool { get }
    /// Takes one message; `trades` is what it holds, where it holds trades. Does not send yet.
    func play(_ message: ReplayMessage)
    /// Takes a ping or pong of the service's. Does not send yet.
    func play(_ signal: RecordedSignal)
    /// Sends what was played.
    func flush()
    /// Takes that the replay goes on otherwise; `from` is where it was, where it has been moved.
    func changed(_ position: ReplayPosition, movedFrom: Int64?)
    /// Takes that the recording is at its end.
    func ended()
    /// Takes that the connection broke here when it was recorded.
    func broke()
    func failed(_ reason: String)
}

extension ReplayOutput {
    func play(_ signal: RecordedSignal) {}
}

/// One message of a recording, read once for all who get it.
struct ReplayMessage {
    var frame: RecordedFrame
    /// Whether it is a frame for trades, even where none of them can be used.
    var hasTrades: Bool
    var trades: [Trade]
    var symbols: SymbolTable
    /// Whether the frame's own bytes say something else than the trades, whose times were moved.
    var isMoved: Bool
}

/// How a recording is played.
package struct ReplaySettings: Sendable {
    package var machine = ReplayMachine.Settings()
    /// What of the recording is played; the whole without them.
    package var from: ReplayPlace?
    package var to: ReplayPlace?
    /// Whether it begins anew at its end.
    package var repeats = false
    /// Whether the trades' times are moved so that the recording begins now, each time that it begins.
    package var rebasesTimes = false
    /// Whether one client that has no room holds up all; otherwise it is their own affair.
    package var waitsForAll = true
    /// Whether connections break where the recording has a gap.
    package var hasBreaks = false

    package init() {}
}

/// The player of a recording: reads it at the pace of its ``ReplayMachine`` and hands each message to its outputs.
///
/// Belongs to one event loop, whose clock is its only one. It never holds more than one message. One timer: the next
/// message's.
final class ReplayPlayer {
    /// Messages played before other work of the loop gets its turn.
    private static let messagesPerTurn = 256

    private enum Next {
        case message(RecordedFrame)
        case signal(RecordedSignal)
        case breakBegins(RecordedGap, at: Int64)
        case breakEnds(at: Int64)
    }

    let loop: any EventLoop
    let span: RecordingSpan
    private let material: ReplayMaterial
    private let settings: ReplaySettings
    private let wallClock: @Sendable () -> Int64
    private(set) var machine: ReplayMachine
    private var outputs: [any ReplayOutput] = []
    private var cursor: ReplayCursor
    private var upcoming: [Next] = []
    /// Whether what comes next is the message that a move was for, and no ping before it.
    private var isLanding = false
    private var hasStarted = false
    private(set) var isOver = false
    /// Whether the recording has a gap here, in which nobody can connect.
    private(set) var isBroken = false
    private var isPumping = false
    private var timer: Scheduled<Void>?
    private var search: GapSearch?
    private var rebase: Int64?
    private var parser = FinnhubParser()
    private var symbols = SymbolTable()
    private var trades: [Trade] = []
    /// The newest message with trades that was played, ns since the recording's start.
    private var lastTrade: Int64?
    /// Is told of every request that changed something, and of a restart.
    var changed: (ReplayPosition) -> Void = { _ in }
    /// Is told the machine whenever its clock was set.
    var moved: (ReplayMachine) -> Void = { _ in }

    /// - Throws: ``RecordingFile/Failure`` when the file cannot be read, or nothing is between the two ends.
    init(
        _ material: ReplayMaterial,
        settings: ReplaySettings,
        loop: any EventLoop,
        wallClock: @escaping @Sendable () -> Int64
    ) throws(RecordingFile.Failure) {
        self.material = material
        self.settings = settings
        self.loop = loop
        self.wallClock = wallClock
        let whole = try material.span()
        let bounds = try material.bounds(from: settings.from, to: settings.to, in: whole)
        self.span = RecordingSpan(start: whole.start, bounds: bounds)
        self.machine = ReplayMachine(settings.machine, bounds: bounds)
        self.cursor = try material.cursor(at: settings.from == nil ? nil : bounds.lowerBound)
    }

    private var now: Int64 { Int64(self.loop.now.uptimeNanoseconds) }

    var position: ReplayPosition { self.machine.position(start: self.span.start, now: self.now) }

    // MARK: Outputs

    func attach(_ output: any ReplayOutput) {
        if self.isOver { return output.ended() }
        self.outputs.append(output)
        // Somebody may have asked for a step before anyone listened: that is a replay which stands, too.
        let position = self.position
        if position.isPaused { output.changed(position, movedFrom: nil) }
    }

    func detach(_ output: any ReplayOutput) { self.outputs.removeAll { $0 === output } }

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
        // As fast as it goes is as fast as the slowest takes it, and nobody is slowest where nobody is.
        if self.machine.speed == nil { return !self.outputs.isEmpty && self.outputs.allSatisfy { $0.hasRoom } }
        return !self.settings.waitsForAll || self.outputs.allSatisfy { $0.hasRoom }
    }

    private func pump() {
        guard self.hasStarted, !self.isOver, !self.isPumping, self.search == nil else { return }
        self.isPumping = true
        defer { self.isPumping = false }
        self.timer?.cancel()
        self.timer = nil
        var played = 0
        defer {
            self.moved(self.machine)
            if played > 0 { for output in self.outputs { output.flush() } }
        }
        while self.mayPlay {
            let now = self.now
            guard let next = self.peek() else { return }
            switch self.machine.next(recorded: Self.time(of: next), now: now) {
            case .hold:
                return
            case .wait(let until):
                return self.schedule(at: until)
            case .play:
                self.upcoming.removeFirst()
                self.play(next, now: now)
                played += 1
            }
            if self.isOver { return }
            if played == Self.messagesPerTurn { return self.schedule(at: now) }
        }
    }

    private static func time(of next: Next) -> Int64 {
        switch next {
        case .message(let frame): frame.at
        case .signal(let signal): signal.at
        case .breakBegins(_, let at), .breakEnds(let at): at
        }
    }

    private func play(_ next: Next, now: Int64) {
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
        case .breakBegins(_, let at):
            self.isBroken = true
            for output in self.outputs {
                output.flush()
                output.broke()
            }
            self.machine.played(recorded: at, counts: false, now: now)
        case .breakEnds(let at):
            self.isBroken = false
            self.machine.played(recorded: at, counts: false, now: now)
        }
    }

    private func read(_ frame: RecordedFrame) -> ReplayMessage {
        self.trades.removeAll(keepingCapacity: true)
        guard case .trade = self.parser.parse(frame.frame, symbols: &self.symbols, into: &self.trades) else {
            // Pings, errors and what nobody knows go out as they were recorded.
            return ReplayMessage(frame: frame, hasTrades: false, trades: [], symbols: self.symbols, isMoved: false)
        }
        if self.settings.rebasesTimes { self.moveToNow() }
        return ReplayMessage(
            frame: frame,
            hasTrades: true,
            trades: self.trades,
            symbols: self.symbols,
            isMoved: self.settings.rebasesTimes
        )
    }

    /// Moves the trades' times so that the recording's beginning is now; only for a demo, where old times would mislead.
    /// A frame comes after its last trade, so that no trade is from the future.
    private func moveToNow() {
        guard let last = self.trades.last else { return }
        let shift = self.rebase ?? (self.wallClock() &- last.exchangeTime)
        self.rebase = shift
        for index in self.trades.indices { self.trades[index].exchangeTime &+= shift }
    }

    /// What comes next; at the end the recording's beginning, where it repeats. `nil` when it is over.
    private func peek() -> Next? {
        if let next = self.upcoming.first { return next }
        do throws(RecordingFile.Failure) {
            if try self.readOn() { return self.upcoming.first }
            if self.settings.repeats {
                let from = self.position.at
                self.cursor = try self.material.cursor(
                    at: self.settings.from == nil ? nil : self.span.bounds.lowerBound
                )
                self.rebase = nil
                self.machine.restarted()
                if try self.readOn() {
                    // A demo's times go on as if nothing had happened.
                    self.tell(movedFrom: self.settings.rebasesTimes ? nil : from)
                    return self.upcoming.first
                }
            }
        } catch {
            self.fail("\(error)")
            return nil
        }
        self.end()
        return nil
    }

    /// Reads up to the next message; `false` when there is none.
    private func readOn() throws(RecordingFile.Failure) -> Bool {
        while let item = try self.cursor.next() {
            switch item {
            case .frame(let frame):
                if frame.at > self.span.bounds.upperBound { return false }
                self.isLanding = false
                self.upcoming.append(.message(frame))
                return true
            case .signal(let signal):
                if signal.at > self.span.bounds.upperBound { return false }
                if self.isLanding || signal.at < self.span.bounds.lowerBound { continue }
                // A silence that is to be skipped is one without messages: a ping would break it.
                if self.settings.machine.longestSilence != nil { continue }
                self.upcoming.append(.signal(signal))
                return true
            case .gap(let gap):
                guard self.settings.hasBreaks, gap.gap.symbol == nil else { continue }
                let begin = min(gap.gap.from.subtractingCapped(self.span.start), gap.at)
                let end = min(max(gap.gap.to.subtractingCapped(self.span.start), begin), gap.at)
                self.upcoming.append(.breakBegins(gap, at: begin))
                self.upcoming.append(.breakEnds(at: end))
                return true
            }
        }
        return false
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

    private func fail(_ reason: String) {
        let outputs = self.outputs
        self.stop()
        for output in outputs { output.failed(reason) }
    }

    // MARK: Requests

    /// Does what is asked; `answer` is called once, now or when the place is found.
    func request(
        _ request: ReplayRequest,
        answer: @escaping (Result<ReplayPosition, ReplayRefusal>) -> Void
    ) {
        if let search = self.search.take() {
            search.answer(.failure(ReplayRefusal("another request came before the gap was found")))
        }
        let from = self.position.at
        do throws(RecordingFile.Failure) {
            switch self.machine.requested(request, start: self.span.start, now: self.now) {
            case .refuse(let refusal): return answer(.failure(refusal))
            case .none: return answer(.success(self.position))
            case .changed:
                self.tell(movedFrom: nil)
            case .seek(let time):
                guard let file = self.material.places else { return answer(.failure(Self.noPlaces)) }
                let place = try ReplaySearch.landing(file, at: time, in: self.span.bounds)
                try self.go(to: place, in: file, showing: time, from: from)
            case .goBack(let messages):
                guard let file = self.material.places else { return answer(.failure(Self.noPlaces)) }
                let place = try ReplaySearch.back(
                    file,
                    messages: messages,
                    from: self.upcomingPlace,
                    in: self.span.bounds
                )
                try self.go(to: place, in: file, showing: nil, from: from)
            case .findGap:
                guard let file = self.material.places else { return answer(.failure(Self.noPlaces)) }
                return try self.findGap(in: file, answer)
            }
        } catch {
            self.fail("\(error)")
            return answer(.failure(ReplayRefusal("\(error)")))
        }
        // First what was asked for, so that the answer is where it stands then.
        self.pump()
        answer(.success(self.position))
    }

    /// The place of the message that comes next.
    private var upcomingPlace: ReplayCursor.Place {
        if case .message = self.upcoming.first { return self.cursor.place }
        return self.cursor.following
    }

    private static let noPlaces = ReplayRefusal("a simulated market is made as it goes, and has no other place")

    private func go(
        to place: ReplayCursor.Place,
        in file: RecordingFile,
        showing time: Int64?,
        from: Int64
    ) throws(RecordingFile.Failure) {
        self.cursor = try ReplayCursor(file, at: place)
        self.upcoming = []
        self.isLanding = true
        self.isBroken = false
        if let time {
            self.machine.jumped(to: time, now: self.now)
        } else {
            self.machine.wentBack(to: place.time, now: self.now)
        }
        self.tell(movedFrom: from)
    }

    private func tell(movedFrom: Int64?) {
        let position = self.position
        self.moved(self.machine)
        for output in self.outputs { output.changed(position, movedFrom: movedFrom) }
        self.changed(position)
    }

    // MARK: The next gap

    private func findGap(
        in file: RecordingFile,
        _ answer: @escaping (Result<ReplayPosition, ReplayRefusal>) -> Void
    ) throws(RecordingFile.Failure) {
        self.timer?.cancel()
        self.timer = nil
        self.search = try GapSearch(
            file,
            from: self.upcomingPlace,
            lastTrade: self.lastTrade,
            end: self.span.bounds.upperBound,
            answer: answer
        )
        self.searchOn()
    }

    /// Looks through some of the file, and lets other work of the loop have its turn.
    private func searchOn() {
        guard let search = self.search else { return }
        do throws(RecordingFile.Failure) {
            switch try search.step() {
            case .more:
                let loopBound = NIOLoopBound(self, eventLoop: self.loop)
                return self.loop.execute { loopBound.value.searchOn() }
            case .none:
                self.search = nil
                search.answer(.failure(ReplayRefusal("no gap, and no silence of 5 s, is behind this place")))
            case .found(let place):
                self.search = nil
                let from = self.position.at
                try self.go(to: place, in: search.file, showing: place.time, from: from)
                search.answer(.success(self.position))
            }
        } catch {
            self.fail("\(error)")
            search.answer(.failure(ReplayRefusal("\(error)")))
        }
        self.pump()
    }
}

extension Int64 {
    /// The difference, or the nearest number there is.
    func subtractingCapped(_ other: Int64) -> Int64 {
        let (difference, isOut) = self.subtractingReportingOverflow(other)
        return isOut ? (other < 0 ? .max : .min) : difference
    }
}
