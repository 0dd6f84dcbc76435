package import Market

/// The search for trades that may come a second time after an interruption.
///
/// Trades have no number, and real ones share time, price and size. So nothing here is proven: a genuine trade that
/// comes late may equal an older one, and two genuine trades of the newest millisecond may equal the last two before
/// the interruption. There are three degrees:
///
/// - *Possible* is every trade that equals one of the remembered trades.
/// - *Likely* is a trade whose order suggests a repeat, too. The service sends each symbol's trades in the order of
///   their times (reference, section 1.4). A trade is likely a repeat if it is older than the newest remembered trade
///   and equals a remembered one; so are the trades after it that follow in the same order, up to the newest. If the
///   first trade has the very time of the newest, two or more trades that repeat the remembered end are likely repeats,
///   unless all of them are equal.
/// - *Least* counts the trades for which no other explanation is known: a symbol's trades that come again in a row and
///   in their order, up to the newest remembered one, and have at least two different times.
package struct OverlapCheck: Sendable {
    /// The degree of suspicion against one trade.
    package enum Finding: Sendable, Equatable {
        case new, possible, likely
    }

    fileprivate struct Tail {
        var trades: [Trade]
        var newest: Int64
        /// The index of the first trade that has not come again.
        var next = 0
        var isAnchored = false
        /// Whether the search for likely repeats is over: a newer trade came, or a run at the newest time was checked.
        var isDone = false
        /// The trades up to the tail's newest time that came after the interruption, until the search was over. The
        /// newest ``RecentTrades/length`` of them are always kept.
        var again: [Trade] = []
    }

    private var tails: [Tail]
    /// The number of likely repeats so far, and the number of possible ones, which include them.
    package private(set) var likely = 0
    package private(set) var possible = 0
    /// The number of trades that could be compared: their symbols had traded before.
    package private(set) var compared = 0

    package init(_ tails: RecentTrades) {
        self.tails = tails.inOrder().map { trades in
            // The trades may be out of order, against the service's rule: the newest time decides.
            Tail(trades: trades, newest: Self.newest(of: trades), isDone: trades.isEmpty)
        }
    }

    /// The newest time of a symbol's trades, ns. A trade that is ahead says nothing about the times of the others, so
    /// it counts only if all are ahead, as they are while our clock is not yet known to be behind.
    private static func newest(of trades: [Trade]) -> Int64 {
        let times = trades.lazy.filter { !$0.marks.contains(.ahead) }.map(\.exchangeTime)
        return times.max() ?? trades.lazy.map(\.exchangeTime).max() ?? .min
    }

    /// The bounds of the number of repeats.
    package var bounds: OverlapBounds {
        let least = self.tails.reduce(0) { $0 + $1.provenRun }
        return OverlapBounds(least: least, most: max(self.possible, least))
    }

    /// Takes the trades of one read in order. Returns a finding for each trade, or `nil` if all are new.
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
            // A trade of a run at the border already has its finding.
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

    /// Remembers a trade that may be a repeat.
    fileprivate mutating func note(_ trade: Trade) {
        guard !self.isDone else { return }
        // Only the end of a long row is compared, so its beginning can go.
        if self.again.count >= 2 * RecentTrades.length { self.again.removeFirst(RecentTrades.length) }
        self.again.append(trade)
    }

    /// Takes a trade that equals one which has not come again yet; returns whether it does.
    fileprivate mutating func takeNext(_ trade: Trade) -> Bool {
        let rest = self.trades[self.next...]
        guard let found = rest.firstIndex(where: { $0.hasSameContent(by: trade) }) else { return false }
        self.next = found + 1
        self.isAnchored = true
        return true
    }

    /// The number of trades at the beginning that repeat the tail's end at its newest time; 0 if all of them are equal.
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

    /// The number of trades that came again in a row up to the newest one; 0 unless they have at least two different
    /// times.
    fileprivate var provenRun: Int {
        let count = zip(self.again.reversed(), self.trades.reversed()).prefix { $0.hasSameContent(by: $1) }.count
        guard let first = self.again.suffix(count).first, let last = self.again.last else { return 0 }
        return first.exchangeTime < last.exchangeTime ? count : 0
    }
}
