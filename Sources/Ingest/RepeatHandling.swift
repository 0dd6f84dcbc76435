/// What is done with trades that may have come before, as nothing proves that they did.
package enum RepeatHandling: Sendable, Equatable {
    /// Nothing is looked for: the tape is what a recording holds, in which the same frames may come again.
    case ignored
    /// They are on the tape, marked.
    case marked
    /// Those that likely are repeats are left out, as the user wishes; the others are marked.
    case leftOut
}

/// Whether a feed repeats its frames as a rule, as the service did once (reference, section 4): a machine.
///
/// It looks at so many frames with trades at a time. A market makes equal frames now and then; that a third of all come
/// again is no market.
struct RepetitionDetector: Sendable {
    static let frames = 24
    /// Between two times that it is said, ns.
    static let interval: Int64 = 3_600_000_000_000

    private var seen = 0
    private var repeats = 0
    private var isSystematic = false
    private var saidAt: Int64?

    init() {}

    /// The same for another connection.
    init(after other: RepetitionDetector) { self.saidAt = other.saidAt }

    /// Takes a frame with trades at a monotonic time, ns; returns whether it is to be said now that the feed repeats its frames.
    mutating func take(isRepeat: Bool, now: Int64) -> Bool {
        self.seen &+= 1
        if isRepeat { self.repeats &+= 1 }
        guard self.seen == Self.frames else { return false }
        let wasSystematic = self.isSystematic
        self.isSystematic = self.repeats * 3 >= self.seen
        (self.seen, self.repeats) = (0, 0)
        guard self.isSystematic, !wasSystematic, self.saidAt.map({ now &- $0 >= Self.interval }) ?? true else {
            return false
        }
        self.saidAt = now
        return true
    }
}
