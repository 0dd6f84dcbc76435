import Glibc
import Market
import NIOConcurrencyHelpers
import Platform

/// The drawing thread: it waits for updates, keys, signals and the clock, and writes the frames of ``ScreenRenderer``.
struct TerminalLoop {
    /// The interval at which a background job checks whether it is in the foreground again, ns.
    private static let backgroundCheck: Int64 = 500_000_000
    /// The time before a due frame in which updates need no wake-up, ns.
    private static let soon: Int64 = 100_000_000
    /// The time between the earliest moment of a frame and its drawing below which frames follow one another, ns.
    private static let close: Int64 = 20_000_000

    private let display: TerminalDisplay
    private var session: TerminalSession
    /// Whether the terminal has been queried.
    private var hasAsked = false
    private var renderer: ScreenRenderer
    private var keys = TerminalKeys()
    /// The input that was typed during the queries.
    private var typed: [TerminalInput] = []
    /// The prices whose first frame is being written.
    private var arrivals: DrawnArrivals
    /// The earliest moment of the next frame, if one has been drawn; monotonic ns.
    private var nextFrame: Int64?
    /// Whether frames follow one another, so that the thread looks for updates at that moment and need not be woken.
    private var isSteady = false
    private var controller: ScreenController

    init(display: TerminalDisplay) {
        self.display = display
        self.session = TerminalSession(display.device, takesMouse: display.settings.takesMouse)
        self.renderer = ScreenRenderer(display.settings)
        self.arrivals = DrawnArrivals(display.latency?[.arrivalToScreen])
        self.controller = ScreenController(
            bindings: display.bindings,
            remote: display.remote,
            glyphs: display.settings.glyphs,
            clock: display.settings.look.clock,
            hidesAmounts: display.settings.hidesAmounts,
            groups: display.settings.groups,
            takesMouse: display.settings.takesMouse
        )
    }

    mutating func run() -> OutputEnd {
        TerminalRescue.install(bell: self.display.mailbox.wake.descriptor)
        self.goInside()
        var cause: OutputEnd?
        while cause == nil {
            cause = self.turn()
        }
        self.goOutside()
        TerminalRescue.uninstall()
        return cause ?? .stopped
    }

    /// Runs one iteration: signals, updates, drawing, writing, waiting, keys.
    private mutating func turn() -> OutputEnd? {
        let events = TerminalRescue.takeEvents()
        if events.contains(.hungUp) { return .closed }
        if events.contains(.stopAsked) { self.suspend() }
        if events.contains(.continued), self.session.isInside {
            if self.session.comeBack() { self.renderer.forgetScreen() }
        } else {
            self.goInside()
        }
        let typed = self.typed
        self.typed = []
        for input in typed {
            if let cause = self.take(input, SystemClock.now()) { return cause }
        }
        // The terminal may have been resized twice since the last frame, which invalidates its contents even at the
        // same size.
        if events.contains(.resized) { self.renderer.forgetScreen() }

        if self.display.mailbox.isStopping { return .stopped }
        let (news, answers) = self.display.mailbox.withContent { mailbox in
            defer { (mailbox.newest, mailbox.answers, mailbox.room) = (nil, [], nil) }
            return (mailbox.newest, mailbox.answers + (mailbox.room.map { [.room($0)] } ?? []))
        }
        if let news { self.renderer.published(news) }
        for answer in answers {
            self.carryOut(self.controller.received(answer, state: self.newest, now: SystemClock.now()))
            self.renderer.touched()
        }
        self.takeCalls()
        // The current frame is written first; the next one is made only after the output is empty.
        guard self.flush() else { return .closed }
        let wait = self.drawIfDue()
        guard self.flush() else { return .closed }
        return self.listen(atMost: wait)
    }

    /// Takes the bytes that draw nothing after the current frame is written. If the terminal does not read, they stay
    /// in the mailbox, which is bounded. A background job discards them.
    private mutating func takeCalls() {
        guard self.session.pending.isEmpty || !self.session.isInside else { return }
        let calls = self.display.mailbox.withContent { mailbox in
            defer { mailbox.calls = [] }
            return mailbox.calls
        }
        if self.session.isInside { self.session.send(calls) }
    }

