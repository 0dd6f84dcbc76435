import Market
import TLS
import Wire

/// The reader of the tape that compares it with the market: every trade, every gap, every outcome.
///
/// Unchecked, because everything runs on the thread of the harness, which is the loop's too.
final class TapeChecker: TapeReader, @unchecked Sendable {
    private struct State: OptionSet {
        let rawValue: UInt8
        /// The venue's connection has brought it as a whole.
        static let given = State(rawValue: 1)
        static let onTape = State(rawValue: 2)
        /// A gap has named it.
        static let named = State(rawValue: 4)
        /// An outcome has named it as lost.
        static let lost = State(rawValue: 8)
        static let settled = State(rawValue: 16)
    }

    private struct Column {
        var states: [State]
        var trades: [Trade?]
        /// The place of the first trade that the venue's connection brought; `nil` before it.
        var first: Int?
        /// The largest place on the tape.
        var newest: Int?
        /// The smallest place from which on something is missing; all before it, from the first on, is on the tape.
        var low = 0
    }

    let market: VenueMarket
    private var columns: [Column]
    /// The index of the market's symbol by the tape's number.
    private var symbols: [Int] = []
    private var gaps: [(gap: Gap, symbol: Int)] = []
    private(set) var outcomes: [GapOutcome] = []
    private var expectedSequence: UInt64 = 1
    private(set) var faults: [String] = []
    private(set) var tradeCount = 0
    /// The trades that gaps have named and that no outcome has settled.
    private(set) var unsettled = 0
    private(set) var filled = 0
    private(set) var repeated = 0
    private(set) var lastStatus: FeedStatus?
    /// Called for each new trade on the tape, with its symbol and place.
    var added: (Int, Int) -> Void = { _, _ in }

    var gapCount: Int { self.gaps.count }

    init(_ market: VenueMarket) {
        self.market = market
        self.columns = market.columns.map {
            Column(
                states: Array(repeating: [], count: $0.events.count),
                trades: Array(repeating: nil, count: $0.events.count)
            )
        }
    }

    func fault(_ text: String) {
        if self.faults.count < 20 { self.faults.append(text) }
    }

    private func name(_ symbol: Int, _ place: Int) -> String {
        "\(self.market.symbols[symbol]) \(self.market.columns[symbol].first + UInt64(place))"
    }

    /// Notes that the venue's connection has brought a trade as a whole.
    func given(symbol: Int, place: Int) {
        self.columns[symbol].states[place].insert(.given)
        if self.columns[symbol].first == nil {
            self.columns[symbol].first = place
            self.columns[symbol].low = place
        }
    }

    func isOnTape(symbol: Int, place: Int) -> Bool { self.columns[symbol].states[place].contains(.onTape) }

    /// Whether an outcome has named a trade as lost.
    func isLost(symbol: Int, place: Int) -> Bool { self.columns[symbol].states[place].contains(.lost) }

    /// Returns the places up to `last` that the tape lacks, from the first trade on, except some.
    func missing(of symbol: Int, through last: Int, except: (Int) -> Bool) -> Int {
        guard self.columns[symbol].first != nil else { return 0 }
        while self.columns[symbol].low < self.columns[symbol].states.count,
            self.columns[symbol].states[self.columns[symbol].low].contains(.onTape) || except(self.columns[symbol].low)
        { self.columns[symbol].low += 1 }
        let low = self.columns[symbol].low
        guard low <= last else { return 0 }
        return (low...last).count { !self.columns[symbol].states[$0].contains(.onTape) && !except($0) }
    }

    /// Returns the places on the tape, in ascending order.
    func places(of symbol: Int) -> [Int] {
        self.columns[symbol].states.indices.filter { self.columns[symbol].states[$0].contains(.onTape) }
    }

    /// The largest place on the tape.
    func newest(of symbol: Int) -> Int? { self.columns[symbol].newest }

    // MARK: The tape

    func epochBegan(_ epoch: UInt64, first: UInt64, symbols: SymbolTable) {
        self.symbols = []
        self.expectedSequence = 1
    }

