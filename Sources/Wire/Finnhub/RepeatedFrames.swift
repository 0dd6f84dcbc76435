package import NIOCore

/// The newest frames of a connection, for recognising one that repeats byte for byte.
///
/// The service has delivered messages three times on one connection (reference, section 4). Nothing proves that a frame
/// is such a repeat: real trades share time, price and size, and a burst of equal trades fills several frames. The
/// result is therefore only a suspicion. It is meaningful only for frames as the service sent them: a relay that cuts
/// frames to fewer symbols turns different frames into equal ones.
package struct RepeatedFrames: Sendable {
    /// The number of remembered frames, the time since their last appearance, in ns, and their largest size, in bytes.
    package static let remembered = 64
    package static let window: Int64 = 2_000_000_000
    package static let longest = 16 << 10

    private struct Frame: Sendable {
        /// A copy: a slice would prevent the read's storage from being reused.
        var bytes: [UInt8]
        var at: Int64
    }

    private var frames: [Frame] = []
    /// A fingerprint of each frame. Equal frames have equal fingerprints, so the bytes of most others are never read.
    private var prints: [UInt32] = []
    private var next = 0

    package init() {}

    /// Forgets all frames, for a new connection.
    package mutating func reset() {
        self.frames.removeAll(keepingCapacity: true)
        self.prints.removeAll(keepingCapacity: true)
        self.next = 0
    }

    /// Takes a frame with trades; returns whether it repeats an earlier one.
    package mutating func isRepeat(_ bytes: ByteBuffer, now: Int64) -> Bool {
        guard bytes.readableBytes <= Self.longest else { return false }
        return bytes.withUnsafeReadableBytes { self.isRepeat($0, now: now) }
    }

    private mutating func isRepeat(_ bytes: UnsafeRawBufferPointer, now: Int64) -> Bool {
        let print = Self.print(of: bytes)
        for index in self.knows(print) ? self.prints.indices : 0..<0 where self.prints[index] == print {
            // A recording may contain any time.
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

    /// Returns a fingerprint of the length and a few places: the prices and times of the first and the last trade.
    private static func print(of bytes: UnsafeRawBufferPointer) -> UInt32 {
        var print = UInt64(bytes.count)
        guard bytes.count >= 64 else { return UInt32(truncatingIfNeeded: print) }
        for offset in [24, 48, bytes.count / 2, bytes.count - 40, bytes.count - 32, bytes.count - 24] {
            print = (print ^ bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) &* 0x9E37_79B9_7F4A_7C15
            print ^= print >> 29
        }
        return UInt32(truncatingIfNeeded: print)
    }

    /// Returns whether any frame has this fingerprint; the loop has no branch.
    private func knows(_ print: UInt32) -> Bool {
        self.prints.withUnsafeBufferPointer { prints in
            var found: UInt32 = 0
            for other in prints { found |= other == print ? 1 : 0 }
            return found != 0
        }
    }

    /// Returns whether both are equal, comparing eight bytes at a time. Most different frames differ early.
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
