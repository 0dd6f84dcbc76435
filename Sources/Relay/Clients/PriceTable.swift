import Ingest
import Market
import Wire

/// The rows of the relay's symbols: the prices of ``SettledPrices``, each with its place in the symbol's own count of trades.
///
/// The count makes `skipped` exact for a reader who is not in step with the pipeline: one who has just come and was given
/// a newer price than the last one shown, or one who was too slow for some.
struct PriceTable {
    /// A price to show.
    struct Showing: Equatable {
        /// The symbol's row.
        var row: Int
        var update: PriceUpdate
        /// Which of the symbol's trades it shows, counted from 1.
        var ordinal: UInt64
    }

    /// The newest of one symbol.
    struct Newest: Equatable {
        var summary: SymbolSummary
        /// Which of the symbol's trades is the newest, counted from 1.
        var ordinal: UInt64
    }

    private struct Row {
        var symbol: String
        /// Trades taken in.
        var taken: UInt64 = 0
        /// Trades up to and with the one shown last.
        var shown: UInt64 = 0
        /// Trades up to and with the newest that a client has been told of in any way.
        var reported: UInt64 = 0
        /// The row of the board, once the symbol has traded in this epoch.
        var boardRow: Int?
        /// Whether it is nobody's, to be used again.
        var isFree = false
    }

    private let settled: SettledPrices
    private var rows: [Row] = []
    private var rowOfName: [String: Int] = [:]
    /// The row by the feed's number of the symbol.
    private var rowOfSymbol: [Int?] = []
    private var freeRows: [Int] = []
    private var hasEpochBegun = false
    /// Rows that are new since they were last asked for.
    private var appeared: [Int] = []

    init(_ settled: SettledPrices) { self.settled = settled }

    /// The symbols that have traded, in order of first appearance.
    var summaries: [SymbolSummary] { self.settled.board.rows }

    /// How many rows there are, those that are nobody's among them.
    var rowCount: Int { self.rows.count }

    /// The rows that are somebody's.
    var liveRows: [Int] { self.rows.indices.filter { !self.rows[$0].isFree } }

    var liveRowCount: Int { self.rows.count - self.freeRows.count }

    /// How many trades of the row's symbol there have been.
    func taken(row: Int) -> UInt64 { self.rows[row].taken }

    /// Returns the rows that have appeared since the last call.
    mutating func takeAppeared() -> [Int] {
        guard !self.appeared.isEmpty else { return [] }
        defer { self.appeared = [] }
        return self.appeared
    }

    /// Gives a row back, to be another symbol's; returns whether it could: a symbol that has traded keeps its row for as long
    /// as its epoch lasts.
    mutating func free(_ row: Int) -> Bool {
        guard self.rows[row].boardRow == nil, !self.rows[row].isFree else { return false }
        self.rowOfName[self.rows[row].symbol] = nil
        self.rows[row].isFree = true
        self.freeRows.append(row)
        self.appeared.removeAll { $0 == row }
        return true
    }

    func symbol(ofRow row: Int) -> String { self.rows[row].symbol }

    func knownRow(of symbol: String) -> Int? { self.rowOfName[symbol] }

    /// Returns the row of a symbol and makes it if needed; the caller bounds how many symbols there are.
    mutating func row(of symbol: String) -> Int {
        if let row = self.rowOfName[symbol] { return row }
        let row: Int
        if let free = self.freeRows.popLast() {
            row = free
            self.rows[row] = Row(symbol: symbol)
        } else {
            row = self.rows.count
            self.rows.append(Row(symbol: symbol))
        }
        self.rowOfName[symbol] = row
        self.appeared.append(row)
        return row
    }

    /// Returns the newest of a row, if it has traded.
    func newest(row: Int) -> Newest? {
        guard let boardRow = self.rows[row].boardRow else { return nil }
        return Newest(summary: self.settled.summary(ofRow: boardRow), ordinal: self.rows[row].taken)
    }

    /// Takes in a batch, and returns what is to be shown at once.
    mutating func take(_ batch: TapeBatch) -> [Showing] {
        let updates = self.settled.updates(of: batch)
        for trade in batch.trades { self.rows[self.row(of: trade.symbol, in: batch)].taken += 1 }
        return self.showings(updates)
    }

    /// Counts trades that will not come, so that the next price of their symbol tells of them; those of a symbol that nobody has
    /// asked for and that has not traded are forgotten.
    mutating func lost(_ loss: RelayLoss) {
        for (symbol, count) in loss.counts {
            guard let row = self.rowOfName[symbol] else { continue }
            self.rows[row].taken += count
            self.rows[row].shown += count
            self.rows[row].reported += count
        }
    }

    /// Notes that symbols' numbers mean others from now on, and returns what was held back. The rows and
    /// the counts of their trades stay until the hub gives back those that nobody asks for (``takeEpochBegan()``).
    mutating func epochBegan(_ epoch: UInt64) -> [Showing] {
        let updates = self.settled.epochBegan(epoch)
        guard self.rows.contains(where: { $0.boardRow != nil }) else { return [] }
        let showings = self.showings(updates)
        self.rowOfSymbol = []
        self.hasEpochBegun = true
        for row in self.rows.indices {
            self.rows[row].boardRow = nil
            self.rows[row].shown = self.rows[row].taken
        }
        return showings
    }

    /// Whether another epoch has begun since the last call.
    mutating func takeEpochBegan() -> Bool {
        defer { self.hasEpochBegun = false }
        return self.hasEpochBegun
    }

    /// Returns what has traded without a price being shown since the last call or price, by row.
    mutating func takeActivity() -> [(row: Int, summary: SymbolSummary)] {
        var activity: [(row: Int, summary: SymbolSummary)] = []
        for row in self.rows.indices where self.rows[row].taken > self.rows[row].reported {
            self.rows[row].reported = self.rows[row].taken
            if let newest = self.newest(row: row) { activity.append((row, newest.summary)) }
        }
        return activity
    }

    private mutating func row(of symbol: SymbolID, in batch: TapeBatch) -> Int {
        let index = Int(symbol.index)
        if index < self.rowOfSymbol.count, let row = self.rowOfSymbol[index] { return row }
        while self.rowOfSymbol.count <= index { self.rowOfSymbol.append(nil) }
        let row = self.row(of: batch.symbols.name(of: symbol))
        self.rowOfSymbol[index] = row
        self.rows[row].boardRow = self.settled.board.row(of: symbol)
        return row
    }

    /// Returns the rows and the counts of prices that are shown.
    mutating func showings(_ updates: [PriceUpdate]) -> [Showing] {
        updates.map { update in
            let row = self.row(of: update.summary.symbol)
            self.rows[row].shown += update.skipped + 1
            self.rows[row].reported = self.rows[row].taken
            return Showing(row: row, update: update, ordinal: self.rows[row].shown)
        }
    }
}
