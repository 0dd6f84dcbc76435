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
    /// The approximate memory of a frame beside its lines, in bytes.
    private static let cost = 128

    private let maximumBytes: Int
    private let span: TimeAmount
    /// The oldest first; each is the next one behind the one before it.
    private var entries: CircularBuffer<Entry> = []
    private(set) var bytes = 0

    init(maximumBytes: Int = FrameLog.usualBytes, span: TimeAmount = ClusterHistoryRequest.span) {
        self.maximumBytes = maximumBytes
        self.span = span
    }

    mutating func append(_ frame: ClusterFrame, now: NIODeadline) {
        self.entries.append(Entry(frame: frame, madeAt: now))
        self.bytes += Self.memory(of: frame)
        while let oldest = self.entries.first, self.bytes > self.maximumBytes || oldest.madeAt + self.span < now {
            self.bytes -= Self.memory(of: oldest.frame)
            self.entries.removeFirst()
        }
    }

    private static func memory(of frame: ClusterFrame) -> Int { frame.lines.storageCapacity + Self.cost }

    /// Returns the frames after a position, the oldest first.
    ///
    /// - Parameters:
    ///   - newest: the position of the newest frame.
    ///   - limit: about how many bytes; at least one frame is returned.
    func answer(after position: ClusterPosition, newest: ClusterPosition, about limit: Int) -> ClusterHistoryAnswer {
        if position.epoch == newest.epoch, position.frame == newest.frame {
            return ClusterHistoryAnswer(isComplete: true, frames: [])
        }
        guard var place = self.place(after: position, newest: newest) else {
            return ClusterHistoryAnswer(isComplete: false, frames: [])
        }
        var frames: [ClusterFrame] = []
        var bytes = 0
        while place < self.entries.count {
            let frame = self.entries[offset: place].frame
            bytes += frame.lines.readableBytes + Self.cost
            if bytes > limit, !frames.isEmpty { break }
            frames.append(frame)
            place += 1
        }
        return ClusterHistoryAnswer(isComplete: true, newest: newest, frames: frames)
    }

    /// Returns the place of the frame behind a position; `nil` if it is gone, or has not been sent.
    private func place(after position: ClusterPosition, newest: ClusterPosition) -> Int? {
        if position.epoch == newest.epoch {
            guard position.frame < newest.frame, newest.frame - position.frame <= UInt64(self.entries.count) else {
                return nil
            }
            let place = self.entries.count - Int(newest.frame - position.frame)
            return self.entries[offset: place].frame.position.epoch == position.epoch ? place : nil
        }
        // An edge that missed the end of the epoch before: this is rare.
        return self.entries.firstIndex {
            let own = $0.frame.position
            if own.epoch == position.epoch { return own.frame == position.frame + 1 }
            return own.frame == 1 && $0.frame.predecessor == position
        }.map { self.entries.distance(from: self.entries.startIndex, to: $0) }
    }
}
