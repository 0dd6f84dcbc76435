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

    /// Opens the database, or makes it, and brings it up to date; of one with an older schema a copy is kept.
    ///
    /// - Parameter tell: is told in one line where the copy is.
    /// - Throws: ``HistoryFailure``.
    package init(path: String, notify: (String) -> Void = { _ in }) throws(HistoryFailure) {
        self.path = path
        do {
            var configuration = Configuration()
            configuration.busyMode = .timeout(Self.patience)
            configuration.maximumReaderCount = 2
            // Nothing is to be asked of a database that came from elsewhere (https://sqlite.org/security.html).
            configuration.prepareDatabase { try $0.execute(sql: "PRAGMA trusted_schema = OFF") }
            let pool = try DatabasePool(path: path, configuration: configuration)
            let schema = try pool.read { try HistorySchema.number(of: $0) }
            guard schema <= HistorySchema.current else {
                throw HistoryFailure(
                    .newer,
                    "\(path) was made by a newer tickertape (schema \(schema), known up to \(HistorySchema.current)): "
                        + "run that one, or name another file with history.file"
                )
            }
            // Behind the pool's own setting.
            try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
            if try pool.read({ try !HistorySchema.isCurrent($0) }) {
                try Self.migrate(pool, path, from: schema, notify: notify)
            }
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
        notify: (String) -> Void
    ) throws(HistoryFailure) -> HistoryStore {
        do throws(HistoryFailure) {
            return try HistoryStore(path: path, notify: notify)
        } catch {
            guard error.kind == .damaged else { throw error }
            notify(try Self.moveAside(path, now: now, because: error.description))
            return try HistoryStore(path: path)
        }
    }

    /// Brings a database up to date in one transaction, after a copy of it was made. A copy that is not needed does not stay.
    private static func migrate(_ pool: DatabasePool, _ path: String, from schema: Int, notify: (String) -> Void) throws
    {
        let copy = schema > 0 && schema < HistorySchema.current ? try Self.copy(pool, path, schema: schema) : nil
        do {
            try pool.write { try HistorySchema.migrate($0) }
        } catch {
            if let copy { unlink(copy) }
            throw error
        }
        if let copy {
            notify("the history \(path) gets schema \(HistorySchema.current); \(copy) is a copy with schema \(schema)")
        }
    }

    /// Copies a database, with what its journal holds, to a new file beside it.
    ///
    /// - Returns: the copy's path.
    private static func copy(_ pool: DatabasePool, _ path: String, schema: Int) throws -> String {
        guard let copy = Self.freeName("\(path).schema-\(schema)") else {
            throw HistoryFailure(.world, "\(path) has an older schema, and there is no name for a copy of it")
        }
        var isWhole = false
        defer { if !isWhole { unlink(copy) } }
        do {
            try pool.writeWithoutTransaction { try $0.execute(sql: "VACUUM INTO ?", arguments: [copy]) }
        } catch let error as DatabaseError {
            let why = error.message ?? "error \(error.resultCode.rawValue) of the database"
            throw HistoryFailure(.world, "\(path) has an older schema and cannot be copied to \(copy): \(why)")
        }
        let descriptor = open(copy, O_RDONLY | O_CLOEXEC)
        defer { if descriptor >= 0 { Glibc.close(descriptor) } }
        guard descriptor >= 0, fsync(descriptor) == 0 else {
            throw HistoryFailure(.world, "\(copy) cannot be synced: \(String(cString: strerror(errno)))")
        }
        isWhole = true
        return copy
    }

    /// The stem, or the stem with a number behind it where that is taken; `nil` where all are.
    private static func freeName(_ stem: String) -> String? {
        ([stem] + (2...99).map { "\(stem)-\($0)" }).first { access($0, F_OK) != 0 }
    }

    /// Moves a damaged database out of the way, with its journal; nothing is deleted.
    ///
    /// - Returns: what was done, in one line.
    static func moveAside(_ path: String, now: Int64, because reason: String) throws(HistoryFailure) -> String {
        guard let aside = Self.freeName("\(path).damaged-\(now / 1_000_000_000)") else {
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
