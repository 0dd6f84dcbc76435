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

private struct HarnessLines: DisplayOutput {
    let lines: NIOLoopBound<LineHarness>
    var isScreen: Bool { false }
    func show(_ item: LineItem) { self.lines.value.took(item) }
}
