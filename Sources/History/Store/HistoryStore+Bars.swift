import GRDB
package import Market
import NIOCore
import Wire

/// The bars of the history.
extension HistoryStore {
    private static let columns =
        "start, open, openTime, high, low, close, closeTime, volume, turnover, trades, incomplete, possibleRepeats"

    /// Writes a batch in one transaction: either all of it or nothing.
    ///
    /// A bar that exists already is combined with the new piece. So a bar that a restart interrupts is complete, and
    /// marked.
    ///
    /// - Parameter holes: earlier holes that may still touch the new trades.
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
                for settled in batch.settled { try Self.settle(settled, awaited: holes, in: database) }
                for segment in batch.segments { try Self.put(segment, in: database) }
                if let newest = batch.newestTime { try Self.noteNewest(newest, in: database) }
                for period in batch.periods { try Self.put(period, in: database) }
                if !batch.roomRecords.isEmpty { try Self.put(batch.roomRecords, in: database) }
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
            Self.text(whole.turnover), Int64(clamping: whole.count), Self.marks(of: whole),
            Int64(clamping: whole.possibleRepeats),
        ])
    }

    /// The values of the column `incomplete`, added together.
    private enum Mark {
        /// The bar may lack trades for good.
        static let lacking: Int64 = 1
        /// Trades of the bar are missing that may still come. In a database that is not written any more they have not.
        static let awaiting: Int64 = 2
    }

    private static func marks(of bar: Bar) -> Int64 {
        (bar.lacksTrades || !bar.volume.isWhole ? Mark.lacking : 0) + (bar.awaitsTrades ? Mark.awaiting : 0)
    }

    /// Returns a sum as it is stored: `nil` (NULL) if it is not exact.
    private static func text(_ sum: ExactSum) -> String? {
        guard sum.omitted == 0 else { return nil }
        let text = sum.description
        return ExactSum(text) == sum ? text : nil
    }

    private static func mark(_ hole: HistoryBatch.Hole, in database: Database) throws {
        try self.mark(hole, as: hole.isAwaited ? Mark.awaiting : Mark.lacking, in: database)
        try database.execute(
            sql: "INSERT INTO gap (symbol, fromTime, toTime, reason) VALUES (?, ?, ?, ?)",
            arguments: [hole.symbol, hole.from, hole.to, hole.reason]
        )
    }

    private static func mark(_ hole: HistoryBatch.Hole, as mark: Int64, in database: Database) throws {
        // By width, so that the primary key finds the rows.
        for width in BarWidth.allCases {
            try database.execute(
                sql: """
                    UPDATE bar SET incomplete = incomplete | :mark
                    WHERE symbol IN (
                        SELECT id FROM symbol WHERE (:symbol IS NULL OR name = :symbol)
                        AND name NOT IN (SELECT value FROM json_each(:settled))
                    ) AND width = :width
                    AND start > :from AND start <= :to AND incomplete & :mark = 0
                    """,
                arguments: [
                    "mark": mark, "settled": self.json(hole.settled),
                    "from": hole.from &- BarSeries.usualDelay &- width.nanoseconds, "to": hole.to,
                    "symbol": hole.symbol, "width": width.rawValue,
                ]
            )
        }
    }

    private static func json(_ names: Set<String>) -> String {
        String(buffer: JSONWriter.array { out in for name in names { out.element(name) } })
    }

    /// Changes the marks of the bars that a settled hole touches: they are complete if all its trades have come and no
    /// other hole touches them.
    private static func settle(
        _ settled: HistoryBatch.Settled,
        awaited: [HistoryBatch.Hole],
        in database: Database
    ) throws {
        guard let symbol = settled.hole.symbol else {
            // The hole of all symbols is given up. What else their bars wait for changes nothing then.
            return try self.mark(settled.hole, as: Mark.lacking, in: database)
        }
        guard
            let id = try Row.fetchOne(database, sql: "SELECT id FROM symbol WHERE name = ?", arguments: [symbol])?
                .value(0).integer
        else { return }
        let awaited = awaited.filter { $0.isAwaited && $0.isOf(symbol) }
        for width in BarWidth.allCases {
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT start, incomplete FROM bar
                    WHERE symbol = ? AND width = ? AND start > ? AND start <= ? AND incomplete & ? != 0
                    """,
                arguments: [
                    id, width.rawValue, settled.hole.from &- BarSeries.usualDelay &- width.nanoseconds, settled.hole.to,
                    Mark.awaiting,
                ]
            )
            for row in rows {
                guard let start = row.value(0).integer, var marks = row.value(1).integer else { continue }
                let end = start &+ width.nanoseconds
                if !awaited.contains(where: { $0.touches(from: start, to: end) }) { marks &= ~Mark.awaiting }
                if !settled.isComplete { marks |= Mark.lacking }
                try database.execute(
                    sql: "UPDATE bar SET incomplete = ? WHERE symbol = ? AND width = ? AND start = ?",
                    arguments: [marks, id, width.rawValue, start]
                )
            }
        }
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

    /// Returns the newest exchange time of all written trades, ns since 1970. Earlier versions also noted trades that
    /// were ahead. If the time is therefore later than `limit`, the newest second with trades up to `limit` is
    /// returned.
    package func newestTime(notAfter limit: Int64 = .max) throws(HistoryFailure) -> Int64? {
        do {
            return try self.pool.read { database in
                let newest = try Row.fetchOne(database, sql: "SELECT value FROM state WHERE name = 'newestTime'")?
                    .value(0).integer
                guard let newest, newest > limit else { return newest }
                // One symbol at a time, so that the primary key finds its bars, and years of them are not scanned.
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

    /// Returns the bars of a symbol that begin in a period (ns since 1970), oldest first. With `from` they are the
    /// first ones up to the limit, without it the last ones.
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
                return try rows.map { row in
                    var bar = try Self.bar(row, width)
                    // Only the writer knows for which trades it waits.
                    if bar.awaitsTrades { bar.lacksTrades = true }
                    return bar
                }
            }
            return from == nil ? bars.reversed() : bars
        } catch {
            throw HistoryFailure(error)
        }
    }

    /// The longest time between a moment and the minute of the last trade before it, at which that trade's price is the one
    /// of the moment, ns.
    private static let priceReach: Int64 = 300_000_000_000

    /// Returns the price of a symbol in the minute of a time, or the last one of the minutes before; `nil` if trades of that
    /// minute may be missing.
    ///
    /// - Parameter time: ns since 1970.
    package func price(of symbol: String, at time: Int64) throws(HistoryFailure) -> ExactDecimal? {
        guard let bar = try self.bars(of: symbol, .minute, from: nil, to: time, limit: 1).first,
            bar.end > time - Self.priceReach, !bar.isIncomplete
        else { return nil }
        return bar.close
    }

    /// Returns the names of all symbols that have bars.
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

    /// Reads the bar of a row.
    ///
    /// Not optimised; see ``GRDB/Row/value(_:)``.
    ///
    /// - Throws: ``HistoryFailure`` if a cell holds a value that this program never writes: the history is damaged.
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
            let volume = sum(7), TradeBounds.canBeVolume(volume),
            let turnover = sum(8), TradeBounds.canBeTurnover(turnover),
            let trades = row.value(9).integer.flatMap({ UInt64(exactly: $0) }),
            let incomplete = row.value(10).integer,
            let possibleRepeats = row.value(11).integer.flatMap({ UInt64(exactly: $0) })
        else { throw HistoryFailure(.damaged, "a bar in it cannot be read") }
        var bar = Bar(
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
            isIncomplete: incomplete & Mark.lacking != 0
        )
        bar.awaitsTrades = incomplete & Mark.awaiting != 0
        return bar
    }
}
