import GRDB

/// The tables of the history, and how an older database becomes one of now.
///
/// Prices and sums are text, as exact as they came; times are ns since 1970. All tables are STRICT: SQLite itself refuses a
/// value of another kind.
enum HistorySchema {
    /// The versions, in order. One that was released never changes again.
    static let versions = ["bars and segments", "gaps", "possible repeats"]

    static func migrator() -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration(Self.versions[0]) { database in
            try database.execute(
                sql: """
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
                    """
            )
        }
        migrator.registerMigration(Self.versions[1]) { database in
            try database.execute(
                sql: """
                    CREATE TABLE gap (
                        id INTEGER PRIMARY KEY,
                        symbol TEXT, fromTime INTEGER NOT NULL, toTime INTEGER NOT NULL, reason TEXT NOT NULL
                    ) STRICT;
                    CREATE INDEX gapByTime ON gap (toTime);
                    """
            )
        }
        migrator.registerMigration(Self.versions[2]) { database in
            try database.execute(sql: "ALTER TABLE bar ADD COLUMN possibleRepeats INTEGER NOT NULL DEFAULT 0")
        }
        return migrator
    }
}
