package import Market
package import NIOCore

/// The conversion of recordings into rows of trades or of bars of one width, line by line and in bounded memory.
///
/// A state machine: it takes the lines of one file after the other, and produces text.
package struct RecordingExport: Sendable {
    package struct Order: Sendable, Equatable {
        package var format: ExportFormat
        /// The width of the bars; `nil` exports trades.
        package var bars: BarWidth?
        /// The symbols to export; empty means all.
        package var symbols: Set<String> = []
        /// The range of the exchange's time, including `from` and excluding `to`, ns since 1970.
        package var from: Int64?
        package var to: Int64?
        /// The number of bars of a symbol that stay open for late trades.
        package var openBars = 64
        /// How many more stay open while trades may still come that were missing in the oldest.
        package var awaitedBars = 2_048

        package init(format: ExportFormat, bars: BarWidth? = nil) {
            self.format = format
            self.bars = bars
        }
    }

    /// The findings of an export, for the user.
    package struct Report: Sendable, Equatable {
        /// The trades and price updates exported, and the rows written.
        package var trades: UInt64 = 0
        package var rows: UInt64 = 0
        package var gaps: UInt64 = 0
        /// The lines, and parts of frames, that cannot be read.
        package var damaged: UInt64 = 0
        /// The lines missing from the recordings, including unreadable ones, and the places where an unknown number is
        /// missing.
        package var lostLines: UInt64 = 0
        package var losses: UInt64 = 0
        /// The rows of trades without epoch and number although their frames have numbers: the header with the epoch
        /// cannot be read, or the frame's content does not match its numbers.
        package var unnamed: UInt64 = 0
        /// The numbers of trades that no frame has, in recordings whose lines have no numbers.
        package var lostTrades: UInt64 = 0
        /// The trades that occur in several files and were written once.
        package var repeated: UInt64 = 0
        /// The exported trades that may have come before.
        package var possibleRepeats: UInt64 = 0
        /// Whether trades may be exported twice, because the recordings contain them in too many pieces to remember.
        package var mayRepeat = false
        /// The trades that arrived after their bar had been written.
        package var late: UInt64 = 0
        /// The symbols that have trades, exported or not; incomplete for very many files.
        package var symbols: Set<String> = []
        /// The earliest and the latest time of all trades, exported or not, by the exchange's clock, ns since 1970.
        package var times: ClosedRange<Int64>?

        package init() {}
    }

    /// The difference beyond which the recording's clock and the exchange's count as of different days, ns.
    private static let foreignAfter: UInt64 = 3_600_000_000_000

    private let order: Order
    package private(set) var report = Report()
    private var out = ByteBuffer()
    private var reader = FrameReader()
    private var symbols = SymbolTable()
    private var trades: [Trade] = []
    private var arrivals = ArrivalCheck()
    private var header: RecordingHeader?
    private var repeats = RecordedRepeats()
    /// The number after the newest numbered trade of each run in this file.
    private var next: [UInt64: UInt64] = [:]
    private var written = WrittenTrades()
    private var unnumbered = UnnumberedFrames()
    /// Whether the previous file may have ended anywhere.
    private var isAfterFile = false
    private var series: [String: BarSeries] = [:]
    private var newestGaps = NewestGaps()
    /// The newest times by the exchange's clock and by ours, and the oldest by the exchange's, ns since 1970.
    private var newest: Int64?
    private var oldest: Int64?
    private var arrived: Int64?

    package init(_ order: Order) {
        self.order = order
        if order.format == .csv {
            self.out.writeString(order.bars == nil ? ExportFormat.tradeColumns : ExportFormat.barColumns)
            self.out.writeStaticString("\n")
        }
    }

    /// Removes and returns the text produced so far.
    package mutating func takeText() -> ByteBuffer {
        defer { self.out.clear(minimumCapacity: 0) }
        return self.out
    }

    package var waitingBytes: Int { self.out.readableBytes }

    /// Begins another file.
    package mutating func beginFile() {
        self.noteSymbols()
        self.isAfterFile = self.header != nil || self.report.trades > 0
        self.header = nil
        self.symbols = SymbolTable()
        self.repeats.reset()
        self.unnumbered.beginFile()
        self.next = [:]
    }

    package mutating func take(_ line: RecordedLine) {
        switch line.content {
        case .header(var header):
            // Where files were joined, times count from the start of the first.
            if let first = self.header {
                header.start = first.start ?? header.start
            } else if let start = header.start {
                // A file that starts earlier contains the gaps that concern it again.
                self.newestGaps.leaveOut(from: start)
            }
            self.header = header
        case .frame: if let frame = line.frame { self.take(frame) }
        case .gap(let gap, _):
            self.report.gaps += 1
            self.gapFound(
                from: gap.from,
                to: gap.to,
                symbol: gap.symbol,
                missing: gap.missing,
                published: gap.movesClock ? nil : gap.times
            )
        case .note(let note): if let outcome = note.outcome { self.gapSettled(outcome) }
        case .damaged:
            self.report.damaged += 1
            self.interrupted()
        case .unknown, .torn, .unreadable: break
        }
    }

    /// Notes that lines are missing before the next line.
    ///
    /// - Parameters:
    ///   - lines: the number of lines; `nil` if unknown.
    ///   - from: the start of the time from which they are missing, up to `to`, wall clock, ns since 1970; `nil` if
    ///     unknown.
    package mutating func lost(lines: UInt64?, from: Int64?, to: Int64?) {
        if let lines { self.report.lostLines &+= lines } else { self.report.losses += 1 }
        guard let from, let to, from > 0 else { return self.interrupted() }
        self.gapFound(from: from, to: to, symbol: nil)
    }

    /// Notes that some of the missing lines appeared later.
    package mutating func found(lines: UInt64) { self.report.lostLines -= min(lines, self.report.lostLines) }

    private mutating func take(_ frame: RecordedFrame) {
        self.trades.removeAll(keepingCapacity: true)
        let content = self.reader.read(frame.frame, of: frame.dialect, symbols: &self.symbols, into: &self.trades)
        guard !self.trades.isEmpty else { return }
        if content != .trades(skipped: 0) { self.report.damaged += 1 }
        let received = frame.wall.map { $0 &* 1_000 } ?? self.header?.start.map { $0 &+ frame.at }
        let epoch = self.header?.epoch
        let numbers = self.repeats.mark(&self.trades, of: frame)
        if numbers == nil, let epoch, let received,
            !self.unnumbered.insert(frame.frame, epoch: epoch, received: received)
        {
            self.report.repeated += UInt64(self.trades.count)
            return
        }
        if let epoch, let numbers {
            self.follow(numbers, epoch, isCounted: frame.number != nil)
        } else if self.isAfterFile {
            self.interrupted()
        }
        self.isAfterFile = false
        self.arrived = received ?? self.arrived
        // The older form of recordings has no wall-clock arrivals, only the start.
        let arrival = frame.wall.flatMap { $0.multipliedReportingOverflow(by: 1_000).overflow ? nil : $0 * 1_000 }
        // The times of earlier trades, which were asked for, say nothing about the clocks.
        let isJudged = frame.dialect.answering == nil
        var aheadArrival = isJudged ? arrival.flatMap { self.arrivals.judge(&self.trades, received: $0) } : nil
        // The recorded run saw more reads than this file has, and judged by what this export cannot know.
        if aheadArrival == nil, self.trades.contains(where: { $0.marks.contains(.ahead) }) {
            aheadArrival = arrival?.addingCapped(self.arrivals.offset)
        }
        guard let epoch, let numbers else {
            let rows = self.report.rows
            for trade in self.trades { self.take(trade, received: received, aheadArrival: aheadArrival, place: nil) }
            // The frame has numbers, but its trades get none.
            if frame.numbers != nil, self.order.bars == nil { self.report.unnamed += self.report.rows - rows }
            return
        }
        self.take(numbers, epoch, received: received, aheadArrival: aheadArrival)
    }

    /// Exports the trades of a frame with their numbers, including those that the tape left out.
    private mutating func take(_ numbers: RecordedNumbers, _ epoch: UInt64, received: Int64?, aheadArrival: Int64?) {
        let isKnown = numbers.count > 0 && self.written.contains(numbers.first, epoch: epoch)
        var leftOut = numbers.leftOut[...]
        var number = numbers.first
        for (place, trade) in self.trades.enumerated() {
            if leftOut.first == place {
                leftOut.removeFirst()
                // An id proves the repetition.
                if isKnown || trade.id != nil {
                    self.report.repeated += 1
                } else {
                    self.take(trade, received: received, aheadArrival: aheadArrival, place: nil)
                }
                continue
            }
            defer { number &+= 1 }
            guard self.written.insert(number, epoch: epoch) else {
                self.report.repeated += 1
                continue
            }
            let place = TapePosition(epoch: epoch, sequence: number)
            self.take(trade, received: received, aheadArrival: aheadArrival, place: place)
        }
    }

    /// Notes the trades missing before a frame's trades.
    ///
    /// - Parameter isCounted: whether the lines have numbers. Missing lines then show what is missing, while gaps
    ///   between the trades' numbers are normal in a part that was cut out by symbols.
    private mutating func follow(_ numbers: RecordedNumbers, _ epoch: UInt64, isCounted: Bool) {
        let next = self.next[epoch]
        self.next[epoch] = max(next ?? 0, numbers.first &+ UInt64(numbers.count))
        guard !self.written.reaches(numbers.first, epoch: epoch) else { return }
        if self.isAfterFile { return self.interrupted() }
        guard !isCounted, let next, numbers.first > next else { return }
        self.report.lostTrades &+= numbers.first - next
        self.interrupted()
    }

    /// - Parameter aheadArrival: the time at which a trade that is ahead counts, by the exchange's clock, ns since
    ///   1970.
    private mutating func take(_ trade: Trade, received: Int64?, aheadArrival: Int64?, place: TapePosition?) {
        var counted = trade
        if let aheadArrival, trade.marks.contains(.ahead) { counted.exchangeTime = aheadArrival }
        self.newest = max(self.newest ?? .min, counted.exchangeTime)
        self.oldest = min(self.oldest ?? .max, counted.exchangeTime)
        if let from = self.order.from, counted.exchangeTime < from { return }
        if let to = self.order.to, counted.exchangeTime >= to { return }
        let symbol = self.symbols.name(of: trade.symbol)
        guard self.order.symbols.isEmpty || self.order.symbols.contains(symbol) else { return }
        self.report.trades += 1
        if trade.marks.contains(.possibleRepeat) { self.report.possibleRepeats += 1 }
        guard let width = self.order.bars else {
            self.report.rows += 1
            self.order.format.write(trade, symbol: symbol, received: received, place: place, into: &self.out)
            return
        }
        let gaps = self.newestGaps
        let over = self.series[symbol, default: gaps.series(of: symbol, width, self.order)]
            .take(Bar(pieceFrom: counted), isFilled: trade.isFilled)
        if let over { self.write(over, symbol, width) }
    }

    private mutating func write(_ bar: Bar, _ symbol: String, _ width: BarWidth) {
        self.report.rows += 1
        self.order.format.write(bar, symbol: symbol, width: width, into: &self.out)
    }

    /// - Parameters:
    ///   - missing: the ids of the missing trades, all of which may still come; `nil` without ids.
    ///   - published: the times by which an outcome names the gap; `nil` if it has none.
    private mutating func gapFound(
        from: Int64,
        to: Int64,
        symbol: String?,
        missing: ClosedRange<UInt64>? = nil,
        published: ClosedRange<Int64>? = nil
    ) {
        self.newestGaps.found(from: from, to: to, symbol: symbol, missing: missing)
        let isForeign = self.newest.map { ($0 &- to).magnitude > Self.foreignAfter } ?? false
        for name in self.series.keys where symbol == nil || symbol == name {
            if isForeign {
                self.series[name]?.interrupted(missing: missing, published: published)
            } else {
                self.series[name]?.gapFound(from: from, to: to, missing: missing)
            }
        }
    }

    private mutating func gapSettled(_ outcome: GapOutcome) {
        self.newestGaps.settled(outcome)
        self.series[outcome.symbol]?.gapSettled(
            outcome.missing,
            published: outcome.times,
            isComplete: outcome.isComplete
        )
    }

    /// Adds the file's symbols to the report.
    private mutating func noteSymbols() {
        if self.report.symbols.count < SymbolTable.capacity { self.report.symbols.formUnion(self.symbols.names) }
    }

    /// Notes that trades may be missing here, for an unknown time.
    private mutating func interrupted() {
        for name in self.series.keys { self.series[name]?.interrupted() }
    }

    /// Ends the export: writes the open bars, and marks those whose period had not ended as incomplete.
    package mutating func finish() {
        self.noteSymbols()
        self.report.mayRepeat = self.written.forgotten > 0 || self.unnumbered.mayRepeat
        if let oldest, let newest { self.report.times = oldest...newest }
        guard let width = self.order.bars else { return }
        // A cut by `--to` ends a bar in the same way as the end of the recording.
        let end = min(self.newest ?? .max, self.order.to ?? .max)
        for symbol in self.series.keys.sorted() {
            self.series[symbol]?.ended(at: end)
            for bar in self.series[symbol]?.takeAll() ?? [] { self.write(bar, symbol, width) }
            self.report.late += self.series[symbol]?.late ?? 0
        }
        self.series = [:]
    }
}

