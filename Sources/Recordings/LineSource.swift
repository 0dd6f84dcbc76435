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

    /// The next line that says something, and what is missing before it; `nil` at the end.
    func next() throws(RecordingFailure) -> (line: RecordedLine, loss: RecordingLoss?)? {
        while let line = try self.stream.next() {
            let before = self.newestWall
            var loss = self.losses.take(line)
            switch line.content {
            case .damaged:
                self.damagedLines += 1
                continue
            case .torn, .header: continue
            case .frame, .gap, .note, .unknown: break
            }
            self.newestWall = self.wall(of: line) ?? before
            loss?.from = before
            loss?.to = max(before, self.newestWall)
            return (line, loss)
        }
        if var loss = self.losses.finish() {
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
