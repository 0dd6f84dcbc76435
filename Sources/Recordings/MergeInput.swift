import Wire

/// One of the recordings that are merged.
final class MergeInput {
    let place: Int
    var header: RecordingHeader { self.source.header }
    private let source: LineSource
    private(set) var current: RecordedLine?
    /// Wall clock of the current line, ns since 1970; it does not go back.
    private(set) var wall: Int64 = .min
    /// The current line's own wall clock, ns since 1970: the lines of a read share it, also behind a gap line, which has
    /// a later one.
    private(set) var lineWall: Int64 = .min
    /// The wall clock of the newest line, ns since 1970; stays where the recording ends.
    private(set) var endWall: Int64 = .min
    /// The loss before the current line.
    private var loss: RecordingLoss?
    /// The loss before the next numbered frame, kept back because another input may hold what is missing.
    var postponed: RecordingLoss?
    var hasBegun = false
    /// The number behind the lines, and behind the trades, taken so far.
    private var nextNumber: UInt64?
    private(set) var nextSequence: UInt64?
    /// The gap reported last; `nil` once a trade follows it.
    private var reported: RecordedLine.Content?
    /// The number of the first line, and of the first trade.
    private let firstNumber: UInt64?
    private let firstSequence: UInt64?

    /// How many of a recording's first lines are searched for the first trade.
    private static let searchedLines = 10_000

    init(_ path: String, place: Int) throws(RecordingFailure) {
        self.place = place
        self.source = try LineSource(path, followsSegments: false)
        let head = try LineSource(path, followsSegments: false)
        var number: UInt64?
        var sequence: UInt64?
        var count = 0
        while sequence == nil, count < Self.searchedLines, let (line, _) = try head.next() {
            number = number ?? line.number
            sequence = line.sequences?.lowerBound
            count += 1
        }
        self.firstNumber = number
        self.firstSequence = sequence
    }

    var damagedLines: Int { self.source.damagedLines }
    var lossAtEnd: RecordingLoss? { self.source.lossAtEnd }
    /// Whether the newest line is of another run than the header's.
    var isOtherRun: Bool { self.source.isOtherRun }
    /// Whether its first line was merged, and another follows.
    var isOpen: Bool { self.hasBegun && self.current != nil }

    /// Goes to the next line that has a place in time. Skips the lines that concern only their own file.
    func advance() throws(RecordingFailure) {
        self.current = nil
        while let (line, loss) = try self.source.next() {
            if let loss { self.loss = self.loss?.joined(loss) ?? loss }
            guard line.at != nil, let wall = self.source.wall(of: line) else { continue }
            self.wall = max(self.wall, wall)
            self.lineWall = wall
            self.endWall = self.wall
            if case .note(let note) = line.content, note.isOfOneFile {
                self.follow(line)
                continue
            }
            self.current = line
            return
        }
    }

    /// Records that a line was taken.
    func follow(_ line: RecordedLine) {
        if let number = line.number { self.nextNumber = number &+ 1 }
        if let numbers = line.sequences {
            self.nextSequence = numbers.upperBound
            self.reported = nil
        }
        if case .gap = line.content { self.reported = line.content }
    }

    func takeLoss() -> RecordingLoss? {
        defer { self.loss = nil }
        return self.loss
    }

    /// Whether its line comes before that of another input: within one run by the numbers of the trades, else by the
    /// wall clock, which may have been set back.
    func precedes(_ other: MergeInput) -> Bool {
        if self.isSameRun(as: other), let rank = self.current?.rank, let otherRank = other.current?.rank,
            // A gap stands before the trade that it names, and also at the end of a part, long before that trade.
            rank != otherRank, max(rank, otherRank).isFrame
        {
            return rank < otherRank
        }
        let (mine, others) = (self.wall / 1_000, other.wall / 1_000)
        if mine != others { return mine < others }
        if self.isSameRun(as: other), let place = self.sequencePlace, let otherPlace = other.sequencePlace,
            place != otherPlace
        {
            return place < otherPlace
        }
        return (self.header.start ?? 0, self.current?.number ?? 0)
            < (other.header.start ?? 0, other.current?.number ?? 0)
    }

    /// The position of the current line among the run's trades.
    ///
    /// A line without a number, such as a repeated frame, counts as behind the trades before it. Otherwise lines of one
    /// batch would be sorted behind all lines of another input.
    private var sequencePlace: UInt64? {
        guard let current else { return nil }
        if case .gap = current.content { return nil }
        return current.sequences?.lowerBound ?? self.nextSequence ?? self.firstSequence
    }

    /// Whether the newest lines of both are of one run.
    func isSameRun(as other: MergeInput) -> Bool {
        guard let epoch = self.header.epoch, !self.isOtherRun, !other.isOtherRun else { return false }
        return epoch == other.header.epoch
    }

    /// Whether it is of the same run as another, and covers all symbols of that one.
    func isCopy(of other: MergeInput) -> Bool {
        guard self.isSameRun(as: other) else { return false }
        return Set(other.header.symbols).isSubset(of: self.header.symbols)
            && other.header.symbols.isEmpty == self.header.symbols.isEmpty
    }

    /// Whether it continues another of the same run: by the numbers of the trades, or by those of the lines.
    func follows(_ other: MergeInput) -> Bool {
        guard self.isSameRun(as: other) else { return false }
        // Both report the same gap between them.
        if let reported = other.reported, self.current?.content == reported { return true }
        if let first = self.firstSequence, let next = other.nextSequence { return first <= next }
        guard let number = self.firstNumber, number > 1 else { return false }
        return number == other.nextNumber
    }
}

extension RecordedLine {
    /// The numbers of a frame's trades, where it has any.
    package var sequences: Range<UInt64>? {
        guard case .frame(_, let numbers?, _) = self.content, numbers.count > 0 else { return nil }
        return numbers.first..<numbers.first &+ UInt64(numbers.count)
    }

    /// The position among the run's trades: a gap stands before the trade that it names.
    var rank: Rank? {
        switch self.content {
        case .frame: self.sequences.map { Rank(number: $0.lowerBound, isFrame: true) }
        case .gap(let gap, _): gap.nextSequence > 0 ? Rank(number: gap.nextSequence, isFrame: false) : nil
        case .header, .note, .unknown, .damaged, .torn, .unreadable: nil
        }
    }

    struct Rank: Comparable {
        var number: UInt64
        var isFrame: Bool

        static func < (left: Rank, right: Rank) -> Bool {
            left.number != right.number ? left.number < right.number : !left.isFrame && right.isFrame
        }
    }
}
