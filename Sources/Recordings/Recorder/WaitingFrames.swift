package import NIOCore

/// The bytes of frames that wait for the disk, copied side by side, in order.
///
/// Copied, because a frame is a slice of the buffer of a socket read. Keeping the slice would prevent that buffer's
/// reuse, and the writing thread would have to find and free such buffers one by one, in memory outside its processor's
/// cache: that took nearly half of its time at a thousand frames a second.
package struct WaitingFrames: Sendable {
    /// The size of an allocation, bytes; below the size from which malloc maps fresh memory each time.
    private static let chunkBytes = 64 << 10

    /// No frame spans two chunks.
    private var chunks: [ByteBuffer] = []
    /// The index of the chunk that is read next.
    private var place = 0

    package init() {}

    /// Appends a copy of a frame.
    package mutating func append(_ frame: ByteBuffer) {
        let length = frame.readableBytes
        if self.chunks.last.map({ $0.writableBytes < length }) ?? true {
            self.chunks.append(ByteBufferAllocator().buffer(capacity: max(length, Self.chunkBytes)))
        }
        self.chunks[self.chunks.count - 1].writeImmutableBuffer(frame)
    }

    /// Returns the next frame, which was appended with that length.
    package mutating func next(_ length: Int) -> ByteBuffer {
        while self.place < self.chunks.count {
            if let frame = self.chunks[self.place].readSlice(length: length) { return frame }
            self.place += 1
        }
        preconditionFailure("a frame of \(length) bytes was never appended")
    }

    /// Removes all frames, and keeps one chunk of the usual size for reuse.
    package mutating func clear() {
        self.place = 0
        self.chunks.removeSubrange(min(1, self.chunks.count)...)
        guard !self.chunks.isEmpty else { return }
        // Inspected in place: a second reference to the chunk would force a copy.
        if self.chunks[0].capacity > Self.chunkBytes { self.chunks = [] } else { self.chunks[0].clear() }
    }
}
