import Glibc
import Market
import NIOCore
import Wire

/// What becomes of recordings in new files: repaired, cut, merged. No file that is there is ever changed.
package enum RecordingEdits {
    /// What was written.
    package struct Result: Sendable, Equatable {
        package var frames = 0
        package var lines = 0
        /// Damaged lines that were left out.
        package var damagedLines = 0
        /// The same lines in several recordings, which are there once.
        package var duplicates = 0
    }

    // MARK: Repair

    /// Writes all lines that can be read; where some cannot, a line says so.
    package static func repair(
        _ path: String,
        to target: String,
        form: RecordingOutputFile.Form
    ) throws(RecordingFailure) -> Result {
        let input = try LineSource(path)
        var result = Result()
        var output = try RecordingOutputFile(path: target, form: form, header: input.header)
        var wall = input.header.start ?? 0
        var at: Int64 = 0
        var damage: (lines: Int, from: Int64)?
        while let line = try input.next() {
            switch line.content {
            case .damaged:
                damage = ((damage?.lines ?? 0) + 1, damage?.from ?? wall)
                result.damagedLines += 1
                continue
            case .torn, .header: continue
            case .frame, .gap, .note, .unknown: break
            }
            if let time = line.at { at = time }
            wall = input.wall(of: line) ?? wall
            if let lost = damage {
                try output.append(Self.note(lost.lines, from: lost.from, to: wall), wall: wall, at: at)
                damage = nil
            }
            try output.append(line, wall: wall, at: at)
        }
        if let lost = damage { try output.append(Self.note(lost.lines, from: lost.from, to: wall), wall: wall, at: at) }
        try output.finish(wall: wall)
        result.frames = output.frames
        result.lines = output.lines
        return result
    }

    /// The line that stands for damaged ones.
    private static func note(_ lines: Int, from: Int64, to: Int64) -> RecordedLine {
        let words = lines == 1 ? "1 line was damaged" : "\(lines) lines were damaged"
        let gap = Gap(from: from, to: max(from, to), reason: "\(words) in the recording", nextSequence: 0)
        return RecordedLine(line: 0, offset: 0, length: 0, content: .gap(gap, dropped: UInt64(lines)))
    }

    // MARK: Cut

    /// What is cut out.
    package struct Cut: Sendable, Equatable {
        /// Wall clock, ns since 1970: the first and the one behind the last.
        package var from: Int64?
        package var to: Int64?
        /// The symbols whose frames are kept, verbatim, with the other symbols' trades that are in them; empty for all.
        package var symbols: Set<String> = []

        package init() {}
    }

    package static func cut(
        _ path: String,
        _ cut: Cut,
        to target: String,
        form: RecordingOutputFile.Form
    ) throws(RecordingFailure) -> Result {
        let input = try LineSource(path, from: cut.from)
        guard cut.from == nil && cut.to == nil || input.header.start != nil else {
            throw RecordingFailure("\(path) has no wall clock (no header with a start), so there is no time to cut at")
        }
        var header = input.header
        if let from = cut.from { header.start = max(from, header.start ?? from) }
        if !cut.symbols.isEmpty { header.symbols = header.symbols.filter(cut.symbols.contains) }
        if header.symbols.isEmpty { header.symbols = cut.symbols.sorted() }
        var result = Result()
        var output = try RecordingOutputFile(path: target, form: form, header: header)
        var sieve = SymbolSieve(cut.symbols)
        var origin: Int64?
        var wall = header.start ?? 0
        while let line = try input.next() {
            switch line.content {
            case .damaged:
                result.damagedLines += 1
                continue
            case .torn, .header: continue
            case .frame(let bytes, _): if !sieve.keeps(bytes) { continue }
            case .gap(let gap, _):
                if let symbol = gap.symbol, !cut.symbols.isEmpty, !cut.symbols.contains(symbol) { continue }
            case .note, .unknown: break
            }
            if let time = input.wall(of: line) {
                if let from = cut.from, time < from { continue }
                // The wall clock may go back a little; past the end by more than a minute it will not come back.
                if let to = cut.to, time >= to {
                    if time &- to > 60_000_000_000 { break }
                    continue
                }
                wall = time
            }
            guard let at = line.at else { continue }
            let begin = origin ?? (cut.from == nil ? 0 : at &- max(0, wall &- (header.start ?? wall)))
            origin = begin
            try output.append(line, wall: wall, at: at &- begin)
        }
        try output.finish(wall: wall)
        result.frames = output.frames
        result.lines = output.lines
        return result
    }

    // MARK: Merge

    /// Writes several recordings as one, in the order of their wall clocks.
    ///
    /// Lines of one run that several of them have are there once. The numbers of trades are kept where all are of one run.
    package static func merge(
        _ paths: [String],
        to target: String,
        form: RecordingOutputFile.Form
    ) throws(RecordingFailure) -> Result {
        var inputs: [LineSource] = []
        for path in paths {
            let input = try LineSource(path)
            guard input.header.start != nil else {
                throw RecordingFailure(
                    "\(path) has no wall clock (no header with a start), so it has no place among others"
                )
            }
            inputs.append(input)
        }
        guard let start = inputs.compactMap(\.header.start).min() else { throw RecordingFailure("nothing to merge") }
        var header = RecordingHeader(version: 2, program: inputs[0].header.program, start: start)
        for input in inputs {
            for symbol in input.header.symbols where !header.symbols.contains(symbol) { header.symbols.append(symbol) }
        }
        let isOneRun = Set(inputs.map(\.header.epoch)).count == 1 && inputs[0].header.epoch != nil
        if isOneRun { header.epoch = inputs[0].header.epoch }
        if Set(inputs.map(\.header.source)).count == 1 { header.source = inputs[0].header.source }
        if Set(inputs.map(\.header.address)).count == 1 { header.address = inputs[0].header.address }
        var result = Result()
        var output = try RecordingOutputFile(path: target, form: form, header: header)
        // The newest number that was written of each run.
        var newest: [UInt64: UInt64] = [:]
        var wall = start
        for input in inputs { try input.advance(&result.damagedLines) }
        // Of one run the numbers have the order where the clock has none.
        while let input = inputs.filter({ $0.current != nil }).min(by: { $0.order < $1.order }),
            var line = input.current
        {
            wall = input.currentWall
            try input.advance(&result.damagedLines)
            if let epoch = input.header.epoch, let number = line.number {
                guard number > newest[epoch] ?? 0 else {
                    result.duplicates += 1
                    continue
                }
                newest[epoch] = number
            }
            if !isOneRun, case .frame(let bytes, _) = line.content { line.content = .frame(bytes, nil) }
            try output.append(line, wall: wall, at: wall &- start)
        }
        try output.finish(wall: wall)
        result.frames = output.frames
        result.lines = output.lines
        return result
    }
}