    func read(_ batch: TapeBatch) {
        self.repeated += batch.losses.repeatedTrades
        if batch.firstSequence != self.expectedSequence {
            self.fault("a batch begins with \(batch.firstSequence) instead of \(self.expectedSequence)")
        }
        self.expectedSequence = batch.firstSequence + UInt64(batch.trades.count)
        if self.symbols.count != batch.symbols.count {
            self.symbols = batch.symbols.names.map { self.market.symbols.firstIndex(of: $0) ?? -1 }
        }
        // A read may go onto the tape in parts, and a later part may fill what an earlier one lacks.
        if batch.receivedMonotonic != self.readAt { self.lookForUnnamed() }
        self.readAt = batch.receivedMonotonic
        for trade in batch.trades { self.take(trade) }
    }

    /// The places up to which everything is on the tape or named, and the time of the newest read.
    private var checked: [Int: Int] = [:]
    private var readAt = Int64.min

    private func lookForUnnamed() { for symbol in self.columns.indices { self.lookForUnnamed(symbol) } }

    /// Looks for ids below the newest one that are neither on the tape nor in a published gap.
    private func lookForUnnamed(_ symbol: Int) {
        guard let newest = self.columns[symbol].newest, let first = self.columns[symbol].first else { return }
        var place = self.checked[symbol] ?? first
        while place <= newest {
            if self.columns[symbol].states[place].isDisjoint(with: [.onTape, .named]) {
                self.fault("\(self.name(symbol, place)) is missing without a gap before \(self.name(symbol, newest))")
            }
            place += 1
        }
        self.checked[symbol] = place
    }

    private func take(_ trade: Trade) {
        let symbol = self.symbols[Int(trade.symbol.index)]
        guard symbol >= 0 else { return self.fault("a trade of an unknown symbol") }
        let truth = self.market.columns[symbol]
        guard let id = trade.id, id >= truth.first, id - truth.first < UInt64(truth.events.count) else {
            return self.fault("a trade with the id \(trade.id.map { "\($0)" } ?? "none"), which the venue has not")
        }
        let place = Int(id - truth.first)
        if self.columns[symbol].states[place].contains(.onTape) {
            return self.fault("\(self.name(symbol, place)) is on the tape twice")
        }
        if trade.exchangeTime != truth.times[place] || trade.price != truth.prices[place]
            || trade.size != truth.sizes[place]
        {
            self.fault("\(self.name(symbol, place)) is altered: \(trade)")
        }
        if trade.marks.contains(.possibleRepeat) {
            self.fault("\(self.name(symbol, place)) is marked as a possible repeat")
        }
        let isLate = self.columns[symbol].newest.map { place < $0 } ?? false
        // Coinbase's `last_match` and Kraken's snapshot are from before the connection, and may be newer than the tape.
        let mayBeEarlier = trade.isFilled && self.market.venue != .binance
        if trade.isFilled != isLate, !mayBeEarlier {
            self.fault("\(self.name(symbol, place)) is \(trade.isFilled ? "" : "not ")marked as filled")
        }
        self.tradeCount += 1
        if trade.isFilled { self.filled += 1 }
        self.columns[symbol].states[place].insert(.onTape)
        self.columns[symbol].trades[place] = trade
        if !isLate { self.columns[symbol].newest = place }
        self.added(symbol, place)
    }

    func statusChanged(_ status: FeedStatus) { self.lastStatus = status }

    func gapFound(_ gap: Gap) {
        guard let missing = gap.missing, let name = gap.symbol, let symbol = self.market.symbols.firstIndex(of: name)
        else {
            return self.fault("a gap without ids: \(gap.sentence)")
        }
        self.gaps.append((gap, symbol))
        let truth = self.market.columns[symbol]
        guard missing.lowerBound >= truth.first, missing.upperBound - truth.first < UInt64(truth.events.count) else {
            return self.fault("a gap names ids that the venue has not: \(gap.sentence)")
        }
        for place in Int(missing.lowerBound - truth.first)...Int(missing.upperBound - truth.first) {
            let state = self.columns[symbol].states[place]
            if state.contains(.onTape) { self.fault("\(self.name(symbol, place)) is named missing, but on the tape") }
            if let newest = self.columns[symbol].newest, place < newest {
                self.fault("\(self.name(symbol, place)) is named after the trade that shows it is missing")
            }
            if state.contains(.named) { self.fault("\(self.name(symbol, place)) is named missing twice") }
            self.columns[symbol].states[place].insert(.named)
            self.unsettled += 1
        }
    }

