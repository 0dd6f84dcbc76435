package import NIOCore

/// The bytes of frames that wait for the disk, copied side by side, in order.
///
/// Copied, because a frame is a slice of what a read of the socket brought. Kept, it would keep all of that from being used
/// for the next read, and the writing thread would have to find and free it piece by piece, in memory that its processor has
/// not seen: that was near half of its time at a thousand frames a second.
package struct WaitingFrames: Sendable {
    /// What is taken from the system at once; below what malloc would map anew each time.
    private static let chunkBytes = 64 << 10

    /// No frame lies in two of them.
    private var chunks: [ByteBuffer] = []
    /// The chunk that is read next.
    private var place = 0

    package init() {}

    /// Copies a frame behind the others.
    package mutating func append(_ frame: ByteBuffer) {
        let length = frame.readableBytes
        if self.chunks.last.map({ $0.writableBytes < length }) ?? true {
            self.chunks.append(ByteBufferAllocator().buffer(capacity: max(length, Self.chunkBytes)))
        }
        self.chunks[self.chunks.count - 1].writeImmutableBuffer(frame)
    }

    /// The next frame, which was appended with that length.
    package mutating func next(_ length: Int) -> ByteBuffer {
        while self.place < self.chunks.count {
            if let frame = self.chunks[self.place].readSlice(length: length) { return frame }
            self.place += 1
        }
        preconditionFailure("a frame of \(length) bytes was never appended")
    }

    /// Is empty now, with memory for what comes next if it has as much as is usual.
    package mutating func clear() {
        self.place = 0
        self.chunks.removeSubrange(min(1, self.chunks.count)...)
        guard !self.chunks.isEmpty else { return }
        // Asked in place: with another reference to it the chunk would be made anew.
        if self.chunks[0].capacity > Self.chunkBytes { self.chunks = [] } else { self.chunks[0].clear() }
    }
}
