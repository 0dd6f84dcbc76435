import NIOCore

/// Frames of numbered recordings whose trades have no numbers, as the tape has left them out: each file may have them, and they
/// are written as often as the file that has them most often.
///
/// Their arrival and their text name them. A set that is full forgets: then what several files have may be there twice.
struct UnnumberedFrames: Sendable {
    /// So many are remembered, and so many bytes of them.
    private static let most = 1 << 12
    private static let mostBytes = 16 << 20

    private struct Name: Hashable {
        var epoch: UInt64
        var received: Int64
        var text: ByteBuffer
    }

    private var written: [Name: Int] = [:]
    /// How often this file has had them.
    private var seen: [Name: Int] = [:]
    private var bytes = 0
    private var files = 0
    private var hasForgotten = false

    /// Whether what several files have may have been written twice.
    var mayRepeat: Bool { self.hasForgotten && self.files > 1 }

    /// Begins another file.
    mutating func beginFile() {
        self.seen = [:]
        self.files += 1
    }

    /// Notes that a file has a frame; returns whether it is not written yet.
    mutating func insert(_ frame: ByteBuffer, epoch: UInt64, received: Int64) -> Bool {
        let name = Name(epoch: epoch, received: received, text: frame)
        if self.written.count >= Self.most || self.bytes >= Self.mostBytes {
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
