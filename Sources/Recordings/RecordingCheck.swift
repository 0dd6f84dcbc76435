package import Market
package import Wire

/// The contents of a recording's file, and its faults.
package struct RecordingFindings: Sendable, Equatable {
    /// A stretch that cannot be read, in bytes of the text.
    package struct Damage: Sendable, Equatable {
        package var offset: Int64
        package var length: Int64
        /// Its first line, from 1, and the number of lines.
        package var line: Int
        package var lines: Int
        package var reason: String
    }

    /// A place where trades may be missing.
    package struct Hole: Sendable, Equatable {
        /// ns since the recording's start.
        package var at: Int64
        package var gap: Gap
        /// How many frames arrived and were not recorded; `nil` where the feed was interrupted.
        package var dropped: UInt64?
    }

    /// A period without a frame.
    package struct Silence: Sendable, Equatable {
        package var nanoseconds: Int64
        package var at: Int64
    }

    /// How many of each kind are listed; the rest are counted.
    package static let namedLimit = 1_000

    package var header: RecordingHeader?
    package var bytes: Int64 = 0
    package var lines = 0
    package var frames = 0
    /// The number of trades with a number on the tape; `nil` where the frames have no numbers.
    package var trades: Int?
    /// The number of frames of each dialect other than Finnhub's, by the dialect's name.
    package var dialects: [String: Int] = [:]
    /// How often each other event happened, by its name.
    package var events: [String: Int] = [:]
    /// The first and the last line's wall clock, µs since 1970, and time, ns since the start.
    package var firstWall: Int64?
    package var lastWall: Int64?
    package var firstAt: Int64?
    package var lastAt: Int64?
    /// The longest time between two frames, ns, and when it began, ns since the start.
    package var longestSilence: Silence?
    package var holes: [Hole] = []
    package var holeCount = 0
    package var droppedFrames: UInt64 = 0
    /// Frames of a trade's length that equal one of the 64 before them.
    package var repeatedFrames = 0
    /// Lines whose number is not larger than the largest before it.
    package var duplicateLines = 0
    /// Numbers that no line has. Where the stretches are very many, numbers filled much later are still counted.
    package var missingLines: UInt64 = 0
    /// Lines whose time is earlier than that of the line before.
    package var timesBack = 0
    /// Lines whose wall clock is earlier than before, as after the clock was set.
    package var wallsBack = 0
    package var unknownLines = 0
    /// Marks that contradict the wall clocks of the lines before them. A search by time relies on marks.
    package var wrongMarks = 0
    package var damage: [Damage] = []
    package var damagedLines = 0
    package var damagedBytes: Int64 = 0
    /// The parts of a compressed file that are left out, up to ``namedLimit``.
    package var packedDamage: [RecordedLine.UnreadablePart] = []
    /// The fault in a compressed file's index. Without the index, places are searched from the file's start.
    package var indexFault: String?
    /// The offset of the torn line at the end, in bytes of the text.
    package var tornAt: Int64?
    /// Whether the last line is the `end` note.
    package var isEnded = false
    package var lastNumber: UInt64?

    package init() {}

    /// Whether nothing in the file is damaged. A torn tail is what a crash leaves, and damages nothing before it. In a
    /// compressed file it is damage, since such a file gets its name only when it is whole.
    package var isIntact: Bool {
        self.damagedLines == 0 && self.missingLines == 0 && self.duplicateLines == 0 && self.timesBack == 0
            && self.wrongMarks == 0 && self.packedDamage.isEmpty && self.indexFault == nil
    }
}

