package import NIOCore

/// The present state of an ingest, or a part of it:
/// `{"type":"snapshot","epoch":…,"frame":…,"seq":…,"sent":…,"member":…}`, and behind it messages of `/v1/stream`:
/// `status`, `symbol` and `venueDay`. Frames after the position follow it.
///
/// A part has the symbols behind the name ``after`` up to ``upTo``, in the order of their names. The first part has the
/// feed's status. Each part is that of its own position. All messages are absolute, so the frames after the position of
/// the first part make a whole of them.
package struct ClusterSnapshot: Sendable, Equatable {
    package var position: ClusterPosition
    /// The ingest's wall clock, ns since 1970, in µs.
    package var sent: Int64
    /// The ingest's name.
    package var member: String
    /// The last symbol of the part before; `nil` in the first part.
    package var after: String?
    /// The last symbol of this part; `nil` if no further part follows.
    package var upTo: String?
    /// The messages, each with a line feed.
    package var lines: ByteBuffer

    package init(
        position: ClusterPosition,
        sent: Int64,
        member: String,
        after: String? = nil,
        upTo: String? = nil,
        lines: ByteBuffer
    ) {
        self.position = position
        self.sent = sent
        self.member = member
        self.after = after
        self.upTo = upTo
        self.lines = lines
    }

    /// Whether this part has all that the ingest says of a symbol.
    package func covers(_ symbol: String) -> Bool {
        (self.after.map { $0 < symbol } ?? true) && (self.upTo.map { symbol <= $0 } ?? true)
    }

    package func text() -> ByteBuffer {
        var out = JSONWriter(type: "snapshot")
        out.position(self.position)
        out.field("sent", self.sent / 1_000)
        out.field("member", self.member)
        if let after { out.field("after", after) }
        if let upTo { out.field("upTo", upTo) }
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
        if let upTo = head.upTo, let after = head.after, upTo <= after { return nil }
        return ClusterSnapshot(
            position: position,
            sent: sent,
            member: member,
            after: head.after,
            upTo: head.upTo,
            lines: rest
        )
    }
}

/// A request for a ``ClusterSnapshot``: `{"type":"snapshot","epoch":…}`, with `"after":…` for a further part.
package struct ClusterSnapshotRequest: Sendable, Equatable {
    /// An ingest of a lower epoch, which another one has replaced, leaves the request unanswered.
    package var epoch: UInt64
    /// The last symbol of the part before; `nil` for the first part.
    package var after: String?

    package init(epoch: UInt64, after: String? = nil) {
        self.epoch = epoch
        self.after = after
    }

    package func text() -> ByteBuffer {
        var out = JSONWriter(type: "snapshot")
        out.field("epoch", self.epoch)
        if let after { out.field("after", after) }
        return out.finish()
    }

    /// Reads a text; `nil` if it is no such request.
    package static func parse(_ text: ByteBuffer) -> ClusterSnapshotRequest? {
        guard let head = ClusterHead(text), head.type == "snapshot" else { return nil }
        return ClusterSnapshotRequest(epoch: head.epoch ?? 0, after: head.after)
    }
}
