import Completeness
import Market
import TLS

/// The plain truth of a tape: all trades that are on it, whose hours are made at once from lists.
struct TapeTruth {
    var symbol: String
    var onTape: [Trade] = []
    /// The missing ids with the hour in which each counts.
    var missing: [UInt64: Int64] = [:]
    var repeated: [Trade] = []

    /// Returns the hours, the oldest first; their marks of a whole hour are those of `reported`.
    func hours(like reported: [CompletenessHour]) -> [CompletenessHour] {
        let starts = Set(self.onTape.map { CompletenessHour.start(of: $0.exchangeTime) }).sorted()
        return starts.map { start in
            var hour = CompletenessHour(symbol: self.symbol, start: start)
            let trades = self.onTape.filter { CompletenessHour.start(of: $0.exchangeTime) == start }
                .sorted { ($0.id ?? 0) < ($1.id ?? 0) }
            hour.first = trades.first?.id
            hour.last = trades.last?.id
            hour.count = UInt64(trades.count)
            hour.filled = UInt64(trades.count { $0.isFilled })
            hour.missing = UInt64(self.missing.values.count { $0 == start })
            hour.repeated = UInt64(self.repeated.count { CompletenessHour.start(of: $0.exchangeTime) == start })
            hour.sha256 = Self.hash(trades)
            hour.isWhole = start > starts[0] && start < starts[starts.count - 1]
            return hour
        }
    }

    /// Returns the hash of trades in the order of their ids.
    static func hash(_ trades: [Trade]) -> String {
        let lines = trades.map { "\($0.id ?? 0),\($0.exchangeTime / 1_000),\($0.price),\($0.size)\n" }.joined()
        return SHA256.digest(lines.utf8).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}

/// A book with the symbols and the reads of a test.
struct TestBook {
    var book: CompletenessBook
    var symbols = SymbolTable()
    private var reads: Int64 = 0

    init(byIDsAlone: Bool = false, maximumHeldBytes: Int = CompletenessBook.maximumHeldBytes) {
        self.book = CompletenessBook(byIDsAlone: byIDsAlone, maximumHeldBytes: maximumHeldBytes)
    }

    mutating func read(_ trades: [Trade], repeated: [Trade] = [], isAnswer: Bool = false) {
        self.reads += 1
        self.book.readBegan(self.reads, symbols: self.symbols)
        self.book.take(trades[...], isAnswer: isAnswer)
        for trade in repeated { self.book.takeRepeated(trade) }
    }

    mutating func gap(_ symbol: String, _ ids: ClosedRange<UInt64>) {
        self.book.gapFound(
            Gap(from: 0, to: 0, reason: "missing", nextSequence: 0, symbol: symbol, missing: ids)
        )
    }

    mutating func settle(_ symbol: String, _ ids: ClosedRange<UInt64>, lost: [ClosedRange<UInt64>] = []) {
        self.book.gapSettled(GapOutcome(symbol: symbol, missing: ids, from: 0, to: 0, lost: lost))
    }

    mutating func trade(
        _ symbol: String,
        _ id: UInt64,
        hour: Int64 = 0,
        at nanoseconds: Int64 = 0,
        _ marks: TradeMarks = []
    ) -> Trade {
        // Never out of numbers: a test has a few symbols.
        let number = self.symbols.intern(symbol) ?? SymbolID(index: 0)
        return Trade(
            price: ExactDecimal(significand: Int64(61_000 + id % 90), exponent: -Int(id % 3)) ?? .zero,
            size: ExactDecimal(significand: Int64(1 + id % 1_000), exponent: -Int(id % 9)) ?? .zero,
            exchangeTime: (494_444 + hour) * CompletenessHour.length + nanoseconds,
            symbol: number,
            id: id,
            marks: marks
        )
    }
}
