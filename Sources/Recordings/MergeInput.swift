import Wire

/// One of the recordings that are merged.
final class MergeInput {
    let place: Int
    var header: RecordingHeader { self.source.header }
    private let source: LineSource
    private(set) var current: RecordedLine?
    /// Wall clock of the current line, ns since 1970; it does not go back.
    private(set) var wall: Int64 = .min
    /// The same of the newest line, when there is no other.
    private(set) var endWall: Int64 = .min
    /// What is missing before the current line.
    private var loss: RecordingLoss?
    /// What is missing before the next numbered frame, unless another input has it.
    var postponed: RecordingLoss?
    var hasBegun = false
    /// Behind the lines, and behind the trades, that were taken.
    private var nextNumber: UInt64?
    private(set) var nextSequence: UInt64?
    /// What the newest lines say is missing, where no trade came since.
    private var reported: RecordedLine.Content?
    /// Of the first line, and of the first trade.
    private let firstNumber: UInt64?
    private let firstSequence: UInt64?

    /// In how many of a recording's first lines the first trade is looked for.
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
    /// Whether it has begun, and has more.
    var isOpen: Bool { self.hasBegun && self.current != nil }

    /// Goes to the next line that has a place in time and is not of its own file alone.
    func advance() throws(RecordingFailure) {
        self.current = nil
        while let (line, loss) = try self.source.next() {
            if let loss { self.loss = self.loss?.joined(loss) ?? loss }
            guard line.at != nil, let wall = self.source.wall(of: line) else { continue }
            self.wall = max(self.wall, wall)
            self.endWall = self.wall
            if case .note(let note) = line.content, note.kind == .end || note.kind == .mark {
                self.follow(line)
                continue
            }
            self.current = line
            return
        }
    }

    /// Notes that a line is behind it.
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

    /// Whether its line comes before that of another: of one run by the numbers of the trades, else by the wall clock, which
    /// may have been set back.
    func precedes(_ other: MergeInput) -> Bool {
        if self.isSameRun(as: other), let rank = self.current?.rank, let otherRank = other.current?.rank,
            // A gap stands before the trade that it names, and at the end of a piece as well, long before that.
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

    /// The place of the current line among the trades of the run: what has no number, as a frame that came again, stands behind
    /// the trades before it. Else what came in the same read would stand behind all of another input.
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

    /// Whether it is of the same run and of all symbols of another.
    func isCopy(of other: MergeInput) -> Bool {
        guard self.isSameRun(as: other) else { return false }
        return Set(other.header.symbols).isSubset(of: self.header.symbols)
            && other.header.symbols.isEmpty == self.header.symbols.isEmpty
    }

    /// Whether it goes on where another of the same run has ended: by the numbers of the trades, or by those of the lines.
    func follows(_ other: MergeInput) -> Bool {
        guard self.isSameRun(as: other) else { return false }
        // Both tell of what is missing between them.
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

    /// The place among the trades of the run: a gap stands before the trade that it names.
    var rank: Rank? {
        switch self.content {
        case .frame: self.sequences.map { Rank(number: $0.lowerBound, isFrame: true) }
        case .gap(let gap, _): gap.nextSequence > 0 ? Rank(number: gap.nextSequence, isFrame: false) : nil
        case .header, .note, .unknown, .damaged, .torn: nil
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
