import Market
package import Wire

/// Lines that a recording had, or may have had, and that can no longer be read.
package struct RecordingLoss: Sendable, Equatable {
    /// How many lines; `nil` where the number is unknown.
    package var lines: UInt64?
    /// The cause, in words.
    package var reason: String
    /// The wall clocks of the lines around the loss, ns since 1970.
    package var from: Int64 = 0
    package var to: Int64 = 0

    /// Returns the line that reports the loss: `dropped` where the number of missing lines is known, else `gap`.
    func line(epoch: UInt64? = nil, next: UInt64? = nil, symbol: String? = nil) -> RecordedLine {
        let gap = Gap(
            from: self.from,
            to: max(self.from, self.to),
            reason: self.reason,
            nextSequence: next ?? 0,
            epoch: epoch ?? 0,
            symbol: symbol
        )
        return RecordedLine(line: 0, offset: 0, length: 0, content: .gap(gap, dropped: self.lines))
    }

    /// Returns both losses as one.
    package func joined(_ later: RecordingLoss) -> RecordingLoss {
        var both = self
        both.lines = if let before = self.lines, let behind = later.lines { before &+ behind } else { nil }
        both.to = max(self.to, later.to)
        return both
    }

    static func joined(_ one: RecordingLoss?, _ later: RecordingLoss?) -> RecordingLoss? {
        guard let one, let later else { return one ?? later }
        return one.joined(later)
    }
}

/// The detection of losses between the lines of a recording.
///
/// Its evidence: the numbers of the lines, damaged lines, parts of a compressed file that cannot be decompressed, and
/// joined files. Numbers are proof: where they continue without a hole nothing is missing, whatever was damaged, and a
/// hole states how many lines were lost. Without numbers the damaged lines are counted.
package struct RecordingLosses: Sendable {
    private var hasHeader = false
    /// What names the run of the newest header (``RecordingHeader/run``).
    private var run: UInt64?
    /// The number that the next line should have.
    private var next: UInt64?
    private var missing: UInt64 = 0
    private var passedOver = MissingNumbers()
    /// The number of lines that arrived out of order and had been counted as missing.
    package private(set) var returned: UInt64 = 0
    private var damagedLines: UInt64 = 0
    private var damagedParts = 0
    private var isCutOff = false
    private var isSeam = false
    /// The newest wall clock of a line, ns since 1970.
    private(set) var wall: Int64

    /// Begins at a recording's start.
    ///
    /// - Parameter wall: the wall clock there, ns since 1970.
    package init(at wall: Int64 = 0) { self.wall = wall }

    /// Begins inside a recording, where the next line should have the number `next`.
    init(inside header: RecordingHeader, next: UInt64?, at wall: Int64) {
        self.hasHeader = true
        self.next = next
        self.run = header.run
        self.wall = wall
    }

    /// Takes the next line; returns the loss before it.
    ///
    /// - Parameter wall: the line's wall clock, ns since 1970; `nil` if it has none.
    package mutating func take(_ line: RecordedLine, wall: Int64?) -> RecordingLoss? {
        let before = self.wall
        self.wall = wall ?? before
        switch line.content {
        case .damaged:
            self.damagedLines += 1
            return nil
        case .unreadable(let part):
            self.damagedParts += 1
            self.isCutOff = part.isTail
            return nil
        case .torn: return nil
        case .header(let header):
            self.begin(header)
            return nil
        case .frame, .gap, .note, .unknown: break
        }
        var isNumbered = false
        if let number = line.number {
            if let next {
                isNumbered = true
                if number > next {
                    self.missing &+= number - next
                    self.passedOver.add(next..<number)
                } else if self.passedOver.take(number) {
                    self.returned += 1
                }
            }
            self.next = max(self.next ?? 0, number &+ 1)
        }
        guard self.missing > 0 || self.damagedLines > 0 || self.damagedParts > 0 || self.isSeam else { return nil }
        return self.takeLoss(isNumbered: isNumbered, from: before)
    }

    /// Records the recording's end; returns the loss there.
    package mutating func finish() -> RecordingLoss? { self.takeLoss(isNumbered: false, from: self.wall) }

    private mutating func begin(_ header: RecordingHeader) {
        defer {
            self.hasHeader = true
            self.run = header.run
        }
        guard self.hasHeader else {
            self.next = header.first
            return
        }
        // Joined files of one run continue its numbers; a smaller number belongs to another count.
        if header.run == self.run, header.run != nil, let first = header.first, let next, first >= next {
            self.missing &+= first - next
        } else {
            self.isSeam = true
            self.passedOver = MissingNumbers()
        }
        self.next = header.first
    }

    private mutating func takeLoss(isNumbered: Bool, from: Int64) -> RecordingLoss? {
        defer {
            self.missing = 0
            self.damagedLines = 0
            self.damagedParts = 0
            self.isCutOff = false
            self.isSeam = false
        }
        let to = max(from, self.wall)
        if self.isSeam {
            return RecordingLoss(reason: "one recording ends here, and another begins", from: from, to: to)
        }
        if isNumbered {
            guard self.missing > 0 else { return nil }
        } else {
            guard self.damagedLines > 0 || self.damagedParts > 0 else { return nil }
        }
        let count: UInt64? = isNumbered ? self.missing : self.damagedParts > 0 ? nil : self.damagedLines
        return RecordingLoss(lines: count, reason: self.reason(for: count), from: from, to: to)
    }

    private func reason(for count: UInt64?) -> String {
        if self.isCutOff { return "the compressed file is cut off here" }
        if self.damagedParts > 0 { return "a part of the compressed file could not be read" }
        let words = count == 1 ? "1 line" : "\(count ?? 0) lines"
        let verb = count == 1 ? ("is", "was") : ("are", "were")
        return self.damagedLines > 0
            ? "\(words) \(verb.1) damaged in the recording" : "\(words) \(verb.0) missing in the recording"
    }
}
