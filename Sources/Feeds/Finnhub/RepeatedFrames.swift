import NIOCore

/// The last few frames of a connection, to know one that comes again byte for byte.
///
/// The service has delivered messages three times over on one connection (reference, section 4). A frame of one trade that
/// comes twice within two seconds is taken for such: real trades of the same millisecond, price and size come in one
/// message, unless there are more of them than one message holds and nothing else is in either.
struct RepeatedFrames {
    /// How many frames are remembered, for how long, in ns, and up to which size, in bytes.
    static let remembered = 4
    static let window: Int64 = 2_000_000_000
    static let longest = 16 << 10

    /// Copies: a slice would keep the storage of the read it came in from being used again.
    private var frames: [(bytes: ByteBuffer, at: Int64)] = []
    private var next = 0

    /// Forgets the frames: another connection begins.
    mutating func reset() {
        self.frames.removeAll()
        self.next = 0
    }

    /// Takes a frame with trades; answers whether it came before.
    mutating func isRepeat(_ bytes: ByteBuffer, now: Int64) -> Bool {
        guard bytes.readableBytes <= Self.longest else { return false }
        for frame in self.frames where frame.bytes.readableBytes == bytes.readableBytes {
            if now - frame.at <= Self.window, frame.bytes == bytes { return true }
        }
        if self.frames.count < Self.remembered { self.frames.append((ByteBuffer(), now)) }
        self.frames[self.next].bytes.clear()
        self.frames[self.next].bytes.writeImmutableBuffer(bytes)
        self.frames[self.next].at = now
        self.next = (self.next + 1) % Self.remembered
        return false
    }
}
