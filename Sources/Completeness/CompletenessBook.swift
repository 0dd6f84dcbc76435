package import Market

/// The completeness of a tape: for each symbol whose trades have ids, what of each hour is there and what is missing.
///
/// A state machine without time, of bounded size. It takes the trades in the order of the tape, and the gaps before the
/// trades that show them. Rules:
///
/// - A trade counts in the hour of its exchange time, whenever it comes. Its line is in the hash of that hour at the
///   place of its id.
/// - While an id is missing, later trades of the symbol wait, ``maximumHeldBytes`` in all. Beyond that the symbol with
///   most of them gives up the hashes of their hours; the counts go on.
/// - Two hours of a symbol have an open hash. A trade whose hour is older, or whose place in the hash has passed, counts
///   and voids that hash.
/// - An id that is left out without a gap, as between two subscriptions, is missing, and waited for while 256 later ids come.
/// - Ids that begin anew void the hashes of the hours in which they do.
/// - A trade without an id, as all that Finnhub sends, has no report, and neither have those of a REST service's answer if
///   no other trade of the symbol and no gap had ids.
package struct CompletenessBook: Sendable {
    /// The most hours of one symbol, and of all.
    package static let hoursOfSymbol = 48
    package static let maximumHours = 100_000
    /// The most symbols; those beyond have no report.
    package static let maximumSymbols = 2 * SymbolTable.capacity
    /// The most memory of trades that wait for missing ones, bytes.
    package static let maximumHeldBytes = 64 << 20

    private let isByIDsAlone: Bool
    private let maximumHeld: Int
    private var symbols: [SymbolCompleteness] = []
    private var placeOfName: [String: Int] = [:]
    /// The place in ``symbols`` by the tape's number, -1 for none; empty until a symbol of the epoch trades.
    private var places: [Int32] = []
    private var held = 0
    /// The read of the last trades, and the places of its symbols with a hole that no gap names.
    private var read = Int64.min
    private var unannounced: [Int] = []

    /// - Parameters:
    ///   - isByIDsAlone: whether the tape has neither gaps nor marks, as a recording in the plain form: then an id that
    ///     is left out may still come, and one that was seen is a repeat.
    ///   - maximumHeldBytes: a test's.
    package init(byIDsAlone isByIDsAlone: Bool = false, maximumHeldBytes: Int = Self.maximumHeldBytes) {
        self.isByIDsAlone = isByIDsAlone
        self.maximumHeld = maximumHeldBytes / MemoryLayout<Trade>.stride
    }

    // MARK: The tape

    /// Notes that symbols have new numbers.
    package mutating func epochBegan() { self.places = [] }

    /// Begins a read or continues it.
    ///
    /// - Parameters:
    ///   - read: what tells this read from the one before, such as its time.
    ///   - symbols: those of its trades.
    package mutating func readBegan(_ read: Int64, symbols: SymbolTable) {
        if read != self.read {
            self.read = read
            self.readEnded()
        }
        if self.places.count != symbols.count { self.learn(symbols) }
    }

    private mutating func readEnded() {
        guard !self.unannounced.isEmpty else { return }
        var left: [Int] = []
        for place in self.unannounced where self.change(place, { $0.readEnded() }) { left.append(place) }
        self.unannounced = left
    }

    /// Takes the next trades of the read.
    ///
    /// - Parameters:
    ///   - isOnTape: `false` for those of which only the ids can show whether they are on the tape.
    ///   - isAnswer: whether they are of a REST service's answer.
    package mutating func take(_ trades: ArraySlice<Trade>, isOnTape: Bool = true, isAnswer: Bool = false) {
        for trade in trades {
            guard let id = trade.id else { continue }
            let place = Int(self.places[Int(trade.symbol.index)])
            guard place >= 0, !self.symbols[place].takeNext(trade, id: id) else { continue }
            self.takeOther(trade, id: id, isOnTape: isOnTape, isAnswer: isAnswer, at: place)
        }
    }

    @inline(never)
    private mutating func takeOther(_ trade: Trade, id: UInt64, isOnTape: Bool, isAnswer: Bool, at place: Int) {
        let leavesHole = self.change(place) { $0.take(trade, id: id, isOnTape: isOnTape, isAnswer: isAnswer) }
        if leavesHole, !self.unannounced.contains(place) { self.unannounced.append(place) }
    }

    /// Takes a trade of the read that was left out, because its id was seen.
    package mutating func takeRepeated(_ trade: Trade) {
        guard let id = trade.id else { return }
        let place = Int(self.places[Int(trade.symbol.index)])
        if place >= 0 { self.symbols[place].takeRepeated(trade, id: id) }
    }

    /// Takes a gap before the trades that show it.
    package mutating func gapFound(_ gap: Gap) {
        // After a jump of a replay the same ids come again.
        if gap.movesClock { return self.forget() }
        guard let symbol = gap.symbol, let ids = gap.missing, let place = self.place(of: symbol) else { return }
        self.symbols[place].gapFound(ids)
    }

    /// Takes the outcome of a gap.
    package mutating func gapSettled(_ outcome: GapOutcome) {
        guard let ids = outcome.missing, let place = self.placeOfName[outcome.symbol] else { return }
        self.change(place) { $0.settled(ids) }
    }

    /// Takes the end of the tape: what is missing now stays missing.
    package mutating func finish() {
        self.unannounced = []
        for place in self.symbols.indices { self.symbols[place].finish() }
        self.held = 0
    }

    private mutating func forget() {
        self.symbols = []
        self.placeOfName = [:]
        self.places = []
        self.unannounced = []
        self.held = 0
    }

    /// Changes a symbol, and keeps the bound of what is held.
    private mutating func change<Result>(_ place: Int, _ body: (inout SymbolCompleteness) -> Result) -> Result {
        let before = self.symbols[place].heldCount
        let result = body(&self.symbols[place])
        self.held += self.symbols[place].heldCount - before
        while self.held > self.maximumHeld,
            let most = self.symbols.indices.max(by: { self.symbols[$0].heldCount < self.symbols[$1].heldCount })
        {
            self.held -= self.symbols[most].heldCount
            self.symbols[most].giveUpHeld()
        }
        return result
    }

    private mutating func learn(_ symbols: SymbolTable) {
        self.places = symbols.names.map { self.place(of: $0).map { Int32($0) } ?? -1 }
    }

    private mutating func place(of name: String) -> Int? {
        if let place = self.placeOfName[name] { return place }
        guard self.symbols.count < Self.maximumSymbols else { return nil }
        let place = self.symbols.count
        self.placeOfName[name] = place
        self.symbols.append(
            SymbolCompleteness(name, isByIDsAlone: self.isByIDsAlone, maximumHours: self.maximumHoursOfSymbol)
        )
        if self.maximumHoursOfSymbol < Self.hoursOfSymbol {
            for place in self.symbols.indices { self.symbols[place].maximumHours = self.maximumHoursOfSymbol }
        }
        return place
    }

    private var maximumHoursOfSymbol: Int {
        min(Self.hoursOfSymbol, Self.maximumHours / max(1, self.symbols.count))
    }

    // MARK: The report

    /// The symbols, in the order of their first trades.
    package var names: [String] { self.symbols.map(\.name) }

    /// How many held trades a report digests first.
    private static let releasedByReport = 1 << 16

    /// Returns the hours of a symbol, or of all, the oldest first of each symbol in the order of their first trades.
    package mutating func hours(of symbol: String? = nil) -> [CompletenessHour] {
        let all = self.symbols.indices
        let places = symbol.map { name in self.placeOfName[name].map { $0..<$0 + 1 } ?? 0..<0 } ?? all
        for place in places where self.symbols[place].heldCount > 0 {
            self.change(place) { $0.release(atMost: Self.releasedByReport) }
        }
        return self.symbols[places].flatMap(\.report)
    }

    package var summary: CompletenessSummary {
        var summary = CompletenessSummary()
        for symbol in self.symbols where symbol.totals != CompletenessTotals() { symbol.add(to: &summary) }
        return summary
    }

    /// The counts of each symbol with trades or missing ids.
    package var totals: [(symbol: String, counts: CompletenessTotals)] {
        self.symbols.lazy.map { ($0.name, $0.totals) }.filter { $0.1 != CompletenessTotals() }
    }
}
