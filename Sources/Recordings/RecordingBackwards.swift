import Glibc
package import NIOCore
package import Wire

/// A recording's text from its end to its start, in blocks, from a file that may be compressed.
package final class RecordingBackwards {
    private static let blockBytes = 1 << 20

    private let file: DiskFile
    private let packed: PackedSegment?
    /// The next block's end: a place in the file, or in the compressed file's list of frames.
    private var end: Int64
    /// What the first line says; `nil` where that is no header.
    package let header: RecordingHeader?

    /// Opens a complete file; `nil` where it cannot be read, or is still written by its recorder.
    package init?(path: String) {
        guard let file = try? DiskFile(reading: path), flock(file.descriptor, LOCK_SH | LOCK_NB) == 0 else {
            return nil
        }
        self.file = file
        self.packed = PackedSegment(file)
        self.end = self.packed.map { Int64($0.frames.count) } ?? file.size
        self.header = FirstLine.header(of: file)
        // Without a table there is no way back through a compressed file.
        guard self.packed != nil || !Self.isPacked(file) else { return nil }
    }

    private static func isPacked(_ file: DiskFile) -> Bool {
        let head = try? file.read(at: 0, count: 4)
        return head?.getInteger(at: 0, endianness: .little, as: UInt32.self).map(FrameMagic.isStart) ?? false
    }

    /// The block before those given so far, at most so many bytes where the file is not compressed; `nil` at the start, and
    /// where it cannot be read.
    package func previous(atMost limit: Int) -> (text: ByteBuffer, isFirst: Bool)? {
        guard self.end > 0 else { return nil }
        if let packed {
            self.end -= 1
            guard let text = try? packed.text(of: Int(self.end)) else { return nil }
            return (text, self.end == 0)
        }
        let count = min(self.end, Int64(min(Self.blockBytes, limit)))
        self.end -= count
        guard let text = try? self.file.read(at: self.end, count: Int(count)), text.readableBytes == Int(count) else {
            return nil
        }
        return (text, self.end == 0)
    }
}
