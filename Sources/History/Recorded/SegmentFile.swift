import Glibc
import Market
import NIOCore
import Wire

/// One recording file, opened to be read from any place: lines are found by bisection, and read in bounded windows.
///
/// Blocks for as long as the disk takes. Belongs to one thread at a time.
final class SegmentFile {
    /// What is read at a time, in bytes.
    static let windowBytes: Int64 = 4 << 20
    /// What is read to find one line, in bytes.
    private static let probeBytes: Int64 = 64 << 10

    private let descriptor: Int32
    let size: Int64
    let header: RecordingHeader
    private let start: Int64

    /// Opens a file; `nil` where it is not there, or is no recording that has a clock.
    init?(path: String) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            return nil
        }
        let size = Int64(status.st_size)
        var lines = RecordingReader()
        if let head = Self.read(descriptor, at: 0, count: min(size, 256 << 10)) { lines.feed(head) }
        guard case .header(let header)? = lines.next(), let start = header.start else {
            close(descriptor)
            return nil
        }
        self.descriptor = descriptor
        self.size = size
        self.header = header
        self.start = start
    }

    deinit { close(self.descriptor) }

    /// When a frame arrived, ns since 1970.
    ///
    /// Version 2 has the wall clock in each line, in µs.
    func arrival(of frame: RecordedFrame) -> Int64 {
        frame.wall.map { $0 &* 1_000 } ?? (self.start &+ frame.at)
    }

    /// The place of the first frame for which a condition holds; it holds for all that follow, too.
    func place(where holds: (RecordedFrame) -> Bool) -> Int64 {
        var (low, high) = (Int64(0), self.size)
        while high - low > Self.probeBytes {
            let middle = low + (high - low) / 2
            guard let frame = self.firstFrame(from: middle) else {
                high = middle
                continue
            }
            if holds(frame) { high = middle } else { low = middle }
        }
        return low
    }

    /// The first whole frame with numbers that begins behind a place.
    private func firstFrame(from place: Int64) -> RecordedFrame? {
        var bytes = Self.probeBytes
        while true {
            let count = min(bytes, self.size - place)
            var found: RecordedFrame?
            guard count > 0,
                self.read(
                    at: place,
                    count: count,
                    visit: { frame in
                        guard frame.numbers != nil else { return true }
                        found = frame
                        return false
                    }
                )
            else { return nil }
            if let found { return found }
            // A line may be long, and pings may stand between the trades.
            guard place + count < self.size, bytes < Int64(RecordingReader.maximumLineBytes) * 2 else { return nil }
            bytes *= 4
        }
    }

    /// Shows the frames of the whole lines in a stretch of the file, in order, until the visitor has seen enough; a line that
    /// begins before the stretch is left out, and one that ends behind it is read to its end.
    ///
    /// - Returns: `false` where the disk does not give the bytes.
    @discardableResult
    func read(at place: Int64, count: Int64, visit: (RecordedFrame) -> Bool) -> Bool {
        // One byte earlier, to see whether a line begins here.
        let begin = max(0, place - 1)
        guard var bytes = Self.read(self.descriptor, at: begin, count: min(self.size, place + count) - begin) else {
            return false
        }
        if place > 0 {
            guard let end = bytes.readableBytesView.firstIndex(of: UInt8(ascii: "\n")) else { return true }
            bytes.moveReaderIndex(to: end + 1)
        }
        if place + count < self.size {
            // The rest of the last line.
            var tail = place + count
            while !bytes.readableBytesView.isEmpty, bytes.readableBytesView.last != UInt8(ascii: "\n"),
                tail < self.size,
                bytes.readableBytes < Int(count) + RecordingReader.maximumLineBytes
            {
                let more = min(Self.probeBytes, self.size - tail)
                guard let part = Self.read(self.descriptor, at: tail, count: more) else { return false }
                let view = part.readableBytesView
                let end = view.firstIndex(of: UInt8(ascii: "\n"))
                bytes.writeBytes(view[..<(end.map { $0 + 1 } ?? view.endIndex)])
                if end != nil { break }
                tail += more
            }
        }
        var lines = RecordingReader()
        lines.feed(bytes)
        lines.finish()
        while let event = lines.next() {
            guard case .frame(let frame) = event else { continue }
            guard visit(frame) else { return true }
        }
        return true
    }

    private static func read(_ descriptor: Int32, at place: Int64, count: Int64) -> ByteBuffer? {
        var buffer = ByteBuffer()
        buffer.reserveCapacity(Int(count))
        while buffer.readableBytes < Int(count) {
            let offset = off_t(place) + off_t(buffer.readableBytes)
            let left = Int(count) - buffer.readableBytes
            let got = buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: left) { bytes in
                while true {
                    let got = pread(descriptor, bytes.baseAddress, left, offset)
                    if got >= 0 || errno != EINTR { return max(got, 0) }
                }
            }
            guard got > 0 else { return nil }
        }
        return buffer
    }
}
