import Market
import Wire

/// All that a tape has, in its order, for the comparison with what a recording has.
///
/// Unchecked, because everything runs on the thread of the harness, which is the loop's too.
final class TapeCopy: TapeReader, @unchecked Sendable {
    /// A gap without what a recording does not keep.
    struct NamedGap: Equatable {
        var symbol: String?
        var missing: ClosedRange<UInt64>?
        var nextSequence: UInt64

        init(_ gap: Gap) {
            (self.symbol, self.missing, self.nextSequence) = (gap.symbol, gap.missing, gap.nextSequence)
        }
    }

    /// An outcome without its times, of which a recording keeps whole microseconds.
    struct NamedOutcome: Equatable {
        var symbol: String
        var missing: ClosedRange<UInt64>?
        var lost: [ClosedRange<UInt64>]
        var reason: String?

        init(_ outcome: GapOutcome) {
            (self.symbol, self.missing) = (outcome.symbol, outcome.missing)
            (self.lost, self.reason) = (outcome.lost, outcome.reason)
        }
    }

    /// How far a recording has come in the copy: the numbers of trades, gaps and outcomes.
    struct Place: Equatable {
        var trades = 0
        var gaps = 0
        var outcomes = 0
    }

    private let names: [String]
    /// The index in `names` by the tape's number.
    private var symbols: [UInt16] = []
    /// The trades by their numbers; each symbol is its index in `names`.
    private(set) var trades: [Trade] = []
    private(set) var gaps: [NamedGap] = []
    private(set) var outcomes: [NamedOutcome] = []
    private(set) var fault: String?

    init(_ names: [String]) { self.names = names }

    var place: Place { Place(trades: self.trades.count, gaps: self.gaps.count, outcomes: self.outcomes.count) }

    /// Returns a trade with its symbol's index in the names; `nil` for another symbol.
    func own(_ trade: Trade, _ symbols: SymbolTable) -> Trade? {
        if self.symbols.count != symbols.count {
            self.symbols = symbols.names.map { UInt16(self.names.firstIndex(of: $0) ?? Int(UInt16.max)) }
        }
        let index = self.symbols[Int(trade.symbol.index)]
        guard index < .max else { return nil }
        var trade = trade
        trade.symbol = SymbolID(index: index)
        return trade
    }

    func epochBegan(_ epoch: UInt64, first: UInt64, symbols: SymbolTable) { self.symbols = [] }

    func read(_ batch: TapeBatch) {
        if batch.firstSequence != UInt64(self.trades.count + 1) {
            self.fault = "a batch begins with \(batch.firstSequence) after \(self.trades.count)"
        }
        for trade in batch.trades {
            guard let own = self.own(trade, batch.symbols) else {
                self.fault = "a trade of another symbol"
                continue
            }
            self.trades.append(own)
        }
    }

    func statusChanged(_ status: FeedStatus) {}
    func gapFound(_ gap: Gap) { self.gaps.append(NamedGap(gap)) }
    func gapSettled(_ outcome: GapOutcome) { self.outcomes.append(NamedOutcome(outcome)) }

    /// Returns how this copy differs from the beginning of another one, which may be longer; `nil` if it does not.
    func difference(from other: TapeCopy) -> String? {
        if let fault { return fault }
        if let place = zip(self.trades, other.trades).firstIndex(where: { $0 != $1 }) {
            return "trade \(place + 1) is \(self.trades[place]) instead of \(other.trades[place])"
        }
        if let place = zip(self.gaps, other.gaps).firstIndex(where: { $0 != $1 }) {
            return "gap \(place + 1) is \(self.gaps[place]) instead of \(other.gaps[place])"
        }
        if let place = zip(self.outcomes, other.outcomes).firstIndex(where: { $0 != $1 }) {
            return "outcome \(place + 1) is \(self.outcomes[place]) instead of \(other.outcomes[place])"
        }
        let (mine, theirs) = (self.place, other.place)
        let isPart = mine.trades <= theirs.trades && mine.gaps <= theirs.gaps && mine.outcomes <= theirs.outcomes
        return isPart ? nil : "it has \(mine), and the tape \(theirs)"
    }
}

extension Zip2Sequence {
    fileprivate func firstIndex(where isWanted: (Element) -> Bool) -> Int? {
        for (index, element) in self.enumerated() where isWanted(element) { return index }
        return nil
    }
}
