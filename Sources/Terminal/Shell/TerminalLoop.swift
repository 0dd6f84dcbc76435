import Glibc
import Market
import NIOConcurrencyHelpers
import Platform

/// The drawing thread: waits for news, keys, signals and the clock, and shows what ``ScreenFilm`` makes.
struct TerminalLoop {
    /// How long the last bytes may take on a terminal that has stopped reading.
    private static let leaveLimit: Int64 = 500_000_000
    /// How often a job in the background looks whether it is in front again.
    private static let backgroundCheck: Int64 = 500_000_000
    /// News that come so shortly before a frame need no bell, ns.
    private static let soon: Int64 = 100_000_000

    private let display: TerminalDisplay
    /// Whether the terminal has been asked what it is.
    private var hasAsked = false
    private var film: ScreenFilm
    private var keys = TerminalKeys()
    /// What is on its way to the terminal.
    private var pending: ArraySlice<UInt8> = []
    /// The prices that are in `pending` for the first time.
    private var arrivals: DrawnArrivals
    private var dialogue: ScreenDialogue
    /// Whether the alternate screen is ours at the moment.
    private var isInside = false
    /// Whether it was entered and not left since: the title of before lies on the terminal's stack.
    private var hasEntered = false

    init(display: TerminalDisplay) {
        self.display = display
        self.film = ScreenFilm(display.settings)
        self.arrivals = DrawnArrivals(display.latency?[.arrivalToScreen])
        self.dialogue = ScreenDialogue(
            bindings: display.bindings,
            remote: display.remote,
            glyphs: display.settings.glyphs
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

    /// Goes once around: signals, news, drawing, writing, waiting, keys.
    private mutating func turn() -> OutputEnd? {
        let events = TerminalRescue.takeEvents()
        if events.contains(.hungUp) { return .closed }
        if events.contains(.stopAsked) { self.suspend() }
        if events.contains(.continued), self.isInside {
            self.comeBack()
        } else {
            self.goInside()
        }
        // The terminal may have been resized to and fro since the last frame, which left nothing as it was.
        if events.contains(.resized) { self.film.forgetScreen() }

        if self.display.mailbox.isStopping { return .stopped }
        let (news, answers) = self.display.mailbox.withContent { mailbox in
            defer { (mailbox.newest, mailbox.answers) = (nil, []) }
            return (mailbox.newest, mailbox.answers)
        }
        if let news { self.film.published(news) }
        for answer in answers {
            self.carryOut(self.dialogue.heard(answer, state: self.newest, now: DisplayClock.now()))
            self.film.touched()
        }
        self.takeCalls()
        // What is under way goes first: only an empty line to the terminal lets the next frame be made.
        guard self.flush() else { return .closed }
        let wait = self.drawIfDue()
        guard self.flush() else { return .closed }
        return self.listen(atMost: wait)
    }

    /// Takes what is to be sent beside the picture, once the frame under way is out: on a terminal that does not read, it
    /// stays in the mailbox, which is bounded. A job in the background is silent.
    private mutating func takeCalls() {
        guard self.pending.isEmpty || !self.isInside else { return }
        let calls = self.display.mailbox.withContent { mailbox in
            defer { mailbox.calls = [] }
            return mailbox.calls
        }
        if self.isInside { self.pending += calls }
    }

    /// Draws if it is time; gives how long nothing needs drawing, `nil` for until there is news.
    private mutating func drawIfDue() -> Int64? {
        guard self.isInside else { return Self.backgroundCheck }
        // A frame under way is finished first; the next one is made of what is newest then.
        guard self.pending.isEmpty, let state = self.film.state else { return nil }
        let now = DisplayClock.now()
        switch self.film.next(now: now.monotonic) {
        case .sleep(let until):
            return until.map { $0 - now.monotonic }
        case .draw:
            let size = self.display.device.size
            let choice = self.dialogue.choice
            self.dialogue.pageLines = max(size.rows - 4, 1)
            self.arrivals.drawn(state)
            self.pending =
                self.film.draw(
                    self.dialogue.shown(state, now: now.monotonic),
                    choice: choice,
                    size: size,
                    now: now,
                    latency: choice.pane == .list(.latency, at: 0) ? self.display.latency?.report : nil
                )[...]
            self.dialogue.helpEnd = self.film.helpEnd ?? .max
            self.display.rest.until = self.film.allowed(now: now.monotonic)
            guard case .sleep(let until) = self.film.next(now: now.monotonic) else { return 0 }
            return until.map { $0 - now.monotonic }
        }
    }

    /// Writes what the terminal takes; `false` when it is gone.
    private mutating func flush() -> Bool {
        while !self.pending.isEmpty {
            switch self.display.device.write(self.pending) {
            case .wrote(let count): self.pending = self.pending.dropFirst(count)
            case .full: return true
            case .closed, .failed: return false
            }
        }
        if self.arrivals.areUnderWay { self.arrivals.taken(at: DisplayClock.monotonic()) }
        return true
    }

    /// Waits for whatever comes first, and takes the keys.
    private mutating func listen(atMost wait: Int64?) -> OutputEnd? {
        // While a frame is due soon or under way, news need no bell: the loop comes by itself. It does not while there has
        // been no state at all, dirty as the screen then is; nor soon enough while a frame waits for its budget, and what
        // comes then may be urgent.
        let comesSoon = self.film.isDirty && self.film.state != nil && (wait ?? .max) <= Self.soon
        let needsBell = self.isInside && self.pending.isEmpty && !comesSoon
        var events: Int16 = self.isInside ? Int16(POLLIN) : 0
        if !self.pending.isEmpty { events |= Int16(POLLOUT) }
        var descriptors = [pollfd(fd: self.display.device.descriptor, events: events, revents: 0)]
        let untilKey = self.keys.deadline.map { max($0 - DisplayClock.monotonic(), 0) }
        let limit = [wait, untilKey].compactMap(\.self).min()
        let hasTyped = self.display.device.hasTyped
        self.display.mailbox.wait(with: &descriptors, atMost: limit) { mailbox, isStopping in
            let hasNews = needsBell && mailbox.newest != nil || !mailbox.answers.isEmpty
            let hasCalls = self.pending.isEmpty && !mailbox.calls.isEmpty
            return (needsBell && mailbox.newest == nil, isStopping || hasTyped || hasNews || hasCalls)
        }
        let heard = Int32(descriptors[0].revents)
        if heard & POLLIN != 0 || self.display.device.hasTyped { return self.takeKeys() }
        if heard & (POLLHUP | POLLERR | POLLNVAL) != 0 { return .closed }
        return self.keysPaused()
    }

    /// The newest state; before the first an empty one, for keys are pressed at any time.
    private var newest: DisplayState {
        self.film.state ?? DisplayState(status: FeedStatus(source: .live, phase: .connecting, since: 0))
    }

    private mutating func takeKeys() -> OutputEnd? {
        switch self.display.device.read() {
        case .nothing: return nil
        case .closed: return .closed
        case .bytes(let bytes):
            let now = DisplayClock.now()
            for byte in bytes {
                if let input = self.keys.took(byte, now: now.monotonic), let cause = self.take(input, now) {
                    return cause
                }
            }
            return nil
        }
    }

    /// Takes what the keys' machine completed by itself: an Esc behind which nothing came.
    private mutating func keysPaused() -> OutputEnd? {
        guard let deadline = self.keys.deadline else { return nil }
        let now = DisplayClock.now()
        guard now.monotonic >= deadline, let input = self.keys.timePassed(now: now.monotonic) else { return nil }
        return self.take(input, now)
    }

    private mutating func take(_ input: TerminalInput, _ now: Moment) -> OutputEnd? {
        let wishes = self.dialogue.took(input, state: self.newest, now: now)
        self.film.touched()
        return self.carryOut(wishes)
    }

    /// Does what is wished at once, or has it begun elsewhere.
    @discardableResult
    private mutating func carryOut(_ wishes: [ScreenWish]) -> OutputEnd? {
        for wish in wishes {
            switch wish {
            case .quit: return .quitKey
            case .suspend: self.suspend()
            case .abort: kill(getpid(), SIGQUIT)
            case .redraw: self.film.forgetScreen()
            case .subscribe, .unsubscribe, .reconnect, .search, .news, .setAlert, .removeAlert, .replay:
                Task { [display, remote = self.dialogue.remote] in
                    if let answer = await remote.answer(to: wish) { display.tell(answer) }
                }
            }
        }
        return nil
    }

    // MARK: In and out of the alternate screen

    /// Takes the terminal, if the job is in front.
    private mutating func goInside() {
        guard !self.isInside else { return }
        guard self.display.device.isOurs else {
            // In the background the screen is the shell's.
            self.pending = []
            TerminalRescue.disarm()
            return
        }
        self.isInside = true
        self.display.device.takeKeys()
        if !self.hasAsked, self.display.settings.wantsBackground {
            self.film.painter = self.display.settings.painter(self.display.ask())
        }
        self.hasAsked = true
        self.pending = (self.hasEntered ? TerminalModes.enterAgain : TerminalModes.enter)[...]
        self.hasEntered = true
        self.film.forgetScreen()
    }

    /// Takes the terminal anew where the job was stopped without a chance to give it back, as by SIGSTOP.
    private mutating func comeBack() {
        self.isInside = false
        let before = self.pending
        self.goInside()
        // A frame that was under way is finished, or the terminal would wait for its end.
        if self.isInside { self.pending = before + self.pending }
    }

    /// Gives the terminal back, as far as it takes the bytes within the limit.
    private mutating func goOutside() {
        // Also where the job came back behind another one: the alternate screen is still on, and nobody else leaves it.
        guard self.hasEntered else { return }
        if !self.isInside { self.pending = [] }
        self.isInside = false
        self.hasEntered = false
        self.pending += TerminalModes.leave
        TerminalDevice.withoutStops { self.writeLast() }
        self.pending = []
        self.display.device.giveBack()
    }

    /// Writes what is on its way, for as long as the limit.
    private mutating func writeLast() {
        let limit = DisplayClock.monotonic() + Self.leaveLimit
        while self.flush(), !self.pending.isEmpty {
            let left = limit - DisplayClock.monotonic()
            guard left > 0 else { break }
            var descriptors = [
                pollfd(fd: self.display.device.descriptor, events: Int16(POLLOUT), revents: 0)
            ]
            DisplayClock.wait(&descriptors, nanoseconds: left)
        }
    }

    /// Gives the terminal back, stops the job as Ctrl-Z should, and goes on when the job does.
    private mutating func suspend() {
        self.goOutside()
        TerminalRescue.stopJob(wake: self.display.mailbox.wake)
        self.goInside()
    }
}
