import Ingest
import Market
import Wire

/// The rows of the relay's symbols: the prices of ``SettledPrices``, each with its number in the symbol's own count of
/// trades.
///
/// The count makes `skipped` exact for a client that is not in step with the pipeline. Such a client has just connected
/// and got a newer price than the last one shown, or it was too slow for some prices.
struct PriceTable {
    /// A price to show.
    struct Showing: Equatable {
        /// The symbol's row.
        var row: Int
        var update: PriceUpdate
        /// The number of the shown trade among the symbol's trades, counted from 1.
        var ordinal: UInt64
    }

    /// The newest price of one symbol.
    struct Newest: Equatable {
        var summary: SymbolSummary
        /// The number of the newest trade among the symbol's trades, counted from 1.
        var ordinal: UInt64
    }

    private struct Row {
        var symbol: String
        /// The number of trades so far.
        var taken: UInt64 = 0
        /// The number of the trade shown last.
        var shown: UInt64 = 0
        /// The number of the newest trade that was reported to clients in any way.
        var reported: UInt64 = 0
        /// The row of the board, once the symbol has traded in this epoch.
        var boardRow: Int?
        /// Whether the row is free and can be given to another symbol.
        var isFree = false
    }

    private let settled: SettledPrices
    private var rows: [Row] = []
    private var rowOfName: [String: Int] = [:]
    /// The row of each symbol, by the feed's number of it.
    private var rowOfSymbol: [Int?] = []
    private var freeRows: [Int] = []
    private var hasEpochBegun = false
    /// The rows that are new since the last call of ``takeAppeared()``.
    private var appeared: [Int] = []

    init(_ settled: SettledPrices) { self.settled = settled }

    /// The symbols that have traded, in order of first appearance.
    var summaries: [SymbolSummary] { self.settled.board.rows }

    /// The number of rows, including the free ones.
    var rowCount: Int { self.rows.count }

    /// The rows that belong to a symbol.
    var liveRows: [Int] { self.rows.indices.filter { !self.rows[$0].isFree } }

    /// Returns how many trades the row's symbol has had.
    func taken(row: Int) -> UInt64 { self.rows[row].taken }

    /// Returns the rows that have appeared since the last call.
    mutating func takeAppeared() -> [Int] {
        guard !self.appeared.isEmpty else { return [] }
        defer { self.appeared = [] }
        return self.appeared
    }

    /// Frees a row for another symbol; returns whether that was possible. A symbol that has traded keeps its row until
    /// its epoch ends.
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

    /// Returns the newest price of a row; `nil` if its symbol has not traded in this epoch.
    func newest(row: Int) -> Newest? {
        guard let boardRow = self.rows[row].boardRow else { return nil }
        return Newest(summary: self.settled.summary(ofRow: boardRow), ordinal: self.rows[row].taken)
    }

    /// Takes in a batch; returns the prices that are to be shown at once.
    mutating func take(_ batch: TapeBatch) -> [Showing] { self.take(batch, self.settled.updates(of: batch)) }

    /// Takes in a batch whose prices are known already.
    mutating func take(_ batch: TapeBatch, _ updates: [PriceUpdate]) -> [Showing] {
        for trade in batch.trades {
            guard let row = self.row(of: trade, in: batch) else { continue }
            self.rows[row].taken += 1
            // A filled trade is no activity.
            if trade.isFilled { self.rows[row].reported += 1 }
        }
        return self.showings(updates)
    }

    /// Counts trades that were left out, so that the next price of their symbol reports them. Lost trades of a symbol
    /// without a row are not counted.
    mutating func lost(_ loss: RelayLoss) {
        for (symbol, count) in loss.counts {
            guard let row = self.rowOfName[symbol] else { continue }
            self.rows[row].taken += count
            self.rows[row].shown += count
            self.rows[row].reported += count
        }
    }

    /// Forgets which symbol each number means, and returns the prices that were held back. The rows and their counts
    /// stay until the hub frees the rows without subscribers (``takeEpochBegan()``).
    mutating func epochBegan(_ epoch: UInt64) -> [Showing] {
        let updates = self.settled.epochBegan(epoch)
        guard !self.rowOfSymbol.isEmpty else { return [] }
        let showings = self.showings(updates)
        self.rowOfSymbol = []
        self.hasEpochBegun = true
        for row in self.rows.indices {
            self.rows[row].boardRow = nil
            self.rows[row].shown = self.rows[row].taken
        }
        return showings
    }

    /// Returns whether another epoch has begun since the last call.
    mutating func takeEpochBegan() -> Bool {
        defer { self.hasEpochBegun = false }
        return self.hasEpochBegun
    }

    /// Returns the rows whose symbols have traded since the last price shown or the last call, without a new price.
    mutating func takeActivity() -> [(row: Int, summary: SymbolSummary)] {
        var activity: [(row: Int, summary: SymbolSummary)] = []
        for row in self.rows.indices where self.rows[row].taken > self.rows[row].reported {
            self.rows[row].reported = self.rows[row].taken
            if let newest = self.newest(row: row) { activity.append((row, newest.summary)) }
        }
        return activity
    }

    /// Returns the row that counts a trade. It is `nil` for a filled trade before any other of its symbol, which the board
    /// leaves out, too.
    private mutating func row(of trade: Trade, in batch: TapeBatch) -> Int? {
        let index = Int(trade.symbol.index)
        if index < self.rowOfSymbol.count, let row = self.rowOfSymbol[index] { return row }
        if trade.isFilled { return nil }
        while self.rowOfSymbol.count <= index { self.rowOfSymbol.append(nil) }
        let row = self.row(of: batch.symbols.name(of: trade.symbol))
        self.rowOfSymbol[index] = row
        self.rows[row].boardRow = self.settled.board.row(of: trade.symbol)
        return row
    }

    /// Returns prices that are shown, each with its row and its count of trades.
    mutating func showings(_ updates: [PriceUpdate]) -> [Showing] {
        updates.map { update in
            let row = self.row(of: update.summary.symbol)
            self.rows[row].shown += update.skipped + 1
            self.rows[row].reported = self.rows[row].taken
            return Showing(row: row, update: update, ordinal: self.rows[row].shown)
        }
    }
}
