import Wire

// The sequence of files.
extension RecordingWriter {
    /// The pause before another attempt to create the next file, in nanoseconds.
    private static let rotationRetry: Int64 = 10_000_000_000
    private static let bufferBytes = 64 << 10
    /// How long a file's header may wait for the first trade, which has the run of numbers.
    private static let epochPatience: Int64 = 5_000_000_000
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

    /// Begins a file whose header suits a frame, if the newest file's does not: another dialect than Finnhub's needs
    /// another version, and trades with numbers of another run need its epoch. All later files have that header, too.
    ///
    /// - Parameter epoch: the run of the frame's numbers; `nil` without numbers.
    /// - Returns: whether the newest file may hold the dialect; `false` where no new file could be created.
    mutating func takes(_ dialect: FrameDialect, epoch: UInt64?, wall: Int64, monotonic: Int64) -> Bool {
        let before = self.header
        if dialect != .finnhub { self.header.version = RecordingHeader.dialectVersion }
        if let epoch, let run = before.run, epoch != before.epoch {
            self.header.epoch = epoch
            self.header.writerRun = epoch == run ? nil : run
        }
        if self.header != before {
            let segments = self.segments
            // Without an epoch no frame in the buffer has numbers.
            if self.file.isBlank, self.framesInBuffer == 0 || before.epoch == nil {
                self.file.correct(self.header)
            } else if monotonic >= self.retryRotationAt {
                self.rotate(wall: wall, monotonic: monotonic)
                if self.segments == segments { self.header = before }
            } else {
                self.header = before
            }
        }
        if epoch != nil { self.awaitsEpoch = false }
        return dialect == .finnhub || self.header.version >= RecordingHeader.dialectVersion
    }

    /// Whether lines stay in the buffer, because the header waits for the first trade. Without one for long, the file
    /// begins without an epoch, and another one follows when it comes.
    mutating func holds(now: Int64) -> Bool {
        let isOver =
            now.subtractingCapped(self.origin) >= Self.epochPatience || self.buffer.readableBytes >= Self.bufferBytes
        if isOver { self.awaitsEpoch = false }
        return self.awaitsEpoch
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
        self.awaitsEpoch = false
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
