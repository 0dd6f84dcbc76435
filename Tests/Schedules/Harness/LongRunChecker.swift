import Market
import TLS
import Wire

/// The reader of a ``LongRun``'s tape: compares every trade with the formula, and knows the missing ones.
///
/// Unchecked, because everything runs on the thread of the harness, which is the loop's too.
final class LongRunChecker: TapeReader, @unchecked Sendable {
    private struct Column {
        var venue: Int
        var symbol: Int
        var first: Int?
        var newest = -1
        /// The places below the newest one that are not on the tape.
        var missing: Set<Int> = []
        /// Those that a gap has named, and those that an outcome has named lost.
        var named: Set<Int> = []
        var lost: Set<Int> = []
    }

    private let markets: [FormulaMarket]
    private var columns: [Column] = []
    private var columnOfName: [String: Int] = [:]
    /// The column by the tape's number.
    private var places: [Int] = []
    private(set) var tradeCount = 0
    private(set) var filled = 0
    private(set) var gapCount = 0
    private(set) var faults: [String] = []

    init(_ markets: [FormulaMarket]) {
        self.markets = markets
        for (venue, market) in markets.enumerated() {
            for (symbol, name) in market.symbols.enumerated() {
                self.columnOfName[name] = self.columns.count
                self.columns.append(Column(venue: venue, symbol: symbol))
            }
        }
    }

    var missing: Int { self.columns.reduce(0) { $0 + $1.missing.count } }

    private func fault(_ text: String) { if self.faults.count < 20 { self.faults.append(text) } }

    func epochBegan(_ epoch: UInt64, first: UInt64, symbols: SymbolTable) { self.places = [] }

    func read(_ batch: TapeBatch) {
        if self.places.count != batch.symbols.count {
            self.places = batch.symbols.names.map { self.columnOfName[$0] ?? -1 }
        }
        for trade in batch.trades { self.take(trade) }
    }

    private func take(_ trade: Trade) {
        let index = self.places[Int(trade.symbol.index)]
        let market = self.markets[self.columns[index].venue]
        let symbol = self.columns[index].symbol
        guard let id = trade.id, id >= market.firstID else { return self.fault("a trade without an id of the venue") }
        let place = Int(id - market.firstID)
        let (price, size) = market.numbers(symbol, place)
        if trade.exchangeTime != market.time(symbol, place)
            || trade.price != ExactDecimal(significand: Int64(price), exponent: -2)
            || trade.size != ExactDecimal(significand: Int64(size), exponent: -5)
        {
            self.fault("\(market.symbols[symbol]) \(id) is altered: \(trade)")
        }
        self.tradeCount += 1
        if self.columns[index].first == nil {
            self.columns[index].first = place
            self.columns[index].newest = place - 1
        }
        if place > self.columns[index].newest {
            if place - self.columns[index].newest > 1 {
                for lacking in self.columns[index].newest + 1..<place { self.columns[index].missing.insert(lacking) }
            }
            self.columns[index].newest = place
            if trade.isFilled, self.markets[self.columns[index].venue].venue == .binance {
                self.fault("\(market.symbols[symbol]) \(id) is marked as filled")
            }
        } else if self.columns[index].missing.remove(place) != nil {
            self.columns[index].named.remove(place)
            self.filled += 1
            if !trade.isFilled { self.fault("\(market.symbols[symbol]) \(id) is not marked as filled") }
        } else {
            self.fault("\(market.symbols[symbol]) \(id) is on the tape twice")
        }
    }

    func statusChanged(_ status: FeedStatus) {}

    func gapFound(_ gap: Gap) {
        self.gapCount += 1
        guard let ids = gap.missing, let index = gap.symbol.flatMap({ self.columnOfName[$0] }) else {
            return self.fault("a gap without ids: \(gap.sentence)")
        }
        let first = self.markets[self.columns[index].venue].firstID
        for id in ids { self.columns[index].named.insert(Int(id - first)) }
    }

