import Market
import Testing
import TickertapeTesting
import Wire
@testable import Ingest

/// A venue with three symbols, and a connection on which everything may go wrong.
private struct Schedule {
    let feed = NumberedFeed(symbols: ["A", "B", "C"])
    private let names = ["A", "B", "C"]
    private var chance: SeededGenerator
    /// The newest id of each symbol, and the first one.
    private(set) var newest: [UInt64] = [1, 500, 1 << 40]
    private(set) var first: [UInt64] = [1, 500, 1 << 40]
    private var withheld: [(symbol: Int, id: UInt64)] = []
    private var frame = ""

    init(seed: UInt64) { self.chance = SeededGenerator(seed: seed) }

    private mutating func isDrawn(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self.chance) < percent }

    private mutating func send(_ symbol: Int, _ id: UInt64, isEarlier: Bool = false) {
        self.frame += "\(self.names[symbol]):\(id)\(isEarlier ? "~" : "") "
        if self.isDrawn(60) { self.endFrame() }
        if self.isDrawn(30) { self.endRead() }
    }

    private mutating func endFrame() {
        guard !self.frame.isEmpty else { return }
        self.feed.say(self.frame)
        self.frame = ""
    }

    private mutating func endRead() {
        self.endFrame()
        self.feed.input.endRead(wall: self.feed.now.wall)
    }

    /// Runs a number of the venue's trades, and ends with one of each symbol, which shows the last holes.
    mutating func run(_ count: Int) {
        for symbol in 0..<3 { self.send(symbol, self.newest[symbol]) }
        for _ in 0..<count { self.step() }
        for symbol in 0..<3 {
            self.newest[symbol] += 1
            self.send(symbol, self.newest[symbol])
        }
        self.endRead()
    }

    private mutating func step() {
        let symbol = Int.random(in: 0..<3, using: &self.chance)
        self.newest[symbol] += 1
        let id = self.newest[symbol]
        switch Int.random(in: 0..<100, using: &self.chance) {
        case 0..<4: self.withheld.append((symbol, id))
        case 4..<6: break  // never sent
        default: self.send(symbol, id)
        }
        if self.isDrawn(5) { self.send(symbol, self.repeated(symbol)) }
        if self.isDrawn(8), let late = self.withheld.indices.randomElement(using: &self.chance) {
            let trade = self.withheld.remove(at: late)
            self.send(trade.symbol, trade.id)
        }
        if self.isDrawn(3) { self.report(symbol) }
        if self.isDrawn(1) { self.cut() }
        if self.isDrawn(1) { self.giveUp(symbol) }
    }

    private mutating func giveUp(_ symbol: Int) {
        self.endFrame()
        let first = self.repeated(symbol)
        let ids = first...first + UInt64.random(in: 0...30, using: &self.chance)
        self.feed.input.giveUp(ids, of: self.names[symbol], reason: "given up", now: self.feed.now)
    }

    private mutating func repeated(_ symbol: Int) -> UInt64 {
        let oldest = max(self.first[symbol], self.newest[symbol] - min(self.newest[symbol], 40))
        return UInt64.random(in: oldest...self.newest[symbol], using: &self.chance)
    }

    private mutating func report(_ symbol: Int) {
        self.endFrame()
        self.feed.say("")
        self.feed.input.newestReported(self.newest[symbol], of: self.names[symbol], now: self.feed.now)
        if self.isDrawn(50) {
            self.endRead()
            self.feed.passTime(to: self.feed.second + 1)
        }
    }

    private mutating func cut() {
        self.endRead()
        self.feed.cut()
        self.feed.second += Int64.random(in: 1...5, using: &self.chance)
        for symbol in 0..<3 { self.newest[symbol] += UInt64.random(in: 0...30, using: &self.chance) }
        self.feed.reconnect()
        for symbol in 0..<3 where self.isDrawn(50) {
            let count = min(UInt64.random(in: 1...20, using: &self.chance), self.newest[symbol] - self.first[symbol])
            for id in self.newest[symbol] - count...self.newest[symbol] { self.send(symbol, id, isEarlier: true) }
        }
    }
}

