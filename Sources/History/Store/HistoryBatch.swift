package import Market
package import Wire

/// The next transaction: the trades since the last one as pieces of bars, the gaps among them, where they are recorded,
/// and what is kept of rooms.
///
/// A pure value. Trades of one second and symbol form one piece, so a second of any market is one row of each width.
package struct HistoryBatch: Sendable {
    /// The index entry of a recording file, or of a part of one.
    package struct Segment: Sendable, Equatable {
        package var path: String
        package var epoch: UInt64?
        /// The numbers of the trades in it; `nil` if they are unknown.
        package var sequences: Range<UInt64>?
        /// The arrivals of its first and last frames, ns since 1970.
        package var firstTime: Int64
        package var lastTime: Int64

        package init(path: String, epoch: UInt64?, sequences: Range<UInt64>?, firstTime: Int64, lastTime: Int64) {
            self.path = path
            self.epoch = epoch
            self.sequences = sequences
            self.firstTime = firstTime
            self.lastTime = lastTime
        }
    }

    /// A period of arrivals in which trades may be missing.
    package struct Hole: Sendable, Equatable {
        package var symbol: String?
        /// Ns since 1970.
        package var from: Int64
        package var to: Int64
        package var reason: String
        /// The ids of the missing trades, all of which may still come; `nil` without ids.
        package var missing: ClosedRange<UInt64>?
        /// Whether the trades may still come, with ids or without.
        package var isAwaited = false
        /// The symbols whose outcome is known, if it is one of all symbols.
        package var settled: Set<String> = []

        /// Whether the hole touches a bar, by the rule of ``BarSeries/gapFound(from:to:missing:)``.
        func touches(_ bar: Bar, of symbol: String) -> Bool {
            self.isOf(symbol) && self.touches(from: bar.start, to: bar.end)
        }

        /// Whether trades of the symbol are missing in it.
        func isOf(_ symbol: String) -> Bool {
            (self.symbol == nil || self.symbol == symbol) && !self.settled.contains(symbol)
        }

        /// Whether the hole touches a period of the exchange's clock, ns since 1970.
        func touches(from start: Int64, to end: Int64) -> Bool {
            start <= self.to && end > self.from &- BarSeries.usualDelay
        }
    }

    /// A hole whose trades have come, or cannot come any more.
    package struct Settled: Sendable, Equatable {
        package var hole: Hole
        package var isComplete: Bool
    }

    /// The pieces by symbol, in the order of their trades' arrival.
    package private(set) var pieces: [String: [Bar]] = [:]
    package private(set) var pieceCount = 0
    /// The holes since the last transaction.
    package private(set) var holes: [Hole] = []
    /// The holes that were settled since the last transaction.
    package private(set) var settled: [Settled] = []
    package private(set) var segments: [Segment] = []
    package private(set) var roomRecords: [RoomRecord] = []
    /// The periods that are new, or whose ends have moved.
    package private(set) var periods: [FeedPeriod] = []
    /// The newest exchange time of all trades that are neither ahead nor filled, ns since 1970.
    package private(set) var newestTime: Int64?

    package init() {}

    package var isEmpty: Bool {
        self.pieces.isEmpty && self.holes.isEmpty && self.settled.isEmpty && self.segments.isEmpty
            && self.roomRecords.isEmpty && self.periods.isEmpty
    }

    /// Takes the next trade of a symbol. With `isFirst` the trades before it are unknown, so its piece is incomplete.
    package mutating func take(_ trade: Trade, of symbol: String, isFirst: Bool) {
        if trade.marks.isDisjoint(with: [.ahead, .filled]) {
            self.newestTime = max(self.newestTime ?? .min, trade.exchangeTime)
        }
        // In place, since a copy would copy all pieces of the list.
        let isNew = Self.put(trade, isFirst: isFirst, into: &self.pieces[symbol, default: []])
        if isNew { self.pieceCount += 1 }
    }

    /// Puts a trade into a symbol's newest piece, or into a new one; returns whether it is new.
    private static func put(_ trade: Trade, isFirst: Bool, into list: inout [Bar]) -> Bool {
        if let last = list.indices.last, trade.exchangeTime >= list[last].start, trade.exchangeTime < list[last].end {
            list[last].take(trade)
            return false
        }
        var piece = Bar(pieceFrom: trade)
        piece.isIncomplete = isFirst
        list.append(piece)
        return true
    }

    /// Takes a hole between the trades so far and the next ones.
    package mutating func take(_ hole: Hole) {
        // The rows of the gap table are for people, who do not read more than these.
        if self.holes.count < 1_000 { self.holes.append(hole) }
    }

    /// Takes the outcome of a hole; the writer no longer lets it touch the trades of this batch.
    package mutating func take(_ settled: Settled) { self.settled.append(settled) }

    /// Takes the file that holds the newest frames.
    package mutating func note(_ segment: Segment) {
        guard let last = self.segments.indices.last, self.segments[last].path == segment.path,
            self.segments[last].epoch == segment.epoch
        else {
            self.segments.append(segment)
            return
        }
        self.segments[last].firstTime = min(self.segments[last].firstTime, segment.firstTime)
        self.segments[last].lastTime = max(self.segments[last].lastTime, segment.lastTime)
        guard let new = segment.sequences else { return }
        let old = self.segments[last].sequences ?? new
        self.segments[last].sequences = min(old.lowerBound, new.lowerBound)..<max(old.upperBound, new.upperBound)
    }

    /// Takes a period; it replaces its earlier form.
    package mutating func take(_ period: FeedPeriod) {
        if let last = self.periods.last, last.run == period.run, last.begun == period.begun {
            self.periods.removeLast()
        } else if self.periods.count >= Self.maximumRecords {
            self.periods.removeFirst(Self.maximumRecords / 2)
        }
        self.periods.append(period)
    }

    /// Takes a message of a room, or that a room was given up.
    ///
    /// - Returns: the number of messages that were dropped for it, the oldest ones.
    package mutating func take(_ record: RoomRecord) -> Int {
        self.roomRecords.append(record)
        // A room keeps fewer than these, so few rooms lack messages.
        guard self.roomRecords.count > Self.maximumRecords else { return 0 }
        let dropped = self.roomRecords.prefix(Self.maximumRecords / 2).count(where: \.isMessage)
        self.roomRecords.removeFirst(Self.maximumRecords / 2)
        return dropped
    }

    /// The most messages of rooms, and the most periods, in one transaction, and the most messages between the relay
    /// and the thread; 1 KB each.
    static let maximumRecords = 10_000

    /// Drops all pieces because there is no more space; returns their number.
    package mutating func dropPieces() -> Int {
        defer {
            self.pieces = [:]
            self.pieceCount = 0
        }
        return self.pieceCount
    }

    /// Returns the rows of a symbol: its pieces combined by width and start, and marked if a hole touches them.
    package func rows(of symbol: String, holes: [Hole]) -> [BarWidth: [Int64: Bar]] {
        var rows: [BarWidth: [Int64: Bar]] = [:]
        for piece in self.pieces[symbol] ?? [] {
            for width in BarWidth.allCases {
                var bar = piece.widened(to: width)
                for hole in holes where hole.touches(bar, of: symbol) {
                    if hole.isAwaited { bar.awaitsTrades = true } else { bar.lacksTrades = true }
                }
                if rows[width]?[bar.start]?.append(bar) == nil { rows[width, default: [:]][bar.start] = bar }
            }
        }
        return rows
    }
}
