import Market
import NIOCore
package import Wire

/// A recording from a place to its end, line by line, over all of its files: those of the same run in the same folder.
///
/// Times count from the first file's start. Files that are missing between others end it: what is behind a hole is another
/// recording. A file that is compressed while it is read is read on.
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
    /// The file that would be the next, as far as its name tells, and cannot be read: why, in one line. What it and those
    /// behind it hold is left out.
    package let unreadable: String?
    private var place = 0
    /// Of the file at `place`.
    private var map: RecordingMap
    private var bytes: RecordingBytes
    private var reader = RecordingReader()
    private var isAtEnd = false
    private var readsAhead = false
    /// Bytes of text that were read.
    package private(set) var bytesRead: Int64 = 0
    /// What was read of files that are not open any more, and how many parts of them were damaged.
    private var closed = (bytes: Int64(0), damagedParts: 0)
    private var reportedParts = 0
    /// Is told of each part of a compressed file that cannot be read: in which file, and where.
    package var damageFound: (_ segment: Int, _ damage: RecordingBytes.Damage) -> Void = { _, _ in }

    /// Bytes that were read from the disk, for searching, too.
    package var diskBytesRead: Int64 { self.closed.bytes + self.map.bytesRead }
    /// Parts of compressed files that could not be read.
    package var damagedParts: Int { self.closed.damagedParts + self.bytes.damagedParts }
    /// In which file the last line stands.
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
        self.bytes = try map.bytes()
    }

    /// Finds the files that follow; returns how many bytes were read for that, and why there are no more where that is no
    /// recording's end.
    private static func append(to segments: inout [Segment]) -> (bytes: Int64, unreadable: String?) {
        guard let first = segments.first, let epoch = first.header.epoch, let monotonic = first.header.monotonic else {
            return (0, nil)
        }
        var bytes: Int64 = 0
        var unreadable: String?
        // The named file may be any of a recording's, whose first one has another stem.
        let earlier = SegmentNames.first(of: first.path).map { SegmentNames(first: $0).all() } ?? []
        // A later run under the same name goes on with its places, and counts its own files.
        let name =
            first.path.lastIndex(of: "/").map { String(first.path[first.path.index(after: $0)...]) } ?? first.path
        let ownPlace = SegmentNames.first(of: first.path).flatMap { SegmentNames(first: $0).place(of: name)?.place }
        let ahead = (ownPlace ?? 1) &- (first.header.segment ?? 1)
        let siblings = earlier.map { ($0, ahead) } + SegmentNames(first: first.path).all().map { ($0, 0) }
        for (sibling, ahead) in siblings {
            guard sibling.path != first.path else { continue }
            // A header may say any number.
            let isNext = sibling.place &- 1 &- ahead == segments.last?.header.segment ?? 1
            let map: RecordingMap
            do throws(RecordingFailure) {
                map = try RecordingMap(path: SegmentNames.present(sibling.path))
            } catch {
                if isNext { unreadable = "\(error)" }
                continue
            }
            bytes += map.bytesRead
            // One that has just been made is still empty.
            if isNext, map.header == nil, sibling.size > 0 {
                unreadable = "\(sibling.path): its first line cannot be read"
            }
            guard let next = map.header, let last = segments.last,
                next.epoch == epoch, let place = next.segment, place > 0, place - 1 == last.header.segment ?? 1,
                let began = next.monotonic, began >= monotonic
            else { continue }
            let (shift, isOut) = began.subtractingReportingOverflow(monotonic)
            guard !isOut else { continue }
            segments.append(Segment(path: sibling.path, shift: shift, header: next))
            unreadable = nil
        }
        return (bytes, unreadable)
    }

    /// The next line; `nil` at the end.
    package func next() throws(RecordingFailure) -> RecordedLine? {
        while true {
            if let line = self.reader.nextLine() { return line }
            if self.isAtEnd { return nil }
            let text = try self.bytes.next()
            self.reportDamage()
            if let text {
                self.bytesRead += Int64(text.readableBytes)
                self.reader.feed(text)
            } else {
                try self.goOn()
            }
        }
    }

    private func reportDamage() {
        guard self.bytes.damagedParts > self.reportedParts else { return }
        for damage in self.bytes.damage.dropFirst(self.reportedParts) { self.damageFound(self.place, damage) }
        self.reportedParts = self.bytes.damagedParts
    }

    private func goOn() throws(RecordingFailure) {
        guard self.place + 1 < self.segments.count else {
            self.isAtEnd = true
            self.reader.finish()
            return
        }
        try self.go(toFile: self.place + 1)
    }

    /// Sees to it that the map is of this file.
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

    /// Looks at a file, which need not be the open one.
    private func look<Found>(
        into place: Int,
        _ body: (RecordingMap) throws(RecordingFailure) -> Found
    ) throws(RecordingFailure) -> Found {
        guard place != self.place else { return try body(self.map) }
        let map = try self.openMap(place)
        defer { self.closed.bytes += map.bytesRead }
        return try body(map)
    }

    private func take(_ bytes: RecordingBytes) throws(RecordingFailure) {
        self.closed.damagedParts += self.bytes.damagedParts
        if self.readsAhead { try bytes.readAhead() }
        self.bytes = bytes
        self.reportedParts = 0
    }

    /// Has a thread of its own decompress from here on, a little ahead: for whoever reads all of a recording.
    package func readAhead() throws(RecordingFailure) {
        self.readsAhead = true
        try self.bytes.readAhead()
    }

    /// Goes to the first line whose time is not before `at`, ns since the recording's start; to the end when there is none.
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
        self.reader = RecordingReader()
        self.reader.finish()
    }

    /// Goes to a place before which no line was written at a wall clock (ns since 1970) or later, however often the clock was
    /// set back: what the index or marks say of it is passed over, and the rest comes.
    ///
    /// - Returns: the number that the next line should have, and the latest wall clock before it, µs since 1970; `nil` where
    ///   nothing was passed over.
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
        self.reader = RecordingReader()
        self.reader.finish()
        return passed
    }

    /// For each file the place behind which no line was written before a wall clock (ns since 1970), in bytes of its text.
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

    /// Goes to the start of the file that is open.
    private func beginFile() throws(RecordingFailure) {
        try self.take(try self.map.bytes())
        let segment = self.segments[self.place]
        // A torn line at the end of the file before is none of this one's.
        self.reader = RecordingReader(header: segment.header, offset: 0, shift: segment.shift)
    }

    /// Goes to the first gap behind a time, ns since the recording's start; returns its time, or `nil` and stays where
    /// it is.
    package func seekGap(after at: Int64) throws(RecordingFailure) -> Int64? {
        for place in (self.segments.lastIndex { $0.shift <= at } ?? 0)..<self.segments.count {
            let shift = self.segments[place].shift
            let found = try self.look(into: place) { map throws(RecordingFailure) in
                try map.gap(after: at.subtractingCapped(shift))
            }
            guard let found else { continue }
            try self.open(place)
            try self.go(to: found)
            return found.at.map { $0.addingCapped(shift) }
        }
        return nil
    }

    /// Goes to a place in the file that is open.
    private func go(to found: RecordingPlace) throws(RecordingFailure) {
        let segment = self.segments[self.place]
        self.isAtEnd = false
        try self.take(try self.map.bytes(from: found))
        self.reader = RecordingReader(header: segment.header, offset: found.offset, shift: segment.shift)
    }

    /// The time of the last line of a kind, ns since the recording's start, as far as the files' last 4 MiB tell; `nil`
    /// where they do not.
    package func last(where isWanted: (RecordedLine) -> Bool) throws(RecordingFailure) -> Int64? {
        for place in self.segments.indices.reversed() {
            let (last, isKnown) = try self.look(into: place) { map throws(RecordingFailure) in
                (try map.last(where: isWanted)?.at, map.length != nil)
            }
            if let last { return last.addingCapped(self.segments[place].shift) }
            // What is not known of the newest file is not made up from one before it.
            guard isKnown else { return nil }
        }
        return nil
    }
}
