import Market
package import Wire

/// A recording as an input of an edit: its lines, the wall clock of each, and the losses between them.
package final class LineSource {
    /// The header of the lines returned: the first one; where they begin at a wall clock inside joined files, the last
    /// one before the first line returned.
    private(set) var header: RecordingHeader
    private let stream: RecordingStream
    private var losses: RecordingLosses
    /// The recording's start, ns since 1970.
    private let start: Int64?
    /// Whether that is an estimate. A file made from one without a clock has the wall clock 0 on each line.
    private let isGuessed: Bool
    /// Lines of an earlier wall clock are left out, ns since 1970.
    private let begin: Int64?
    private var hasBegun = false
    /// The loss before the next line that is returned. It reaches `begin` or goes beyond it.
    private var lossBefore: RecordingLoss?
    /// Whether that loss extends to the next line that has a time.
    private var isLossOpen = false
    /// The offset in each file behind which every line is too late for `skip`.
    private var ends: [Int64] = []
    /// The index of the file in which reading began, and how many files `skip` has passed over since.
    private var first = 0
    private var filesPassed = 0
    private(set) var damagedLines = 0
    /// Whether the last line is of another run than the header, as in a file joined from several runs. The numbers of
    /// its trades are then not of the run that the header names.
    private(set) var isOtherRun = false
    /// The number behind the trades so far, and the same before the last line.
    private var nextSequence: UInt64?
    private var sequenceAtLoss: UInt64?
    /// The loss behind the last line.
    private(set) var lossAtEnd: RecordingLoss?

    /// - Parameters:
    ///   - followsSegments: whether the files that follow the named one are read, too.
    ///   - wall: where to begin, ns since 1970: lines of an earlier wall clock are left out.
    ///   - likely: the recording's start, used where no header states it, ns since 1970.
    package init(
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
        self.losses = RecordingLosses(at: self.start ?? 0)
        guard !self.isGuessed, let begin, let passed = try self.stream.begin(wall: begin) else { return }
        self.first = self.stream.segment
        self.header = self.stream.segments[self.first].header
        let latest = passed.latest.map { $0.multipliedCapped(by: 1_000) }
        self.losses = RecordingLosses(inside: self.header, next: passed.number, at: latest ?? self.losses.wall)
    }

    /// Why the files that would follow are left out, in one line.
    package var unreadable: String? { self.stream.unreadable }

    /// The recording's monotonic clock at a time of its lines, ns; `nil` where `header` is of another run than the
    /// first one.
    func monotonic(at: Int64) -> Int64? {
        let first = self.stream.segments[0].header
        guard first.run == self.header.run else { return nil }
        return first.monotonic.map { $0.addingCapped(at) }
    }

    /// The number of files read from so far.
    var files: Int { self.stream.segment - self.first + 1 - self.filesPassed }

    /// The line that reports a loss before the last line, or at the end.
    func line(of loss: RecordingLoss) -> RecordedLine {
        guard let epoch = self.header.epoch, !self.isOtherRun else { return loss.line() }
        return loss.line(epoch: epoch, next: self.sequenceAtLoss)
    }

    /// Reads and unpacks the next parts of the files while the caller uses the lines before them.
    package func readAhead() throws(RecordingFailure) { try self.stream.readAhead() }

    /// The next readable line, and the loss before it; `nil` at the end.
    package func next() throws(RecordingFailure) -> (line: RecordedLine, loss: RecordingLoss?)? {
        while let line = try self.stream.next() {
            let wall = self.wall(of: line)
            let ownLoss = self.losses.take(line, wall: wall)
            switch line.content {
            case .damaged:
                self.damagedLines += 1
                continue
            case .torn, .unreadable: continue
            case .header(let header):
                self.take(header)
                continue
            case .frame, .gap, .note, .unknown: break
            }
            let reported = self.isOtherRun ? line.withoutNumbers : line
            self.sequenceAtLoss = self.nextSequence
            self.nextSequence = reported.sequences?.upperBound ?? self.nextSequence
            let loss = self.joined(ownLoss)
            guard line.at != nil else {
                // The line has no place in time, so that the loss before it counts for the next line that has one.
                self.lossBefore = loss
                self.isLossOpen = loss != nil
                continue
            }
            if let begin, wall ?? .min < begin {
                // Where the clock was set back, a loss may reach the beginning although its line is earlier.
                if let loss, loss.to >= begin { self.lossBefore = loss }
                if !self.hasBegun, self.lossBefore == nil { self.damagedLines = 0 }
                continue
            }
            self.hasBegun = true
            return (reported, loss)
        }
        self.sequenceAtLoss = self.nextSequence
        self.lossAtEnd = self.joined(self.losses.finish())
        return nil
    }

    /// Joins a loss with the one kept from the lines before.
    private func joined(_ loss: RecordingLoss?) -> RecordingLoss? {
        var before = self.lossBefore
        if self.isLossOpen, let to = before?.to { before?.to = max(to, self.losses.wall) }
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

    /// Leaves out the lines after `line` that indexes and marks date at `wall` (ns since 1970) or later; returns
    /// whether nothing is left.
    func skip(behind wall: Int64, _ line: RecordedLine) throws(RecordingFailure) -> Bool {
        guard !self.isGuessed else { return false }
        if self.ends.isEmpty { self.ends = try self.stream.ends(before: wall) }
        let ends = self.ends
        let place = self.stream.segment
        guard line.offset >= ends[place] else { return false }
        guard let next = ends[(place + 1)...].firstIndex(where: { $0 > 0 }) else { return true }
        try self.stream.go(toFile: next)
        self.filesPassed += next - place - 1
        let first = self.stream.segments[next].header.first
        self.losses = RecordingLosses(inside: self.header, next: first, at: self.losses.wall)
        return false
    }

    /// The line's wall clock, ns since 1970; `nil` for a header, before which lines of an earlier clock may be missing.
    package func wall(of line: RecordedLine) -> Int64? {
        if case .header = line.content { return nil }
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
        case .header, .note, .unknown, .damaged, .torn, .unreadable: break
        }
        return line
    }
}
