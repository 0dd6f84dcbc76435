import GRDB
package import Market

/// The bars of the history.
extension HistoryStore {
    private static let columns =
        "start, open, openTime, high, low, close, closeTime, volume, turnover, trades, incomplete, possibleRepeats"

    /// Writes a batch as one transaction: all of it is there afterwards, or nothing.
    ///
    /// What is there of a bar already is put together with the piece that comes, so a bar that a restart cuts in two is whole,
    /// and marked.
    ///
    /// - Parameter holes: those of before that may still touch what comes.
    package func commit(_ batch: HistoryBatch, holes: [HistoryBatch.Hole]) throws(HistoryFailure) {
        do {
            try self.pool.write { database in
                for hole in batch.holes { try Self.mark(hole, in: database) }
                for symbol in batch.pieces.keys.sorted() {
                    let id = try Self.id(of: symbol, in: database)
                    for (width, bars) in batch.rows(of: symbol, holes: holes) {
                        for bar in bars.values { try Self.put(bar, width, id, in: database) }
                    }
                }
                for segment in batch.segments { try Self.put(segment, in: database) }
                if let newest = batch.newestTime { try Self.noteNewest(newest, in: database) }
            }
        } catch {
            throw HistoryFailure(error)
        }
    }

    private static func id(of symbol: String, in database: Database) throws -> Int64 {
        let find = try database.cachedStatement(sql: "SELECT id FROM symbol WHERE name = ?")
        if let id = try Row.fetchOne(find, arguments: [symbol])?.value(0).integer { return id }
        try database.execute(sql: "INSERT INTO symbol (name) VALUES (?)", arguments: [symbol])
        return database.lastInsertedRowID
    }

