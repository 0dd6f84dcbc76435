import Market

/// The status that a reader of a relay sees: the relay's own while the link to it is open, otherwise that of the link.
struct RelayStatus: Sendable {
    private let relay: String
    private(set) var status: FeedStatus

    /// - Parameter relay: the relay's address, for people.
    init(_ status: FeedStatus, relay: String) {
        self.status = status
        self.relay = relay
    }

    mutating func relaySays(_ status: FeedStatus) { self.status = status }

    mutating func relayComplains(_ text: String) { self.status.reason = "the relay says: \(text)" }

    /// Takes the link's phase.
    ///
    /// - Parameter wall: the time of the change; wall clock, ns since 1970.
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
