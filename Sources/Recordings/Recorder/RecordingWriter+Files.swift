import Wire

// The sequence of files.
extension RecordingWriter {
    /// The pause before another attempt to create the next file, in nanoseconds.
    private static let rotationRetry: Int64 = 10_000_000_000
    private static let bufferBytes = 64 << 10
    private static let day: Int64 = 86_400_000_000_000

    /// Creates the next file whose name is free.
    static func create(
        _ names: SegmentNames,
        _ disk: any RecordingDisk,
        from first: Int
    ) throws(DiskFailure) -> (any RecordingOutput, Int, String) {
        var place = first
        while true {
            do throws(DiskFailure) {
                return (try disk.create(names.path(place)), place, names.path(place))
            } catch {
                guard error == .taken, place < first + 100 else { throw error }
                place += 1
            }
        }
    }

    static func day(of wall: Int64) -> Int64 {
        wall >= 0 ? wall / Self.day : (wall + 1) / Self.day - 1
    }

    /// Returns the header of one file.
    static func header(
        _ header: RecordingHeader,
        segment: Int,
        previous: String? = nil,
        wall: Int64,
        monotonic: Int64,
        first: UInt64
    ) -> RecordingHeader {
        var header = header
        header.start = wall
        header.monotonic = monotonic
        header.segment = segment
        header.previous = previous
        header.first = first
        return header
    }

    /// Writes the buffer out when it is full, and begins the next file at the end of the UTC day or at the size limit.
    mutating func makeRoom(wall: Int64, monotonic: Int64) {
        let isOver =
            Self.day(of: wall) > self.segmentDay
            || UInt64(self.length) >= self.segmentBytes
        if isOver, monotonic >= self.retryRotationAt {
            self.rotate(wall: wall, monotonic: monotonic)
        } else if self.buffer.readableBytes >= Self.bufferBytes {
            self.flush(now: max(monotonic, self.writtenAt))
        }
    }

    /// Begins a file that may hold frames of other dialects than Finnhub's, if the newest may not. All later files may
    /// hold them, too.
    ///
    /// - Returns: whether the newest file may hold them; `false` where no new file could be created.
    mutating func takesDialects(wall: Int64, monotonic: Int64) -> Bool {
        let version = self.header.version
        guard version < RecordingHeader.dialectVersion else { return true }
        guard monotonic >= self.retryRotationAt else { return false }
        self.header.version = RecordingHeader.dialectVersion
        let before = self.segments
        self.rotate(wall: wall, monotonic: monotonic)
        if self.segments == before { self.header.version = version }
        return self.segments > before
    }

    mutating func rotate(wall: Int64, monotonic: Int64) {
        let next: (output: any RecordingOutput, place: Int, path: String)
        do throws(DiskFailure) {
            next = try Self.create(self.names, self.disk, from: self.place + 1)
        } catch {
            // A file beyond its limit is better than a gap.
            self.retryRotationAt = monotonic + Self.rotationRetry
            if self.lastRotationFailure.map({ monotonic - $0 >= WritingTrouble.quietInterval }) ?? true {
                self.unreportedRotation = "\(error)"
            }
            self.lastRotationFailure = monotonic
            return
        }
        let previous = self.names.name(self.place)
        self.end(next: self.names.name(next.place), wall: wall, monotonic: monotonic)
        self.completed.append(self.path)
        self.place = next.place
        self.segment += 1
        self.segments += 1
        self.lines.beginFile(wall: wall, later: monotonic - self.origin)
        self.linesInFile = self.lines
        self.origin = monotonic
        self.segmentDay = Self.day(of: wall)
        self.file = SegmentOutput(
            next.output,
            path: next.path,
            header: Self.header(
                self.header,
                segment: self.segment,
                previous: previous,
                wall: wall,
                monotonic: monotonic,
                first: self.lines.number
            )
        )
    }

    /// Writes the newest file's last line, and closes it.
    mutating func end(next: String?, wall: Int64, monotonic: Int64) {
        self.flush(now: monotonic)
        self.reportMissing(monotonic)
        self.reportUnsynced(monotonic)
        self.reportHours(isLast: next == nil, wall: wall, monotonic: monotonic)
        var note = RecordedNote(.end)
        note.word = next
        self.lines.note(note, wall: wall, at: self.at(monotonic), into: &self.buffer)
        self.flush(now: monotonic)
        self.sync(now: monotonic)
        self.file.close()
    }

    /// Appends a line about each symbol and hour that has changed since the file before.
    ///
    /// - Parameter isLast: whether no file follows, so that what is missing stays missing.
    private mutating func reportHours(isLast: Bool, wall: Int64, monotonic: Int64) {
        guard self.completeness != nil else { return }
        if isLast { self.completeness?.finish() }
        let hours = self.completeness?.hours() ?? []
        let written = Set(self.writtenHours)
        for hour in hours where !written.contains(hour) {
            var note = RecordedNote(.hour)
            note.hour = hour
            self.lines.note(note, wall: wall, at: self.at(monotonic), into: &self.buffer)
        }
        self.writtenHours = hours
        self.completeness?.fileEnded()
    }
}
