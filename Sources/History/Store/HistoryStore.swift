import GRDB
import Glibc
import Market

/// The database of what survives a restart: bars of every width, gaps, and an index over the recording's segments.
///
/// SQLite in WAL mode. `synchronous` is FULL: what was committed is on the disk, also after a power cut. (GRDB's pool sets
/// NORMAL, which loses the newest commits then.) Every value that comes out is checked, for a file can hold anything.
package final class HistoryStore: Sendable {
    /// How long to wait for another program that writes (`history prune`), s.
    private static let patience: Double = 5

    package let path: String
    let pool: DatabasePool

    /// Opens the database, or makes it, and brings it up to date.
    ///
    /// - Throws: ``HistoryFailure``.
    package init(path: String) throws(HistoryFailure) {
        self.path = path
        do {
            var configuration = Configuration()
            configuration.busyMode = .timeout(Self.patience)
            configuration.maximumReaderCount = 2
            // Nothing is to be asked of a database that came from elsewhere (https://sqlite.org/security.html).
            configuration.prepareDatabase { try $0.execute(sql: "PRAGMA trusted_schema = OFF") }
            let pool = try DatabasePool(path: path, configuration: configuration)
            let migrator = HistorySchema.migrator()
            if try pool.read({ try migrator.hasBeenSuperseded($0) }) {
                throw HistoryFailure(.newer, "\(path) was made by a newer tickertape")
            }
            // Behind the pool's own setting.
            try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
            try migrator.migrate(pool)
            // Looks into every table: a file of nonsense is found out now.
            try pool.read { database in
                for table in ["symbol", "bar", "segment", "state", "gap"] {
                    _ = try Row.fetchOne(database, sql: "SELECT * FROM \(table) LIMIT 1")
                }
            }
            self.pool = pool
        } catch let failure as HistoryFailure {
            throw failure
        } catch {
            throw HistoryFailure(error)
        }
    }

    /// Opens the database; a damaged one is moved aside, and a new one made.
    ///
    /// - Parameters:
    ///   - now: ns since 1970, for the name of what is moved aside.
    ///   - tell: is told in one line where it went.
    package static func opening(
        _ path: String,
        now: Int64,
        tell: (String) -> Void
    ) throws(HistoryFailure) -> HistoryStore {
        do throws(HistoryFailure) {
            return try HistoryStore(path: path)
        } catch {
            guard error.kind == .damaged else { throw error }
            tell(try Self.moveAside(path, now: now, because: error.description))
            return try HistoryStore(path: path)
        }
    }

    /// Moves a damaged database out of the way, with its journal; nothing is deleted.
    ///
    /// - Returns: what was done, in one line.
    static func moveAside(_ path: String, now: Int64, because reason: String) throws(HistoryFailure) -> String {
        let stem = "\(path).damaged-\(now / 1_000_000_000)"
        let names = [stem] + (2...99).map { "\(stem)-\($0)" }
        guard let aside = names.first(where: { access($0, F_OK) != 0 }) else {
            throw HistoryFailure(.world, "\(path) is damaged (\(reason)) and cannot be moved aside")
        }
        guard rename(path, aside) == 0 else {
            let why = String(cString: strerror(errno))
            throw HistoryFailure(.world, "\(path) is damaged (\(reason)) and cannot be moved aside: \(why)")
        }
        // A journal of another file would be taken for the new one's.
        for suffix in ["-wal", "-shm"] where access(path + suffix, F_OK) == 0 {
            if rename(path + suffix, aside + suffix) != 0 { unlink(path + suffix) }
        }
        return "the history \(path) is damaged (\(reason)); it is now \(aside), and a new one is begun"
    }

    /// Lets the database have so many pages of 4 KiB at most, as a full disk would.
    package func limit(pages: Int) throws {
        try self.pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA max_page_count = \(pages)") }
    }

    /// What SQLite says of itself: the journal's mode and how it syncs (2 is FULL).
    package func modes() throws -> (journal: String, synchronous: Int) {
        try self.pool.writeWithoutTransaction { database in
            (
                try String.fetchOne(database, sql: "PRAGMA journal_mode") ?? "",
                try Int.fetchOne(database, sql: "PRAGMA synchronous") ?? -1
            )
        }
    }

    /// Writes what the journal holds into the database, and closes it.
    ///
    /// The pool closes its writer before its readers, and the last connection, which may not write then, leaves all in the
    /// journal: a copy of the one file would be empty. So it is written before, without waiting for other programs that read,
    /// and the readers go first: with the last connection of all the journal goes as well.
    package func close() throws {
        try? self.pool.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA busy_timeout = 0")
            try database.checkpoint(.truncate)
        }
        self.pool.releaseMemory()
        try self.pool.close()
    }
}

extension Row {
    /// What stands in a column, of whatever kind it is.
    ///
    /// Neither inlined nor optimised, like what is read from it: the optimiser of Swift 6.3.1 stops where it is
    /// (CopyPropagation: "Found ownership error"), and the database takes longer than this anyway.
    @inline(never) @_optimize(none)
    func value(_ index: Int) -> DatabaseValue { self[index] }
}

extension DatabaseValue {
    /// The text that it is; `nil` for anything else.
    @inline(never) @_optimize(none)
    var text: String? {
        if case .string(let text) = self.storage { text } else { nil }
    }

    /// The integer that it is; `nil` for anything else.
    @inline(never) @_optimize(none)
    var integer: Int64? {
        if case .int64(let number) = self.storage { number } else { nil }
    }
}
