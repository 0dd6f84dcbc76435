import Market
import NIOCore
package import Wire

extension RecordingEdits {
    /// The selection of a cut.
    package struct Cut: Sendable, Equatable {
        /// The range of wall clocks, ns since 1970: the first, and the one behind the last.
        package var from: Int64?
        package var to: Int64?
        /// The symbols whose frames are kept, verbatim and with the other symbols' trades in them; empty for all.
        package var symbols: Set<String> = []
        /// The dialect whose frames are kept; `nil` for all.
        package var dialect: FrameDialect?
        /// The recording's start, used where no header states it, ns since 1970. The new file then states it.
        package var likelyStart: Int64?

        package init() {}

        /// Whether a stretch overlaps the selected time.
        fileprivate func touches(from begin: Int64, to end: Int64) -> Bool {
            if let from, end < from { return false }
            if let to, begin >= to { return false }
            return true
        }

        /// The new file's header; `origin` is the time at which the new file begins (ns since the recording's start).
        fileprivate func header(of input: LineSource, origin: Int64) -> RecordingHeader {
            var header = input.header
            if let from {
                header.start = max(from, header.start ?? from)
                header.monotonic = input.monotonic(at: origin)
            }
            if !self.symbols.isEmpty { header.symbols = header.symbols.filter(self.symbols.contains) }
            if header.symbols.isEmpty { header.symbols = self.symbols.sorted() }
            return header
        }
    }

    /// Writes a part of a recording: of the named file, and of those that follow it in the same run.
    ///
    /// - Parameter list: formats the names of symbols in the message about missing ones.
    package static func cut(
        _ path: String,
        _ cut: Cut,
        to target: String,
        form: RecordingOutputFile.Form,
        naming list: (Set<String>) -> String = { $0.sorted().joined(separator: ", ") }
    ) throws(RecordingFailure) -> Result {
        let input = try LineSource(path, followsSegments: true, from: cut.from, startingAt: cut.likelyStart)
        guard cut.from == nil && cut.to == nil || input.header.start != nil else {
            throw RecordingFailure("\(path) has no wall clock (no header with a start), so there is no time to cut at")
        }
        var lines = CutLines(input, cut)
        var next = try lines.next()
        guard let first = next else {
            throw Self.missing(cut, lines, path, list).map { RecordingFailure($0) } ?? Self.empty(cut, lines, path)
        }
        // Where the new file's clock begins, derived from its first line.
        let start = cut.from.map { max($0, input.header.start ?? $0) }
        let origin = start.map { first.at.subtractingCapped(max(0, first.wall.subtractingCapped($0))) } ?? 0
        var output = try RecordingOutputFile(path: target, form: form, header: cut.header(of: input, origin: origin))
        var wall = first.wall
        while let kept = next {
            wall = kept.wall
            try output.append(kept.line, wall: wall, at: kept.at.subtractingCapped(origin))
            next = try lines.next()
        }
        var result = Result()
        result.missing = Self.missing(cut, lines, path, list)
        if let missing = result.missing, cut.symbols.isDisjoint(with: lines.symbols) { throw RecordingFailure(missing) }
        guard output.frames > 0 else { throw Self.empty(cut, lines, path) }
        try output.finish(wall: wall)
        result.losses = lines.losses
        result.damagedLines = lines.damagedLines
        result.frames = output.frames
        result.lines = output.lines
        result.files = input.files
        result.unreadable = input.unreadable
        return result
    }

    /// Returns the failure for a part without a wanted message.
    private static func empty(_ cut: Cut, _ lines: CutLines, _ path: String) -> RecordingFailure {
        guard let dialect = cut.dialect, !lines.otherDialects.isEmpty else {
            return RecordingFailure("no message of \(path) is in this part of it, so there is no new file")
        }
        let others = lines.otherDialects.map { "\($0.name)" }.sorted().joined(separator: " and ")
        return RecordingFailure(
            "no message of the dialect \(dialect.name) is in this part of \(path), only of \(others), so there is no new file"
        )
    }

    /// Names the wanted symbols without a trade, and the symbols that trade; `nil` where no wanted one is missing, or
    /// none trades.
    private static func missing(
        _ cut: Cut,
        _ lines: CutLines,
        _ path: String,
        _ list: (Set<String>) -> String
    ) -> String? {
        let known = lines.symbols
        let missing = cut.symbols.subtracting(known)
        guard !missing.isEmpty, !known.isEmpty else { return nil }
        let place = cut.from == nil && cut.to == nil ? "recorded" : "in this part of \(path)"
        return "no trade of \(list(missing)) is \(place), only of \(list(known))"
    }
}

/// The lines of a part of a recording, with a line for each loss in it.
private struct CutLines {
    /// A line, its wall clock (ns since 1970), and its time (ns since the recording's start).
    struct Kept {
        var line: RecordedLine
        var wall: Int64
        var at: Int64
    }

    /// How long reading continues after the first trades behind the end, ns. A gap is written when it is over, which
    /// can be much later where only some symbols were silent.
    private static let lookedBehind: Int64 = 60_000_000_000

    private let input: LineSource
    private let cut: RecordingEdits.Cut
    private var sieve: SymbolSelection
    private var finder = TradeFinder()
    /// The line that follows the loss returned last.
    private var waiting: Kept?
    /// The wall clock and the time of the newest line.
    private var wall: Int64
    private var at: Int64 = 0
    /// The time of the first trades behind the end, ns since the recording's start.
    private var tradesBehind: Int64?
    private var isAtEnd = false
    /// The number of losses in the part.
    private(set) var losses = 0
    /// Damaged lines up to the newest line in the part.
    private(set) var damagedLines = 0
    /// The dialects of the messages in the part that are not kept.
    private(set) var otherDialects: Set<FrameDialect> = []
    /// The symbols that trade in the selected time, wanted or not; empty where all are wanted.
    var symbols: Set<String> { Set(self.sieve.table.names) }

