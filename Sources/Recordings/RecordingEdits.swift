import Market
import NIOCore
import Wire

/// What becomes of recordings in new files: repaired, cut, merged. No file that is there is ever changed.
///
/// What is missing between their lines (``RecordingLosses``) is told in the new file, whose lines are numbered anew.
package enum RecordingEdits {
    /// What was written.
    package struct Result: Sendable, Equatable {
        package var frames = 0
        package var lines = 0
        /// Damaged lines that were left out.
        package var damagedLines = 0
        /// Places at which the new file tells that something is missing.
        package var losses = 0
        /// The same lines in several recordings, which are there once.
        package var duplicates = 0
        /// The files that were read, in order.
        package var files = 1
    }

    // MARK: Repair

    /// Writes all lines that can be read; where some are missing, a line says so.
    package static func repair(
        _ path: String,
        to target: String,
        form: RecordingOutputFile.Form
    ) throws(RecordingFailure) -> Result {
        let input = try LineSource(path, followsSegments: false)
        var result = Result()
        var output = try RecordingOutputFile(path: target, form: form, header: input.header)
        var wall = input.header.start ?? 0
        var at: Int64 = 0
        while let (line, loss) = try input.next() {
            if let time = line.at { at = time }
            wall = input.wall(of: line) ?? wall
            if let loss {
                try output.append(input.line(of: loss), wall: wall, at: at)
                result.losses += 1
            }
            try output.append(line, wall: wall, at: at)
        }
        if let loss = input.lossAtEnd {
            try output.append(input.line(of: loss), wall: wall, at: at)
            result.losses += 1
        }
        try output.finish(wall: wall)
        result.damagedLines = input.damagedLines
        result.frames = output.frames
        result.lines = output.lines
        return result
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

        /// What of a loss is in the time that is cut out.
        fileprivate func part(of loss: RecordingLoss) -> RecordingLoss? {
            if let from, loss.to < from { return nil }
            if let to, loss.from >= to { return nil }
            var part = loss
            part.from = max(loss.from, self.from ?? loss.from)
            part.to = max(part.from, min(loss.to, self.to ?? loss.to))
            return part
        }
    }

    /// Writes a part of a recording: of the named file, and of those that follow it in the same run.
    package static func cut(
        _ path: String,
        _ cut: Cut,
        to target: String,
        form: RecordingOutputFile.Form
    ) throws(RecordingFailure) -> Result {
        let input = try LineSource(path, followsSegments: true, from: cut.from)
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
        lines: while let (line, loss) = try input.next() {
            let time = input.wall(of: line)
            // Where the new file's clock begins, by the first line in it.
            func moved(_ at: Int64) -> Int64 {
                let start = header.start ?? wall
                let begin = origin ?? (cut.from == nil ? 0 : at &- max(0, (time ?? wall) &- start))
                origin = begin
                return at &- begin
            }
            if let loss = loss.flatMap({ cut.part(of: $0) }), let at = line.at {
                try output.append(input.line(of: loss), wall: loss.to, at: moved(at))
                result.losses += 1
            }
            switch line.content {
            case .damaged, .torn, .header: continue
            case .frame(let bytes, _): if !sieve.keeps(bytes) { continue }
            case .gap(let gap, _):
                if let symbol = gap.symbol, !cut.symbols.isEmpty, !cut.symbols.contains(symbol) { continue }
            case .note, .unknown: break
            }
            if let time {
                if let from = cut.from, time < from { continue }
                // The wall clock may go back a little; past the end by more than a minute it will not come back.
                if let to = cut.to, time >= to {
                    if time &- to > 60_000_000_000 { break lines }
                    continue
                }
                wall = time
            }
            guard let at = line.at else { continue }
            try output.append(line, wall: wall, at: moved(at))
        }
        if let loss = input.lossAtEnd.flatMap({ cut.part(of: $0) }) {
            try output.append(input.line(of: loss), wall: wall, at: output.lastAt)
            result.losses += 1
        }
        guard output.frames > 0 else {
            throw RecordingFailure("no message of \(path) is in this part of it, so there is no new file")
        }
        try output.finish(wall: wall)
        result.damagedLines = input.damagedLines
        result.frames = output.frames
        result.lines = output.lines
        result.files = input.files
        return result
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
