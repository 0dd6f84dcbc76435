import Ingest
import Market
import Wire

/// What the stand-in of a replay tells.
extension FinnhubSupervisor {
    /// The market's own frames are never taken for such news.
    var takesReplayMarks: Bool { self.settings.source != .live }

    /// Numbers go on when a replay is moved, and so does our own clock; that the tape goes on elsewhere is told as a gap.
    func replayMarked(_ mark: ReplayMark, now: Moment) {
        if let from = mark.movedFrom {
            // The same frames come again behind a way back, and are no repeats of the service's.
            self.input.forgetFrames()
            self.input.gapFound(
                from: min(self.input.lastReceived, now.wall),
                to: now.wall,
                reason: Self.words(from: from, to: mark.at),
                cause: .seek
            )
        }
        if mark.isPaused != (self.pausedSince != nil) {
            if let pausedSince { self.watch.shifted(by: now.monotonic - pausedSince, now: now.monotonic) }
            self.pausedSince = mark.isPaused ? now.monotonic : nil
        }
        let source = self.input.status.source.paced(at: mark.speed)
        if source != self.input.status.source {
            self.input.status.source = source
            self.input.statusChanged()
        }
    }

    /// A gap that was recorded is told with the times at which it was: they are the trades' own, and not those of arrivals now,
    /// which depend on the speed.
    func replayHasGap(_ mark: RecordedGapMark) {
        var gap = mark.gap
        // What was a replay itself when it was recorded says so already.
        if !gap.reason.hasPrefix(Self.recordedGap) { gap.reason = Self.recordedGap + gap.reason }
        gap.cause = .recorded
        self.input.gapFound(gap)
    }

    private static let recordedGap = "in the recording: "

    private static func words(from: Int64, to: Int64) -> String {
        let (distance, isOut) = to.subtractingReportingOverflow(from)
        let seconds = isOut ? 0 : distance / 1_000_000
        let way = seconds < 0 ? "back" : "forward"
        return "the replay was moved \(way) by \(abs(seconds) / 1_000).\(Self.padded(abs(seconds) % 1_000)) s"
    }

    private static func padded(_ milliseconds: Int64) -> String {
        let digits = "\(milliseconds)"
        return String(repeating: "0", count: 3 - digits.count) + digits
    }
}

extension SymbolWatch {
    /// Notes that silence said nothing for so long: a replay was paused.
    mutating func shifted(by time: Int64, now: Int64) {
        self.shiftTrades(by: time, now: now)
        for place in self.clocks.indices { self.clocks[place].shift(by: time, now: now) }
    }
}