    init(_ input: LineSource, _ cut: RecordingEdits.Cut) {
        self.input = input
        self.cut = cut
        self.sieve = SymbolSelection(cut.symbols)
        self.wall = cut.from ?? input.header.start ?? 0
    }

    mutating func next() throws(RecordingFailure) -> Kept? {
        if let waiting {
            self.waiting = nil
            return waiting
        }
        while !self.isAtEnd, let (line, loss) = try self.input.next() {
            guard let at = line.at else { continue }
            let wall = self.input.wall(of: line) ?? self.wall
            let kept = self.take(Kept(line: line, wall: wall, at: at))
            let reported = loss.flatMap { self.notify($0, before: Kept(line: line, wall: wall, at: at)) }
            if kept != nil || reported != nil { self.damagedLines = self.input.damagedLines }
            self.wall = wall
            self.at = at
            if let to = self.cut.to, let tradesBehind, at.subtractingCapped(tradesBehind) > Self.lookedBehind {
                self.isAtEnd = try self.input.skip(behind: to, line)
            }
            if let reported {
                self.waiting = kept
                return reported
            }
            if let kept { return kept }
        }
        guard !self.isAtEnd else { return nil }
        self.isAtEnd = true
        guard let loss = self.input.lossAtEnd,
            let reported = self.notify(
                loss,
                before: Kept(line: self.input.line(of: loss), wall: self.wall, at: self.at)
            )
        else { return nil }
        self.damagedLines = self.input.damagedLines
        return reported
    }

    /// Returns the line that reports a loss, if the loss overlaps the part. It keeps the whole range of the loss.
    private mutating func notify(_ loss: RecordingLoss, before next: Kept) -> Kept? {
        guard self.cut.touches(from: loss.from, to: loss.to) else { return nil }
        self.losses += 1
        return self.inside(Kept(line: self.input.line(of: loss), wall: loss.to, at: next.at), next.wall)
    }

    /// Moves a line to the part's end, if it is later.
    ///
    /// - Parameter wall: the wall clock that belongs to the line's time.
    private func inside(_ kept: Kept, _ wall: Int64) -> Kept {
        var kept = kept
        // One µs earlier: lines are dated in whole µs.
        if let to = self.cut.to { kept.wall = min(kept.wall, to.subtractingCapped(1_000)) }
        kept.at = kept.at.subtractingCapped(max(0, wall.subtractingCapped(kept.wall)))
        return kept
    }

    /// Returns the line as it stands in the part; `nil` where it does not belong there.
    private mutating func take(_ kept: Kept) -> Kept? {
        if case .gap(let gap, _) = kept.line.content, let symbol = gap.symbol, !self.cut.symbols.isEmpty,
            !self.cut.symbols.contains(symbol)
        {
            return nil
        }
        if let to = self.cut.to, kept.wall >= to { return self.takeBehind(kept) }
        if case .note(let note) = kept.line.content, note.kind == .settled, !self.cut.symbols.isEmpty,
            !self.cut.symbols.contains(note.symbol ?? "")
        {
            return nil
        }
        self.tradesBehind = nil
        switch kept.line.content {
        case .damaged, .torn, .unreadable, .header: return nil
        case .frame(let bytes, _, let dialect):
            // An exchange with a REST service belongs to the connection beside which it was made.
            let wanted = self.cut.dialect ?? dialect
            guard wanted == dialect || wanted == dialect.ofConnection else {
                self.otherDialects.insert(dialect)
                return nil
            }
            return self.sieve.keeps(bytes, of: dialect) ? kept : nil
        case .gap, .note, .unknown: return kept
        }
    }

    /// Takes a line behind the end. A gap that began in the part is kept, although it ended later.
    private mutating func takeBehind(_ kept: Kept) -> Kept? {
        switch kept.line.content {
        case .frame(let bytes, let numbers, let dialect):
            if self.tradesBehind == nil, numbers != nil || self.finder.hasTrades(bytes, of: dialect) {
                self.tradesBehind = kept.at
            }
            return nil
        case .gap(let gap, _):
            // Gaps count even after such trades: where symbols fell silent one by one, the gap of all spans the others'
            // trades.
            guard self.cut.touches(from: gap.from, to: max(gap.from, gap.to)) else { return nil }
            return self.inside(kept, kept.wall)
        case .damaged, .torn, .unreadable, .header, .note, .unknown: return nil
        }
    }
}

/// The choice of frames by their symbols.
private struct SymbolSelection {
    private let wanted: Set<String>
    private var reader = FrameReader()
    private(set) var table = SymbolTable()
    private var isWanted: [Bool] = []
    private var trades: [Trade] = []

    init(_ symbols: Set<String>) { self.wanted = symbols }

    /// Whether a frame holds a trade of a wanted symbol, or no trade at all.
    mutating func keeps(_ frame: ByteBuffer, of dialect: FrameDialect) -> Bool {
        guard !self.wanted.isEmpty else { return true }
        self.trades.removeAll(keepingCapacity: true)
        _ = self.reader.read(frame, of: dialect, symbols: &self.table, into: &self.trades)
        while self.isWanted.count < self.table.count {
            self.isWanted.append(self.wanted.contains(self.table.names[self.isWanted.count]))
        }
        return self.trades.isEmpty || self.trades.contains { self.isWanted[Int($0.symbol.index)] }
    }
}