@Suite("Trades with ids under a random schedule")
struct IdentifiedScheduleTests {
    @Test("are on the tape once, or named as missing, and nothing else is", arguments: 0..<60)
    func schedule(seed: Int) {
        var schedule = Schedule(seed: UInt64(seed))
        schedule.run(1_500)
        let contents = schedule.feed.log.contents
        for (symbol, name) in ["A", "B", "C"].enumerated() {
            let truth = schedule.first[symbol]...schedule.newest[symbol]
            let trades = contents.trades.filter { contents.symbols.name(of: $0.symbol) == name }
            let ids = trades.compactMap(\.id)
            let onTape = Set(ids)
            #expect(onTape.count == ids.count, "an id is on the tape twice")
            let gaps = contents.gaps.filter { $0.symbol == name }.compactMap(\.missing)
            let named = Set(gaps.flatMap { Array($0) })
            #expect(named.count == gaps.reduce(0) { $0 + $1.count }, "an id is missing twice")
            let missing = named.subtracting(onTape)
            #expect(onTape.union(missing) == Set(truth))
            // What came although it was named as missing is marked.
            let filled = Set(trades.filter { $0.marks.contains(.filled) }.compactMap(\.id))
            #expect(named.intersection(onTape).isSubset(of: filled))
            let open = schedule.feed.input.missing.first { $0.symbol == name }?.ids ?? []
            let outcomes = contents.outcomes.filter { $0.symbol == name }
            let lost = Set(outcomes.flatMap(\.lost).flatMap { Array($0) })
            let waiting = Set(open.flatMap { Array($0) })
            #expect(waiting.isSubset(of: missing))
            // What was given up is told with the rest of its gap.
            let told = Set(outcomes.flatMap { Array($0.missing ?? 0...0) })
            #expect(missing.subtracting(waiting).intersection(told).isSubset(of: lost))
            // Each gap has one outcome, unless one of its trades is waited for.
            let settled = gaps.filter { waiting.isDisjoint(with: $0) }
            #expect(settled.map(\.lowerBound).sorted() == outcomes.compactMap(\.missing?.lowerBound).sorted())
            // What came before the outcome is not lost.
            for outcome in outcomes {
                let lost = Set(outcome.lost.flatMap { Array($0) })
                let missing = outcome.missing ?? 0...0
                #expect(lost.isSubset(of: missing) && lost.isEmpty == (outcome.reason == nil))
                #expect(Set(missing).subtracting(lost).isSubset(of: onTape))
            }
            // The trades that are not marked are in the order of their ids.
            let live = trades.filter { $0.marks.isEmpty }.compactMap(\.id)
            #expect(zip(live, live.dropFirst()).allSatisfy { $0 < $1 })
        }
        #expect(contents.gaps.allSatisfy { $0.symbol != nil && $0.missing != nil && $0.from <= $0.to })
        #expect(contents.sequences == Array(1...UInt64(contents.trades.count)))
    }

    @Test("of any number trap nothing and take bounded memory", arguments: 0..<20)
    func hostile(seed: Int) {
        var chance = SeededGenerator(seed: UInt64(seed))
        let feed = NumberedFeed(symbols: ["A", "B"])
        let borders: [UInt64] = [0, 1, 1 << 32, 1 << 63, .max - 1, .max]
        for _ in 0..<3_000 {
            let border = borders.randomElement(using: &chance) ?? 0
            let id = border &+ UInt64.random(in: 0...600, using: &chance) &- 300
            let name = Bool.random(using: &chance) ? "A" : "B"
            switch Int.random(in: 0..<20, using: &chance) {
            case 0: feed.input.newestReported(id, of: name, now: feed.now)
            case 1: feed.passTime(to: feed.second + 1)
            case 2: feed.cut()
            case 3 where id % 3 == 0:
                let last = id.addingReportingOverflow(40)
                feed.input.giveUp(id...(last.overflow ? .max : last.partialValue), of: name, reason: "", now: feed.now)
            case 3: feed.reconnect()
            case 4: feed.input.symbols = Bool.random(using: &chance) ? ["A"] : ["B"]
            case 5..<8: feed.say("\(name):\(id)~")
            case 8..<12: feed.input.endRead(wall: feed.now.wall)
            default: feed.say("\(name):\(id)@\(Int64.random(in: .min ... .max, using: &chance))")
            }
        }
        for missing in feed.input.missing {
            #expect(missing.ids.count <= MissingIDs.limit)
            #expect(zip(missing.ids, missing.ids.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound })
        }
        #expect(feed.log.contents.outcomes.allSatisfy { $0.lost.count <= 2 * MissingIDs.limit + 1 })
    }
}
