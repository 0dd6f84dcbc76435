package import Market

/// The newest trades of each symbol, to compare with what comes after an interruption.
package struct TradeTails: Sendable {
    /// How many of each symbol.
    package static let length = 64

    /// By the symbol's number, `length` places each, used in a circle.
    private var trades: [Trade] = []
    private var counts: [Int] = []

    package init() {}

    /// Takes trades that went onto the tape.
    package mutating func append(_ trades: [Trade], symbolCount: Int) {
        if symbolCount > self.counts.count { self.grow(to: symbolCount) }
        for trade in trades {
            let symbol = Int(trade.symbol.index)
            let count = self.counts[symbol]
            self.trades[symbol &* Self.length &+ (count & (Self.length &- 1))] = trade
            self.counts[symbol] = count &+ 1
        }
    }

    private mutating func grow(to count: Int) {
        let empty = Trade(price: .zero, size: .zero, exchangeTime: 0, symbol: SymbolID(index: 0))
        let missing = count - self.counts.count
        self.counts.append(contentsOf: repeatElement(0, count: missing))
        self.trades.append(contentsOf: repeatElement(empty, count: missing * Self.length))
    }

    /// The tails by symbol number, oldest first.
    func inOrder() -> [[Trade]] {
        self.counts.indices.map { symbol in
            let count = self.counts[symbol]
            return (max(0, count - Self.length)..<count).map { self.trades[symbol * Self.length + $0 % Self.length] }
        }
    }
}

/// The search for trades that come a second time after an interruption.
///
/// Trades have no number, and real ones share time, price and size, so one is left out only where it is proven to be the
/// same. The proof rests on the service sending each symbol's trades in the order of their times (reference, section 1.4):
///
/// - A trade older than the newest seen, and equal to one that was seen, is that one: nothing new is so old. Repeats come in
///   the order in which they came first, so what follows in that order is a repeat too, up to the newest seen.
/// - Where the first that comes is of the very time of the newest seen, nothing proves it by itself: an order may be filled
///   in equal parts within one millisecond, some before the interruption and some after. Only two or more that repeat the
///   end of what was seen, and are not all alike, are taken for repeats.
///
/// So a single trade sent again is kept, which counts it twice; and of real trades only such are lost that repeat, after an
/// interruption and within the same millisecond, the last two or more different ones before it. A symbol is done with its
/// first newer trade.
package struct OverlapCheck: Sendable {
    fileprivate struct Tail {
        var trades: [Trade]
        var newest: Int64
        /// The first of them that has not come again.
        var next = 0
        var isAnchored = false
        var isDone = false
    }

    private var tails: [Tail]
    private var open: Int
    /// Trades recognised as repeats so far, and how many were compared.
    package private(set) var repeats = 0
    package private(set) var compared = 0

    package init(_ tails: TradeTails) {
        self.tails = tails.inOrder().map { trades in
            // Out of order though they should not be: the newest decides.
            Tail(trades: trades, newest: trades.map(\.exchangeTime).max() ?? .min, isDone: trades.isEmpty)
        }
        self.open = self.tails.count { !$0.isDone }
    }

    /// Whether there is nothing left to compare.
    package var isDone: Bool { self.open == 0 }

    /// Takes the trades of one read in order; answers for each whether it is a repeat.
    package mutating func check(_ trades: [Trade]) -> [Bool] {
        var isRepeat = [Bool](repeating: false, count: trades.count)
        for index in trades.indices where !isRepeat[index] {
            let trade = trades[index]
            let symbol = Int(trade.symbol.index)
            guard symbol < self.tails.count, !self.tails[symbol].isDone else { continue }
            self.compared += 1
            if trade.exchangeTime > self.tails[symbol].newest {
                self.finish(symbol)
            } else if trade.exchangeTime < self.tails[symbol].newest || self.tails[symbol].isAnchored {
                isRepeat[index] = self.tails[symbol].takeNext(trade)
            } else {
                let run = trades.indices[index...].filter { trades[$0].symbol == trade.symbol }
                for place in run.prefix(self.tails[symbol].borderRepeats(run.map { trades[$0] })) {
                    isRepeat[place] = true
                }
                self.finish(symbol)
            }
        }
        self.repeats += isRepeat.count { $0 }
        return isRepeat
    }

    private mutating func finish(_ symbol: Int) {
        self.tails[symbol].isDone = true
        self.open -= 1
    }
}

extension OverlapCheck.Tail {
    /// Whether a trade is one of those that have not come again yet.
    fileprivate mutating func takeNext(_ trade: Trade) -> Bool {
        guard let found = self.trades[self.next...].firstIndex(of: trade) else { return false }
        self.next = found + 1
        self.isAnchored = true
        return true
    }

    /// How many of the trades that begin at the time of the newest repeat the end of the tail, proven as said above.
    fileprivate func borderRepeats(_ trades: [Trade]) -> Int {
        let border = Array(self.trades.reversed().prefix { $0.exchangeTime == self.newest }.reversed())
        let run = trades.prefix { $0.exchangeTime == self.newest }
        for length in stride(from: min(border.count, run.count), to: 1, by: -1) {
            let part = run.prefix(length)
            guard part.elementsEqual(border.suffix(length)) else { continue }
            return part.allSatisfy { $0 == part.first } ? 0 : length
        }
        return 0
    }
}
