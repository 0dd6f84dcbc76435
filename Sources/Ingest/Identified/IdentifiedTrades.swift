import Market
import Wire

/// The trades of a feed whose venue numbers them: leaves out those whose id was seen, finds the ids that are missing,
/// and recognises trades that come late.
///
/// Each trade of a symbol has the id of the one before plus 1, so an id proves both a repeat and a hole. Nothing is
/// compared, and an interruption is no gap by itself: it is the reason of the holes that show after it.
///
/// A state machine; times are arguments. It outlives connections and epochs, and has at most twice as many symbols as a
/// ``SymbolTable``.
struct IdentifiedTrades {
    private struct Report {
        /// The number of frames of the read that came before it.
        var frame: Int
        var id: UInt64
        var symbol: String
        var at: Moment
    }

    private var symbols: [SymbolIDs] = []
    private var placeOfName: [String: Int] = [:]
    /// The symbols to which the feed subscribes; `nil` before that is known.
    private var wanted: Set<String>?
    /// The place in ``symbols`` by the tape's number; empty until a symbol of the epoch trades.
    private var places: [Int32] = []
    /// The places of the symbols with a report that waits.
    private var reporting: [Int] = []
    /// The reports since the last read, in order.
    private var reports: [Report] = []
    private var nextReport = 0
    /// Whether ``deadline`` may have moved nearer.
    private var hasNewDeadline = false
    private var findings = IDFindings()
    /// The places of the symbols with a new hole, perhaps repeated.
    private var opened: [Int] = []
    private var arrival = SymbolIDs.Arrival(now: Moment(monotonic: 0, wall: 0), frame: 0, connection: 0)

    /// The ids that are missing on the tape, by symbol.
    var missing: [MissingTrades] {
        self.symbols.compactMap { symbol in
            let holes = symbol.holes
            return holes.isEmpty ? nil : MissingTrades(symbol: symbol.name, holes: holes)
        }
    }

    /// The newest id of a symbol; `nil` if none is known.
    func newestID(of name: String) -> UInt64? {
        self.placeOfName[name].flatMap { self.symbols[$0].isKnown ? self.symbols[$0].newest : nil }
    }

    /// Whether some of these ids are missing.
    func lacks(_ ids: ClosedRange<UInt64>, of name: String) -> Bool {
        self.placeOfName[name].map { self.symbols[$0].lacks(ids) } ?? false
    }

    // MARK: The trades of a read

    /// Begins a read; the symbols are those of its trades.
    mutating func readBegan(_ now: Moment, symbols: SymbolTable) {
        self.arrival.now = now
        if self.places.count != symbols.count { self.learn(symbols) }
    }

    /// Begins the next frame of the read.
    @inline(__always)
    mutating func frameBegan(_ frame: Int) {
        self.arrival.frame = frame
        if self.nextReport < self.reports.count { self.takeReports(through: frame) }
    }

    /// Takes the next trade of the frame, and marks it if it was missing. A trade without an id stays on the tape.
    @inline(__always)
    mutating func take(_ trade: inout Trade) -> SymbolIDs.Finding {
        guard let id = trade.id else { return .kept }
        let place = Int(self.places[Int(trade.symbol.index)])
        if self.symbols[place].takeNext(id, time: trade.exchangeTime, now: self.arrival.now.wall) { return .kept }
        return self.takeOther(&trade, id: id, place: place)
    }

    @inline(never)
    private mutating func takeOther(_ trade: inout Trade, id: UInt64, place: Int) -> SymbolIDs.Finding {
        let count = self.findings.openings.count
        defer { if self.findings.openings.count > count, self.opened.last != place { self.opened.append(place) } }
        return self.symbols[place].take(&trade, id: id, at: self.arrival, into: &self.findings)
    }

    /// Ends the read; returns the gaps of the ids that are missing then.
    mutating func readEnded() -> [FoundGap] {
        if !self.reports.isEmpty { self.takeReports(through: .max) }
        return self.takeGaps()
    }

    private mutating func takeGaps() -> [FoundGap] {
        defer { self.opened.removeAll(keepingCapacity: true) }
        guard !self.findings.isEmpty else { return [] }
        for place in self.opened { self.symbols[place].publish(into: &self.findings) }
        return self.findings.take()
    }

    /// Finds the symbols of the tape's numbers. Needed only after a new symbol.
    private mutating func learn(_ symbols: SymbolTable) {
        self.places = symbols.names.map { Int32(self.place(of: $0)) }
    }

    private mutating func place(of name: String) -> Int {
        if let place = self.placeOfName[name] { return place }
        let place = self.symbols.count
        self.placeOfName[name] = place
        var symbol = SymbolIDs(name)
        symbol.subscribed(self.wanted?.contains(name) ?? true, into: &self.findings)
        self.symbols.append(symbol)
        return place
    }

    // MARK: Earlier trades

    /// Takes a trade that was asked for, and marks it; returns whether it was missing. All others, and those of unknown
    /// symbols, do not belong on the tape: what is beyond the newest id comes live.
    mutating func fill(_ trade: inout Trade) -> Bool {
        guard let id = trade.id, Int(trade.symbol.index) < self.places.count else { return false }
        return self.symbols[Int(self.places[Int(trade.symbol.index)])].fill(&trade, id: id, into: &self.findings)
    }

