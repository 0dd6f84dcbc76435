import NIOCore

/// The frames of a replay's connection that have arrived before its turn, in order.
///
/// Its owner stops reading from the socket while it is full, so it exceeds its limit by one read at most.
struct TurnQueue {
    /// The size from which it is full, bytes.
    static let limit = 1 << 20

    private var frames = CircularBuffer<ByteBuffer>()
    private var bytes = 0

    var isEmpty: Bool { self.frames.isEmpty }
    var isFull: Bool { self.bytes >= Self.limit }

    mutating func append(_ frame: ByteBuffer) {
        self.bytes += frame.readableBytes
        self.frames.append(frame)
    }

    mutating func removeFirst() -> ByteBuffer {
        let frame = self.frames.removeFirst()
        self.bytes -= frame.readableBytes
        return frame
    }
}