    /// Draws if a frame is due; returns the time until the next one, `nil` to wait for an update.
    private mutating func drawIfDue() -> Int64? {
        guard self.session.isInside else { return Self.backgroundCheck }
        // The current frame is finished first, and the next one shows the newest state of that time.
        guard self.session.pending.isEmpty, let state = self.renderer.state else { return nil }
        let now = SystemClock.now()
        switch self.renderer.next(now: now.monotonic) {
        case .sleep(let until):
            return until.map { $0 - now.monotonic }
        case .draw:
            let size = self.display.device.size
            let choice = self.controller.choice
            let measures = choice.pane == .list(.latency, at: 0)
            self.controller.pageLines = max(size.rows - 4, 1)
            self.arrivals.drawn(state)
            self.session.send(
                self.renderer.draw(
                    self.controller.shown(state, now: now.monotonic),
                    choice: choice,
                    size: size,
                    now: now,
                    latency: measures ? self.display.latency?.report : nil,
                    completeness: measures ? self.display.completeness?.summary : nil
                )
            )
            self.controller.clickAreas = self.renderer.clickAreas
            self.controller.helpEnd = self.renderer.helpEnd ?? .max
            self.isSteady = self.nextFrame.map { now.monotonic - $0 < Self.close } ?? false
            let nextFrame = self.renderer.allowed(now: now.monotonic)
            self.nextFrame = nextFrame
            // While a frame waits for its byte budget, an urgent update may come earlier.
            if nextFrame - now.monotonic > self.renderer.interval { self.isSteady = false }
            self.display.rest.until = nextFrame
            guard case .sleep(let until) = self.renderer.next(now: now.monotonic) else { return 0 }
            return until.map { $0 - now.monotonic }
        }
    }

    /// Writes the bytes that the terminal accepts; `false` when it is gone.
    private mutating func flush() -> Bool {
        guard self.session.flush() else { return false }
        if self.session.pending.isEmpty { self.measureArrivals() }
        return true
    }

    private mutating func measureArrivals() {
        if self.arrivals.areUnderWay { self.arrivals.taken(at: SystemClock.monotonic()) }
    }

    /// Waits for the first event, and takes the keys.
    private mutating func listen(atMost wait: Int64?) -> OutputEnd? {
        // If a frame is due soon or being written, the loop wakes up anyway, so updates need not wake it. They must
        // wake it before the first state, when the screen is dirty but nothing can be drawn, and while a frame waits
        // for its byte budget, since an urgent update may come.
        let now = SystemClock.monotonic()
        let untilLook = self.isSteady ? self.nextFrame.map { $0 - now }.flatMap { 1...Self.soon ~= $0 ? $0 : nil } : nil
        let comesSoon =
            untilLook != nil || self.renderer.isDirty && self.renderer.state != nil && (wait ?? .max) <= Self.soon
        let needsBell = self.session.isInside && self.session.pending.isEmpty && !comesSoon
        var events: Int16 = self.session.isInside ? Int16(POLLIN) : 0
        if !self.session.pending.isEmpty { events |= Int16(POLLOUT) }
        var descriptors = [pollfd(fd: self.display.device.descriptor, events: events, revents: 0)]
        let untilKey = self.keys.deadline.map { max($0 - now, 0) }
        let limit = [wait, untilLook, untilKey].compactMap(\.self).min()
        self.display.mailbox.wait(with: &descriptors, atMost: limit) { mailbox, isStopping in
            let hasNews =
                needsBell && mailbox.newest != nil || !mailbox.answers.isEmpty || mailbox.room != nil
            let hasCalls = self.session.pending.isEmpty && !mailbox.calls.isEmpty
            return (needsBell && mailbox.newest == nil, isStopping || hasNews || hasCalls)
        }
        let received = Int32(descriptors[0].revents)
        if received & POLLIN != 0 { return self.takeKeys() }
        if received & (POLLHUP | POLLERR | POLLNVAL) != 0 { return .closed }
        return self.keysPaused()
    }

