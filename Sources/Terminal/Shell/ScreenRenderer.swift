package import Market
import Measurements

/// The renderer of one screen: decides when the next frame is due, and encodes it as bytes that change the previous
/// one.
///
/// A pure state machine: time and the size of the screen are arguments. The drawing thread writes the bytes to a
/// terminal, a harness hashes them.
package struct ScreenRenderer: Sendable {
    /// The shortest time between two titles, since other programs than the terminal draw them.
    private static let titleInterval: Int64 = 1_000_000_000

    var painter: ScreenPainter
    var look: DisplayLook
    private var pacer: FramePacer
    /// The newest state.
    private(set) var state: DisplayState?
    /// The grid that the terminal shows, once the bytes are written.
    private var shown: ScreenGrid?
    /// The events up to this time have been drawn, monotonic ns.
    private var seen: Int64?
    private var titledAt: Int64?
    /// The scroll limit of the newest frame's help; `nil` while the help is closed.
    private(set) var helpEnd: Int?
    /// Where clicks act on the newest frame.
    private(set) var clickAreas: [ClickArea] = []

    package init(_ settings: DisplaySettings) {
        self.painter = settings.painter(TerminalAnswers())
        self.look = settings.look
        self.pacer = FramePacer(
            framesPerSecond: settings.framesPerSecond,
            bytesPerSecond: settings.bytesPerSecond
        )
    }

    /// Takes the newest state.
    package mutating func published(_ state: DisplayState) {
        let isUrgent = self.state.map { state.isNews(after: $0) } ?? true
        self.state = state
        self.pacer.contentChanged(isUrgent: isUrgent)
    }

    /// Records an action of the person or the terminal whose effect is due at once.
    mutating func touched() { self.pacer.contentChanged(isUrgent: true) }

    /// Records that the terminal's content is unknown.
    mutating func forgetScreen() {
        self.shown = nil
        self.touched()
    }

    /// Whether a frame is due as soon as the pacing allows one.
    var isDirty: Bool { self.pacer.isDirty }

    /// Returns the action at `now`; without a state, nothing is to be done.
    package func next(now: Int64) -> FramePacer.Action {
        self.state == nil ? .sleep(until: nil) : self.pacer.next(now: now)
    }

    /// Returns when prices that arrive from now on can be drawn.
    func allowed(now: Int64) -> Int64 { self.pacer.allowed(now: now) }

    /// The shortest time between two frames, ns.
    var interval: Int64 { self.pacer.interval }

    /// Draws the next frame of the newest state; returns its bytes, which are empty without a state.
    package mutating func draw(size: ScreenGrid.Size, now: Moment) -> [UInt8] {
        self.state.map { self.draw($0, size: size, now: now) } ?? []
    }

    /// Draws the next frame; returns its bytes.
    ///
    /// - Parameter state: drawn in place of the newest state, where the person looks at another one.
    mutating func draw(
        _ state: DisplayState,
        choice: DisplayChoice = DisplayChoice(),
        size: ScreenGrid.Size,
        now: Moment,
        latency: LatencyReport? = nil,
        completeness: CompletenessSummary? = nil
    ) -> [UInt8] {
        var frame = DisplayView.frame(
            of: state,
            choice: choice,
            size: size,
            now: now,
            since: self.seen,
            look: self.look,
            latency: latency,
            completeness: completeness
        )
        self.holdTitle(&frame, now: now.monotonic)
        let bytes = self.painter.bytes(from: self.shown, to: frame.grid)
        self.shown = frame.grid
        self.helpEnd = frame.helpEnd
        self.clickAreas = frame.clickAreas
        self.seen = state.publishedAt ?? now.monotonic
        self.pacer.drew(
            now: now.monotonic,
            bytes: bytes.count,
            contentChangesAt: frame.changesAt,
            stateChangesAt: frame.stateChangesAt
        )
        return bytes
    }

    /// Keeps the title for the shortest interval.
    private mutating func holdTitle(_ frame: inout DisplayFrame, now: Int64) {
        guard let before = self.shown?.title, let title = frame.grid.title, title != before else {
            if self.shown?.title == nil { self.titledAt = now }
            return
        }
        if let titledAt, now < titledAt + Self.titleInterval {
            frame.grid.title = before
            frame.changesAt = min(frame.changesAt ?? .max, titledAt + Self.titleInterval)
        } else {
            self.titledAt = now
        }
    }
}

extension DisplayState {
    /// Whether the change must be visible at once. A change of prices alone need not.
    fileprivate func isNews(after old: DisplayState) -> Bool {
        self.status != old.status || self.gaps != old.gaps || self.notice != old.notice
            || !self.alerts.elementsEqual(old.alerts) { $0.fired == $1.fired }
            || self.rows.count != old.rows.count || self.waiting.count != old.waiting.count
            || self.symbolStates != old.symbolStates
    }
}
