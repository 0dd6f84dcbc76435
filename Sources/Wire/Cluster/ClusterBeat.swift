package import NIOCore

/// A heartbeat of the ingest that holds the upstream:
/// `{"type":"beat","epoch":…,"frame":…,"seq":…,"sent":…,"member":…}`.
///
/// It shows that the ingest lives, and the position of its newest frame. A frame that was lost at the end of a burst is
/// missed by it. In an epoch that the same ingest began anew it names the epoch before, as a ``ClusterFrame`` does.
package struct ClusterBeat: Sendable, Equatable {
    /// The time between two heartbeats.
    package static let interval: TimeAmount = .milliseconds(250)

    package var position: ClusterPosition
    /// The ingest's wall clock, ns since 1970, in µs.
    package var sent: Int64
    /// The ingest's name.
    package var member: String
    /// The last position of the same ingest's epoch before; `nil` in its first epoch.
    package var predecessor: ClusterPosition?

    package init(position: ClusterPosition, sent: Int64, member: String, predecessor: ClusterPosition? = nil) {
        self.position = position
        self.sent = sent
        self.member = member
        self.predecessor = predecessor
    }

    package func text() -> ByteBuffer {
        var out = JSONWriter(type: "beat")
        out.position(self.position)
        out.field("sent", self.sent / 1_000)
        out.field("member", self.member)
        out.predecessor(self.predecessor)
        return out.finish()
    }

    /// Reads a text; `nil` if it is no heartbeat.
    package static func parse(_ text: ByteBuffer) -> ClusterBeat? {
        guard let head = ClusterHead(text), head.type == "beat", let position = head.position, let sent = head.sentTime,
            let member = head.member, ClusterSubjects.isName(member)
        else { return nil }
        return ClusterBeat(position: position, sent: sent, member: member, predecessor: head.predecessor)
    }
}
