import GRDB

/// The tables of the history, and the migration of an older database.
///
/// Prices and sums are text, exactly as they came; times are ns since 1970. All tables are STRICT, so SQLite itself
/// refuses a value of another type. The schema's number is in the file (`PRAGMA user_version`).
enum HistorySchema {
    /// The step to each schema from the one before it, beginning with the empty one. A released step never changes.
    private static let steps = [
        """
        CREATE TABLE symbol (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
        CREATE TABLE bar (
            symbol INTEGER NOT NULL REFERENCES symbol (id),
            width INTEGER NOT NULL,
            start INTEGER NOT NULL,
            open TEXT NOT NULL, openTime INTEGER NOT NULL,
            high TEXT NOT NULL, low TEXT NOT NULL,
            close TEXT NOT NULL, closeTime INTEGER NOT NULL,
            volume TEXT, turnover TEXT,
            trades INTEGER NOT NULL,
            incomplete INTEGER NOT NULL,
            PRIMARY KEY (symbol, width, start)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE segment (
            path TEXT PRIMARY KEY NOT NULL,
            epoch INTEGER,
            firstSeq INTEGER, nextSeq INTEGER,
            firstTime INTEGER NOT NULL, lastTime INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX segmentByTime ON segment (lastTime);
        CREATE TABLE state (name TEXT PRIMARY KEY NOT NULL, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        """,
        """
        CREATE TABLE gap (
            id INTEGER PRIMARY KEY,
            symbol TEXT, fromTime INTEGER NOT NULL, toTime INTEGER NOT NULL, reason TEXT NOT NULL
        ) STRICT;
        CREATE INDEX gapByTime ON gap (toTime);
        """,
        "ALTER TABLE bar ADD COLUMN possibleRepeats INTEGER NOT NULL DEFAULT 0",
        """
        CREATE TABLE room (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, newest INTEGER NOT NULL) STRICT;
        CREATE TABLE roomMessage (
            room INTEGER NOT NULL REFERENCES room (id),
            id INTEGER NOT NULL,
            time INTEGER NOT NULL,
            user TEXT NOT NULL, userId INTEGER NOT NULL,
            message TEXT NOT NULL,
            PRIMARY KEY (room, id)
        ) STRICT, WITHOUT ROWID;
        """,
        """
        CREATE TABLE period (
            run INTEGER NOT NULL,
            begun INTEGER NOT NULL, ended INTEGER NOT NULL,
            state TEXT NOT NULL, reason TEXT,
            PRIMARY KEY (run, begun)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX periodByTime ON period (ended);
        """,
    ]

    /// The number of the newest schema.
    static let current = Self.steps.count

    /// Returns the number of a database's schema; 0 for one without tables.
    static func number(of database: Database) throws -> Int {
        let number = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        guard number == 0, try database.tableExists(Self.formerTable) else { return number }
        return try Int.fetchOne(database, sql: "SELECT count(*) FROM \(Self.formerTable)") ?? 0
    }

    /// Whether a database needs no migration.
    static func isCurrent(_ database: Database) throws -> Bool {
        try Int.fetchOne(database, sql: "PRAGMA user_version") == Self.current
    }

    /// Migrates a database within the open transaction. One with a newer schema is left unchanged.
    static func migrate(_ database: Database) throws {
        let number = try Self.number(of: database)
        guard number <= Self.current else { return }
        for step in Self.steps.dropFirst(number) { try database.execute(sql: step) }
        try database.execute(sql: "DROP TABLE IF EXISTS \(Self.formerTable); PRAGMA user_version = \(Self.current)")
    }

    /// The table of databases from before `user_version` was used; it has one row for each step.
    private static let formerTable = "grdb_migrations"
}
