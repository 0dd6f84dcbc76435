import Market
import NIOCore
package import Wire

/// A recording from a place to its end, line by line, over all of its files: those of the same run in the same folder.
///
/// Times count from the first file's start. A missing file ends the recording: the files behind a hole are another one.
/// A file that gets compressed while it is read is read on.
package final class RecordingStream {
    /// One file of the recording.
    package struct Segment: Sendable {
        package var path: String
        /// How much later than the recording's first file it began, ns.
        package var shift: Int64
        package var header: RecordingHeader
    }

    /// The files, in order; never empty.
    package let segments: [Segment]
    /// Why the next file by name cannot be read, in one line. That file and those behind it are left out.
    package let unreadable: String?
    private var place = 0
    /// The map of the file at `place`.
    private var map: RecordingMap
    /// The reader of that file's lines.
    private var reader: RecordingReader
    private var isAtEnd = false
    private var readsAhead = false
    /// The bytes read with other readers, and those of text among them.
    private var closed = (bytes: Int64(0), text: Int64(0))

    /// The bytes of text that were read.
    package var bytesRead: Int64 { self.closed.text + self.reader.bytesRead }
    /// The bytes read from the disk, including those read for searching.
    package var diskBytesRead: Int64 { self.closed.bytes + self.map.bytesRead }
    /// The index of the file in which the last line stands.
    package var segment: Int { self.place }

    /// Opens a recording at its start.
    ///
    /// - Parameter followsSegments: whether the files behind the named one are read, too.
    package convenience init(path: String, followsSegments: Bool = true) throws(RecordingFailure) {
        let path = SegmentNames.present(path)
        let map = try RecordingMap(path: path)
        var segments = [Segment(path: path, shift: 0, header: map.header ?? .plain)]
        let found: (bytes: Int64, unreadable: String?) = followsSegments ? Self.append(to: &segments) : (0, nil)
        try self.init(segments, map, unreadable: found.unreadable)
        self.closed.bytes = found.bytes
    }

    /// Opens a recording whose files are known, at its start.
    package convenience init(_ segments: [Segment]) throws(RecordingFailure) {
        try self.init(segments, try RecordingMap(path: SegmentNames.present(segments[0].path)))
    }

    private init(
        _ segments: [Segment],
        _ map: RecordingMap,
        unreadable: String? = nil
    ) throws(RecordingFailure) {
        self.segments = segments
        self.unreadable = unreadable
        self.map = map
        self.reader = try map.reader()
    }

    /// Finds the files that follow. Returns how many bytes were read for that, and why the search ended, where that is
    /// not the recording's end.
    private static func append(to segments: inout [Segment]) -> (bytes: Int64, unreadable: String?) {
        guard let first = segments.first, let run = first.header.run, let monotonic = first.header.monotonic else {
            return (0, nil)
        }
        var bytes: Int64 = 0
        var unreadable: String?
        // The named file may be any segment of a recording, whose first file has another stem.
        let earlier = SegmentNames.first(of: first.path).map { SegmentNames(first: $0).all() } ?? []
        // A later run under the same name continues the numbers in the names, and counts its own segments.
        let name =
            first.path.lastIndex(of: "/").map { String(first.path[first.path.index(after: $0)...]) } ?? first.path
        let ownPlace = SegmentNames.first(of: first.path).flatMap { SegmentNames(first: $0).place(of: name)?.place }
        let ahead = (ownPlace ?? 1) &- (first.header.segment ?? 1)
        let siblings = earlier.map { ($0, ahead) } + SegmentNames(first: first.path).all().map { ($0, 0) }
        for (sibling, ahead) in siblings {
            guard sibling.path != first.path else { continue }
            // A header may contain any number.
            let isNext = sibling.place &- 1 &- ahead == segments.last?.header.segment ?? 1
            let map: RecordingMap
            do throws(RecordingFailure) {
                map = try RecordingMap(path: SegmentNames.present(sibling.path))
            } catch {
                if isNext { unreadable = "\(error)" }
                continue
            }
            bytes += map.bytesRead
            // A file that was just created is still empty.
            if isNext, map.header == nil, sibling.size > 0 {
                unreadable = "\(sibling.path): its first line cannot be read"
            }
            guard let next = map.header, let last = segments.last,
                next.run == run, let place = next.segment, place > 0, place - 1 == last.header.segment ?? 1,
                let began = next.monotonic, began >= monotonic
            else { continue }
            let (shift, isOut) = began.subtractingReportingOverflow(monotonic)
            guard !isOut else { continue }
            segments.append(Segment(path: sibling.path, shift: shift, header: next))
            unreadable = nil
        }
        return (bytes, unreadable)
    }

    /// Returns the next line; `nil` at the end.
    package func next() throws(RecordingFailure) -> RecordedLine? {
        while !self.isAtEnd {
            if let line = try self.reader.next() { return line }
            guard self.place + 1 < self.segments.count else {
                self.isAtEnd = true
                break
            }
            try self.go(toFile: self.place + 1)
        }
        return nil
    }

    /// Makes the map that of this file.
    private func open(_ place: Int) throws(RecordingFailure) {
        guard place != self.place else { return }
        let map = try self.openMap(place)
        self.closed.bytes += self.map.bytesRead
        self.map = map
        self.place = place
    }

    private func openMap(_ place: Int) throws(RecordingFailure) -> RecordingMap {
        try RecordingMap(path: SegmentNames.present(self.segments[place].path))
    }

    /// Runs `body` on a file's map, without a change of the open file.
    private func look<Found>(
        into place: Int,
        _ body: (RecordingMap) throws(RecordingFailure) -> Found
    ) throws(RecordingFailure) -> Found {
        guard place != self.place else { return try body(self.map) }
        let map = try self.openMap(place)
        defer { self.closed.bytes += map.bytesRead }
        return try body(map)
    }

    private func take(_ reader: RecordingReader) throws(RecordingFailure) {
        self.closed.text += self.reader.bytesRead
        if self.readsAhead { try reader.readAhead() }
        self.reader = reader
        self.isAtEnd = false
    }

    /// Starts a thread that decompresses from here on, a little ahead of the reader. Meant for reading a whole
    /// recording.
    package func readAhead() throws(RecordingFailure) {
        self.readsAhead = true
        try self.reader.readAhead()
    }

    /// Goes to the first line whose time is not before `at`, ns since the recording's start; to the end where every
    /// line is earlier.
    package func seek(at: Int64) throws(RecordingFailure) {
        var place = self.segments.lastIndex { $0.shift <= at } ?? 0
        while place < self.segments.count {
            try self.open(place)
            if let found = try self.map.place(at: at.subtractingCapped(self.segments[place].shift)) {
                return try self.go(to: found)
            }
            place += 1
        }
        self.isAtEnd = true
    }

    /// Goes to a place before which every line is earlier than a wall clock (ns since 1970), however often the clock
    /// was set back. Passes over what the index or marks prove to be earlier; lines behind the place may be earlier,
    /// too.
    ///
    /// - Returns: the expected number of the next line, and the latest wall clock before it, µs since 1970; `nil` where
    ///   no line was passed over.
    func begin(wall: Int64) throws(RecordingFailure) -> (number: UInt64, latest: Int64?)? {
        let moment = RecordingSyntax.microseconds(wall)
        var passed: (number: UInt64, latest: Int64?)?
        for place in self.segments.indices {
            try self.open(place)
            let earlier = try self.map.earlier(than: moment)
            if let number = earlier.number { passed = (number, earlier.latest) }
            guard !earlier.isAll else { continue }
            if earlier.offset > 0 {
                try self.go(to: RecordingPlace(offset: earlier.offset, at: nil))
            } else if place > 0 {
                try self.beginFile()
            }
            return passed
        }
        self.isAtEnd = true
        return passed
    }

    /// Returns for each file the offset behind which no line is earlier than a wall clock (ns since 1970), in bytes of
    /// its text.
    func ends(before wall: Int64) throws(RecordingFailure) -> [Int64] {
        let moment = RecordingSyntax.microseconds(wall)
        var ends: [Int64] = []
        for place in self.segments.indices {
            ends.append(try self.look(into: place) { map throws(RecordingFailure) in try map.end(before: moment) })
        }
        return ends
    }

    /// Goes to the start of a file.
    func go(toFile place: Int) throws(RecordingFailure) {
        try self.open(place)
        try self.beginFile()
    }

    /// Goes to the start of the open file.
    private func beginFile() throws(RecordingFailure) { try self.go(to: RecordingPlace(offset: 0, at: nil)) }

    /// Passes over stretches without a stop (``GapMarkers``), from a time on (ns since the recording's start), without a
    /// change of the place.
    ///
    /// - Parameter lastTrade: the time of the newest message with trades before that.
    /// - Returns: where to read on, and the time of the newest message with trades before that; `nil` where no stop
    ///   follows. The same time, where the file records no stops or one may be near.
    package func clear(
        from at: Int64,
        lastTrade: Int64?
    ) throws(RecordingFailure) -> (at: Int64, lastTrade: Int64?)? {
        var at = at
        var last = lastTrade
        for place in (self.segments.lastIndex { $0.shift <= at } ?? 0)..<self.segments.count {
            let shift = self.segments[place].shift
            at = max(at, shift)
            let way = try self.look(into: place) { map throws(RecordingFailure) in
                try map.clear(from: at.subtractingCapped(shift), lastTrade: last.map { $0.subtractingCapped(shift) })
            }
            guard let way else { return (at, last) }
            last = way.lastTrade.map { $0.addingCapped(shift) }
            if let found = way.at { return (max(at, found.addingCapped(shift)), last) }
        }
        return nil
    }

    /// Goes to a place in the open file.
    private func go(to found: RecordingPlace) throws(RecordingFailure) {
        let segment = self.segments[self.place]
        try self.take(try self.map.reader(from: found.offset, header: segment.header, shift: segment.shift))
    }

    /// Returns the time of the last line that satisfies `isWanted`, ns since the recording's start. Searches the ends
    /// of the files, as `RecordingMap.last(where:)` does; `nil` where they have no such line.
    package func last(where isWanted: (RecordedLine) -> Bool) throws(RecordingFailure) -> Int64? {
        for place in self.segments.indices.reversed() {
            let (last, isKnown) = try self.look(into: place) { map throws(RecordingFailure) in
                (try map.last(where: isWanted)?.at, map.length != nil)
            }
            if let last { return last.addingCapped(self.segments[place].shift) }
            // An older file must not answer for a newer one that could not be searched.
            guard isKnown else { return nil }
        }
        return nil
    }
}
