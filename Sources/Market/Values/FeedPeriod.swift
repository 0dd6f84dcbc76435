/// A period of a program's run in which its feed had one state.
package struct FeedPeriod: Sendable, Equatable {
    /// The start of the run, which tells two runs apart; ns since 1970.
    package var run: Int64
    /// Ns since 1970.
    package var begun: Int64
    package var ended: Int64
    /// The state as the word of ``FeedStatus``; a quiet moment (`late`) is part of a live period, since nothing is missed
    /// in it.
    package var state: String
    package var reason: String?

    package init(run: Int64, begun: Int64, ended: Int64, state: String, reason: String?) {
        self.run = run
        self.begun = begun
        self.ended = ended
        self.state = state
        self.reason = reason
    }

    /// Whether the feed was connected and its symbols traded.
    package var isLive: Bool { self.state == FeedStatus.Phase.live.word }
}
