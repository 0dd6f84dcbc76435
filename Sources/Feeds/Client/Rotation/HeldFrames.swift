import NIOCore

/// The ids of one symbol's trades in a frame.
struct FrameIDs: Equatable {
    /// The name on the tape.
    var symbol: String
    /// From the smallest to the largest.
    var ids: ClosedRange<UInt64>
}

/// The frames of a second connection with trades that the first one has not brought yet, in order.
///
/// Bounded: a full store is a reason to change to the second connection.
struct HeldFrames {
    struct Frame {
        var bytes: ByteBuffer
        var ids: [FrameIDs]
        /// When it came; monotonic ns.
        var at: Int64
    }

    /// The size from which the store counts as full. The change follows within the same turn of the loop, so what one
    /// read brings until then still finds room.
    static let maximumCount = 16_384
    static let maximumBytes = 8 << 20

    private var frames = CircularBuffer<Frame>()
    private var bytes = 0

    var isEmpty: Bool { self.frames.isEmpty }
    var isFull: Bool { self.frames.count >= Self.maximumCount || self.bytes >= Self.maximumBytes }
    var first: Frame? { self.frames.first }

    /// Adds a frame; copies it, so that it does not keep the buffer of its read alive.
    mutating func append(_ bytes: ByteBuffer, ids: [FrameIDs], at: Int64) {
        guard self.frames.count < 2 * Self.maximumCount, self.bytes < 2 * Self.maximumBytes else { return }
        self.bytes += bytes.readableBytes
        self.frames.append(Frame(bytes: ByteBuffer(bytes: bytes.readableBytesView), ids: ids, at: at))
    }

    mutating func removeFirst() -> Frame {
        let frame = self.frames.removeFirst()
        self.bytes -= frame.bytes.readableBytes
        return frame
    }
}
