import GRDB
package import Market

extension HistoryStore {
    static func put(_ period: FeedPeriod, in database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO period (run, begun, ended, state, reason) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (run, begun) DO UPDATE SET
                    ended = excluded.ended, state = excluded.state, reason = excluded.reason
                """,
            arguments: [period.run, period.begun, period.ended, period.state, period.reason]
        )
    }

    /// Returns the periods that touch a span of time (ns since 1970), the oldest first, and when the oldest of all
    /// begins.
    // Not optimised; see `Row.value`.
    @_optimize(none)
    package func periods(
        from: Int64,
        to: Int64
    ) throws(HistoryFailure) -> (first: Int64?, periods: [FeedPeriod]) {
        do {
            return try self.pool.read { database in
                let first = try Int64.fetchOne(database, sql: "SELECT min(begun) FROM period")
                let rows = try Row.fetchAll(
                    database,
                    sql: """
                        SELECT run, begun, ended, state, reason FROM period
                        WHERE ended >= ? AND begun <= ? ORDER BY begun, run LIMIT 1000000
                        """,
                    arguments: [from, to]
                )
                let periods = try rows.map { row -> FeedPeriod in
                    guard let run = row.value(0).integer, let begun = row.value(1).integer,
                        let ended = row.value(2).integer, let state = row.value(3).text
                    else { throw HistoryFailure(.damaged, "a period in it cannot be read") }
                    return FeedPeriod(
                        run: run,
                        begun: begun,
                        ended: ended,
                        state: state,
                        reason: row.value(4).text
                    )
                }
                return (first, periods)
            }
        } catch {
            throw HistoryFailure(error)
        }
    }
}