    func gapSettled(_ outcome: GapOutcome) {
        guard let index = self.columnOfName[outcome.symbol] else { return self.fault("an outcome of no symbol") }
        let first = self.markets[self.columns[index].venue].firstID
        for id in outcome.lost.joined() { self.columns[index].lost.insert(Int(id - first)) }
    }

    /// Compares the program's report of each symbol and hour with the formula.
    func check(_ hours: [CompletenessHour]) {
        var line: [UInt8] = []
        for column in self.columns {
            let market = self.markets[column.venue]
            let name = market.symbols[column.symbol]
            let own = hours.filter { $0.symbol == name }
            var place = column.first ?? 0
            var missing = 0
            for hour in own {
                var digest = RunningSHA256()
                var (count, first, last) = (UInt64(0), UInt64?.none, UInt64?.none)
                while place <= column.newest {
                    let time = market.time(column.symbol, place)
                    guard CompletenessHour.start(of: time) == hour.start else { break }
                    let id = market.firstID + UInt64(place)
                    if !column.missing.contains(place) {
                        let (price, size) = market.numbers(column.symbol, place)
                        line.removeAll(keepingCapacity: true)
                        Self.put(id, to: &line)
                        line.append(UInt8(ascii: ","))
                        Self.put(UInt64(time / 1_000), to: &line)
                        line.append(UInt8(ascii: ","))
                        Self.put(price, digits: 2, to: &line)
                        line.append(UInt8(ascii: ","))
                        Self.put(size, digits: 5, to: &line)
                        line.append(UInt8(ascii: "\n"))
                        line.withUnsafeBytes { digest.take($0) }
                        (count, first, last) = (count + 1, first ?? id, id)
                    }
                    place += 1
                }
                missing += Int(hour.missing)
                if hour.count != count || hour.first != first || hour.last != last {
                    self.fault("the report of \(name) is wrong: \(hour) instead of \(count)")
                }
                if hour.sha256 != digest.finish() {
                    self.fault("the report of \(name) has another hash: \(hour.reason ?? "a wrong one")")
                }
            }
            if place <= column.newest { self.fault("the report of \(name) ends before the tape") }
            if missing != column.missing.count {
                self.fault("the report of \(name) has \(missing) missing of \(column.missing.count)")
            }
        }
    }

    private static func put(_ number: UInt64, atLeast: Int = 1, to line: inout [UInt8]) {
        let start = line.count
        var rest = number
        while rest > 0 || line.count - start < atLeast {
            line.append(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        }
        line[start...].reverse()
    }

    /// Writes a decimal without trailing zeros.
    private static func put(_ number: Int, digits: Int, to line: inout [UInt8]) {
        var (scale, rest, places) = (1, number, digits)
        while places > 0, rest % 10 == 0 { (rest, places) = (rest / 10, places - 1) }
        for _ in 0..<places { scale *= 10 }
        self.put(UInt64(rest / scale), to: &line)
        guard places > 0 else { return }
        line.append(UInt8(ascii: "."))
        self.put(UInt64(rest % scale), atLeast: places, to: &line)
    }

    /// Checks that everything is on the tape but the trades that the venue never gave, and that these are named.
    ///
    /// - Parameter mayLack: whether a venue never gave an event.
    func checkWhole(until end: Int64, mayLack: (Int, Int) -> Bool) {
        for column in self.columns {
            let market = self.markets[column.venue]
            let name = market.symbols[column.symbol]
            let expected = market.count(of: column.symbol, at: end - 1) - 1
            if column.newest != expected { self.fault("\(name) ends with \(column.newest) instead of \(expected)") }
            for place in column.missing.sorted() {
                if !mayLack(column.venue, place * market.symbols.count + column.symbol) {
                    self.fault("\(name) \(market.firstID + UInt64(place)) is missing, and the venue gave it")
                }
                if !column.named.contains(place) || !column.lost.contains(place) {
                    self.fault("\(name) \(market.firstID + UInt64(place)) is missing, and not named as lost")
                }
            }
            if column.lost != column.missing { self.fault("\(name) has other lost trades than missing ones") }
        }
    }
}
