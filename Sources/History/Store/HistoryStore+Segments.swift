import GRDB
import Market

/// The index of the recording's files, and the removal of old rows.
extension HistoryStore {
    /// The amount of data in the history.
    package struct Contents: Sendable, Equatable {
        package var symbols = 0
        /// By width, in the order of ``BarWidth``: the number of bars, and the starts of the first and the last (ns
        /// since 1970).
        package var bars: [(word: String, count: Int, first: Int64, last: Int64)] = []
        package var incomplete = 0
        package var gaps = 0

        package static func == (left: Contents, right: Contents) -> Bool { "\(left)" == "\(right)" }
    }

    /// The amount of removed data.
    package struct Pruned: Sendable, Equatable {
        package var bars = 0
    }

    static func put(_ segment: HistoryBatch.Segment, in database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO segment (path, epoch, firstSeq, nextSeq, firstTime, lastTime) VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT (path) DO UPDATE SET
                    epoch = coalesce(excluded.epoch, epoch),
                    firstSeq = coalesce(min(firstSeq, excluded.firstSeq), firstSeq, excluded.firstSeq),
                    nextSeq = coalesce(max(nextSeq, excluded.nextSeq), nextSeq, excluded.nextSeq),
                    firstTime = min(firstTime, excluded.firstTime),
                    lastTime = max(lastTime, excluded.lastTime)
                """,
            arguments: [
                segment.path, segment.epoch.map { Int64(clamping: $0) },
                segment.sequences.map { Int64(clamping: $0.lowerBound) },
                segment.sequences.map { Int64(clamping: $0.upperBound) },
                segment.firstTime, segment.lastTime,
            ]
        )
    }

    /// Adds recording files to the index, or updates their entries.
    package func note(_ segments: [HistoryBatch.Segment]) throws(HistoryFailure) {
        guard !segments.isEmpty else { return }
        do {
            try self.pool.write { database in for segment in segments { try Self.put(segment, in: database) } }
        } catch {
            throw HistoryFailure(error)
        }
    }

    /// Returns the recording files whose arrivals touch a period (ns since 1970), oldest first.
    package func segments(from: Int64 = .min, to: Int64 = .max) throws(HistoryFailure) -> [HistoryBatch.Segment] {
        do {
            return try self.pool.read { database in
                try Row.fetchAll(
                    database,
                    sql: """
                        SELECT path, epoch, firstSeq, nextSeq, firstTime, lastTime FROM segment
                        WHERE lastTime >= ? AND firstTime <= ? ORDER BY firstTime, path LIMIT 100000
                        """,
                    arguments: [from, to]
                ).map(Self.segment)
            }
        } catch {
            throw HistoryFailure(error)
        }
    }

    // Not optimised; see `Row.value`.
    @_optimize(none)
    private static func segment(_ row: Row) throws(HistoryFailure) -> HistoryBatch.Segment {
        func number(_ index: Int) -> UInt64? { row.value(index).integer.flatMap { UInt64(exactly: $0) } }
        guard let path = row.value(0).text, let first = row.value(4).integer, let last = row.value(5).integer else {
            throw HistoryFailure(.damaged, "the place of a recording in it cannot be read")
        }
        var sequences: Range<UInt64>?
        if let lower = number(2), let upper = number(3), lower <= upper { sequences = lower..<upper }
        return HistoryBatch.Segment(
            path: path,
            epoch: number(1),
            sequences: sequences,
            firstTime: first,
            lastTime: last
        )
    }

    /// Removes files from the index that no longer exist.
    package func forget(_ paths: [String]) throws(HistoryFailure) {
        guard !paths.isEmpty else { return }
        do {
            try self.pool.write { database in
                for path in paths { try database.execute(sql: "DELETE FROM segment WHERE path = ?", arguments: [path]) }
            }
        } catch {
            throw HistoryFailure(error)
        }
    }

    /// Removes the bars and the gaps that ended before a time (ns since 1970), and returns their space to the disk.
    package func prune(before time: Int64) throws(HistoryFailure) -> Pruned {
        do {
            var pruned = Pruned()
            try self.pool.write { database in
                try database.execute(
                    sql: "DELETE FROM bar WHERE start + width * 1000000000 <= ?",
                    arguments: [time]
                )
                pruned.bars = database.changesCount
                try database.execute(sql: "DELETE FROM gap WHERE toTime < ?", arguments: [time])
                try database.execute(sql: "DELETE FROM period WHERE ended < ?", arguments: [time])
                try database.execute(sql: "DELETE FROM symbol WHERE id NOT IN (SELECT symbol FROM bar)")
            }
            // This fails while another program writes; the free pages are then used for later rows.
            try? self.pool.vacuum()
            try? self.pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
            return pruned
        } catch {
            throw HistoryFailure(error)
        }
    }

    /// Counts the data in the history.
    package func contents() throws(HistoryFailure) -> Contents {
        do {
            return try self.pool.read { database in
                var contents = Contents()
                func number(_ sql: String) throws -> Int { try Int.fetchOne(database, sql: sql) ?? 0 }
                contents.symbols = try number("SELECT count(*) FROM symbol")
                contents.incomplete = try number("SELECT count(*) FROM bar WHERE incomplete != 0")
                contents.gaps = try number("SELECT count(*) FROM gap")
                let rows = try Row.fetchAll(
                    database,
                    sql: "SELECT width, count(*), min(start), max(start) FROM bar GROUP BY width ORDER BY width"
                )
                for row in rows {
                    guard let width = row.value(0).integer.flatMap({ BarWidth(rawValue: $0) }),
                        let count = row.value(1).integer, let first = row.value(2).integer,
                        let last = row.value(3).integer
                    else { continue }
                    contents.bars.append((width.word, Int(count), first, last))
                }
                return contents
            }
        } catch {
            throw HistoryFailure(error)
        }
    }
}
