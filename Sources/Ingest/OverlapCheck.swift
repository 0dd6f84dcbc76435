package import Market

/// The search for trades that may come a second time after an interruption.
///
/// Trades have no number, and real ones share time, price and size. So nothing here is proven: a genuine trade that comes
/// late may equal an older one, and two genuine trades of the newest millisecond may equal the last two before the
/// interruption. There are three degrees:
///
/// - *Possible* is every trade that equals one of those that are remembered.
/// - *Likely* are those whose order says so too, as the service sends each symbol's trades in the order of their times
///   (reference, section 1.4): a trade older than the newest seen and equal to one that was seen, and what follows in the
///   same order up to the newest. Where the first that comes is of the very time of the newest, two or more that repeat the
///   end of what was seen, and are not all alike.
/// - *Least* is for how many no other explanation is known: a symbol's trades that come again in a row, in their order, up to
///   the newest seen, and have two times or more.
package struct OverlapCheck: Sendable {
    /// What is thought of one trade.
    package enum Finding: Sendable, Equatable {
        case new, possible, likely
    }

    fileprivate struct Tail {
        var trades: [Trade]
        var newest: Int64
        /// The first of them that has not come again.
        var next = 0
        var isAnchored = false
        /// Whether a newer trade came: what comes later is likely none of them.
        var isDone = false
        /// What came of their times, until a newer one did: the last so many as there are of them.
        var again: [Trade] = []
    }

    private var tails: [Tail]
    /// Trades that are likely repeats so far, and those that are possible ones at least.
    package private(set) var likely = 0
    package private(set) var possible = 0
    /// How many could be compared: trades of symbols that had traded before.
    package private(set) var compared = 0

    package init(_ tails: RecentTrades) {
        self.tails = tails.inOrder().map { trades in
            // Out of order though they should not be: the newest decides.
            Tail(trades: trades, newest: Self.newest(of: trades), isDone: trades.isEmpty)
        }
    }

    /// The newest time of a symbol's trades, ns. One from the future says nothing of when the others were, unless all are
    /// ahead alike, as those are that came before our clock was known to be behind.
    private static func newest(of trades: [Trade]) -> Int64 {
        let times = trades.lazy.filter { !$0.marks.contains(.ahead) }.map(\.exchangeTime)
        return times.max() ?? trades.lazy.map(\.exchangeTime).max() ?? .min
    }

    /// Between which numbers that of the repeats lies.
    package var bounds: OverlapBounds {
        let least = self.tails.reduce(0) { $0 + $1.provenRun }
        return OverlapBounds(least: least, most: max(self.possible, least))
    }

    /// Takes the trades of one read in order; answers for each what is thought of it, and with `nil` where all are new.
    package mutating func check(_ trades: [Trade]) -> [Finding]? {
        var findings: [Finding]?
        for index in trades.indices {
            let trade = trades[index]
            let symbol = Int(trade.symbol.index)
            guard symbol < self.tails.count, !self.tails[symbol].trades.isEmpty else { continue }
            self.compared += 1
            guard trade.exchangeTime <= self.tails[symbol].newest else {
                self.tails[symbol].isDone = true
                continue
            }
            self.tails[symbol].note(trade)
            // One that is of a run at the border is known by now.
            guard findings?[index] ?? .new != .likely else { continue }
            if self.tails[symbol].contains(trade) {
                findings = findings ?? [Finding](repeating: .new, count: trades.count)
                findings?[index] = .possible
            }
            guard !self.tails[symbol].isDone else { continue }
            if trade.exchangeTime < self.tails[symbol].newest || self.tails[symbol].isAnchored {
                if self.tails[symbol].takeNext(trade) { findings?[index] = .likely }
            } else {
                let run = trades.indices[index...].filter { trades[$0].symbol == trade.symbol }
                for place in run.prefix(self.tails[symbol].borderRepeats(run.map { trades[$0] })) {
                    findings?[place] = .likely
                }
                self.tails[symbol].isDone = true
            }
        }
        for finding in findings ?? [] where finding != .new {
            self.possible += 1
            if finding == .likely { self.likely += 1 }
        }
        return findings
    }
}

extension OverlapCheck.Tail {
    fileprivate func contains(_ trade: Trade) -> Bool { self.trades.contains { $0.hasSameContent(by: trade) } }

    /// Takes down what came again, or looks like it.
    fileprivate mutating func note(_ trade: Trade) {
        guard !self.isDone else { return }
        // Once the end of a long row is all that is kept, its beginning matters no more.
        if self.again.count >= 2 * RecentTrades.length { self.again.removeFirst(RecentTrades.length) }
        self.again.append(trade)
    }

    /// Whether a trade is one of those that have not come again yet.
    fileprivate mutating func takeNext(_ trade: Trade) -> Bool {
        let rest = self.trades[self.next...]
        guard let found = rest.firstIndex(where: { $0.hasSameContent(by: trade) }) else { return false }
        self.next = found + 1
        self.isAnchored = true
        return true
    }

    /// How many of the trades that begin at the time of the newest repeat the end of the tail, by more than one kind.
    fileprivate func borderRepeats(_ trades: [Trade]) -> Int {
        let border = Array(self.trades.reversed().prefix { $0.exchangeTime == self.newest }.reversed())
        let run = trades.prefix { $0.exchangeTime == self.newest }
        for length in stride(from: min(border.count, run.count), to: 1, by: -1) {
            let part = run.prefix(length)
            guard zip(part, border.suffix(length)).allSatisfy({ $0.hasSameContent(by: $1) }) else { continue }
            return part.allSatisfy { $0.hasSameContent(by: part[0]) } ? 0 : length
        }
        return 0
    }

    /// How many came again in a row up to the newest, with more than one time among them.
    fileprivate var provenRun: Int {
        let count = zip(self.again.reversed(), self.trades.reversed()).prefix { $0.hasSameContent(by: $1) }.count
        guard let first = self.again.suffix(count).first, let last = self.again.last else { return 0 }
        return first.exchangeTime < last.exchangeTime ? count : 0
    }
}
