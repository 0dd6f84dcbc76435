/// The handling of trades that may be repeats. Without ids nothing proves that they are.
package enum RepeatHandling: Sendable, Equatable {
    /// Repeats are not looked for: the tape follows a recording, in which the same frames may come again.
    case ignored
    /// Possible repeats are on the tape and marked.
    case marked
    /// Likely repeats are left out, as the user wishes; other possible ones are marked.
    case leftOut
    /// The trades have ids, each the one before plus 1 (``IdentifiedTrades``). A trade whose id was seen is left out;
    /// nothing else is looked for.
    case identified

    /// Whether trades and frames are compared by what they contain.
    var comparesContent: Bool { self == .marked || self == .leftOut }
}

/// The detector of a feed that repeats its frames systematically, as the service did once (reference, section 4). A
/// state machine.
///
/// It judges blocks of ``frames`` frames with trades. A market produces equal frames now and then, but never a third of
/// all frames.
struct RepetitionDetector: Sendable {
    static let frames = 24
    /// The shortest time between two reports, ns.
    static let interval: Int64 = 3_600_000_000_000

    private var seen = 0
    private var repeats = 0
    private var isSystematic = false
    private var saidAt: Int64?

    init() {}

    /// Creates a detector for the next connection. It keeps the time of the last report.
    init(after other: RepetitionDetector) { self.saidAt = other.saidAt }

    /// Takes a frame with trades.
    ///
    /// - Parameter now: monotonic ns.
    /// - Returns: whether to report now that the feed repeats its frames.
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
