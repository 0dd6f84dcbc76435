import NIOCore
package import Wire

/// The reader of the lines of one file before an offset, the newest first.
///
/// The file must have a known length. Reading ends at a part of a compressed file that cannot be decompressed. The
/// lines' positions in the file are not counted: ``RecordedLine/line`` counts within a block. Blocks until the disk is
/// done; belongs to one thread at a time.
package final class BackwardReader {
    private let map: RecordingMap
    /// The offset of the text read so far, in bytes.
    private var offset: Int64
    private let limit: Int
    private let block: Int
    /// The lines of the newest block, in the file's order.
    private var lines: [RecordedLine] = []
    /// The end of a line that begins in an earlier block.
    private var carry = ByteBuffer()
    /// Whether the line that begins in an earlier block is too long, and not kept.
    private var isSkippingLine = false
    /// The bytes of text that were read.
    package private(set) var bytesRead = 0

    /// - Parameters:
    ///   - end: the offset before which to begin: the end of a line, or of the file.
    ///   - limit: the most bytes of text that are read.
    ///   - block: the most bytes of a read.
    package init(_ map: RecordingMap, before end: Int64, atMost limit: Int = .max, block: Int = 1 << 20) {
        self.map = map
        self.offset = end
        self.limit = limit
        self.block = block
    }

    /// Returns the line before those returned so far; `nil` at the file's start, and at the limit.
    package func next() throws(RecordingFailure) -> RecordedLine? {
        while true {
            if let line = self.lines.popLast() { return line }
            let count = min(self.block, self.limit - self.bytesRead)
            guard count > 0, let text = try self.map.text(before: self.offset, atMost: count) else { return nil }
            self.bytesRead += text.readableBytes
            self.offset -= Int64(text.readableBytes)
            self.take(text)
        }
    }

    /// Takes the text before the text so far.
    private func take(_ text: ByteBuffer) {
        let newline = UInt8(ascii: "\n")
        var whole = text
        var tooLong: RecordedLine?
        if self.isSkippingLine {
            let end = text.readableBytesView.lastIndex(of: newline).map { $0 + 1 }
            guard let start = end ?? (self.offset == 0 ? text.readerIndex : nil) else { return }
            self.isSkippingLine = false
            let offset = self.offset + Int64(start - text.readerIndex)
            tooLong = RecordedLine(offset: offset, content: .damaged(reason: "the line is too long"))
            whole = text.getSlice(at: text.readerIndex, length: start - text.readerIndex) ?? ByteBuffer()
        } else if self.carry.readableBytes > 0 {
            whole.writeBuffer(&self.carry)
        }
        self.carry = ByteBuffer()
        var offset = self.offset
        if offset > 0 {
            guard let end = whole.readableBytesView.firstIndex(of: newline) else {
                self.isSkippingLine = whole.readableBytes > RecordingParser.maximumLineBytes
                if !self.isSkippingLine { self.carry = whole }
                return
            }
            // Copied, so that it does not keep the block alive.
            self.carry = ByteBuffer(bytes: whole.readableBytesView[whole.readerIndex...end])
            offset += Int64(end + 1 - whole.readerIndex)
            whole.moveReaderIndex(to: end + 1)
        }
        var parser = RecordingParser(header: self.map.header ?? .plain, offset: offset)
        parser.feed(whole)
        parser.finish()
        while let line = parser.nextLine() { self.lines.append(line) }
        if let tooLong { self.lines.append(tooLong) }
    }
}
