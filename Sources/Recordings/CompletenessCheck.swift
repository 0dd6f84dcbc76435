package import Market
package import Wire

/// The completeness of the files of a recording, computed from their frames and compared with the lines that the
/// recorder wrote about it.
///
/// Files of one run that are given in order are one recording.
package struct CompletenessCheck: Sendable {
    /// What a file adds.
    package struct Findings: Sendable, Equatable {
        /// The hours of the recording up to the end of the file, as its frames show them.
        package var hours: [CompletenessHour] = []
        /// Whether they repeat those of the file before, of whose run the file is the next one.
        package var isContinuation = false
        /// What the file's lines say otherwise, one sentence each.
        package var differences: [String] = []
        /// How many hours the lines have, and how many were not compared, since a file that was not given may have more of
        /// them.
        package var reported = 0
        package var uncompared = 0

        package init() {}
    }

    private struct Key: Hashable {
        var symbol: String
        var start: Int64
    }

    private var recorded = RecordedCompleteness(byIDsAlone: true)
    private var header: RecordingHeader?
    /// If an earlier file of the run was not given: the wall clock at the beginning of the first one, ns since 1970.
    /// Hours before it may have begun in the earlier file.
    private var began: Int64?
    /// Whether the newest file ended as planned, and another one follows it.
    private var isContinued = false
    /// Whether the present file continues the one before.
    private var isContinuation = false
    /// The hours by the lines of all files, and those of this file.
    private var lines: [Key: CompletenessHour] = [:]
    private var newLines: [CompletenessHour] = []

    /// - Parameter keepsLines: whether ``tradeLines`` are kept.
    package init(keepsLines: Bool = false) { if keepsLines { self.recorded.lines = RecordedTradeLines() } }

    /// The lines of the trades of all files; `nil` if they are not kept.
    package var tradeLines: RecordedTradeLines? { self.recorded.lines }

    /// Whether frames of a file with this header may have trades with ids.
    package static func concerns(_ header: RecordingHeader?) -> Bool {
        header.map { $0.version >= RecordingHeader.dialectVersion } ?? true
    }

    /// Begins a file.
    ///
    /// - Parameter header: `nil` for the plain form.
    package mutating func fileBegan(_ header: RecordingHeader?) {
        let isNext =
            self.isContinued && header?.run != nil && header?.run == self.header?.run
            && header?.segment == self.header?.segment.map { $0 &+ 1 }
        if !isNext {
            let before = self.header
            let lines = self.recorded.lines
            self = CompletenessCheck()
            self.recorded = RecordedCompleteness(byIDsAlone: header == nil)
            self.recorded.lines = lines
            // A run that begins in Finnhub's dialect has ids only after that.
            let follows = before?.run == header?.run && before?.segment == header?.segment.map { $0 &- 1 }
            let isFirst = header?.segment ?? 1 <= 1 || (follows && !Self.concerns(before))
            self.began = isFirst ? nil : header?.start ?? .max
        }
        self.header = header
        self.isContinued = false
        self.isContinuation = isNext
        self.newLines = []
    }

    /// Takes a line of the file, a frame with its text.
    package mutating func take(_ line: RecordedLine) {
        switch line.content {
        case .frame(let frame, let numbers, let dialect):
            self.recorded.take(frame, of: dialect, numbers: numbers, read: line.wall ?? line.at ?? 0)
        case .gap(let gap, nil): self.recorded.take(gap)
        case .note(let note):
            if let hour = note.hour { self.newLines.append(hour) }
            if let outcome = note.outcome { self.recorded.take(outcome) }
            if note.kind == .end, note.word != nil { self.isContinued = true }
        case .gap, .header, .unknown, .damaged, .torn, .unreadable: break
        }
    }

    /// Ends the file.
    package mutating func fileEnded() -> Findings {
        var findings = Findings()
        // Where no file follows, nothing is waited for any more.
        if !self.isContinued { self.recorded.finish() }
        let hours = self.recorded.hours()
        self.recorded.fileEnded()
        findings.hours = hours
        findings.isContinuation = self.isContinuation
        findings.reported = self.newLines.count
        for line in self.newLines { self.lines[Key(symbol: line.symbol, start: line.start)] = line }
        guard !self.newLines.isEmpty else { return findings }
        var rest = self.lines
        for hour in hours {
            let line = rest.removeValue(forKey: Key(symbol: hour.symbol, start: hour.start))
            if let began = self.began, hour.start <= began {
                findings.uncompared += 1
            } else if let difference = Self.difference(line, hour) {
                findings.differences.append("\(Self.name(hour)): \(difference)")
            }
        }
        let oldest = Dictionary(hours.map { ($0.symbol, $0.start) }, uniquingKeysWith: min)
        for line in self.newLines.sorted(by: { ($0.symbol, $0.start) < ($1.symbol, $1.start) }) {
            guard rest[Key(symbol: line.symbol, start: line.start)] != nil else { continue }
            // A run reports the newest hours only.
            if line.start <= self.began ?? .min || line.start < oldest[line.symbol] ?? .min {
                findings.uncompared += 1
            } else {
                findings.differences.append(
                    "\(Self.name(line)): the file's line has \(line.count) trades, its frames none"
                )
            }
        }
        return findings
    }

    private static func name(_ hour: CompletenessHour) -> String {
        "\(hour.symbol), hour of \(UTCText.secondStamp(hour.start))"
    }

    /// Says how a line and the frames differ; `nil` if they do not.
    private static func difference(_ line: CompletenessHour?, _ hour: CompletenessHour) -> String? {
        guard let line else { return "no line of the file has it" }
        let pairs: [(String, String, String)] = [
            ("trades", "\(line.count)", "\(hour.count)"),
            ("first id", text(line.first), text(hour.first)),
            ("last id", text(line.last), text(hour.last)),
            ("missing", "\(line.missing)", "\(hour.missing)"),
            ("repeated", "\(line.repeated)", "\(hour.repeated)"),
            ("filled", "\(line.filled)", "\(hour.filled)"),
            ("SHA-256", line.sha256 ?? "none", hour.sha256 ?? "none"),
        ]
        guard let pair = pairs.first(where: { $0.1 != $0.2 }) else { return nil }
        return "\(pair.0) \(pair.1) by the file's line, \(pair.2) by its frames"
    }

    private static func text(_ id: UInt64?) -> String { id.map { "\($0)" } ?? "none" }
}
