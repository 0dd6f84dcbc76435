import Glibc
import Market
public import NIOCore

/// The parser of a recording's text, in chunks of any size, and of its plain form, JSON Lines of
/// `{"at":<ns>,"frame":"<text>"}`, whose frames have the dialect that their text shows.
///
/// Feed it bytes, take lines until ``nextLine()`` returns `nil`, and call ``finish()`` at the file's end. Keys may come
/// in any order, and unknown ones are ignored. A line beyond the length limit is damage, and is skipped without being
/// held in memory. A wrong checksum and a header of another version of the format are damage,
/// too.
///
/// Several files of one recording may be fed one after the other. A header in the middle shifts the times of the lines
/// after it, so that all times count from the first file's start.
public struct RecordingParser: Sendable {
    /// The longest line, in bytes: twice the longest message that the feed accepts, which leaves room for its escapes.
    public static let maximumLineBytes = 2 << 20

    private let lineLimit: Int
    private var pending = ByteBuffer()
    /// How many of the pending bytes have been searched for the line's end without success.
    private var searched = 0
    /// The offset of the pending bytes in the file.
    private var offset: Int64
    private var line = 0
    /// How many bytes of a line that is too long have been skipped; 0 outside such a line.
    private var skipped = 0
    private var isFinished = false
    /// Whether each line must have a checksum, as after a header; lines of the plain form have none.
    private var isSealed = false
    /// The version in the newest header that was refused.
    package private(set) var refusedVersion: Int?
    /// The first header, and the time between its file's start and that of the newest file, ns.
    private var origin: RecordingHeader?
    private var shift: Int64 = 0
    /// The newest line's time.
    private var newest: Int64 = 0
    /// The last frame's storage, reused if no other reference to it is left.
    private var scratch = ByteBuffer()
    /// Whether frames come without their text, but with ``RecordedLine/textChecksum``, where that is faster.
    package var leavesTextOut = false

    public init(maximumLineBytes: Int = Self.maximumLineBytes) {
        self.lineLimit = maximumLineBytes
        self.offset = 0
    }

    /// Creates a parser that begins inside a file, at the start of a line.
    ///
    /// - Parameters:
    ///   - header: the file's header; ``RecordingHeader/plain`` for the plain form.
    ///   - offset: the position of that line, in bytes. Lines are counted from there.
    ///   - shift: how much later than the recording the file began, ns.
    public init(
        header: RecordingHeader,
        offset: Int64,
        shift: Int64 = 0,
        maximumLineBytes: Int = Self.maximumLineBytes
    ) {
        self.lineLimit = maximumLineBytes
        self.offset = offset
        self.isSealed = header != .plain
        self.shift = shift
        var origin = header
        origin.start = header.start.flatMap { Self.difference($0, shift) }
        origin.monotonic = header.monotonic.flatMap { Self.difference($0, shift) }
        self.origin = origin
    }

    /// Sets the offset of the first bytes, before they are added.
    package mutating func start(at offset: Int64) {
        precondition(self.pending.readableBytes == 0, "a parser that has begun")
        self.offset = offset
    }

    /// Adds the next bytes of the file.
    public mutating func feed(_ bytes: ByteBuffer) {
        precondition(!self.isFinished, "bytes after the end of a recording")
        self.pending.discardReadBytes()
        self.pending.writeImmutableBuffer(bytes)
    }

    /// Marks the end of the file.
    public mutating func finish() { self.isFinished = true }

    /// Returns the next frame, without the lines of other kinds before it; `nil` as ``nextLine()`` does.
    public mutating func nextFrame() -> RecordedFrame? {
        while let line = self.nextLine() {
            if let frame = line.frame { return frame }
        }
        return nil
    }

    /// Returns a line for a part of a compressed file that cannot be decompressed, at the place that the parser has
    /// reached.
    package func unreadable(_ part: RecordedLine.UnreadablePart) -> RecordedLine {
        RecordedLine(line: self.line, offset: self.offset, content: .unreadable(part))
    }