/// One recording as an input: its lines, and the wall clock of each.
private final class LineSource {
    let header: RecordingHeader
    private let bytes: RecordingBytes
    private var reader: RecordingReader
    private var isAtEnd = false
    private(set) var current: RecordedLine?
    /// Wall clock of the current line, ns since 1970; it does not go back.
    private(set) var currentWall: Int64 = .min

    /// - Parameter wall: where to begin, ns since 1970; earlier lines may come, too.
    init(_ path: String, from wall: Int64? = nil) throws(RecordingFailure) {
        let map = try RecordingMap(path: path)
        self.header = map.header ?? RecordingHeader()
        if let wall, self.header.start != nil {
            let place = try map.place(wall: RecordingSyntax.microseconds(wall))
            let start = place ?? RecordingPlace(offset: map.length ?? 0, at: nil)
            self.bytes = try map.bytes(from: start)
            self.reader = RecordingReader(header: self.header, offset: start.offset)
        } else {
            self.bytes = try RecordingBytes(path: path)
            self.reader = RecordingReader()
        }
    }

    func next() throws(RecordingFailure) -> RecordedLine? {
        while true {
            if let line = self.reader.nextLine() { return line }
            if self.isAtEnd { return nil }
            if let text = try self.bytes.next() {
                self.reader.feed(text)
            } else {
                self.isAtEnd = true
                self.reader.finish()
            }
        }
    }

    /// Goes to the next line that has a place in time.
    func advance(_ damagedLines: inout Int) throws(RecordingFailure) {
        self.current = nil
        while let line = try self.next() {
            if case .damaged = line.content { damagedLines += 1 }
            guard line.at != nil, let wall = self.wall(of: line) else { continue }
            self.current = line
            self.currentWall = max(self.currentWall, wall)
            return
        }
    }

    /// Where the current line stands among others'.
    var order: (Int64, UInt64) { (self.currentWall, self.current?.number ?? 0) }

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

/// The choice of frames by their symbols.
private struct SymbolSieve {
    private let wanted: Set<String>
    private var parser = FinnhubParser()
    private var table = SymbolTable()
    private var isWanted: [Bool] = []
    private var trades: [Trade] = []

    init(_ symbols: Set<String>) { self.wanted = symbols }

    /// Whether a frame holds a trade of a wanted symbol, or none at all.
    mutating func keeps(_ frame: ByteBuffer) -> Bool {
        guard !self.wanted.isEmpty else { return true }
        self.trades.removeAll(keepingCapacity: true)
        _ = self.parser.parse(frame, symbols: &self.table, into: &self.trades)
        while self.isWanted.count < self.table.count {
            self.isWanted.append(self.wanted.contains(self.table.names[self.isWanted.count]))
        }
        return self.trades.isEmpty || self.trades.contains { self.isWanted[Int($0.symbol.index)] }
    }
}
