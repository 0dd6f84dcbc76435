import Glibc
import Market
import NIOCore
package import Wire

/// A recording that is made from others: a new file, never one that is there. One that is not finished is removed.
package struct RecordingOutputFile: ~Copyable {
    /// The form of the new file.
    package enum Form: Sendable { case current, plain }

    private static let bufferBytes = 1 << 20

    private let file: DiskFile
    private let unfinished: UnfinishedFile
    private let form: Form
    private var header: RecordingHeader
    private var buffer = ByteBuffer()
    private var number: UInt64 = 0
    /// Of the newest line, ns since the new file's start.
    private(set) var lastAt: Int64 = 0
    private var stops = RecordedStops()
    private var walls = RecordedWalls()
    private var finder = TradeFinder()
    /// How much of the file has been made, and how much before the next mark, bytes.
    private var flushed = 0
    private var nextMark = RecordedStops.interval
    /// The wall clock at the start, ns since 1970.
    private let start: Int64
    package private(set) var frames = 0
    package private(set) var lines = 0
    private var isFinished = false

    /// Makes the file.
    ///
    /// - Parameter header: what it says; numbers and places in it are the new file's own.
    package init(path: String, form: Form, header: RecordingHeader) throws(RecordingFailure) {
        self.file = try DiskFile(creating: path)
        self.unfinished = UnfinishedFile(path)
        self.form = form
        self.start = header.start ?? 0
        self.header = header
        if let start = header.start { self.walls.take(RecordingSyntax.microseconds(start)) }
        // It is a place of no run: its lines are counted anew, and it may be of a part of several files.
        self.header.segment = nil
        self.header.previous = nil
        self.header.first = 1
        // What its frames are is not known yet.
        self.header.version = RecordingHeader.currentVersion
        if form == .current { RecordingSyntax.header(self.header, into: &self.buffer) }
    }

    /// Notes that a frame of another dialect than Finnhub's comes: the header, which is as long as before, says so from now on.
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

    // A file that is not whole is no recording, and would be in the way of the next try.
    deinit { if !self.isFinished { unlink(self.file.path) } }

    /// Appends a line as it is, with the next number; damaged ones and other files' headers have no place in a new file.
    ///
    /// - Parameters:
    ///   - wall: ns since 1970.
    ///   - at: ns since the new file's start.
    package mutating func append(_ line: RecordedLine, wall: Int64, at: Int64) throws(RecordingFailure) {
        let at = max(self.lastAt, at)
        if case .frame(_, _, let dialect) = line.content, dialect != .finnhub { try self.takesDialects() }
        if self.form == .current, self.flushed + self.buffer.readableBytes >= self.nextMark { self.mark(wall: wall) }
        let stamp = RecordingSyntax.Stamp(number: self.number + 1, wall: wall, at: at)
        switch (line.content, self.form) {
        case (.frame(let frame, let numbers, let dialect), .current):
            RecordingSyntax.frame(frame, of: dialect, stamp, numbers: numbers, into: &self.buffer)
            if numbers.map({ $0.count > 0 }) ?? self.finder.hasTrades(frame, of: dialect) { self.stops.traded(at: at) }
        case (.frame(let frame, _, _), .plain): RecordingSyntax.plainFrame(frame, at: at, into: &self.buffer)
        case (.gap(let gap, let dropped), .current):
            RecordingSyntax.gap(gap, dropped: dropped, stamp, into: &self.buffer)
            if gap.symbol == nil { self.stops.gapped() }
        case (.note(let note), .current):
            // Each file has its own.
            guard note.kind != .end, note.kind != .mark else { return }
            RecordingSyntax.note(note, stamp, into: &self.buffer)
        case (.gap, .plain), (.note, .plain), (.header, _), (.unknown, _), (.damaged, _), (.torn, _): return
        }
        if case .frame = line.content { self.frames += 1 }
        self.lastAt = at
        self.walls.take(RecordingSyntax.microseconds(wall))
        self.number += 1
        self.lines += 1
        if self.buffer.readableBytes >= Self.bufferBytes { try self.flush() }
    }

    /// Writes how many stops there were so far, and how the wall clock went.
    private mutating func mark(wall: Int64) {
        var note = RecordedNote(.mark)
        note.stops = self.stops
        note.walls = self.walls
        note.offset = Int64(self.flushed + self.buffer.readableBytes)
        self.number += 1
        let stamp = RecordingSyntax.Stamp(number: self.number, wall: wall, at: self.lastAt)
        RecordingSyntax.note(note, stamp, into: &self.buffer)
        self.walls.take(RecordingSyntax.microseconds(wall))
        self.nextMark = self.flushed + self.buffer.readableBytes + RecordedStops.interval
    }

    /// Writes the last line and has the disk keep the file.
    package mutating func finish(wall: Int64) throws(RecordingFailure) {
        if self.form == .current {
            let stamp = RecordingSyntax.Stamp(number: self.number + 1, wall: wall, at: self.lastAt)
            RecordingSyntax.note(RecordedNote(.end), stamp, into: &self.buffer)
        }
        try self.flush()
        try self.file.sync()
        self.isFinished = true
    }

    private mutating func flush() throws(RecordingFailure) {
        try self.file.write(self.buffer)
        self.flushed += self.buffer.readableBytes
        self.buffer.clear()
    }
}
