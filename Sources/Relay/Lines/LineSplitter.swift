import NIOCore

/// The splitter of a client's input into lines. It holds at most the beginning of one line.
///
/// A line ends with LF, or with CR and LF; neither belongs to it.
struct LineSplitter: Equatable {
    enum Piece: Equatable {
        case line(ByteBuffer)
        /// A line is longer than ``maximumBytes``; nothing follows.
        case tooLong(start: ByteBuffer)
    }

    /// The longest line, in bytes.
    static let maximumBytes = 1 << 10

    /// The beginning of a line whose end has not come.
    private(set) var start = ByteBuffer()
    private var isOver = false

    /// Returns the next line, and takes it from the bytes; `nil` when they hold no further line end.
    mutating func next(_ bytes: inout ByteBuffer) -> Piece? {
        guard !self.isOver else { return nil }
        let view = bytes.readableBytesView
        guard let end = view.firstIndex(of: UInt8(ascii: "\n")) else {
            // One more byte may be the CR.
            let room = Self.maximumBytes + 1 - self.start.readableBytes
            guard bytes.readableBytes <= room else { return self.end(&bytes, room) }
            self.start.writeBuffer(&bytes)
            return self.isTooLong(self.start) ? self.end(&bytes, 0) : nil
        }
        let length = end - view.startIndex
        guard self.start.readableBytes + length <= Self.maximumBytes + 1 else {
            return self.end(&bytes, Self.maximumBytes + 1 - self.start.readableBytes)
        }
        var line = self.start
        self.start = ByteBuffer()
        if length > 0, var slice = bytes.readSlice(length: length) { line.writeBuffer(&slice) }
        bytes.moveReaderIndex(forwardBy: 1)
        guard !self.isTooLong(line) else {
            self.isOver = true
            return .tooLong(start: line)
        }
        return .line(Self.withoutReturn(line))
    }

    /// Returns the line whose end never comes, since the client has ended its side; `nil` if no line has begun.
    mutating func takeRest() -> ByteBuffer? {
        guard !self.isOver, self.start.readableBytes > 0 else { return nil }
        defer { self.start = ByteBuffer() }
        return Self.withoutReturn(self.start)
    }

    private static func withoutReturn(_ line: ByteBuffer) -> ByteBuffer {
        var line = line
        if line.readableBytesView.last == UInt8(ascii: "\r") { line.moveWriterIndex(to: line.writerIndex - 1) }
        return line
    }

    private func isTooLong(_ line: ByteBuffer) -> Bool {
        line.readableBytes > Self.maximumBytes && line.readableBytesView.last != UInt8(ascii: "\r")
    }

    private mutating func end(_ bytes: inout ByteBuffer, _ count: Int) -> Piece {
        var start = self.start
        if var more = bytes.readSlice(length: max(0, min(count, bytes.readableBytes))) { start.writeBuffer(&more) }
        self.start = ByteBuffer()
        self.isOver = true
        return .tooLong(start: start)
    }
}
