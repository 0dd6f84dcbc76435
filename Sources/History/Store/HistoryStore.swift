import GRDB
import Glibc
import Market

/// The database of what survives a restart: bars of every width, gaps, an index of the recording's segments, the newest
/// messages of rooms, and the states of the feed.
///
/// SQLite in WAL mode. `synchronous` is FULL, so a committed transaction survives a power cut. (GRDB's pool sets
/// NORMAL, which may lose the newest ones.) Every value that is read is checked, since a file can hold anything.
package final class HistoryStore: Sendable {
    /// The longest wait for another program that writes (`history prune`), s.
    private static let patience: Double = 5

    package let path: String
    let pool: DatabasePool

    /// Opens or creates the database, and migrates it. A copy of a database with an older schema is kept.
    ///
    /// - Parameter notify: takes one line that names the copy.
    /// - Throws: ``HistoryFailure``.
    package init(path: String, notify: (String) -> Void = { _ in }) throws(HistoryFailure) {
        self.path = path
        do {
            var configuration = Configuration()
            configuration.busyMode = .timeout(Self.patience)
            configuration.maximumReaderCount = 2
            // SQL functions in the schema of a foreign database must not run (https://sqlite.org/security.html).
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
            // After the pool's own setting, which it overrides.
            try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
            if try pool.read({ try !HistorySchema.isCurrent($0) }) {
                try Self.migrate(pool, path, from: schema, notify: notify)
            }
            // A look into every table detects a damaged file now.
            try pool.read { database in
                for table in ["symbol", "bar", "segment", "state", "gap", "room", "roomMessage", "period"] {
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

    /// Opens the database. A damaged one is moved aside, and a new one created.
    ///
    /// - Parameters:
    ///   - now: ns since 1970, for the name of the damaged file.
    ///   - notify: takes one line that names the damaged file.
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

    /// Migrates a database in one transaction, after a copy was made. If the migration fails, the copy is deleted.
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

    /// Copies a database, including the content of its journal, to a new file beside it.
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

    /// Returns the stem if no such file exists, or else the stem with a free number; `nil` if all numbers are taken.
    private static func freeName(_ stem: String) -> String? {
        ([stem] + (2...99).map { "\(stem)-\($0)" }).first { access($0, F_OK) != 0 }
    }

    /// Moves a damaged database and its journal aside. Only a journal that cannot be moved is deleted.
    ///
    /// - Returns: a description of the move, in one line.
    static func moveAside(_ path: String, now: Int64, because reason: String) throws(HistoryFailure) -> String {
        guard let aside = Self.freeName("\(path).damaged-\(now / 1_000_000_000)") else {
            throw HistoryFailure(.world, "\(path) is damaged (\(reason)) and cannot be moved aside")
        }
        guard rename(path, aside) == 0 else {
            let why = String(cString: strerror(errno))
            throw HistoryFailure(.world, "\(path) is damaged (\(reason)) and cannot be moved aside: \(why)")
        }
        // SQLite would apply the old journal to the new database.
        for suffix in ["-wal", "-shm"] where access(path + suffix, F_OK) == 0 {
            if rename(path + suffix, aside + suffix) != 0 { unlink(path + suffix) }
        }
        return "the history \(path) is damaged (\(reason)); it is now \(aside), and a new one is started"
    }

    /// Limits the database to a number of pages of 4 KiB, to simulate a full disk.
    package func limit(pages: Int) throws {
        try self.pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA max_page_count = \(pages)") }
    }

    /// Returns SQLite's journal mode and its `synchronous` setting (2 is FULL).
    package func modes() throws -> (journal: String, synchronous: Int) {
        try self.pool.writeWithoutTransaction { database in
            (
                try String.fetchOne(database, sql: "PRAGMA journal_mode") ?? "",
                try Int.fetchOne(database, sql: "PRAGMA synchronous") ?? -1
            )
        }
    }

    /// Writes the journal into the database, and closes it.
    ///
    /// The pool closes its writer before its readers. The last connection, a reader, cannot write and would leave
    /// everything in the journal: a copy of the database file alone would be empty. So a checkpoint comes first,
    /// without waiting for other programs that read. Then the readers are closed before the writer, so that the last
    /// connection removes the journal.
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
    /// Returns the value of a column, of any type.
    ///
    /// Neither inlined nor optimised, like its callers: the optimiser of Swift 6.3.1 crashes here (CopyPropagation:
    /// "Found ownership error"). The database takes longer than this call anyway.
    @inline(never) @_optimize(none)
    func value(_ index: Int) -> DatabaseValue { self[index] }
}

extension DatabaseValue {
    /// The value if it is a text, otherwise `nil`.
    @inline(never) @_optimize(none)
    var text: String? {
        if case .string(let text) = self.storage { text } else { nil }
    }

    /// The value if it is an integer, otherwise `nil`.
    @inline(never) @_optimize(none)
    var integer: Int64? {
        if case .int64(let number) = self.storage { number } else { nil }
    }
}
