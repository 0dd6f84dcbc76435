package import NIOCore

/// The newest frames of a connection, to know one that comes again byte for byte.
///
/// The service has delivered messages three times over on one connection (reference, section 4). Nothing proves that a frame
/// is such a repeat: real trades share time, price and size, and a burst of equal ones fills several frames. So this is a
/// suspicion. It means something only for frames as the service sent them: a relay that cuts them to fewer symbols makes
/// equal frames of different ones.
package struct RepeatedFrames: Sendable {
    /// How many frames are remembered, for how long since they came last, in ns, and up to which size, in bytes.
    package static let remembered = 64
    package static let window: Int64 = 2_000_000_000
    package static let longest = 16 << 10

    private struct Frame: Sendable {
        /// A copy: a slice would keep the storage of the read it came in from being used again.
        var bytes: [UInt8]
        var at: Int64
    }

    private var frames: [Frame] = []
    /// A number for each of them, so that the others need not be touched: equal frames have equal ones.
    private var prints: [UInt32] = []
    private var next = 0

    package init() {}

    /// Forgets the frames: another connection begins.
    package mutating func reset() {
        self.frames.removeAll(keepingCapacity: true)
        self.prints.removeAll(keepingCapacity: true)
        self.next = 0
    }

    /// Takes a frame with trades; returns whether it came before.
    package mutating func isRepeat(_ bytes: ByteBuffer, now: Int64) -> Bool {
        guard bytes.readableBytes <= Self.longest else { return false }
        return bytes.withUnsafeReadableBytes { self.isRepeat($0, now: now) }
    }

    private mutating func isRepeat(_ bytes: UnsafeRawBufferPointer, now: Int64) -> Bool {
        let print = Self.print(of: bytes)
        for index in self.knows(print) ? self.prints.indices : 0..<0 where self.prints[index] == print {
            // A recording may say any time.
            let age = now.subtractingReportingOverflow(self.frames[index].at)
            guard !age.overflow, (0...Self.window).contains(age.partialValue) else { continue }
            if Self.areEqual(self.frames[index].bytes, bytes) {
                self.frames[index].at = now
                return true
            }
        }
        if self.frames.count < Self.remembered {
            self.frames.append(Frame(bytes: Array(bytes), at: now))
            self.prints.append(print)
        } else {
            self.frames[self.next].bytes.removeAll(keepingCapacity: true)
            self.frames[self.next].bytes.append(contentsOf: bytes)
            self.frames[self.next].at = now
            self.prints[self.next] = print
        }
        self.next = (self.next + 1) % Self.remembered
        return false
    }

    /// A number made of the length and of a few places: where the first trade has its price and time, and the last one its own.
    private static func print(of bytes: UnsafeRawBufferPointer) -> UInt32 {
        var print = UInt64(bytes.count)
        guard bytes.count >= 64 else { return UInt32(truncatingIfNeeded: print) }
        for offset in [24, 48, bytes.count / 2, bytes.count - 40, bytes.count - 32, bytes.count - 24] {
            print = (print ^ bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) &* 0x9E37_79B9_7F4A_7C15
            print ^= print >> 29
        }
        return UInt32(truncatingIfNeeded: print)
    }

    /// Whether it is the number of any of them: all are looked at, without a branch.
    private func knows(_ print: UInt32) -> Bool {
        self.prints.withUnsafeBufferPointer { prints in
            var found: UInt32 = 0
            for other in prints { found |= other == print ? 1 : 0 }
            return found != 0
        }
    }

    /// Whether both are the same, eight bytes at a time: most that differ do so early.
    private static func areEqual(_ known: [UInt8], _ bytes: UnsafeRawBufferPointer) -> Bool {
        guard known.count == bytes.count else { return false }
        return known.withUnsafeBytes { known in
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
