import Market
public import NIOCore

/// The reader of a recording in its plain form: JSON Lines, each `{"at":<ns>,"frame":"<text>"}`, in chunks of any size.
///
/// Feed it bytes, take events until `next()` has none, and tell it when the file ends. Keys may come in any order and
/// unknown ones are ignored; a line `{"at":<ns>,"gap":{…}}` is a gap of the feed, and one with neither (an event of a later
/// format) is counted in ``ignoredLines``. A line longer than the limit is damage, and is skipped without being held.
public struct RecordingReader: Sendable {
    /// The longest line, in bytes: twice the longest message that the feed accepts, which leaves room for its escapes.
    public static let maximumLineBytes = 2 << 20

    /// Lines that were read but are of a kind this version does not know.
    public private(set) var ignoredLines = 0

    private let lineLimit: Int
    private var pending = ByteBuffer()
    /// How many of the pending bytes have been searched for the line's end in vain.
    private var searched = 0
    /// Where the pending bytes begin in the file.
    private var offset: Int64 = 0
    private var line = 0
    private var isSkippingLine = false
    private var isFinished = false
    /// The last frame's storage, used again when nobody else holds it.
    private var scratch = ByteBuffer()

    public init(maximumLineBytes: Int = Self.maximumLineBytes) {
        self.lineLimit = maximumLineBytes
    }

    /// Takes in the next bytes of the file.
    public mutating func feed(_ bytes: ByteBuffer) {
        precondition(!self.isFinished, "bytes behind the end of a recording")
        self.pending.discardReadBytes()
        self.pending.writeImmutableBuffer(bytes)
    }

    /// Takes in the next bytes of the file.
    public mutating func feed(_ bytes: UnsafeRawBufferPointer) {
        precondition(!self.isFinished, "bytes behind the end of a recording")
        self.pending.discardReadBytes()
        self.pending.writeBytes(bytes)
    }

    /// Says that the file ends here.
    public mutating func finish() { self.isFinished = true }

    /// The next event; `nil` when more bytes are needed, or when the recording is at its end after ``finish()``.
    public mutating func next() -> RecordingEvent? {
        while true {
            let available = self.pending.readableBytes
            let end = self.pending.withUnsafeReadableBytes { bytes in
                UnsafeRawBufferPointer(rebasing: bytes[self.searched...]).firstIndex(of: UInt8(ascii: "\n"))
            }
            guard let end else {
                self.searched = available
                if available > self.lineLimit || self.isSkippingLine {
                    // What is known to be too long need not be held.
                    self.isSkippingLine = true
                    self.consume(available)
                }
                return self.isFinished ? self.endOfFile() : nil
            }
            let length = self.searched + end
            self.line += 1
            let wasTooLong = self.isSkippingLine || length > self.lineLimit
            self.isSkippingLine = false
            if wasTooLong {
                self.consume(length + 1)
                return .damaged(line: self.line, reason: "longer than \(self.lineLimit) bytes")
            }
            let event = self.readLine(length: length)
            self.consume(length + 1)
            if let event { return event }
        }
    }

    /// What is left at the end of the file: a whole line without its end, or a torn one.
    private mutating func endOfFile() -> RecordingEvent? {
        let length = self.pending.readableBytes
        if self.isSkippingLine {
            self.isSkippingLine = false
            self.line += 1
            return .damaged(line: self.line, reason: "longer than \(self.lineLimit) bytes")
        }
        guard length > 0 else { return nil }
        self.line += 1
        let offset = self.offset
        let event = self.readLine(length: length)
        self.consume(length)
        guard case .damaged = event else { return event }
        return .torn(line: self.line, offset: offset)
    }

    private mutating func consume(_ count: Int) {
        self.pending.moveReaderIndex(forwardBy: count)
        self.offset += Int64(count)
        self.searched = 0
    }

    /// Reads the line at the start of the pending bytes; `nil` when there is nothing in it for the caller.
    private mutating func readLine(length: Int) -> RecordingEvent? {
        var scratch = self.scratch
        self.scratch = ByteBuffer()
        let content = self.pending.withUnsafeReadableBytes { bytes in
            RecordingLine.parse(UnsafeRawBufferPointer(rebasing: bytes[..<length]), frame: &scratch)
        }
        self.scratch = scratch
        switch content {
        case .frame(let at, let numbers):
            return .frame(RecordedFrame(line: self.line, at: at, frame: scratch, numbers: numbers))
        case .gap(let at, let gap): return .gap(RecordedGap(line: self.line, at: at, gap: gap))
        case .header(let header): return .header(header)
        case .blank: return nil
        case .other:
            self.ignoredLines += 1
            return nil
        case .damaged(let reason): return .damaged(line: self.line, reason: reason)
        }
    }
}