/// The newest gap of all symbols and the newest of each symbol. They also touch bars of symbols that trade only later.
private struct NewestGaps: Sendable {
    private struct Gap: Sendable {
        var from: Int64
        var to: Int64
        var missing: ClosedRange<UInt64>?
    }

    private var ofAll: Gap?
    private var ofOne: [String: Gap] = [:]

    mutating func found(from: Int64, to: Int64, symbol: String?, missing: ClosedRange<UInt64>?) {
        let gap = Gap(from: from, to: to, missing: missing)
        guard let symbol else {
            self.ofAll = gap
            return
        }
        if self.ofOne.count < SymbolTable.capacity || self.ofOne[symbol] != nil { self.ofOne[symbol] = gap }
    }

    /// Removes the gaps that began after a moment.
    mutating func leaveOut(from moment: Int64) {
        if let gap = self.ofAll, gap.from > moment { self.ofAll = nil }
        for (symbol, gap) in self.ofOne where gap.from > moment { self.ofOne[symbol] = nil }
    }

    /// Notes the outcome of a gap with ids.
    mutating func settled(_ outcome: GapOutcome) {
        guard let missing = outcome.missing, self.ofOne[outcome.symbol]?.missing == missing else { return }
        if outcome.isComplete { self.ofOne[outcome.symbol] = nil } else { self.ofOne[outcome.symbol]?.missing = nil }
    }

    /// Returns an empty series for a symbol that trades for the first time, with the gaps known so far.
    func series(of symbol: String, _ width: BarWidth, _ order: RecordingExport.Order) -> BarSeries {
        var series = BarSeries(width: width, capacity: order.openBars, patience: order.awaitedBars)
        for gap in [self.ofAll, self.ofOne[symbol]] {
            if let gap { series.gapFound(from: gap.from, to: gap.to, missing: gap.missing) }
        }
        return series
    }
}
