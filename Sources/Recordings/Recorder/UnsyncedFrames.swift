import Wire

/// The frames of a recording that were written and that the disk has not confirmed to keep.
///
/// After a failed `fdatasync` nobody knows which of them are on the disk, and a later one that succeeds does not tell: Linux
/// reports the error once and then takes the pages for written (fsync(2), NOTES). They are in the file as long as the machine
/// runs. So the file tells of them in a line of its own, from which a reader after a power cut knows where to look.
struct UnsyncedFrames: Sendable {
    /// A stretch of them, by arrivals: wall clock, ns since 1970.
    struct Span: Sendable, Equatable {
        var frames: UInt64
        var from: Int64
        var to: Int64
    }

    /// Since the last sync.
    private var written: Span?
    /// Those of failed syncs, until the file tells of them, and what the disk said.
    private var doubtful: Span?
    private var reason = ""
    /// Whether what is written next tells of them.
    private var isReporting = false
    /// Those of all failed syncs.
    private(set) var doubted: UInt64 = 0

    /// Notes that frames with these arrivals were written.
    mutating func wrote(_ frames: UInt64, from: Int64, to: Int64) {
        self.written = Self.join(self.written, Span(frames: frames, from: from, to: to))
    }

    /// Notes that the disk keeps all that was written.
    mutating func synced() { self.written = nil }

    /// Notes that it may not.
    mutating func failed(_ reason: String) {
        guard let written else { return }
        self.reason = reason
        self.doubted += written.frames
        self.doubtful = Self.join(self.doubtful, written)
        self.written = nil
    }

    /// What the file has to tell; `nil` where that is nothing, or is on its way.
    mutating func note() -> RecordedNote? {
        guard let doubtful, !self.isReporting else { return nil }
        self.isReporting = true
        var note = RecordedNote(.unsynced)
        note.frames = doubtful.frames
        note.from = doubtful.from
        note.to = doubtful.to
        note.reason = self.reason
        return note
    }

    /// Notes that the file was written to, or could not be.
    mutating func ended(isWritten: Bool) {
        if self.isReporting, isWritten { self.doubtful = nil }
        self.isReporting = false
    }

    private static func join(_ one: Span?, _ other: Span) -> Span {
        guard let one, one.frames > 0 else { return other }
        guard other.frames > 0 else { return one }
        return Span(
            frames: one.frames + other.frames,
            from: min(one.from, other.from),
            to: max(one.to, other.to)
        )
    }
}
