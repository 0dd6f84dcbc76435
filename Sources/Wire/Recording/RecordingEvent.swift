package import Market
public import NIOCore

/// The header in the first line of a recording; the plain form has none.
public struct RecordingHeader: Sendable, Equatable {
    /// The version of a file whose frames are all Finnhub's.
    public static let currentVersion = 2
    /// The version of a file with frames of other dialects. Programs that know only Finnhub's refuse it.
    package static let dialectVersion = 3
    /// The versions that this program reads.
    package static let readVersions = currentVersion...dialectVersion
    /// The substitute for the header that the plain form lacks.
    package static let plain = RecordingHeader(version: 0)

    /// The format's version, `tickertape` in the line.
    public var version: Int
    /// The version of the program that wrote it.
    public var program: String?
    public var symbols: [String]
    /// The wall clock at the recording's start, ns since 1970.
    public var start: Int64?
    /// The run of numbers to which the frames' ``RecordedFrame/numbers`` belong.
    public var epoch: UInt64?
    /// Where the frames came from: `live` for the market.
    public var source: String?
    /// The service's address, without a key.
    public var address: String?
    /// The monotonic clock at this file's start, ns; comparable within one epoch.
    public var monotonic: Int64?
    /// The number of this file in the recording, from 1, and the name of the file before it.
    public var segment: Int?
    public var previous: String?
    /// The number of the first line after the header.
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

/// The numbers of a recorded frame's trades on the tape of the program that recorded it.
public struct RecordedNumbers: Sendable, Equatable {
    /// The first trade's number; the others follow without a hole.
    public var first: UInt64
    /// How many of the frame's trades are on the tape.
    public var count: Int
    /// The indices, among all trades in the frame's text, of those that are not on the tape because they had come
    /// before an interruption already; ascending.
    public var leftOut: [Int]
    /// The indices, counted in the same way, of those on the tape that may have come before; ascending.
    public var possibleRepeats: [Int]
    /// The indices, counted in the same way, of those on the tape whose exchange time was ahead of their arrival;
    /// ascending.
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
    /// The line that contains it, from 1.
    public var line: Int
    /// The time of its arrival, ns since the recording's start.
    public var at: Int64
    /// The text frame's payload, as the upstream sent it.
    public var frame: ByteBuffer
    /// The dialect of the payload.
    package var dialect = FrameDialect.finnhub
    /// `nil` where none of its trades is on the tape, and in the plain form, which has no numbers.
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

/// An entry that a reader finds in a recording.
public enum RecordingEvent: Sendable, Equatable {
    case header(RecordingHeader)
    case frame(RecordedFrame)
    /// Trades may be missing between the frames before and after it.
    case gap(RecordedGap)
    /// A complete line that cannot be read (its position, from 1). Reading continues with the next line.
    case damaged(line: Int, reason: String)
    /// The file ends inside a line, as after a crash of its writer: `offset` is the beginning of that line, in bytes.
    case torn(line: Int, offset: Int64)
}
