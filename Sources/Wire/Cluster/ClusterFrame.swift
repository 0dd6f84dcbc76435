package import NIOCore

/// A frame of a cluster: everything that happened on the ingest's tape since the frame before.
///
/// It is text. The first line, the head, names the frame's position: `{"type":"frame","epoch":…,"frame":…,"seq":…,
/// "trades":…,"sent":…}`. The frames of an epoch that the same ingest began anew also name the last position of the
/// epoch before: `"afterEpoch":…,"afterFrame":…,"afterSeq":…`. Each further line is a message of `/v1/stream`, in the
/// tape's order: `trade`, `status`, `symbol`, `gap`, `settled` and `venueDay`. The trades' numbers end with the head's
/// `seq` and have no hole.
package struct ClusterFrame: Sendable, Equatable {
    /// The position that the frame reaches.
    package var position: ClusterPosition
    /// How many of the lines are trades.
    package var trades: Int
    /// The ingest's wall clock when the frame was made, ns since 1970, in µs.
    package var sent: Int64
    /// The lines behind the head, each with a line feed.
    package var lines: ByteBuffer
    /// The last position of the same ingest's epoch before, which the first frame follows; `nil` in its first epoch.
    package var predecessor: ClusterPosition?

    package init(
        position: ClusterPosition,
        trades: Int,
        sent: Int64,
        lines: ByteBuffer,
        predecessor: ClusterPosition? = nil
    ) {
        self.position = position
        self.trades = trades
        self.sent = sent
        self.lines = lines
        self.predecessor = predecessor
    }

    /// The number of the tape's newest trade before the frame.
    package var sequenceBefore: UInt64 { self.position.sequence - UInt64(self.trades) }

    /// Returns the text.
    package func text() -> ByteBuffer {
        var out = JSONWriter(type: "frame")
        out.position(self.position)
        out.field("trades", self.trades)
        out.field("sent", self.sent / 1_000)
        out.predecessor(self.predecessor)
        var text = out.finish()
        text.writeStaticString("\n")
        text.writeImmutableBuffer(self.lines)
        return text
    }

    /// Reads a text; `nil` if it does not begin with the head of a frame. The lines are not read.
    package static func parse(_ text: ByteBuffer) -> ClusterFrame? {
        var rest = text
        guard let line = rest.readClusterLine(), let head = ClusterHead(line), head.type == "frame" else { return nil }
        return ClusterFrame(head, lines: rest)
    }

    init?(_ head: ClusterHead, lines: ByteBuffer) {
        guard let position = head.position, position.frame > 0, let sent = head.sentTime,
            let trades = head.trades.flatMap(Int.init(exactly:)), UInt64(trades) <= position.sequence
        else { return nil }
        self.init(position: position, trades: trades, sent: sent, lines: lines, predecessor: head.predecessor)
    }
}

extension ByteBuffer {
    /// Whether the text begins so. The first member of every message is its type.
    func begins(with start: StaticString) -> Bool {
        self.readableBytesView.starts(
            with: UnsafeBufferPointer(start: start.utf8Start, count: start.utf8CodeUnitCount)
        )
    }

    /// Reads a line without its line feed, or the rest; `nil` at the end. The result shares the storage.
    package mutating func readClusterLine() -> ByteBuffer? {
        guard self.readableBytes > 0 else { return nil }
        guard let end = self.readableBytesView.firstIndex(of: UInt8(ascii: "\n")) else {
            return self.readSlice(length: self.readableBytes)
        }
        let line = self.readSlice(length: end - self.readerIndex)
        self.moveReaderIndex(forwardBy: 1)
        return line
    }
}
