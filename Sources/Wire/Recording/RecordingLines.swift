package import Market
package import NIOCore

/// The lines of one file of a recording while they are written: numbered, in order of time, with a mark at intervals
/// (docs/recording-format.md).
package struct RecordingLines: Sendable {
    /// The number of the next line.
    package private(set) var number: UInt64
    /// The newest line's time, ns since the file's start; the lines' times never go back.
    package private(set) var lastAt: Int64 = 0
    /// The stops so far, and the file's length at which the next mark is due, bytes.
    private var stops = GapMarkers()
    private var nextMark = GapMarkers.interval
    /// The wall clocks of the file's lines.
    private var wallClocks = WallClockMarks()

    /// - Parameters:
    ///   - first: the number of the first line after the header.
    ///   - start: the header's wall clock, ns since 1970; `nil` where it has none.
    package init(first: UInt64, start: Int64?) {
        self.number = first
        if let start { self.wallClocks.take(RecordingSyntax.microseconds(start)) }
    }

    /// Continues in the recording's next file, which begins at `wall` (ns since 1970), and `later` than this one, ns.
    package mutating func beginFile(wall: Int64, later: Int64) {
        self.stops.beganFile(later: later)
        self.nextMark = GapMarkers.interval
        self.wallClocks = WallClockMarks(latest: RecordingSyntax.microseconds(wall))
        self.lastAt = 0
    }

    /// Takes back the lines written since a copy was made. The stops stay counted, since the count may be one too high.
    package mutating func goBack(to before: RecordingLines) {
        self.number = before.number
        self.wallClocks = before.wallClocks
    }

    /// Writes a frame.
    ///
    /// - Parameter hasTrades: whether it holds trades, on the tape or repeated.
    package mutating func frame(
        _ frame: ByteBuffer,
        of dialect: FrameDialect,
        numbers: RecordedNumbers?,
        hasTrades: Bool,
        wall: Int64,
        at: Int64,
        into buffer: inout ByteBuffer
    ) {
        RecordingSyntax.frame(frame, of: dialect, self.stamp(wall, at), numbers: numbers, into: &buffer)
        if hasTrades { self.stops.traded(at: self.lastAt) }
    }

    /// Writes a gap, or with `dropped` the number of missing frames.
    package mutating func gap(
        _ gap: Gap,
        dropped: UInt64? = nil,
        wall: Int64,
        at: Int64,
        into buffer: inout ByteBuffer
    ) {
        RecordingSyntax.gap(gap, dropped: dropped, self.stamp(wall, at), into: &buffer)
        if gap.symbol == nil || dropped != nil { self.stops.gapped() }
    }

    /// Writes a note.
    package mutating func note(_ note: RecordedNote, wall: Int64, at: Int64, into buffer: inout ByteBuffer) {
        RecordingSyntax.note(note, self.stamp(wall, at), into: &buffer)
    }

    /// Writes a mark with the stops and the wall clocks so far, if one is due.
    ///
    /// - Parameter flushed: the length of the file before the buffer, bytes.
    package mutating func markIfDue(flushed: Int, wall: Int64, at: Int64, into buffer: inout ByteBuffer) {
        let offset = flushed + buffer.readableBytes
        guard offset >= self.nextMark else { return }
        var note = RecordedNote(.mark)
        note.stops = self.stops
        note.wallClocks = self.wallClocks
        note.offset = Int64(offset)
        self.note(note, wall: wall, at: at, into: &buffer)
        self.nextMark = flushed + buffer.readableBytes + GapMarkers.interval
    }

    private mutating func stamp(_ wall: Int64, _ at: Int64) -> RecordingSyntax.Stamp {
        self.lastAt = max(self.lastAt, at)
        self.wallClocks.take(RecordingSyntax.microseconds(wall))
        defer { self.number &+= 1 }
        return RecordingSyntax.Stamp(number: self.number, wall: wall, at: self.lastAt)
    }
}
