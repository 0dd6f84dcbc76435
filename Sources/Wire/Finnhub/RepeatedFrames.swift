package import NIOCore

/// The last few frames of a connection, to know one that comes again byte for byte.
///
/// The service has delivered messages three times over on one connection (reference, section 4). A frame of one trade that
/// comes twice within two seconds is taken for such: real trades of the same millisecond, price and size come in one
/// message, unless there are more of them than one message holds and nothing else is in either.
package struct RepeatedFrames: Sendable {
    /// How many frames are remembered, for how long, in ns, and up to which size, in bytes.
    package static let remembered = 4
    package static let window: Int64 = 2_000_000_000
    package static let longest = 16 << 10

    private struct Frame: Sendable {
        /// A copy: a slice would keep the storage of the read it came in from being used again.
        var bytes: [UInt8]
        var at: Int64
    }

    private var frames: [Frame] = []
    private var next = 0

    package init() {}

    /// Forgets the frames: another connection begins.
    package mutating func reset() {
        self.frames.removeAll()
        self.next = 0
    }

    /// Takes a frame with trades; returns whether it came before.
    package mutating func isRepeat(_ bytes: ByteBuffer, now: Int64) -> Bool {
        guard bytes.readableBytes <= Self.longest else { return false }
        return bytes.withUnsafeReadableBytes { self.isRepeat($0, now: now) }
    }

    private mutating func isRepeat(_ bytes: UnsafeRawBufferPointer, now: Int64) -> Bool {
        for index in self.frames.indices where self.frames[index].bytes.count == bytes.count {
            // A recording may say any time.
            if now &- self.frames[index].at <= Self.window, Self.areEqual(self.frames[index].bytes, bytes) {
                return true
            }
        }
        if self.frames.count < Self.remembered {
            self.frames.append(Frame(bytes: Array(bytes), at: now))
        } else {
            self.frames[self.next].bytes.removeAll(keepingCapacity: true)
            self.frames[self.next].bytes.append(contentsOf: bytes)
            self.frames[self.next].at = now
        }
        self.next = (self.next + 1) % Self.remembered
        return false
    }

    /// Whether both are the same, eight bytes at a time: most that differ do so early.
    private static func areEqual(_ known: [UInt8], _ bytes: UnsafeRawBufferPointer) -> Bool {
        known.withUnsafeBytes { known in
            var index = 0
            while index + 8 <= bytes.count {
                guard
                    known.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                        == bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                else { return false }
                index += 8
            }
            while index < bytes.count {
                guard known[index] == bytes[index] else { return false }
                index += 1
            }
            return true
        }
    }
}
