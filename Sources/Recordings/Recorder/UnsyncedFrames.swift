import Wire

/// The frames of a recording that were written, and whose sync is not confirmed.
///
/// After a failed `fdatasync` it is unknown which of them are on the disk, and a later success does not settle it:
/// Linux reports the error once and then marks the pages clean (fsync(2), NOTES). The frames stay readable while the
/// machine runs. A line in the file therefore names them, so that a reader after a power cut knows where to look.
struct UnsyncedFrames: Sendable {
    /// A stretch of frames by their arrivals: wall clock, ns since 1970.
    struct Span: Sendable, Equatable {
        var frames: UInt64
        var from: Int64
        var to: Int64
    }

    /// The frames since the last sync.
    private var written: Span?
    /// The frames of failed syncs, until the file reports them, and the disk's error.
    private var doubtful: Span?
    private var reason = ""
    /// Whether the next write contains the report.
    private var isReporting = false
    /// The number of frames in all failed syncs.
    private(set) var doubted: UInt64 = 0

    /// Records frames that were written, with the range of their arrivals.
    mutating func wrote(_ frames: UInt64, from: Int64, to: Int64) {
        self.written = Self.join(self.written, Span(frames: frames, from: from, to: to))
    }

    /// Records a successful sync.
    mutating func synced() { self.written = nil }

    /// Records a failed sync.
    mutating func failed(_ reason: String) {
        guard let written else { return }
        self.reason = reason
        self.doubted += written.frames
        self.doubtful = Self.join(self.doubtful, written)
        self.written = nil
    }

    /// Returns the report that the file needs; `nil` without one, and while one is being written.
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

    /// Records the outcome of a write to the file.
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
