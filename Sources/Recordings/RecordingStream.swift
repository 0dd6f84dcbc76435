import NIOCore
package import Wire

/// A recording from a place to its end, line by line, over all of its files: those of the same run in the same folder.
///
/// Times count from the first file's start. Files that are missing between others end it: what is behind a hole is another
/// recording.
package final class RecordingStream {
    /// One file of it.
    package struct Segment: Sendable {
        package var path: String
        /// How much later than the recording it began, ns.
        package var shift: Int64
        package var header: RecordingHeader
    }

    /// The files, in order; never empty.
    package let segments: [Segment]
    private var place = 0
    private var bytes: RecordingBytes
    private var reader = RecordingReader()
    private var isAtEnd = false
    /// Bytes of text that were read.
    package private(set) var bytesRead: Int64 = 0
    /// Parts of compressed files that could not be read.
    package private(set) var damagedParts = 0

    /// Opens a recording at its start.
    ///
    /// - Parameter followsSegments: whether the files behind the named one are read, too.
    package init(path: String, followsSegments: Bool = true) throws(RecordingFailure) {
        let map = try RecordingMap(path: path)
        let header = map.header ?? RecordingHeader()
        var segments = [Segment(path: path, shift: 0, header: header)]
        if followsSegments { Self.append(to: &segments) }
        self.segments = segments
        self.bytes = try RecordingBytes(path: path)
    }

    /// Finds the files that follow.
    private static func append(to segments: inout [Segment]) {
        guard let first = segments.first, let epoch = first.header.epoch, let monotonic = first.header.monotonic else {
            return
        }
        let names = SegmentNames(first: first.path)
        // The named file may be any of a recording's: its siblings have the first one's stem.
        let family = Self.siblings(of: first.path) ?? names.all()
        for sibling in family {
            guard let next = try? RecordingMap(path: sibling.path).header, let last = segments.last,
                next.epoch == epoch, let place = next.segment, place == (last.header.segment ?? 0) + 1,
                let began = next.monotonic, began >= monotonic
            else { continue }
            let (shift, isOut) = began.subtractingReportingOverflow(monotonic)
            guard !isOut else { continue }
            segments.append(Segment(path: sibling.path, shift: shift, header: next))
        }
    }

    /// The files with the same stem as one with a number behind it.
    private static func siblings(of path: String) -> [SegmentNames.Segment]? {
        guard let first = SegmentNames.first(of: path) else { return nil }
        let names = SegmentNames(first: first)
        let all = names.all()
        return all.contains { $0.path == path } ? all : nil
    }

    /// The next line; `nil` at the end.
    package func next() throws(RecordingFailure) -> RecordedLine? {
        while true {
            if let line = self.reader.nextLine() { return line }
            if self.isAtEnd { return nil }
            if let text = try self.bytes.next() {
                self.bytesRead += Int64(text.readableBytes)
                self.reader.feed(text)
            } else {
                try self.goOn()
            }
        }
    }

    private func goOn() throws(RecordingFailure) {
        self.damagedParts += self.bytes.damagedParts
        guard self.place + 1 < self.segments.count else {
            self.isAtEnd = true
            self.reader.finish()
            return
        }
        self.place += 1
        let segment = self.segments[self.place]
        self.bytes = try RecordingBytes(path: segment.path)
        // A torn line at the end of the file before is none of this one's.
        self.reader = RecordingReader(header: segment.header, offset: 0, shift: segment.shift)
    }

    /// Goes to the first line whose time is not before `at`, ns since the recording's start; to the end when there is none.
    package func seek(at: Int64) throws(RecordingFailure) {
        var place = self.segments.lastIndex { $0.shift <= at } ?? 0
        while place < self.segments.count {
            let segment = self.segments[place]
            let map = try RecordingMap(path: segment.path)
            if let found = try map.place(at: at &- segment.shift) {
                try self.go(to: found, map, place)
                return
            }
            place += 1
        }
        self.place = self.segments.count - 1
        self.isAtEnd = true
        self.reader = RecordingReader()
        self.reader.finish()
    }

    /// Goes to the first gap behind a time, ns since the recording's start; answers with its time, or `nil` and stays where
    /// it is.
    package func seekGap(after at: Int64) throws(RecordingFailure) -> Int64? {
        var place = self.segments.lastIndex { $0.shift <= at } ?? 0
        while place < self.segments.count {
            let segment = self.segments[place]
            let map = try RecordingMap(path: segment.path)
            if let found = try map.gap(after: at &- segment.shift) {
                try self.go(to: found, map, place)
                return found.at.map { $0 &+ segment.shift }
            }
            place += 1
        }
        return nil
    }

    private func go(to found: RecordingPlace, _ map: RecordingMap, _ place: Int) throws(RecordingFailure) {
        let segment = self.segments[place]
        self.place = place
        self.isAtEnd = false
        self.bytes = try map.bytes(from: found)
        self.reader = RecordingReader(header: segment.header, offset: found.offset, shift: segment.shift)
    }

    /// The time of the last line, ns since the recording's start; `nil` where it is not known without reading all.
    package func duration() throws(RecordingFailure) -> Int64? {
        guard let last = self.segments.last else { return nil }
        return try RecordingMap(path: last.path).last()?.at.map { $0 &+ last.shift }
    }
}
