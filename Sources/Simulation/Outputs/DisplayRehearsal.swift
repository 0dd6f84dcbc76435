import Market
import NIOCore
import Terminal

/// A ``LinePrinter`` without its thread: it formats each item at the time of its arrival.
final class LineHarness {
    private let output: OutputDigest
    private let errors: OutputDigest?
    private let loop: any EventLoop
    private let wallClock: @Sendable () -> Int64
    private var lines: LineOutput
    private var timer: Scheduled<Void>?

    /// - Parameter errors: the output for the printer's standard error; `nil` discards that.
    init(
        _ settings: LinePrinter.Settings,
        status: FeedStatus,
        output: OutputDigest,
        errors: OutputDigest? = nil,
        loop: any EventLoop,
        wallClock: @escaping @Sendable () -> Int64
    ) {
        self.output = output
        self.errors = errors
        self.loop = loop
        self.wallClock = wallClock
        self.lines = LineOutput(settings, status: status, now: Int64(loop.now.uptimeNanoseconds))
        output.take(self.lines.header)
    }

    /// The output to pass to a ``PriceDisplay``.
    var display: any DisplayOutput { HarnessLines(lines: NIOLoopBound(self, eventLoop: self.loop)) }

    func stop() {
        self.timer?.cancel()
        if let line = self.lines.last(now: self.now) { self.output.take(line) }
    }

    private var now: Moment {
        Moment(monotonic: Int64(self.loop.now.uptimeNanoseconds), wall: self.wallClock())
    }

    fileprivate func took(_ item: LineItem) {
        let lines = self.lines.lines(item, now: self.now.monotonic)
        self.output.take(lines.output)
        self.errors?.take(lines.errors)
        self.arm()
    }

    /// Schedules the next line. A line about all symbols is written after every item of a turn has arrived.
    private func arm() {
        guard let due = self.lines.due else { return }
        self.timer?.cancel()
        let bound = NIOLoopBound(self, eventLoop: self.loop)
        let deadline = NIODeadline.uptimeNanoseconds(UInt64(max(due, 0)))
        self.timer = self.loop.scheduleTask(deadline: max(deadline, self.loop.now)) { bound.value.write() }
    }

    private func write() {
        if let line = self.lines.live(now: self.now) { self.output.take(line) }
        self.arm()
    }
}

/// The screen of a ``TerminalDisplay`` without terminal and thread: the same frames at the same pace, as bytes.
final class ScreenHarness {
    private let output: OutputDigest
    private let size: ScreenGrid.Size
    private let loop: any EventLoop
    private let wallClock: @Sendable () -> Int64
    private var renderer: ScreenRenderer
    private var timer: Scheduled<Void>?

    init(
        size: ScreenGrid.Size,
        settings: DisplaySettings,
        output: OutputDigest,
        loop: any EventLoop,
        wallClock: @escaping @Sendable () -> Int64
    ) {
        self.output = output
        self.size = size
        self.renderer = ScreenRenderer(settings)
        self.loop = loop
        self.wallClock = wallClock
        output.take(TerminalModes.enter)
    }

    /// The output to pass to a ``PriceDisplay``.
    var display: any DisplayOutput { HarnessScreen(screen: NIOLoopBound(self, eventLoop: self.loop)) }

    func stop() {
        self.timer?.cancel()
        self.output.take(TerminalModes.leave)
    }

    fileprivate func published(_ state: DisplayState) {
        self.renderer.published(state)
        self.arm()
    }

    /// Schedules the next frame. All states of one turn share a frame.
    private func arm() {
        let now = Int64(self.loop.now.uptimeNanoseconds)
        let due: Int64
        switch self.renderer.next(now: now) {
        case .draw: due = now
        case .sleep(let until):
            guard let until else { return }
            due = until
        }
        self.timer?.cancel()
        let bound = NIOLoopBound(self, eventLoop: self.loop)
        self.timer = self.loop.scheduleTask(deadline: .uptimeNanoseconds(UInt64(max(due, 0)))) {
            bound.value.draw()
        }
    }

    private func draw() {
        let now = Moment(monotonic: Int64(self.loop.now.uptimeNanoseconds), wall: self.wallClock())
        if case .draw = self.renderer.next(now: now.monotonic) {
            self.output.take(self.renderer.draw(size: self.size, now: now))
        }
        self.arm()
    }
}

private struct HarnessLines: DisplayOutput {
    let lines: NIOLoopBound<LineHarness>
    var isScreen: Bool { false }
    func show(_ item: LineItem) { self.lines.value.took(item) }
}

private struct HarnessScreen: DisplayOutput {
    let screen: NIOLoopBound<ScreenHarness>
    var isScreen: Bool { true }
    func publish(_ state: DisplayState) { self.screen.value.published(state) }
}
