import Market
import NIOCore
import Recordings
import Wire

/// One recording file, compressed or not, opened to be read from any place: lines are found by bisection, and read in
/// bounded windows. Places are those of its text.
///
/// Blocks for as long as the disk takes. Belongs to one thread at a time.
final class SegmentFile {
    /// What is read at a time, in bytes.
    static let windowBytes: Int64 = 4 << 20
    /// What is read to find one line, in bytes.
    private static let probeBytes: Int64 = 64 << 10

    private let text: RecordingText
    let header: RecordingHeader
    private let start: Int64
    /// Of the text, bytes.
    var size: Int64 { self.text.length }

    /// Opens a file; `nil` where it is not there, or is no recording that has a clock.
    init?(path: String) {
        guard let text = RecordingText(path: path) else { return nil }
        var lines = RecordingReader()
        if let head = text.read(at: 0, count: min(text.length, 256 << 10)) { lines.feed(head) }
        guard case .header(let header)? = lines.next(), let start = header.start else { return nil }
        self.text = text
        self.header = header
        self.start = start
    }

    /// The next stretch of the text from a place on that may hold trades of a symbol, and not more than can be read at a time;
    /// `nil` where none is left. By the index, where the file has one.
    func stretch(of symbol: String, from place: Int64) -> Range<Int64>? {
        self.text.stretch(of: symbol, from: place, atMost: Self.windowBytes)
    }

    /// The same backwards: the last before a place.
    func stretch(of symbol: String, before end: Int64) -> Range<Int64>? {
        self.text.stretch(of: symbol, before: end, atMost: Self.windowBytes)
    }

    /// What the index says of a file that is complete: its first and last frames, read from its two ends.
    ///
    /// - Parameter path: the name in the index, which is that of the file before it is compressed.
    func entry(path: String) -> HistoryBatch.Segment {
        let first = self.firstFrame(from: 0)
        var last: RecordedFrame?
        var bytes = Self.probeBytes
        while last == nil {
            let count = min(bytes, self.size)
            self.read(at: self.size - count, count: count) { frame in
                if frame.numbers != nil { last = frame }
                return true
            }
            if count == self.size || bytes >= Self.windowBytes { break }
            bytes *= 4
        }
        var sequences: Range<UInt64>?
        if let lower = first?.numbers?.first, let upper = last?.numbers {
            let (end, isOut) = upper.first.addingReportingOverflow(UInt64(max(upper.count, 0)))
            if !isOut, lower <= end { sequences = lower..<end }
        }
        return HistoryBatch.Segment(
            path: path,
            epoch: self.header.epoch,
            sequences: sequences,
            firstTime: self.start,
            lastTime: max(self.start, last.map { self.arrival(of: $0) } ?? self.start)
        )
    }

    /// When a frame arrived, ns since 1970.
    func arrival(of frame: RecordedFrame) -> Int64 {
        frame.wall.map { $0 &* 1_000 } ?? self.start
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
        guard var bytes = self.text.read(at: begin, count: min(self.size, place + count) - begin) else {
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
                guard let part = self.text.read(at: tail, count: more) else { return false }
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
}
