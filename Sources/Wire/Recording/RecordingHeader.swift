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
    /// The run of the program that wrote it, where ``epoch`` does not name that: the numbers are those of another
    /// program of a cluster, or began anew in the run.
    public var writerRun: UInt64?
    /// Where the frames came from: `live` for the market.
    public var source: String?
    /// The service's address, without a key.
    public var address: String?
    /// The monotonic clock at this file's start, ns; comparable within one ``run``.
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

    /// What names the run of the program that wrote it, and with it the sequence of the files.
    package var run: UInt64? { self.writerRun ?? self.epoch }
}
