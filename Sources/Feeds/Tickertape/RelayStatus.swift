import Market

/// What is true for the reader of a relay: the relay's word while the link to it stands, the link's state while not.
struct RelayStatus: Sendable {
    private let relay: String
    private(set) var status: FeedStatus

    /// - Parameter relay: the relay's address, in words.
    init(_ status: FeedStatus, relay: String) {
        self.status = status
        self.relay = relay
    }

    mutating func relaySays(_ status: FeedStatus) { self.status = status }

    mutating func relayComplains(_ text: String) { self.status.reason = "the relay says: \(text)" }

    /// Takes the link's state, at a time of the wall clock (ns since 1970).
    mutating func linkChanged(
        _ phase: FeedStatus.Phase,
        reason: String?,
        cause: FeedStatus.Cause?,
        at wall: Int64
    ) {
        if self.status.word != phase.word { self.status.since = wall }
        self.status.phase = phase
        self.status.cause = cause
        self.status.reason = reason.map { "no link to the relay at \(self.relay): \($0)" }
    }
}
