import NIOCore
import Wire

/// The newest frames of an ingest, for edges that have missed some; bounded in bytes and in age.
struct FrameLog {
    private struct Entry {
        var frame: ClusterFrame
        var madeAt: NIODeadline
    }

    /// The bytes that an ingest keeps.
    static let usualBytes = 16 << 20
    /// How long it keeps them.
    static let usualSpan: TimeAmount = .seconds(120)
    /// The approximate memory of a frame beside its lines, in bytes.
    private static let cost = 128

    private let maximumBytes: Int
    private let span: TimeAmount
    /// The oldest first; of one epoch, and numbered without a hole.
    private var entries: CircularBuffer<Entry> = []
    private var bytes = 0

    init(maximumBytes: Int = FrameLog.usualBytes, span: TimeAmount = FrameLog.usualSpan) {
        self.maximumBytes = maximumBytes
        self.span = span
    }

    mutating func append(_ frame: ClusterFrame, now: NIODeadline) {
        if let last = self.entries.last, last.frame.position.epoch != frame.position.epoch { self.removeAll() }
        self.entries.append(Entry(frame: frame, madeAt: now))
        self.bytes += frame.lines.readableBytes + Self.cost
        while let oldest = self.entries.first, self.bytes > self.maximumBytes || oldest.madeAt + self.span < now {
            self.bytes -= oldest.frame.lines.readableBytes + Self.cost
            self.entries.removeFirst()
        }
    }

    mutating func removeAll() {
        self.entries.removeAll()
        self.bytes = 0
    }

    /// Returns the frames after a position, the oldest first.
    ///
    /// - Parameters:
    ///   - newest: the position of the newest frame.
    ///   - limit: about how many bytes; at least one frame is returned.
    func answer(after position: ClusterPosition, newest: ClusterPosition, about limit: Int) -> ClusterHistoryAnswer {
        guard position.epoch == newest.epoch, position.frame <= newest.frame else {
            return ClusterHistoryAnswer(isComplete: false, frames: [])
        }
        if position.frame == newest.frame { return ClusterHistoryAnswer(isComplete: true, frames: []) }
        guard let first = self.entries.first?.frame.position, first.epoch == position.epoch,
            first.frame <= position.frame + 1
        else { return ClusterHistoryAnswer(isComplete: false, frames: []) }
        var frames: [ClusterFrame] = []
        var bytes = 0
        var place = Int(position.frame + 1 - first.frame)
        while place < self.entries.count {
            let frame = self.entries[offset: place].frame
            bytes += frame.lines.readableBytes + Self.cost
            if bytes > limit, !frames.isEmpty { break }
            frames.append(frame)
            place += 1
        }
        return ClusterHistoryAnswer(isComplete: true, frames: frames)
    }
}
