import Market
import Wire

/// A recording as an input: its lines, the wall clock of each, and what is missing between them.
final class LineSource {
    /// What is said of the lines where they begin: in the first header, or where they begin at a moment and files were joined,
    /// in the one before the first line that comes.
    private(set) var header: RecordingHeader
    private let stream: RecordingStream
    private var losses = RecordingLosses()
    /// Of the recording, ns since 1970.
    private let start: Int64?
    /// Whether that is only likely. A file that was made of one without a clock says 0 of each line.
    private let isGuessed: Bool
    /// Lines of an earlier wall clock do not come, ns since 1970.
    private let begin: Int64?
    private var hasBegun = false
    /// What is missing before the next line that comes, and reaches to where they begin or behind it.
    private var lossBefore: RecordingLoss?
    /// Whether that reaches to the next line that has a time.
    private var isLossOpen = false
    /// Where in each file the last line of a time may be.
    private var ends: [Int64] = []
    /// The file in which it began, and how many were passed over since.
    private var first = 0
    private var filesPassed = 0
    /// Of the newest line, ns since 1970.
    private var newestWall: Int64
    private(set) var damagedLines = 0
    /// Whether the last line is of another run than the first, as where files of several were joined: the numbers of its
    /// trades are not of the run that the header names.
    private(set) var isOtherRun = false
    /// Behind the trades so far, and the same before the last line.
    private var nextSequence: UInt64?
    private var sequenceAtLoss: UInt64?
    /// What is missing behind the last line.
    private(set) var lossAtEnd: RecordingLoss?

    /// - Parameters:
    ///   - followsSegments: whether the files behind the named one are read, too.
    ///   - wall: where to begin, ns since 1970: lines of an earlier wall clock do not come.
    ///   - likely: when the recording began, where it does not say so, ns since 1970.
    init(
        _ path: String,
        followsSegments: Bool,
        from wall: Int64? = nil,
        startingAt likely: Int64? = nil
    ) throws(RecordingFailure) {
        self.stream = try RecordingStream(path: path, followsSegments: followsSegments)
        self.header = self.stream.segments[0].header
        self.isGuessed = self.header.start == nil && likely != nil
        self.header.start = self.header.start ?? likely
        self.start = self.header.start
        self.begin = self.start == nil ? nil : wall
        self.newestWall = self.start ?? 0
        self.stream.damageFound = { [weak self] _, damage in self?.losses.lostPart(isTail: damage.isTail) }
        guard !self.isGuessed, let begin, let passed = try self.stream.begin(wall: begin) else { return }
        self.first = self.stream.segment
        self.header = self.stream.segments[self.first].header
        self.losses = RecordingLosses(inside: self.header, next: passed.number)
        self.newestWall = passed.latest.map { $0.multipliedCapped(by: 1_000) } ?? self.newestWall
    }

    /// Why files that would follow are left out, in one line.
    var unreadable: String? { self.stream.unreadable }

    /// The recording's monotonic clock at a time of its lines, ns; `nil` where that is of another run than the header.
    func monotonic(at: Int64) -> Int64? {
        let first = self.stream.segments[0].header
        guard first.epoch == self.header.epoch else { return nil }
        return first.monotonic.map { $0.addingCapped(at) }
    }

    /// How many files have been read from so far.
    var files: Int { self.stream.segment - self.first + 1 - self.filesPassed }

    /// The line that tells of what is missing before the last line, or at the end.
    func line(of loss: RecordingLoss) -> RecordedLine {
        guard let epoch = self.header.epoch, !self.isOtherRun else { return loss.line() }
        return loss.line(epoch: epoch, next: self.sequenceAtLoss)
    }

    /// The next line that says something, and what is missing before it; `nil` at the end.
    func next() throws(RecordingFailure) -> (line: RecordedLine, loss: RecordingLoss?)? {
        while let line = try self.stream.next() {
            let before = self.newestWall
            var loss = self.losses.take(line)
            switch line.content {
            case .damaged:
                self.damagedLines += 1
                continue
            case .torn: continue
            case .header(let header):
                self.take(header)
                continue
            case .frame, .gap, .note, .unknown: break
            }
            let reported = self.isOtherRun ? line.withoutNumbers : line
            self.sequenceAtLoss = self.nextSequence
            self.nextSequence = reported.sequences?.upperBound ?? self.nextSequence
            let wall = self.wall(of: line)
            self.newestWall = wall ?? before
            loss?.from = before
            loss?.to = max(before, self.newestWall)
            loss = self.joined(loss)
            guard line.at != nil else {
                // It has no place in time, so that what is missing before it is missing before the next that has one.
                self.lossBefore = loss
                self.isLossOpen = loss != nil
                continue
            }
            if let begin, wall ?? .min < begin {
                // A clock that was set back then was at the moment already.
                if let loss, loss.to >= begin { self.lossBefore = loss }
                if !self.hasBegun, self.lossBefore == nil { self.damagedLines = 0 }
                continue
            }
            self.hasBegun = true
            return (reported, loss)
        }
        var loss = self.losses.finish()
        loss?.from = self.newestWall
        loss?.to = self.newestWall
        self.sequenceAtLoss = self.nextSequence
        self.lossAtEnd = self.joined(loss)
        return nil
    }

    /// With what is missing before it already.
    private func joined(_ loss: RecordingLoss?) -> RecordingLoss? {
        var before = self.lossBefore
        if self.isLossOpen, let to = before?.to { before?.to = max(to, self.newestWall) }
        self.lossBefore = nil
        self.isLossOpen = false
        return RecordingLoss.joined(before, loss)
    }

    private func take(_ header: RecordingHeader) {
        guard self.begin != nil, !self.hasBegun else {
            self.isOtherRun = header.epoch != self.header.epoch
            return
        }
        if header.epoch != self.header.epoch { self.nextSequence = nil }
        let start = self.header.start
        self.header = header
        self.header.start = header.start ?? start
    }

    /// Leaves out what follows the last line, as far as indexes and marks say that it was written at a wall clock (ns since 1970)
    /// or later; returns whether that is all.
    func skip(behind wall: Int64, _ line: RecordedLine) throws(RecordingFailure) -> Bool {
        guard !self.isGuessed else { return false }
        if self.ends.isEmpty { self.ends = try self.stream.ends(before: wall) }
        let ends = self.ends
        let place = self.stream.segment
        guard line.offset >= ends[place] else { return false }
        guard let next = ends[(place + 1)...].firstIndex(where: { $0 > 0 }) else { return true }
        try self.stream.go(toFile: next)
        self.filesPassed += next - place - 1
        self.losses = RecordingLosses(inside: self.header, next: self.stream.segments[next].header.first)
        return false
    }

    /// The line's wall clock, ns since 1970.
    func wall(of line: RecordedLine) -> Int64? {
        if let wall = line.wall, wall != 0 || !self.isGuessed {
            let (product, isOut) = wall.multipliedReportingOverflow(by: 1_000)
            return isOut ? nil : product
        }
        guard let start, let at = line.at else { return nil }
        let (sum, isOut) = start.addingReportingOverflow(at)
        return isOut ? nil : sum
    }
}

extension RecordedLine {
    /// The line without the numbers of its trades.
    fileprivate var withoutNumbers: RecordedLine {
        var line = self
        switch self.content {
        case .frame(let bytes, _, let dialect): line.content = .frame(bytes, nil, dialect)
        case .gap(var gap, let dropped):
            gap.nextSequence = 0
            gap.epoch = 0
            line.content = .gap(gap, dropped: dropped)
        case .header, .note, .unknown, .damaged, .torn: break
        }
        return line
    }
}