    private static func put(_ bar: Bar, _ width: BarWidth, _ symbol: Int64, in database: Database) throws {
        let find = try database.cachedStatement(
            sql: "SELECT \(Self.columns) FROM bar WHERE symbol = ? AND width = ? AND start = ?"
        )
        var whole = bar
        if let row = try Row.fetchOne(find, arguments: [symbol, width.rawValue, bar.start]) {
            var earlier = try Self.bar(row, width)
            earlier.append(bar)
            whole = earlier
        }
        let insert = try database.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO bar (symbol, width, \(Self.columns))
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        )
        try insert.execute(arguments: [
            symbol, width.rawValue, whole.start, whole.open.description, whole.openTime, whole.high.description,
            whole.low.description, whole.close.description, whole.closeTime, Self.text(whole.volume),
            Self.text(whole.turnover), Int64(clamping: whole.count), whole.lacksSomething ? 1 : 0,
            Int64(clamping: whole.possibleRepeats),
        ])
    }

    /// A sum as it is kept; a sum that is none is null.
    private static func text(_ sum: ExactSum) -> String? {
        guard sum.omitted == 0 else { return nil }
        let text = sum.description
        return ExactSum(text) == sum ? text : nil
    }

    private static func mark(_ hole: HistoryBatch.Hole, in database: Database) throws {
        // By width, so that the rows are found by their key.
        for width in BarWidth.allCases {
            try database.execute(
                sql: """
                    UPDATE bar SET incomplete = 1
                    WHERE symbol IN (SELECT id FROM symbol WHERE :symbol IS NULL OR name = :symbol) AND width = :width
                    AND start > :from AND start <= :to AND incomplete = 0
                    """,
                arguments: [
                    "from": hole.from &- BarSeries.usualDelay &- width.nanoseconds, "to": hole.to,
                    "symbol": hole.symbol, "width": width.rawValue,
                ]
            )
        }
        try database.execute(
            sql: "INSERT INTO gap (symbol, fromTime, toTime, reason) VALUES (?, ?, ?, ?)",
            arguments: [hole.symbol, hole.from, hole.to, hole.reason]
        )
    }

    private static func noteNewest(_ time: Int64, in database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO state (name, value) VALUES ('newestTime', ?)
                ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value)
                """,
            arguments: [time]
        )
    }

    /// The newest exchange's time of all trades that were written, ns since 1970. Where an earlier version took one of a time
    /// to come for it, the newest second with trades that is no later than `limit`.
    package func newestTime(notAfter limit: Int64 = .max) throws(HistoryFailure) -> Int64? {
        do {
            return try self.pool.read { database in
                let newest = try Row.fetchOne(database, sql: "SELECT value FROM state WHERE name = 'newestTime'")?
                    .value(0).integer
                guard let newest, newest > limit else { return newest }
                // A symbol at a time: then the bars' key finds it, and years of bars are not read through.
                let sql = """
                    SELECT max((SELECT max(start) FROM bar WHERE bar.symbol = symbol.id AND width = 1 AND start <= ?))
                    FROM symbol
                    """
                return try Row.fetchOne(database, sql: sql, arguments: [limit])?.value(0).integer
            }
        } catch {
            throw HistoryFailure(error)
        }
    }

    /// The bars of a symbol that begin in a span of time (ns since 1970), the oldest first: with `from` the first of them, as
    /// many as the limit, without it the last.
    package func bars(
        of symbol: String,
        _ width: BarWidth,
        from: Int64?,
        to: Int64?,
        limit: Int
    ) throws(HistoryFailure) -> [Bar] {
        do {
            let bars = try self.pool.read { database in
                let rows = try Row.fetchAll(
                    database,
                    sql: """
                        SELECT \(Self.columns) FROM bar
                        WHERE symbol = (SELECT id FROM symbol WHERE name = ?) AND width = ? AND start >= ? AND start < ?
                        ORDER BY start \(from == nil ? "DESC" : "ASC") LIMIT ?
                        """,
                    arguments: [symbol, width.rawValue, from ?? .min, to ?? .max, limit]
                )
                return try rows.map { try Self.bar($0, width) }
            }
            return from == nil ? bars.reversed() : bars
        } catch {
            throw HistoryFailure(error)
        }
    }

    /// The names of all symbols that have bars.
    package func symbols() throws(HistoryFailure) -> [String] {
        do {
            return try self.pool.read { database in
                try Row.fetchAll(database, sql: "SELECT name FROM symbol ORDER BY name LIMIT 100000")
                    .compactMap { $0.value(0).text }
            }
        } catch {
            throw HistoryFailure(error)
        }
    }

    /// The bar of a row.
    ///
    /// Not optimised; see ``GRDB/Row/value(_:)``.
    ///
    /// - Throws: ``HistoryFailure`` where a cell holds what this program does not write: then the history is spoilt.
    @_optimize(none)
    private static func bar(_ row: Row, _ width: BarWidth) throws(HistoryFailure) -> Bar {
        func price(_ index: Int) -> ExactDecimal? {
            row.value(index).text.flatMap { ExactDecimal($0) }.flatMap { TradeBounds.canBePrice($0) ? $0 : nil }
        }
        func sum(_ index: Int) -> ExactSum? {
            row.value(index).isNull ? .unknown : row.value(index).text.flatMap { ExactSum($0) }
        }
        guard let start = row.value(0).integer, start == width.start(of: start),
            let open = price(1), let openTime = row.value(2).integer,
            let high = price(3), let low = price(4),
            let close = price(5), let closeTime = row.value(6).integer,
            let volume = sum(7), TradeBounds.canBeVolume(volume), let turnover = sum(8),
            let trades = row.value(9).integer.flatMap({ UInt64(exactly: $0) }),
            let incomplete = row.value(10).integer,
            let possibleRepeats = row.value(11).integer.flatMap({ UInt64(exactly: $0) })
        else { throw HistoryFailure(.damaged, "a bar in it cannot be read") }
        return Bar(
            start: start,
            width: width,
            open: (open, openTime),
            high: high,
            low: low,
            close: (close, closeTime),
            volume: volume,
            turnover: turnover,
            count: trades,
            possibleRepeats: possibleRepeats,
            isIncomplete: incomplete != 0
        )
    }
}