/// The search for faults in a recording, line by line, in bounded memory.
package struct RecordingCheck {
    package private(set) var findings = RecordingFindings()
    /// The checksums of the newest frames' texts, a ring.
    private var recent: [UInt64] = []
    private var recentPlace = 0
    private var lastFrameAt: Int64?
    private var isAfterDamage = false
    private var marks = MarkCheck()
    private var missing = MissingNumbers()
    private static let remembered = 64
    /// Shorter frames hold no trade and are frequent. In bytes.
    private static let shortestTradeFrame: UInt64 = 40

    package init() {}

    /// Checks a file.
    ///
    /// - Parameter visit: is called with each line, with its text; without it frames are read without their text, which
    ///   is faster.
    /// - Throws: ``RecordingFailure`` where the file cannot be read, or is of an unsupported version.
    package static func check(
        _ path: String,
        visit: ((RecordedLine) -> Void)? = nil
    ) throws(RecordingFailure) -> RecordingFindings {
        try Self.check(RecordingMap(path: path), wantsText: visit != nil) { visit?($0) }
    }

    /// Checks a file, and computes the completeness of its trades with ids.
    package static func check(
        _ path: String,
        _ completeness: inout CompletenessCheck
    ) throws(RecordingFailure) -> (RecordingFindings, CompletenessCheck.Findings) {
        let map = try RecordingMap(path: path)
        completeness.fileBegan(map.header)
        guard CompletenessCheck.concerns(map.header) else {
            return (try Self.check(map, wantsText: false) { _ in }, completeness.fileEnded())
        }
        let findings = try Self.check(map, wantsText: true) { completeness.take($0) }
        return (findings, completeness.fileEnded())
    }

    private static func check(
        _ map: RecordingMap,
        wantsText: Bool,
        visit: (RecordedLine) -> Void
    ) throws(RecordingFailure) -> RecordingFindings {
        let reader = try map.reader(leavesTextOut: !wantsText)
        try reader.readAhead()
        var check = RecordingCheck()
        while let line = try reader.next() {
            visit(line)
            check.take(line)
        }
        check.findings.bytes = reader.bytesRead
        // A cut-off tail is reported as damage already.
        if check.findings.packedDamage.last?.isTail == true {
            check.findings.tornAt = nil
        } else {
            check.findings.indexFault = map.indexFault()
        }
        return check.findings
    }

    /// Takes the next line.
    package mutating func take(_ line: RecordedLine) {
        let wasEnded = self.findings.isEnded
        self.findings.isEnded = false
        switch line.content {
        case .damaged(let reason):
            self.damaged(line, reason)
            return
        case .torn:
            self.findings.tornAt = line.offset
            return
        case .header(let header):
            self.findings.lines += 1
            if let first = header.first, let last = self.findings.lastNumber,
                header.run == self.findings.header?.run
            {
                self.number(first, after: last &+ 1)
                self.findings.lastNumber = first > 0 ? first - 1 : 0
            } else {
                self.missing = MissingNumbers()
                self.findings.lastNumber = header.first.map { $0 > 0 ? $0 - 1 : 0 } ?? self.findings.lastNumber
            }
            self.findings.header = self.findings.header ?? header
        case .frame(let bytes, let numbers, let dialect):
            self.findings.lines += 1
            self.findings.frames += 1
            if dialect != .finnhub { self.findings.dialects["\(dialect.name)", default: 0] += 1 }
            if let numbers { self.findings.trades = (self.findings.trades ?? 0) + numbers.count }
            let checksum =
                line.textChecksum
                ?? bytes.withUnsafeReadableBytes { UInt64($0.count) << 32 | UInt64(Checksum32C.of($0)) }
            self.remember(checksum)
            self.silence(until: line.at)
        case .gap(let gap, let dropped):
            self.findings.lines += 1
            self.findings.holeCount += 1
            self.findings.droppedFrames &+= dropped ?? 0
            if self.findings.holes.count < RecordingFindings.namedLimit {
                self.findings.holes.append(RecordingFindings.Hole(at: line.at ?? 0, gap: gap, dropped: dropped))
            }
        case .note(let note):
            self.findings.lines += 1
            self.findings.events[note.kind.rawValue, default: 0] += 1
            if note.kind == .end { self.findings.isEnded = true }
        case .unknown:
            self.findings.lines += 1
            self.findings.unknownLines += 1
        case .unreadable(let part):
            self.findings.isEnded = wasEnded
            if self.findings.packedDamage.count < RecordingFindings.namedLimit {
                self.findings.packedDamage.append(part)
            }
            return
        }
        self.isAfterDamage = false
        self.order(line)
        if self.marks.take(line, isWhole: self.findings.isIntact) { self.findings.wrongMarks += 1 }
    }

    private mutating func damaged(_ line: RecordedLine, _ reason: String) {
        self.findings.damagedLines += 1
        self.findings.damagedBytes += Int64(line.length) + 1
        if self.isAfterDamage, let last = self.findings.damage.indices.last {
            self.findings.damage[last].lines += 1
            self.findings.damage[last].length = line.offset + Int64(line.length) + 1 - self.findings.damage[last].offset
        } else if self.findings.damage.count < RecordingFindings.namedLimit {
            self.findings.damage.append(
                RecordingFindings.Damage(
                    offset: line.offset,
                    length: Int64(line.length) + 1,
                    line: line.line,
                    lines: 1,
                    reason: reason
                )
            )
        }
        self.isAfterDamage = true
    }

    private mutating func order(_ line: RecordedLine) {
        if let number = line.number {
            if let last = self.findings.lastNumber { self.number(number, after: last &+ 1) }
            if self.missing.take(number) { self.findings.missingLines &-= 1 }
            self.findings.lastNumber = max(self.findings.lastNumber ?? 0, number)
        }
        // An event during a read is written before the frames of that read, with a time a little later than theirs; so
        // a line whose time does not advance proves nothing about the wall clock.
        let hasAdvanced = if let at = line.at, let last = self.findings.lastAt { at > last } else { true }
        if let at = line.at {
            self.findings.firstAt = self.findings.firstAt ?? at
            if let last = self.findings.lastAt, at < last { self.findings.timesBack += 1 }
            self.findings.lastAt = at
        }
        if let wall = line.wall {
            self.findings.firstWall = self.findings.firstWall ?? wall
            let isBack = self.findings.lastWall.map { wall < $0 } ?? false
            if isBack, !hasAdvanced { return }
            if isBack { self.findings.wallsBack += 1 }
            self.findings.lastWall = wall
        }
    }

    private mutating func number(_ number: UInt64, after expected: UInt64) {
        if number < expected {
            self.findings.duplicateLines += 1
        } else {
            self.findings.missingLines &+= number - expected
            self.missing.add(expected..<number)
        }
    }

    private mutating func remember(_ checksum: UInt64) {
        guard checksum >> 32 >= Self.shortestTradeFrame else { return }
        if self.recent.contains(checksum) { self.findings.repeatedFrames += 1 }
        if self.recent.count < Self.remembered {
            self.recent.append(checksum)
        } else {
            self.recent[self.recentPlace] = checksum
            self.recentPlace = (self.recentPlace + 1) % Self.remembered
        }
    }

    private mutating func silence(until at: Int64?) {
        guard let at else { return }
        if let last = self.lastFrameAt, at - last > self.findings.longestSilence?.nanoseconds ?? 0 {
            self.findings.longestSilence = RecordingFindings.Silence(nanoseconds: at - last, at: last)
        }
        self.lastFrameAt = at
    }
}
