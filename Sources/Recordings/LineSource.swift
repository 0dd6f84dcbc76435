import Market
import Wire

/// A recording as an input: its lines, the wall clock of each, and what is missing between them.
final class LineSource {
    let header: RecordingHeader
    private let stream: RecordingStream
    private var losses = RecordingLosses()
    /// The file in which it began.
    private var first = 0
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
    ///   - wall: where to begin, ns since 1970; earlier lines may come, too.
    init(_ path: String, followsSegments: Bool, from wall: Int64? = nil) throws(RecordingFailure) {
        self.stream = try RecordingStream(path: path, followsSegments: followsSegments)
        self.header = self.stream.segments[0].header
        self.newestWall = self.header.start ?? 0
        self.stream.damageFound = { [weak self] _, damage in self?.losses.lostPart(isTail: damage.isTail) }
        if let wall, self.header.start != nil {
            try self.stream.seek(wall: wall)
            self.first = self.stream.segment
            self.losses = RecordingLosses(inside: self.header)
            self.newestWall = max(self.newestWall, wall)
        }
    }

    /// How many files have been read from so far.
    var files: Int { self.stream.segment - self.first + 1 }

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
                self.isOtherRun = header.epoch != self.header.epoch
                continue
            case .frame, .gap, .note, .unknown: break
            }
            let told = self.isOtherRun ? line.withoutNumbers : line
            self.sequenceAtLoss = self.nextSequence
            self.nextSequence = told.sequences?.upperBound ?? self.nextSequence
            self.newestWall = self.wall(of: line) ?? before
            loss?.from = before
            loss?.to = max(before, self.newestWall)
            return (told, loss)
        }
        if var loss = self.losses.finish() {
            self.sequenceAtLoss = self.nextSequence
            loss.from = self.newestWall
            loss.to = self.newestWall
            self.lossAtEnd = loss
        }
        return nil
    }

    /// The line's wall clock, ns since 1970.
    func wall(of line: RecordedLine) -> Int64? {
        if let wall = line.wall {
            let (product, isOut) = wall.multipliedReportingOverflow(by: 1_000)
            return isOut ? nil : product
        }
        guard let start = self.header.start, let at = line.at else { return nil }
        let (sum, isOut) = start.addingReportingOverflow(at)
        return isOut ? nil : sum
    }
}

extension RecordedLine {
    /// The line without the numbers of its trades.
    fileprivate var withoutNumbers: RecordedLine {
        var line = self
        switch self.content {
        case .frame(let bytes, _): line.content = .frame(bytes, nil)
        case .gap(var gap, let dropped):
            gap.nextSequence = 0
            gap.epoch = 0
            line.content = .gap(gap, dropped: dropped)
        case .header, .note, .unknown, .damaged, .torn: break
        }
        return line
    }
}
