import Glibc
import Market
import Platform
import Recordings
package import Wire

/// The search for recorded trades of a symbol. It finds their files by the index of segments, and reads them within
/// limits.
package struct RecordedPast {
    package struct Limits: Sendable {
        /// The most bytes read for one question.
        package var bytes: Int64 = 256 << 20
        /// The time limit, ns.
        package var time: Int64 = 3_000_000_000

        package init() {}
    }

    /// The number of bytes that are read at a time.
    static let windowBytes: Int64 = 4 << 20

    private let symbol: String
    private let query: PastTradesQuery
    private let deadline: Int64
    private var budget: Int64
    private var reader = FrameReader()
    private var symbols = SymbolTable()

    package init(symbol: String, query: PastTradesQuery, limits: Limits = Limits()) {
        self.symbol = symbol
        self.query = query
        self.budget = limits.bytes
        self.deadline = SystemClock.monotonic() &+ limits.time
    }

    /// Searches the files; blocks meanwhile.
    ///
    /// - Parameter segments: the segments of the index, oldest first.
    package mutating func find(in segments: [HistoryBatch.Segment]) -> PastTrades {
        let fitting = segments.filter { segment in
            if let from = self.query.from, segment.lastTime < from &- 2_000_000_000 { return false }
            if let to = self.query.to, segment.firstTime >= to { return false }
            guard let before = self.query.before, let epoch = segment.epoch else { return true }
            if epoch != before.epoch { return epoch < before.epoch }
            return segment.sequences.map { $0.lowerBound < before.sequence } ?? true
        }
        return self.query.from == nil ? self.last(in: fitting) : self.first(in: fitting)
    }

    /// Returns the first trades from a time on.
    private mutating func first(in segments: [HistoryBatch.Segment]) -> PastTrades {
        var found = PastTrades()
        for segment in segments {
            // A file that begins later holds no earlier trade.
            if found.items.count >= self.query.limit, let last = found.items.last, segment.firstTime > last.received {
                break
            }
            guard let file = RecordingMap.ofHistory(segment.path) else { continue }
            let (items, isComplete) = self.first(in: file)
            found.items = Self.joining(found.items, items)
            found.items.removeLast(max(0, found.items.count - self.query.limit))
            guard isComplete else {
                found.isComplete = false
                break
            }
        }
        return found
    }

    private mutating func first(in file: RecordingMap) -> (items: [PastTrades.Item], isComplete: Bool) {
        let from = self.query.from ?? .min
        var items: [PastTrades.Item] = []
        var place = self.place(in: file) { file.arrival(of: $0) >= from }
        while items.count < self.query.limit,
            let span = file.span(of: self.symbol, from: place, atMost: Self.windowBytes)
        {
            let count = span.upperBound - span.lowerBound
            guard self.mayGoOn(reading: count) else { return (items, false) }
            items += self.trades(of: file, in: span)
            place = span.upperBound
        }
        return (Array(items.prefix(self.query.limit)), true)
    }

    /// Returns the last trades before a position or a time.
    private mutating func last(in segments: [HistoryBatch.Segment]) -> PastTrades {
        var found = PastTrades()
        for segment in segments.reversed() {
            // A file that ended earlier holds no later trade.
            if found.items.count >= self.query.limit, let first = found.items.first, segment.lastTime < first.received {
                continue
            }
            guard let file = RecordingMap.ofHistory(segment.path) else { continue }
            let (items, isComplete) = self.last(in: file)
            found.items = Self.joining(items, found.items)
            found.items.removeFirst(max(0, found.items.count - self.query.limit))
            guard isComplete else {
                found.isComplete = false
                break
            }
        }
        return found
    }

    private mutating func last(in file: RecordingMap) -> (items: [PastTrades.Item], isComplete: Bool) {
        let (before, to) = (self.query.before, self.query.to)
        var items: [PastTrades.Item] = []
        var end = self.place(in: file) { line in
            if let to, file.arrival(of: line) >= to { return true }
            guard let before, before.epoch == file.header?.epoch, let numbers = line.sequences else { return false }
            return numbers.lowerBound >= before.sequence
        }
        // The offset may lie before the line's, though not far.
        end = min(file.length ?? end, end + Self.windowBytes / 4)
        while items.count < self.query.limit,
            let span = file.span(of: self.symbol, before: end, atMost: Self.windowBytes)
        {
            let count = span.upperBound - span.lowerBound
            guard self.mayGoOn(reading: count) else { return (items, false) }
            items = self.trades(of: file, in: span) + items
            end = span.lowerBound
        }
        return (Array(items.suffix(self.query.limit)), true)
    }

    /// Joins the trades of two files, the earlier file's first. A trade that is in both appears once, as when a part of
    /// a recording was cut into a file beside it.
    private static func joining(_ earlier: [PastTrades.Item], _ later: [PastTrades.Item]) -> [PastTrades.Item] {
        guard let last = earlier.last, let first = later.first else { return earlier + later }
        func order(_ item: PastTrades.Item) -> (UInt64, UInt64) { (item.place.epoch, item.place.sequence) }
        if last.place.epoch != first.place.epoch || order(last) < order(first) { return earlier + later }
        var known: Set<UInt64> = []
        var joined: [PastTrades.Item] = []
        let epoch = last.place.epoch
        for item in earlier + later where item.place.epoch != epoch || known.insert(item.place.sequence).inserted {
            joined.append(item)
        }
        return joined.sorted { order($0) < order($1) }
    }

    /// Returns an offset not far before the first frame with trades that meets a condition. All later ones must meet
    /// it, too.
    private func place(in file: RecordingMap, where holds: (RecordedLine) -> Bool) -> Int64 {
        (try? file.halve(among: { $0.sequences != nil }, holds)) ?? 0
    }

    private mutating func mayGoOn(reading bytes: Int64) -> Bool {
        self.budget -= bytes
        return self.budget >= 0 && SystemClock.monotonic() < self.deadline
    }

    /// Returns the wanted trades in a range of a file.
    private mutating func trades(of file: RecordingMap, in span: Range<Int64>) -> [PastTrades.Item] {
        guard let epoch = file.header?.epoch else { return [] }
        var items: [PastTrades.Item] = []
        var (reader, symbols) = (self.reader, self.symbols)
        let isLineStart = span.lowerBound == 0
        try? file.scan(from: span.lowerBound, to: span.upperBound, isLineStart: isLineStart) { line in
            guard let frame = line.frame else { return true }
            let received = file.arrival(of: line)
            if let from = self.query.from, received < from { return true }
            if let to = self.query.to, received >= to { return false }
            guard let trades = frame.numberedTrades(&reader, symbols: &symbols) else { return true }
            for trade in trades where symbols.name(of: trade.trade.symbol) == self.symbol {
                let place = TapePosition(epoch: epoch, sequence: trade.sequence)
                if let before = self.query.before,
                    (place.epoch, place.sequence) >= (before.epoch, before.sequence)
                {
                    return false
                }
                items.append(PastTrades.Item(place: place, trade: trade.trade, received: received))
            }
            return true
        }
        (self.reader, self.symbols) = (reader, symbols)
        return items
    }
}
