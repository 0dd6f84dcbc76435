package import Market
import Measurements

/// The pictures of one screen, one after the other: when the next one is due, and the bytes that make it of the one before.
///
/// A pure machine: time and the size of the screen are arguments. The drawing thread writes its bytes to a terminal, a
/// rehearsal into a digest.
package struct ScreenRenderer: Sendable {
    /// The shortest time between two titles: others than the terminal draw them.
    private static let titleInterval: Int64 = 1_000_000_000

    var painter: ScreenPainter
    private let look: DisplayLook
    private var pacer: FramePacer
    /// The newest state.
    private(set) var state: DisplayState?
    /// What the terminal shows, once the bytes are written.
    private var shown: ScreenGrid?
    /// What happened until then has been seen, monotonic ns.
    private var seen: Int64?
    private var titledAt: Int64?
    /// How far the help of the newest picture can be scrolled, where it is open.
    private(set) var helpEnd: Int?

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

    /// Notes that the person or the terminal did something that is to be seen at once.
    mutating func touched() { self.pacer.contentChanged(isUrgent: true) }

    /// Notes that nobody knows what the terminal shows.
    mutating func forgetScreen() {
        self.shown = nil
        self.touched()
    }

    /// Whether a frame comes by itself as soon as it may.
    var isDirty: Bool { self.pacer.isDirty }

    /// What to do at `now`; without a state, nothing.
    package func next(now: Int64) -> FramePacer.Action {
        self.state == nil ? .sleep(until: nil) : self.pacer.next(now: now)
    }

    /// When prices that come from now on can be seen.
    func allowed(now: Int64) -> Int64 { self.pacer.allowed(now: now) }

    /// Makes the next picture of the newest state: the bytes for it; without a state, none.
    package mutating func draw(size: ScreenGrid.Size, now: Moment) -> [UInt8] {
        self.state.map { self.draw($0, size: size, now: now) } ?? []
    }

    /// Makes the next picture: the bytes for it.
    ///
    /// - Parameter state: what is drawn, in place of the newest state, where the person looks at something else.
    mutating func draw(
        _ state: DisplayState,
        choice: DisplayChoice = DisplayChoice(),
        size: ScreenGrid.Size,
        now: Moment,
        latency: LatencyReport? = nil
    ) -> [UInt8] {
        var frame = DisplayView.frame(
            of: state,
            choice: choice,
            size: size,
            now: now,
            since: self.seen,
            look: self.look,
            latency: latency
        )
        self.holdTitle(&frame, now: now.monotonic)
        let bytes = self.painter.bytes(from: self.shown, to: frame.grid)
        self.shown = frame.grid
        self.helpEnd = frame.helpEnd
        self.seen = state.publishedAt ?? now.monotonic
        self.pacer.drew(
            now: now.monotonic,
            bytes: bytes.count,
            contentChangesAt: frame.changesAt,
            stateChangesAt: frame.stateChangesAt
        )
        return bytes
    }

    /// Leaves the title as it is for a while.
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
    /// Whether it says something that a person must see at once, which prices are not.
    fileprivate func isNews(after old: DisplayState) -> Bool {
        self.status != old.status || self.gaps != old.gaps || self.notice != old.notice
            || !self.alerts.elementsEqual(old.alerts) { $0.fired == $1.fired }
            || self.rows.count != old.rows.count || self.waiting.count != old.waiting.count
            || self.symbolStates != old.symbolStates
    }
}
