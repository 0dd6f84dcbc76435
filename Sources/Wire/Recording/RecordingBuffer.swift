package import Market
package import NIOCore

/// A recording that is made in memory: its lines get their numbers here, and a wall clock that goes with the monotonic one.
package struct RecordingBuffer: Sendable {
    package private(set) var bytes = ByteBuffer()
    /// ns since 1970.
    private let start: Int64
    private var lines: RecordingLines

    /// Writes the header; its first line has the number 1 where it names none.
    package init(_ header: RecordingHeader) {
        var header = header
        let first = header.first ?? 1
        header.first = first
        self.lines = RecordingLines(first: first, start: header.start)
        self.start = header.start ?? 0
        RecordingSyntax.header(header, into: &self.bytes)
    }

    /// Writes a frame of the service.
    ///
    /// - Parameter at: when it came, ns since the start.
    package mutating func frame(_ frame: ByteBuffer, at: Int64, numbers: RecordedNumbers? = nil) {
        self.lines.frame(
            frame,
            of: .finnhub,
            numbers: numbers,
            hasTrades: false,
            wall: self.start.addingCapped(at),
            at: at,
            into: &self.bytes
        )
    }

    /// Writes a gap of the feed.
    package mutating func gap(_ gap: Gap, at: Int64) {
        self.lines.gap(gap, wall: self.start.addingCapped(at), at: at, into: &self.bytes)
    }

    /// Writes the last line.
    package mutating func end() {
        let at = self.lines.lastAt
        self.lines.note(RecordedNote(.end), wall: self.start.addingCapped(at), at: at, into: &self.bytes)
    }

    /// Takes out what was written so far.
    package mutating func takeBytes() -> ByteBuffer {
        defer { self.bytes = ByteBuffer() }
        return self.bytes
    }
}
