import Market
import NIOCore
package import Wire

/// A recording made from others, in a new file that never replaces an existing one. An unfinished one is removed.
package struct RecordingOutputFile: ~Copyable {
    /// The form of the new file.
    package enum Form: Sendable { case current, plain }

    private static let bufferBytes = 1 << 20

    private let file: OutputFile
    private let form: Form
    private var header: RecordingHeader
    private var buffer = ByteBuffer()
    private var numbered: RecordingLines
    /// The time of the newest line, ns since the new file's start.
    private var lastAt: Int64 = 0
    private var finder = TradeFinder()
    /// How much of the file has been written, bytes.
    private var flushed = 0
    package private(set) var frames = 0
    package private(set) var lines = 0

    /// Creates the file.
    ///
    /// - Parameter header: the new file's header, except for its numbers and its place in a run.
    package init(path: String, form: Form, header: RecordingHeader) throws(RecordingFailure) {
        self.file = try OutputFile(path)
        self.form = form
        self.header = header
        self.numbered = RecordingLines(first: 1, start: header.start)
        // It is not a segment of a run: its lines are numbered anew, and it may hold parts of several files.
        self.header.segment = nil
        self.header.previous = nil
        self.header.first = 1
        // The dialects of its frames are not known yet.
        self.header.version = RecordingHeader.currentVersion
        if form == .current { RecordingSyntax.header(self.header, into: &self.buffer) }
    }

    /// Rewrites the header for a first frame of another dialect than Finnhub's. The new header has the same length.
    private mutating func takesDialects() throws(RecordingFailure) {
        guard self.form == .current else {
            throw RecordingFailure(
                "the plain form holds messages of Finnhub only, and here are others: leave out --plain"
            )
        }
        guard self.header.version < RecordingHeader.dialectVersion else { return }
        self.header.version = RecordingHeader.dialectVersion
        try self.flush()
        var line = ByteBuffer()
        RecordingSyntax.header(self.header, into: &line)
        try self.file.overwrite(line, at: 0)
    }

    /// Appends a line with the next number. Damaged lines, lines of unknown kinds and other files' headers are left
    /// out.
    ///
    /// - Parameters:
    ///   - wall: ns since 1970.
    ///   - at: ns since the new file's start.
    package mutating func append(_ line: RecordedLine, wall: Int64, at: Int64) throws(RecordingFailure) {
        let at = max(self.lastAt, at)
        if case .frame(_, _, let dialect) = line.content, dialect != .finnhub { try self.takesDialects() }
        switch (line.content, self.form) {
        case (.frame(let frame, let numbers, let dialect), .current):
            self.mark(wall: wall)
            self.numbered.frame(
                frame,
                of: dialect,
                numbers: numbers,
                hasTrades: numbers?.hasTrades ?? self.finder.hasTrades(frame, of: dialect),
                wall: wall,
                at: at,
                into: &self.buffer
            )
        case (.frame(let frame, _, _), .plain): RecordingSyntax.plainFrame(frame, at: at, into: &self.buffer)
        case (.gap(let gap, let dropped), .current):
            self.mark(wall: wall)
            self.numbered.gap(gap, dropped: dropped, wall: wall, at: at, into: &self.buffer)
        case (.note(let note), .current):
            guard !note.isOfOneFile else { return }
            self.mark(wall: wall)
            self.numbered.note(note, wall: wall, at: at, into: &self.buffer)
        case (.gap, .plain), (.note, .plain), (.header, _), (.unknown, _), (.damaged, _), (.torn, _),
            (.unreadable, _):
            return
        }
        if case .frame = line.content { self.frames += 1 }
        self.lastAt = at
        self.lines += 1
        if self.buffer.readableBytes >= Self.bufferBytes { try self.flush() }
    }

    private mutating func mark(wall: Int64) {
        self.numbered.markIfDue(flushed: self.flushed, wall: wall, at: self.lastAt, into: &self.buffer)
    }

    /// Writes the last line and syncs the file.
    package mutating func finish(wall: Int64) throws(RecordingFailure) {
        if self.form == .current {
            self.numbered.note(RecordedNote(.end), wall: wall, at: self.lastAt, into: &self.buffer)
        }
        try self.flush()
        try self.file.finish()
    }

    private mutating func flush() throws(RecordingFailure) {
        try self.file.write(self.buffer)
        self.flushed += self.buffer.readableBytes
        self.buffer.clear()
    }
}
