import NIOCore
package import Wire

/// The reader of the lines of one file, compressed or not, from any line to the file's end.
///
/// Damaged lines, and damaged parts of a compressed file, are lines of their kinds. Blocks until the disk is done;
/// belongs to one thread at a time.
package final class RecordingReader {
    /// Where the text comes from.
    private enum Source {
        /// The text in order, with the parts that cannot be decompressed.
        case inOrder(RecordingBytes)
        /// The text by its offsets, with blank lines for the parts that cannot be decompressed.
        case byOffset(RecordingMap)
    }

    private let source: Source
    private var parser: RecordingParser
    /// The offset of the next text, in bytes.
    private var offset: Int64
    private let end: Int64
    /// The most bytes of text that are read.
    private let limit: Int64
    /// Whether the text begins inside a line, which is left out.
    private var beginsInLine: Bool
    private var isAtEnd = false
    /// The bytes of text that were read.
    package private(set) var bytesRead: Int64 = 0

    /// Reads text in order, from the start of a line.
    ///
    /// - Parameter limit: the most bytes of text that are read.
    init(_ bytes: RecordingBytes, _ parser: RecordingParser = RecordingParser(), atMost limit: Int64 = .max) {
        self.source = .inOrder(bytes)
        self.parser = parser
        self.offset = 0
        self.end = .max
        self.limit = limit
        self.beginsInLine = false
    }

    /// Reads a stretch of a file.
    ///
    /// - Parameters:
    ///   - from: the offset of the first text.
    ///   - isLineStart: whether a line begins there; otherwise the first line is the next whole one.
    ///   - end: lines that begin here or behind it are left out.
    ///   - leavesTextOut: whether frames come without their text, which is faster.
    init(
        _ map: RecordingMap,
        from: Int64,
        to end: Int64,
        isLineStart: Bool,
        leavesTextOut: Bool
    ) throws(RecordingFailure) {
        // One byte earlier, so that a line that begins exactly there is not missed.
        let begin = isLineStart ? from : from - 1
        // Without a table, a compressed file can only be read from its start.
        self.source = map.length == nil ? .inOrder(try map.bytes(from: begin)) : .byOffset(map)
        self.parser = RecordingParser(header: map.header ?? .plain, offset: begin)
        self.parser.leavesTextOut = leavesTextOut
        self.offset = begin
        self.end = end
        self.limit = .max
        self.beginsInLine = !isLineStart
    }

    /// The version in the newest header that was refused.
    var refusedVersion: Int? { self.parser.refusedVersion }

    /// Starts a thread that decompresses from here on, a little ahead of this reader. Meant for reading a whole file.
    package func readAhead() throws(RecordingFailure) {
        if case .inOrder(let bytes) = self.source { try bytes.readAhead() }
    }

    /// Returns the next line; `nil` at the end.
    package func next() throws(RecordingFailure) -> RecordedLine? {
        while true {
            if let line = self.parser.nextLine() { return line.offset < self.end ? line : nil }
            guard !self.isAtEnd else { return nil }
            switch try self.nextPart() {
            case .text(let text): self.feed(text)
            case .unreadable(let part): return self.parser.unreadable(part)
            case nil:
                self.isAtEnd = true
                self.parser.finish()
            }
        }
    }

    private func nextPart() throws(RecordingFailure) -> RecordingBytes.Part? {
        // The line that is left out may reach the end.
        guard self.bytesRead < self.limit, !self.beginsInLine || self.offset < self.end else { return nil }
        switch self.source {
        case .inOrder(let bytes): return try bytes.next()
        case .byOffset(let map): return try map.text(at: self.offset).map { .text($0) }
        }
    }

    private func feed(_ text: ByteBuffer) {
        self.bytesRead += Int64(text.readableBytes)
        self.offset += Int64(text.readableBytes)
        guard self.beginsInLine else { return self.parser.feed(text) }
        guard let newline = text.readableBytesView.firstIndex(of: UInt8(ascii: "\n")) else { return }
        self.beginsInLine = false
        let rest = text.getSlice(at: newline + 1, length: text.writerIndex - newline - 1) ?? ByteBuffer()
        self.parser.start(at: self.offset - Int64(rest.readableBytes))
        self.parser.feed(rest)
    }
}
