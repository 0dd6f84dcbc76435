import Market
import NIOCore
import Terminal

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

private struct HarnessScreen: DisplayOutput {
    let screen: NIOLoopBound<ScreenHarness>
    var isScreen: Bool { true }
    func publish(_ state: DisplayState) { self.screen.value.published(state) }
}
