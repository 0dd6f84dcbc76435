import Market
import NIOCore
import Wire

/// A writer of recordings with lines at any seconds of the wall clock, independent of the monotonic clock.
struct RecordingWriterPen {
    static let start: Int64 = 1_767_225_600_000_000_000
    static let second: Int64 = 1_000_000_000

    private(set) var text = ByteBuffer()
    private var number: UInt64
    private var sequence: UInt64
    private var at: Int64 = 0
    /// The wall clocks of the lines so far, µs since 1970.
    private var wallClocks: [Int64]
    private var nextMark: Int
    private let lie: (_ mark: Int, inout WallClockMarks) -> Void
    /// The number of marks.
    private(set) var marks = 0

    /// - Parameters:
    ///   - monotonic: the monotonic clock at the file's beginning, s.
    ///   - hasMarks: whether it writes marks as a recorder does.
    ///   - lie: changes the content of a mark, given the mark's number.
    init(
        wall: Int64,
        monotonic: Int64 = 0,
        segment: Int = 1,
        first: UInt64 = 1,
        epoch: UInt64 = 7,
        hasMarks: Bool = false,
        lie: @escaping (_ mark: Int, inout WallClockMarks) -> Void = { _, _ in }
    ) {
        var header = RecordingHeader(
            program: "test",
            symbols: ["A"],
            start: Self.start + wall * Self.second,
            epoch: epoch,
            source: "live"
        )
        header.monotonic = monotonic * Self.second
        header.segment = segment
        header.first = first
        self.number = first
        self.sequence = first
        self.wallClocks = [(Self.start + wall * Self.second) / 1_000]
        self.nextMark = hasMarks ? GapMarkers.interval : .max
        self.lie = lie
        RecordingSyntax.header(header, into: &self.text)
    }

    private mutating func stamp(_ wall: Double, after: Double) -> RecordingSyntax.Stamp {
        self.at += Int64(after * 1_000) * 1_000_000
        let wall = Self.start + Int64(wall * 1_000) * 1_000_000
        if self.text.readableBytes >= self.nextMark { self.mark(wall) }
        defer { self.number += 1 }
        self.wallClocks.append(wall / 1_000)
        return RecordingSyntax.Stamp(number: self.number, wall: wall, at: self.at)
    }

    private mutating func mark(_ wall: Int64) {
        var latest = self.wallClocks[0]
        var back: Int64 = 0
        for wall in self.wallClocks {
            back = max(back, latest - wall)
            latest = max(latest, wall)
        }
        var note = RecordedNote(.mark)
        var wallClocks = WallClockMarks(latest: latest, back: back)
        self.lie(self.marks, &wallClocks)
        note.stops = GapMarkers()
        note.wallClocks = wallClocks
        note.offset = Int64(self.text.readableBytes)
        let stamp = RecordingSyntax.Stamp(number: self.number, wall: wall, at: self.at)
        RecordingSyntax.note(note, stamp, into: &self.text)
        self.wallClocks.append(wall / 1_000)
        self.number += 1
        self.marks += 1
        self.nextMark = self.text.readableBytes + GapMarkers.interval
    }

    mutating func trade(_ wall: Double, after: Double = 1, symbol: String = "A", padding: Int = 0) {
        let stamp = self.stamp(wall, after: after)
        let time = stamp.wall / 1_000_000 - 20
        let pad = String(repeating: " ", count: padding)
        RecordingSyntax.frame(
            ByteBuffer(
                string: #"{"data":[{"c":null,"p":\#(self.sequence),"s":"\#(symbol)","t":\#(time),"v":1}],\#(pad)"#
                    + #""type":"trade"}"#
            ),
            stamp,
            numbers: RecordedNumbers(first: self.sequence, count: 1),
            into: &self.text
        )
        self.sequence += 1
    }

    mutating func gap(_ wall: Double, from: Double, to: Double, symbol: String? = nil, dropped: UInt64? = nil) {
        let gap = Gap(
            from: Self.start + Int64(from * 1_000) * 1_000_000,
            to: Self.start + Int64(to * 1_000) * 1_000_000,
            reason: "lost",
            nextSequence: self.sequence,
            epoch: 7,
            symbol: symbol
        )
        RecordingSyntax.gap(gap, dropped: dropped, self.stamp(wall, after: 0), into: &self.text)
    }

    /// Skips the numbers of trades that the recorder left out.
    mutating func leaveOut(_ trades: UInt64) { self.sequence += trades }

    mutating func ping(_ wall: Double, after: Double) {
        let stamp = self.stamp(wall, after: after)
        RecordingSyntax.frame(ByteBuffer(string: #"{"type":"ping"}"#), stamp, into: &self.text)
    }
}
