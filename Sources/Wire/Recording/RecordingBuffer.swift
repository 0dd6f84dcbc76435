package import Market
package import NIOCore

/// A recording built in memory. It numbers the lines and derives their wall clock from the monotonic time.
package struct RecordingBuffer: Sendable {
    package private(set) var bytes = ByteBuffer()
    /// ns since 1970.
    private let start: Int64
    private var lines: RecordingLines

    /// Writes the header; the first line gets the number 1 where the header states none.
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
    /// - Parameter at: the time of its arrival, ns since the start.
    package mutating func frame(
        _ frame: ByteBuffer,
        of dialect: FrameDialect = .finnhub,
        at: Int64,
        numbers: RecordedNumbers? = nil
    ) {
        self.lines.frame(
            frame,
            of: dialect,
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

    /// Takes out the bytes written so far.
    package mutating func takeBytes() -> ByteBuffer {
        defer { self.bytes = ByteBuffer() }
        return self.bytes
    }
}