    func gapSettled(_ outcome: GapOutcome) {
        self.outcomes.append(outcome)
        guard let symbol = self.market.symbols.firstIndex(of: outcome.symbol),
            let index = self.gaps.firstIndex(where: { $0.symbol == symbol && $0.gap.missing == outcome.missing })
        else { return self.fault("an outcome of no gap: \(outcome)") }
        let first = self.market.columns[symbol].first
        for id in self.gaps[index].gap.missing ?? 0...0 {
            let place = Int(id - first)
            if self.columns[symbol].states[place].contains(.settled) {
                self.fault("\(self.name(symbol, place)) is settled twice")
            }
            let isLost = outcome.lost.contains { $0.contains(id) }
            if isLost == self.columns[symbol].states[place].contains(.onTape) {
                self.fault("\(self.name(symbol, place)) is settled as \(isLost ? "lost" : "complete") wrongly")
            }
            self.columns[symbol].states[place].insert(isLost ? [.settled, .lost] : .settled)
            self.unsettled -= 1
        }
        if outcome.isComplete != (outcome.reason == nil) { self.fault("an outcome whose reason is wrong: \(outcome)") }
    }

    // MARK: The end

    /// Checks what must hold at any moment, even if the program is killed there.
    func checkGiven() {
        self.lookForUnnamed()
        for symbol in self.columns.indices {
            guard let first = self.columns[symbol].first else { continue }
            for place in first..<self.columns[symbol].states.count
            where self.columns[symbol].states[place].contains(.given)
                && !self.columns[symbol].states[place].contains(.onTape)
            { self.fault("\(self.name(symbol, place)) came over the connection and is not on the tape") }
        }
    }

    /// Checks the tape of a program that has run on after the last fault.
    ///
    /// - Parameter mayLack: whether the venue never gave a trade, by its symbol and place.
    func checkWhole(mayLack: (Int, Int) -> Bool) {
        for symbol in self.columns.indices {
            let column = self.columns[symbol]
            guard let first = column.first, let newest = column.newest else { continue }
            if newest != column.states.count - 1 {
                self.fault("\(self.market.symbols[symbol]) ends with \(self.name(symbol, newest))")
            }
            for place in first...max(newest, first) {
                let state = column.states[place]
                if state.contains(.onTape) { continue }
                if !mayLack(symbol, place) {
                    self.fault("\(self.name(symbol, place)) is missing, and the venue gave it")
                }
                if !state.contains(.named) { self.fault("\(self.name(symbol, place)) is missing and not named") }
                if !state.contains(.lost) {
                    self.fault("\(self.name(symbol, place)) is missing, and no outcome says so")
                }
            }
            for place in 0..<column.states.count
            where column.states[place].contains(.named) && !column.states[place].contains(.settled) {
                self.fault("\(self.name(symbol, place)) is in a gap without an outcome")
            }
        }
    }

    /// Returns the digest of the lines `id,time,price,size\n` of the tape, and compares it with that of the market's
    /// lines of the same ids.
    func digest() -> String {
        var (tape, truth) = (RunningSHA256(), RunningSHA256())
        var line: [UInt8] = []
        for symbol in self.columns.indices {
            let market = self.market.columns[symbol]
            for case (let place, let trade?) in self.columns[symbol].trades.enumerated() {
                line.removeAll(keepingCapacity: true)
                line += "\(trade.id ?? 0),\(trade.exchangeTime / 1_000),\(trade.price),\(trade.size)\n".utf8
                line.withUnsafeBytes { tape.take($0) }
                market.line(place).withUnsafeBytes { truth.take($0) }
            }
        }
        let (found, expected) = (tape.finish(), truth.finish())
        if found != expected { self.fault("the hash of the tape is not that of the market") }
        return found
    }
}
