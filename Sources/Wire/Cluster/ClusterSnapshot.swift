package import NIOCore

/// The present state of an ingest: `{"type":"snapshot","epoch":…,"frame":…,"seq":…,"sent":…,"member":…}`, and behind it
/// messages of `/v1/stream`: `status`, `symbol` and `venueDay`. Frames after the position follow it.
package struct ClusterSnapshot: Sendable, Equatable {
    package var position: ClusterPosition
    /// The ingest's wall clock, ns since 1970, in µs.
    package var sent: Int64
    /// The ingest's name.
    package var member: String
    /// The messages, each with a line feed.
    package var lines: ByteBuffer

    package init(position: ClusterPosition, sent: Int64, member: String, lines: ByteBuffer) {
        self.position = position
        self.sent = sent
        self.member = member
        self.lines = lines
    }

    /// Returns the text of a request. An ingest of a lower epoch than `epoch`, which another one has replaced, leaves it
    /// unanswered.
    package static func request(epoch: UInt64) -> ByteBuffer {
        var out = JSONWriter(type: "snapshot")
        out.field("epoch", epoch)
        return out.finish()
    }

    /// Reads a request; returns its epoch, 0 without one, or `nil` if it is none.
    package static func requestedEpoch(_ text: ByteBuffer) -> UInt64? {
        guard let head = ClusterHead(text), head.type == "snapshot" else { return nil }
        return head.epoch ?? 0
    }

    package func text() -> ByteBuffer {
        var out = JSONWriter(type: "snapshot")
        out.position(self.position)
        out.field("sent", self.sent / 1_000)
        out.field("member", self.member)
        var text = out.finish()
        text.writeStaticString("\n")
        text.writeImmutableBuffer(self.lines)
        return text
    }

    /// Reads a text; `nil` if it is no snapshot. The messages are not read.
    package static func parse(_ text: ByteBuffer) -> ClusterSnapshot? {
        var rest = text
        guard let line = rest.readClusterLine(), let head = ClusterHead(line), head.type == "snapshot",
            let position = head.position, let sent = head.sentTime, let member = head.member,
            ClusterSubjects.isName(member)
        else { return nil }
        return ClusterSnapshot(position: position, sent: sent, member: member, lines: rest)
    }
}