    /// The newest state; before the first one an empty state, since keys may be pressed at any time.
    private var newest: DisplayState {
        self.renderer.state ?? DisplayState(status: FeedStatus(source: .live, phase: .connecting, since: 0))
    }

    private mutating func takeKeys() -> OutputEnd? {
        switch self.display.device.read() {
        case .nothing: return nil
        case .closed: return .closed
        case .bytes(let bytes):
            let now = SystemClock.now()
            for byte in bytes {
                if let input = self.keys.took(byte, now: now.monotonic), let cause = self.take(input, now) {
                    return cause
                }
            }
            return nil
        }
    }

    /// Takes the input that the passing of time completes: an Esc that no byte follows.
    private mutating func keysPaused() -> OutputEnd? {
        guard let deadline = self.keys.deadline else { return nil }
        let now = SystemClock.now()
        guard now.monotonic >= deadline, let input = self.keys.timePassed(now: now.monotonic) else { return nil }
        return self.take(input, now)
    }

    private mutating func take(_ input: TerminalInput, _ now: Moment) -> OutputEnd? {
        let commands = self.controller.took(input, state: self.newest, now: now)
        self.renderer.touched()
        return self.carryOut(commands)
    }

    /// Executes commands of the screen, and starts the others in the program.
    @discardableResult
    private mutating func carryOut(_ commands: [ScreenCommand]) -> OutputEnd? {
        for command in commands {
            switch command {
            case .quit: return .quitKey
            case .suspend: self.suspend()
            case .abort: kill(getpid(), SIGQUIT)
            case .redraw: self.renderer.forgetScreen()
            case .takeMouse(let takesMouse): self.session.takeMouse(takesMouse)
            // In order, since the outcome of one depends on those before it.
            case .enterRoom(let name):
                self.controller.remote.rooms.doing?.enter(name) { [display] in display.show($0) }
            case .leaveRoom: self.controller.remote.rooms.doing?.leave()
            case .submit(let request, let number):
                self.controller.remote.rooms.doing?.submit(request, number: number)
            case .subscribe, .unsubscribe, .reconnect, .live, .search, .news, .setAlert, .removeAlert, .replay:
                Task { [display, remote = self.controller.remote] in
                    if let answer = await remote.answer(to: command) { display.notify(answer) }
                }
            }
        }
        return nil
    }

    // MARK: In and out of the alternate screen

    /// Takes the terminal if the job is in the foreground, and queries it the first time.
    private mutating func goInside() {
        guard self.session.enter() else { return }
        if !self.hasAsked, self.display.settings.wantsAnswers {
            let answers = self.ask()
            self.renderer.painter = self.display.settings.painter(answers)
            self.renderer.look = self.display.settings.look(answers)
        }
        self.hasAsked = true
        self.renderer.forgetScreen()
    }

    /// Queries the terminal and waits for its answers up to the configured time; keeps the input typed meanwhile.
    private mutating func ask() -> TerminalAnswers {
        var answers = TerminalAnswers()
        let device = self.display.device
        guard case .wrote(TerminalAnswers.questions.count) = device.write(TerminalAnswers.questions[...]) else {
            return answers
        }
        let limit = SystemClock.monotonic() + self.display.settings.patience
        while !answers.isComplete {
            let left = limit - SystemClock.monotonic()
            guard left > 0 else { break }
            var descriptors = [pollfd(fd: device.descriptor, events: Int16(POLLIN), revents: 0)]
            SystemClock.wait(&descriptors, nanoseconds: left)
            guard descriptors[0].revents != 0 else { continue }
            guard case .bytes(let bytes) = device.read() else { break }
            let now = SystemClock.monotonic()
            for input in bytes.compactMap({ self.keys.took($0, now: now) }) {
                if case .answer(let answer) = input { answers.take(answer) } else { self.typed.append(input) }
            }
        }
        return answers
    }

    private mutating func goOutside() {
        if self.session.leave() { self.measureArrivals() }
    }

    /// Restores the terminal, stops the job as Ctrl-Z does, and returns after it is continued.
    private mutating func suspend() {
        self.goOutside()
        TerminalRescue.stopJob(wake: self.display.mailbox.wake)
        self.goInside()
    }
}
