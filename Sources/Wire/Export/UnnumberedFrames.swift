import NIOCore

/// The frames of numbered recordings whose trades have no numbers, because the tape left them out. Several files may
/// contain such a frame. It is written as many times as it occurs in the file with the most occurrences.
///
/// A frame is identified by its arrival and its text. A full set forgets everything, and frames in several files may
/// then be written twice.
struct UnnumberedFrames: Sendable {
    /// The largest number of frames remembered, and of their bytes.
    private static let most = 1 << 12
    private static let maximumBytes = 16 << 20

    private struct Name: Hashable {
        var epoch: UInt64
        var received: Int64
        var text: ByteBuffer
    }

    private var written: [Name: Int] = [:]
    /// The number of occurrences in this file.
    private var seen: [Name: Int] = [:]
    private var bytes = 0
    private var files = 0
    private var hasForgotten = false

    /// Whether frames in several files may have been written twice.
    var mayRepeat: Bool { self.hasForgotten && self.files > 1 }

    /// Begins another file.
    mutating func beginFile() {
        self.seen = [:]
        self.files += 1
    }

    /// Notes that a file contains a frame; returns whether it still has to be written.
    mutating func insert(_ frame: ByteBuffer, epoch: UInt64, received: Int64) -> Bool {
        let name = Name(epoch: epoch, received: received, text: frame)
        if self.written.count >= Self.most || self.bytes >= Self.maximumBytes {
            (self.written, self.seen, self.bytes) = ([:], [:], 0)
            self.hasForgotten = true
        }
        let count = self.seen[name, default: 0] + 1
        self.seen[name] = count
        guard count > self.written[name, default: 0] else { return false }
        if self.written.updateValue(count, forKey: name) == nil { self.bytes += frame.readableBytes }
        return true
    }
}