    /// Returns the next line; `nil` when it needs more bytes, and at the end after ``finish()``.
    package mutating func nextLine() -> RecordedLine? {
        while true {
            let available = self.pending.readableBytes
            let searched = self.searched
            let end: Int? = self.pending.withUnsafeReadableBytes { bytes in
                guard bytes.count > searched, let base = bytes.baseAddress,
                    let found = memchr(base + searched, 0x0A, bytes.count - searched)
                else { return nil }
                return UnsafeRawPointer(found) - base
            }
            guard let length = end else {
                self.searched = available
                if available > self.lineLimit || self.skipped > 0 {
                    // A line known to be too long is not kept.
                    self.skipped += available
                    self.consume(available)
                }
                return self.isFinished ? self.endOfFile() : nil
            }
            self.line += 1
            if self.skipped > 0 || length > self.lineLimit {
                let tooLong = self.tooLong(length)
                self.consume(length + 1)
                return tooLong
            }
            let line = self.readLine(length: length)
            self.consume(length + 1)
            if let line { return line }
        }
    }

    /// Ends a line that is too long.
    ///
    /// - Parameter rest: its bytes that are still pending.
    private mutating func tooLong(_ rest: Int) -> RecordedLine {
        defer { self.skipped = 0 }
        return RecordedLine(
            line: self.line,
            offset: self.offset - Int64(self.skipped),
            length: self.skipped + rest,
            content: .damaged(reason: "longer than \(self.lineLimit) bytes")
        )
    }

    /// Returns the rest at the file's end: a complete line without a newline, or a torn one.
    private mutating func endOfFile() -> RecordedLine? {
        let length = self.pending.readableBytes
        if self.skipped > 0 {
            self.line += 1
            return self.tooLong(0)
        }
        guard length > 0 else { return nil }
        self.line += 1
        var line = self.readLine(length: length)
        self.consume(length)
        if case .damaged? = line?.content { line?.content = .torn }
        return line
    }

    private mutating func consume(_ count: Int) {
        self.pending.moveReaderIndex(forwardBy: count)
        self.offset += Int64(count)
        self.searched = 0
    }

    /// Reads the line at the start of the pending bytes; `nil` where it is blank.
    private mutating func readLine(length: Int) -> RecordedLine? {
        var scratch = self.scratch
        self.scratch = ByteBuffer()
        let isSealed = self.isSealed
        let wantsText = !self.leavesTextOut
        let parsed = self.pending.withUnsafeReadableBytes { bytes in
            RecordedLine.parse(
                UnsafeRawBufferPointer(rebasing: bytes[..<length]),
                isSealed: isSealed,
                wantsText: wantsText,
                frame: &scratch
            )
        }
        self.scratch = scratch
        guard var line = parsed else { return nil }
        line.line = self.line
        line.offset = self.offset
        line.length = length
        if case .header(let header) = line.content {
            if RecordingHeader.readVersions.contains(header.version) {
                self.begin(header)
            } else {
                self.refusedVersion = header.version
                line.content = .damaged(reason: "a header of version \(header.version)")
            }
        }
        if let at = line.at?.addingCapped(self.shift) {
            line.at = at
            self.newest = max(self.newest, at)
        }
        return line
    }

    /// Takes the header of another file of the recording.
    private mutating func begin(_ header: RecordingHeader) {
        self.isSealed = true
        guard let origin else {
            self.origin = header
            return
        }
        // Within one run the monotonic clock continues; between runs only the wall clock does.
        var between: Int64?
        if let before = origin.monotonic, let now = header.monotonic, origin.run == header.run {
            between = Self.difference(now, before)
        } else if let before = origin.start, let now = header.start {
            between = Self.difference(now, before)
        }
        self.shift = max(between ?? self.newest, self.newest)
    }

    private static func difference(_ later: Int64, _ earlier: Int64) -> Int64? {
        let (result, isOut) = later.subtractingReportingOverflow(earlier)
        return isOut ? nil : result
    }
}
