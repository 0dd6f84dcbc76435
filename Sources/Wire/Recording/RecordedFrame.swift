package import Market
public import NIOCore

/// The numbers of a recorded frame's trades on the tape of the program that recorded it.
public struct RecordedNumbers: Sendable, Equatable {
    /// The first trade's number; the others follow without a hole. Without a trade, the number of the tape's next one.
    public var first: UInt64
    /// How many of the frame's trades are on the tape.
    public var count: Int
    /// The indices, among all trades in the frame's text, of those that are not on the tape: they had come already, or
    /// are from before the subscription; ascending.
    public var leftOut: [Int]
    /// The indices, counted in the same way, of those on the tape that may have come before; ascending.
    public var possibleRepeats: [Int]
    /// The indices, counted in the same way, of those on the tape whose exchange time was ahead of their arrival;
    /// ascending.
    public var ahead: [Int]
    /// The indices, counted in the same way, of those on the tape that had been missing and came after newer ones
    /// (``TradeMarks/filled``); ascending.
    public var filled: [Int]

    /// Whether the frame holds trades, on the tape or not.
    package var hasTrades: Bool { self.count > 0 || !self.leftOut.isEmpty }

    /// Whether a line of the frame has a list of indices.
    var hasPlaces: Bool {
        !self.leftOut.isEmpty || !self.possibleRepeats.isEmpty || !self.ahead.isEmpty || !self.filled.isEmpty
    }

    public init(
        first: UInt64,
        count: Int,
        leftOut: [Int] = [],
        possibleRepeats: [Int] = [],
        ahead: [Int] = [],
        filled: [Int] = []
    ) {
        self.first = first
        self.count = count
        self.leftOut = leftOut
        self.possibleRepeats = possibleRepeats
        self.ahead = ahead
        self.filled = filled
    }
}

/// One frame of a recording.
public struct RecordedFrame: Sendable, Equatable {
    /// The line that contains it, from 1.
    public var line: Int
    /// The time of its arrival, ns since the recording's start.
    public var at: Int64
    /// The text frame's payload, as the upstream sent it.
    public var frame: ByteBuffer
    /// The dialect of the payload.
    package var dialect = FrameDialect.finnhub
    /// `nil` where it has no trade, where it was left out as a whole without an id's proof, and in the plain form, which has no numbers.
    public var numbers: RecordedNumbers?
    /// The wall clock at its arrival, µs since 1970; `nil` in the plain form, which has only ``at``.
    public var wall: Int64?
    /// The line's number in the recording; `nil` in the plain form.
    public var number: UInt64?

    public init(line: Int, at: Int64, frame: ByteBuffer, numbers: RecordedNumbers? = nil) {
        self.line = line
        self.at = at
        self.frame = frame
        self.numbers = numbers
    }
}

/// A gap of the feed, at its position among a recording's frames.
public struct RecordedGap: Sendable, Equatable {
    /// The line that contains it, from 1.
    public var line: Int
    /// The time of its end, ns since the recording's start.
    public var at: Int64
    package var gap: Gap
    /// How many frames arrived and were not recorded; `nil` where the feed itself was interrupted.
    public var dropped: UInt64?
    /// The wall clock at the writing of the line, µs since 1970; `nil` for a gap outside a recording.
    public var wall: Int64?

    package init(line: Int, at: Int64, gap: Gap, dropped: UInt64? = nil, wall: Int64? = nil) {
        self.line = line
        self.at = at
        self.gap = gap
        self.dropped = dropped
        self.wall = wall
    }
}
