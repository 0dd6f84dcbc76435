package import Market
package import NIOCore

/// An entry of a recording that is neither a frame nor a gap.
package struct RecordedNote: Sendable, Equatable {
    /// The kind of event.
    package enum Kind: String, Sendable, CaseIterable {
        /// The completeness of one symbol and hour in the recording so far; the lines stand before ``end``.
        case hour
        case connect, subscribe, unsubscribe, request, state, ping, pong, disconnect, unsynced, settled, mark, end
    }

    package var kind: Kind
    /// The direction of a message; `nil` where the event is no message.
    package var direction: ConnectionEvent.Direction?
    /// The address, the state, or the next segment's name, depending on the kind.
    package var word: String?
    package var symbol: String?
    package var reason: String?
    package var cause: String?
    /// The close frame's code.
    package var code: UInt16?
    /// The text of the message.
    package var frame: ByteBuffer?
    /// For ``Kind/unsynced``: how many written frames may not survive a power cut, and the arrivals of the first and
    /// the last of them, wall clock, ns since 1970.
    package var frames: UInt64?
    package var from: Int64?
    package var to: Int64?
    /// For ``Kind/settled``: the ids that were missing, and those that are lost for good. The times are the gap's.
    package var missing: ClosedRange<UInt64>?
    package var lost: [ClosedRange<UInt64>] = []
    /// For ``Kind/mark``: the stops and the wall clocks of the file so far, and the line's offset in the file's text,
    /// bytes.
    package var stops: GapMarkers?
    package var wallClocks: WallClockMarks?
    package var offset: Int64?

    /// For ``Kind/hour``.
    package var hour: CompletenessHour?

    package init(_ kind: Kind, direction: ConnectionEvent.Direction? = nil, word: String? = nil) {
        self.kind = kind
        self.direction = direction
        self.word = word
    }

    /// Whether the note is about its own file, so that files made from it do not have it.
    package var isOfOneFile: Bool { self.kind == .end || self.kind == .mark || self.kind == .hour }
}

/// One line of a recording, of any kind, as ``RecordingParser/nextLine()`` returns it.
package struct RecordedLine: Sendable, Equatable {
    // The large rare kinds are indirect, so that a line of a frame is cheap to pass on.
    package enum Content: Sendable, Equatable {
        indirect case header(RecordingHeader)
        /// A text frame of the service, the numbers of its trades, and its dialect.
        case frame(ByteBuffer, RecordedNumbers?, FrameDialect)
        /// Trades may be missing here; `dropped` is the number of frames that arrived and were not recorded.
        indirect case gap(Gap, dropped: UInt64?)
        indirect case note(RecordedNote)
        /// A valid line of a kind that this version does not know.
        case unknown
        case damaged(reason: String)
        /// A line cut off by the file's end.
        case torn
        /// A part of a compressed file is left out here. It stands for any number of lines.
        case unreadable(UnreadablePart)
    }

    /// A part of a compressed file that cannot be decompressed.
    package struct UnreadablePart: Sendable, Equatable {
        /// The range in the file, before decompression.
        package var bytes: Range<Int64>
        /// Whether it is the file's end, as in a truncated copy.
        package var isTail: Bool

        package init(bytes: Range<Int64>, isTail: Bool) {
            self.bytes = bytes
            self.isTail = isTail
        }
    }

    /// Its position in the file, from 1.
    package var line: Int
    /// Its offset, in bytes.
    package var offset: Int64
    /// Its length without the newline, in bytes.
    package var length: Int
    /// Its number in the recording; `nil` in the plain form.
    package var number: UInt64?
    /// The wall clock of the line, µs since 1970; `nil` in the plain form.
    package var wall: Int64?
    /// The time of the line, ns since the recording's start; `nil` where it has none.
    package var at: Int64?
    /// The length of a frame's text in the file, and its CRC-32C, where the text was left out.
    package var textChecksum: UInt64?
    package var content: Content

    package init(
        line: Int = 0,
        offset: Int64 = 0,
        length: Int = 0,
        number: UInt64? = nil,
        wall: Int64? = nil,
        at: Int64? = nil,
        textChecksum: UInt64? = nil,
        content: Content
    ) {
        self.line = line
        self.offset = offset
        self.length = length
        self.number = number
        self.wall = wall
        self.at = at
        self.textChecksum = textChecksum
        self.content = content
    }
}

extension RecordedLine {
    /// The frame in this line; `nil` for lines of other kinds.
    package var frame: RecordedFrame? {
        guard case .frame(let bytes, let numbers, let dialect) = self.content else { return nil }
        var frame = RecordedFrame(line: self.line, at: self.at ?? 0, frame: bytes, numbers: numbers)
        frame.dialect = dialect
        frame.wall = self.wall
        frame.number = self.number
        return frame
    }
}
