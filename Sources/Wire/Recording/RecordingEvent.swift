package import Market
public import NIOCore

/// What the first line of a recording says about it; the plain form has none.
public struct RecordingHeader: Sendable, Equatable {
    /// The version of a file whose frames are all Finnhub's.
    public static let currentVersion = 2
    /// The version of a file in which frames may be of other dialects; programs that know none but Finnhub's refuse it.
    package static let dialectVersion = 3
    /// The versions that are read.
    package static let readVersions = currentVersion...dialectVersion
    /// What stands in the place of the header that the plain form lacks.
    package static let plain = RecordingHeader(version: 0)

    /// The format's version, `tickertape` in the line.
    public var version: Int
    /// The version of the program that wrote it.
    public var program: String?
    public var symbols: [String]
    /// The wall clock when the recording began, ns since 1970.
    public var start: Int64?
    /// The run of numbers that the frames' ``RecordedFrame/numbers`` belong to.
    public var epoch: UInt64?
    /// Where the frames came from: `live` for the market.
    public var source: String?
    /// The service's address, without a key.
    public var address: String?
    /// The monotonic clock when this file began, ns; comparable within one epoch.
    public var monotonic: Int64?
    /// Which file of the recording this is, from 1, and the name of the one before it.
    public var segment: Int?
    public var previous: String?
    /// The number of the first line behind this one.
    public var first: UInt64?

    public init(
        version: Int = Self.currentVersion,
        program: String? = nil,
        symbols: [String] = [],
        start: Int64? = nil,
        epoch: UInt64? = nil,
        source: String? = nil
    ) {
        self.version = version
        self.program = program
        self.symbols = symbols
        self.start = start
        self.epoch = epoch
        self.source = source
    }
}

/// The numbers that the trades of a recorded frame have on the tape of the program that recorded it.
public struct RecordedNumbers: Sendable, Equatable {
    /// The number of the first of them; the others follow without a hole.
    public var first: UInt64
    /// How many of the frame's trades are on the tape.
    public var count: Int
    /// The places, among the trades that the frame's text holds, of those that are not on the tape, as they had come
    /// before an interruption already; ascending.
    public var leftOut: [Int]
    /// The places, counted in the same way, of those that are on the tape and may have come before; ascending.
    public var possibleRepeats: [Int]
    /// The places, counted in the same way, of those that are on the tape and were ahead of their arrival; ascending.
    public var ahead: [Int]

    public init(
        first: UInt64,
        count: Int,
        leftOut: [Int] = [],
        possibleRepeats: [Int] = [],
        ahead: [Int] = []
    ) {
        self.first = first
        self.count = count
        self.leftOut = leftOut
        self.possibleRepeats = possibleRepeats
        self.ahead = ahead
    }
}

/// One frame of a recording.
public struct RecordedFrame: Sendable, Equatable {
    /// The line it stands in, from 1.
    public var line: Int
    /// When it arrived, ns since the recording's start.
    public var at: Int64
    /// The text frame's payload as the upstream sent it.
    public var frame: ByteBuffer
    /// Whose words it is in.
    package var dialect = FrameDialect.finnhub
    /// `nil` where no trade of it is on the tape, and in the plain form, which has no numbers.
    public var numbers: RecordedNumbers?
    /// When it arrived, wall clock, µs since 1970; `nil` in the plain form, which has only ``at``.
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

/// A gap of the feed, where it stands among a recording's frames.
public struct RecordedGap: Sendable, Equatable {
    /// The line it stands in, from 1.
    public var line: Int
    /// When it ended, ns since the recording's start.
    public var at: Int64
    package var gap: Gap
    /// So many frames that came are not in the recording; `nil` where the feed itself was interrupted.
    public var dropped: UInt64?
    /// When the line was written, wall clock, µs since 1970; `nil` where it was in no recording.
    public var wall: Int64?

    package init(line: Int, at: Int64, gap: Gap, dropped: UInt64? = nil, wall: Int64? = nil) {
        self.line = line
        self.at = at
        self.gap = gap
        self.dropped = dropped
        self.wall = wall
    }
}

/// What a reader finds in a recording, in order.
public enum RecordingEvent: Sendable, Equatable {
    case header(RecordingHeader)
    case frame(RecordedFrame)
    /// Trades may be missing between the frames before and after it.
    case gap(RecordedGap)
    /// A line (its number, from 1) that is whole but cannot be read; the lines behind it are read on.
    case damaged(line: Int, reason: String)
    /// The file ends inside a line, as after a crash of its writer: `offset` is where that line begins, in bytes.
    case torn(line: Int, offset: Int64)
}