    /// Notes that those ids of a range that are missing are lost for good.
    mutating func giveUp(_ ids: ClosedRange<UInt64>, of symbol: String, reason: String) {
        guard let place = self.placeOfName[symbol] else { return }
        self.symbols[place].giveUp(ids, reason: reason, into: &self.findings)
    }

    /// Removes and returns the outcomes of gaps that were published before.
    mutating func takeOutcomes() -> [GapOutcome] { self.findings.takeOutcomes() }

    // MARK: Reports of the newest ids

    /// Takes the id of a symbol's newest trade as the venue reports it, after a number of frames of the read.
    mutating func newestReported(_ id: UInt64, of symbol: String, after frames: Int, now: Moment) {
        self.reports.append(Report(frame: frames, id: id, symbol: symbol, at: now))
        if frames == 0 { self.takeReports(through: 0) }
    }

    private mutating func takeReports(through frame: Int) {
        while self.nextReport < self.reports.count, self.reports[self.nextReport].frame <= frame {
            self.take(self.reports[self.nextReport])
            self.nextReport += 1
        }
        guard self.nextReport == self.reports.count else { return }
        self.reports.removeAll(keepingCapacity: true)
        self.nextReport = 0
    }

    private mutating func take(_ report: Report) {
        // A venue that makes up names must not displace the symbols that trade.
        let isKnown = self.placeOfName[report.symbol] != nil
        guard isKnown || self.wanted?.contains(report.symbol) ?? (self.symbols.count < SymbolTable.capacity) else {
            return
        }
        let place = self.place(of: report.symbol)
        guard self.symbols[place].reported(report.id, now: report.at, connection: self.arrival.connection) else {
            return
        }
        self.hasNewDeadline = true
        if !self.reporting.contains(place) { self.reporting.append(place) }
    }

    /// Returns whether ``deadline`` may have moved nearer since the last call.
    mutating func takeNewDeadline() -> Bool {
        defer { self.hasNewDeadline = false }
        return self.hasNewDeadline
    }

    /// When ``timePassed(now:)`` is due, monotonic ns.
    var deadline: Int64? { self.reporting.lazy.compactMap { self.symbols[$0].reportDeadline }.min() }

    /// Takes the passing of time between two reads; returns the gaps of trades that were reported and have not come.
    mutating func timePassed(now: Int64) -> [FoundGap] {
        guard !self.reporting.isEmpty else { return [] }
        for place in self.reporting {
            self.symbols[place].reportsDue(now: now, into: &self.findings)
            self.opened.append(place)
        }
        self.reporting.removeAll { self.symbols[$0].reportDeadline == nil }
        return self.takeGaps()
    }

    // MARK: The feed

    /// Notes that trades may be missing from now on: the reason of the holes that show at the next trades.
    mutating func interrupted(from: Int64, reason: String, cause: FeedStatus.Cause?) {
        let interruption = IDInterruption(from: from, reason: reason, cause: cause)
        for place in self.symbols.indices { self.symbols[place].interrupted(interruption) }
    }

    /// Continues the ids of a symbol behind a trade that another program has put onto the tape.
    mutating func continued(_ name: String, after trade: TapeCompleteness.Newest) {
        self.symbols[self.place(of: name)].continued(after: trade)
    }

    /// Notes an attempt to connect.
    mutating func attempted() { for place in self.symbols.indices { self.symbols[place].attempted() } }

    /// Notes that a connection opened.
    mutating func connectionOpened() { self.arrival.connection += 1 }

    /// Notes to which symbols the feed subscribes.
    mutating func subscribed(to names: [String]) {
        let wanted = Set(names)
        self.wanted = wanted
        for place in self.symbols.indices {
            let isWanted = wanted.contains(self.symbols[place].name)
            self.symbols[place].subscribed(isWanted, into: &self.findings)
        }
    }

    /// Notes that the tape continues at another time, so that ids prove nothing about those before. Gaps that wait for
    /// their trades have no outcome: the same trades may come again, and a gap with them.
    mutating func clockMoved() {
        self.symbols = []
        self.placeOfName = [:]
        self.places = []
        self.reporting = []
    }

    /// Notes that symbols have new numbers. Of too many symbols, those that are not subscribed are forgotten.
    mutating func epochBegan() {
        self.places = []
        guard self.symbols.count > SymbolTable.capacity else { return }
        // These wait for no trades.
        self.symbols.removeAll { !$0.isWanted }
        let surplus = max(0, self.symbols.count - SymbolTable.capacity)
        for place in 0..<surplus {
            self.symbols[place].giveUp(0 ... .max, reason: "too many symbols", into: &self.findings)
        }
        self.symbols.removeFirst(surplus)
        self.placeOfName = [:]
        for (place, symbol) in self.symbols.enumerated() { self.placeOfName[symbol.name] = place }
        self.reporting = self.symbols.indices.filter { self.symbols[$0].reportDeadline != nil }
    }
}
