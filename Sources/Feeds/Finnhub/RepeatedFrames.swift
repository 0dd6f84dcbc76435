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
    private var frames: [(bytes: [UInt8], at: Int64)] = []
    private var next = 0

    /// Forgets the frames: another connection begins.
    mutating func reset() {
        self.frames.removeAll()
        self.next = 0
    }

    /// Takes a frame with trades; answers whether it came before.
    mutating func isRepeat(_ frame: ByteBuffer, now: Int64) -> Bool {
        guard frame.readableBytes <= Self.longest else { return false }
        return frame.withUnsafeReadableBytes { bytes in
            for known in self.frames where known.bytes.count == bytes.count && now - known.at <= Self.window {
                if known.bytes.withUnsafeBytes({ Self.isEqual($0, bytes) }) { return true }
            }
            self.remember(bytes, now: now)
            return false
        }
    }

    private mutating func remember(_ bytes: UnsafeRawBufferPointer, now: Int64) {
        if self.frames.count < Self.remembered { self.frames.append(([], now)) }
        self.frames[self.next].bytes.removeAll(keepingCapacity: true)
        self.frames[self.next].bytes.append(contentsOf: bytes)
        self.frames[self.next].at = now
        self.next = (self.next + 1) % Self.remembered
    }

    /// Compares as many bytes of both, eight at a time; most frames differ early.
    private static func isEqual(_ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Bool {
        var place = 0
        while place + 8 <= one.count {
            let word = one.loadUnaligned(fromByteOffset: place, as: UInt64.self)
            guard word == other.loadUnaligned(fromByteOffset: place, as: UInt64.self) else { return false }
            place += 8
        }
        while place < one.count {
            guard one[place] == other[place] else { return false }
            place += 1
        }
        return true
    }
}
