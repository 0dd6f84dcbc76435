import Foundation
import GRDB
import Market
import NIOConcurrencyHelpers
import Testing
import TickertapeTesting
import Wire
@testable import History

/// Trades and batches for the tests of the history.
struct HistorySample {
    static let start: Int64 = 1_795_239_000_000_000_000

    private var tape = Tape(epoch: 7)
    private(set) var symbols = SymbolTable()

    /// A read of the feed: trades of one symbol at these ms after the start.
    mutating func batch(
        _ symbol: String = "A:B",
        _ trades: [(price: String, size: String, at: Int64)]
    ) throws -> TapeBatch {
        let interned = self.symbols.intern(symbol)
        let id = try #require(interned)
        let made = try trades.map { trade in
            Trade(
                price: try #require(ExactDecimal(trade.price)),
                size: try #require(ExactDecimal(trade.size)),
                exchangeTime: Self.start + trade.at * 1_000_000,
                symbol: id
            )
        }
        return TapeBatch(
            epoch: 7,
            firstSequence: self.tape.append(count: made.count),
            received: Self.start + (trades.last?.at ?? 0) * 1_000_000 + 80_000_000,
            receivedMonotonic: 0,
            trades: made,
            frames: [],
            symbols: self.symbols
        )
    }
}

@Suite("The history's database", .timeLimit(.minutes(2 * Patience.factor)))
struct HistoryStoreTests {
    /// The lines for a person.
    private final class Reported: Sendable {
        private let lines = NIOLockedValueBox<[String]>([])
        var all: [String] { self.lines.withLockedValue { $0 } }
        func add(_ line: String) { self.lines.withLockedValue { $0.append(line) } }
    }

    private func recorder(
        _ path: String,
        _ reported: Reported = Reported(),
        limits: HistoryRecorder.Limits = HistoryRecorder.Limits(),
        pause: Double = 0.01
    ) throws -> HistoryRecorder {
        var limits = limits
        limits.pause = pause
        return try HistoryRecorder(
            path: path,
            limits: limits,
            recording: { "/recordings/one.jsonl" },
            wallClock: { HistorySample.start },
            notify: { reported.add($0) }
        )
    }

    /// Waits until a condition holds.
    private func eventually(_ condition: () throws -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(30) * Patience.factor
        while try !condition() {
            try #require(ContinuousClock.now < end, "it never came true")
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    private func folder<Result>(_ body: (String) async throws -> Result) async throws -> Result {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        return try await body("\(folder.path)/h.sqlite")
    }

    @Test("it syncs what it commits: WAL, and synchronous is FULL")
    func modes() async throws {
        try await self.folder { path in
            let store = try HistoryStore(path: path)
            let modes = try store.modes()
            #expect(modes.journal == "wal" && modes.synchronous == 2)
        }
    }

    @Test("bars of every width come back as they were, and a restart in the middle of one is marked")
    func restart() async throws {
        try await self.folder { path in
            var sample = HistorySample()
            let first = try self.recorder(path)
            first.read(try sample.batch("A:B", [("100.5", "2", 1_000), ("101", "0", 2_000), ("99.25", "0.5", 59_000)]))
            #expect(await first.finish() == HistoryRecorder.Report(trades: 3, lost: 0, commits: 1))
            let second = try self.recorder(path)
            second.read(try sample.batch("A:B", [("98", "1", 61_000)]))
            second.read(try sample.batch("A:B", [("97.125", "3", 300_000)]))
            _ = await second.finish()
            let store = try HistoryStore(path: path)
            let hours = try store.bars(of: "A:B", .hour, from: nil, to: nil, limit: 10)
            #expect(hours.count == 1 && hours[0].isIncomplete && hours[0].count == 4)
            #expect(hours[0].volume.description == "6.5" && hours[0].open.description == "100.5")
            #expect(hours[0].turnover.description == "640" && hours[0].low.description == "97.125")
            let minutes = try store.bars(of: "A:B", .minute, from: nil, to: nil, limit: 10)
            #expect(minutes.map { ($0.start - HistorySample.start) / 60_000_000_000 } == [0, 1, 5])
            #expect(minutes.map(\.isIncomplete) == [true, true, false])
            #expect(try store.bars(of: "A:B", .second, from: nil, to: nil, limit: 2).map(\.count) == [1, 1])
            #expect(try store.bars(of: "A:C", .second, from: nil, to: nil, limit: 2).isEmpty)
            let segments = try store.segments()
            #expect(segments.map(\.path) == ["/recordings/one.jsonl"] && segments[0].sequences == 1..<6)
            #expect(segments[0].epoch == 7)
        }
    }

    @Test("trades of another epoch are noted with it, also where their numbers follow")
    func epochs() async throws {
        try await self.folder { path in
            var sample = HistorySample()
            let recorder = try self.recorder(path)
            recorder.read(try sample.batch("A:B", [("100", "1", 1_000)]))
            var other = try sample.batch("A:B", [("101", "1", 2_000)])
            other.epoch = 9
            recorder.read(other)
            _ = await recorder.finish()
            let segments = try HistoryStore(path: path).segments()
            #expect(segments.map(\.epoch) == [9])
        }
    }

    @Test("a filled trade changes the row of its own minute, also one written before, and hides no hole of a restart")
    func filled() async throws {
        try await self.folder { path in
            var sample = HistorySample()
            let recorder = try self.recorder(path)
            recorder.read(try sample.batch("A:B", [("100", "1", 1_000)]))
            recorder.read(try sample.batch("A:B", [("101", "1", 61_000)]))
            recorder.read(try sample.batch("A:B", [("102", "1", 121_000)]))
            recorder.waitUntilWritten()
            var late = try sample.batch("A:B", [("250", "4", 62_000), ("300", "1", 600_000)])
            for place in late.trades.indices { late.trades[place].marks = [.filled] }
            recorder.read(late)
            _ = await recorder.finish()
            let store = try HistoryStore(path: path)
            let minutes = try store.bars(of: "A:B", .minute, from: nil, to: nil, limit: 3)
            #expect(minutes.map(\.volume.description) == ["5", "1", "1"])
            #expect(minutes[0].high.description == "250" && minutes[0].close.description == "250")
            #expect(minutes[0].open.description == "101" && minutes[0].count == 2 && !minutes[0].isIncomplete)
            #expect(try store.newestTime() == HistorySample.start + 121_000_000_000)
        }
    }

    @Test(
        "the price of a time is that of its minute or of those just before, where no trade is missing"
    )
    func price() async throws {
        try await self.folder { path in
            var sample = HistorySample()
            let recorder = try self.recorder(path)
            for (price, second) in [("100", 1), ("101", 61), ("102", 121), ("103", 900)] as [(String, Int64)] {
                recorder.read(try sample.batch("A:B", [(price, "1", second * 1_000)]))
            }
            _ = await recorder.finish()
            let store = try HistoryStore(path: path)
            let seen: [(Int64, String?)] = [
                (-1, nil), (70, "101"), (130, "102"), (400, "102"), (500, nil), (899, nil), (930, "103"),
            ]
            for (second, price) in seen {
                let found = try store.price(of: "A:B", at: HistorySample.start + second * 1_000_000_000)
                #expect(found?.description == price, "at \(second) s")
            }
            #expect(try store.price(of: "A:C", at: HistorySample.start + 70_000_000_000) == nil)
            // The first minute began before the program.
            let first = try store.bars(of: "A:B", .minute, from: nil, to: nil, limit: 9)[0]
            let known = try store.price(of: "A:B", at: HistorySample.start + 30_000_000_000)
            #expect((known == nil) == first.isIncomplete)
        }
    }

    /// A gap of one symbol, at seconds after the start.
    private static func gap(_ from: Int64, _ to: Int64, _ ids: ClosedRange<UInt64>?) -> Gap {
        Gap(
            from: HistorySample.start + from * 1_000_000_000,
            to: HistorySample.start + to * 1_000_000_000,
            reason: "r",
            nextSequence: 1,
            symbol: "A:B",
            missing: ids
        )
    }

    private static func outcome(_ gap: Gap, lost: [ClosedRange<UInt64>] = []) -> GapOutcome {
        GapOutcome(symbol: "A:B", missing: gap.missing, from: gap.from, to: gap.to, lost: lost)
    }

    @Test(
        "bars are complete when the last gap with ids that touches them is filled, written before or in one transaction",
        arguments: [true, false]
    )
    func settled(isWrittenBetween: Bool) async throws {
        try await self.folder { path in
            var sample = HistorySample()
            let recorder = try self.recorder(path, pause: isWrittenBetween ? 0.01 : 60)
            func pause() { if isWrittenBetween { recorder.waitUntilWritten() } }
            for second in [1, 61, 121] as [Int64] {
                recorder.read(try sample.batch("A:B", [("100", "1", second * 1_000)]))
            }
            let (first, second) = (Self.gap(70, 130, 7...9), Self.gap(100, 110, 20...29))
            recorder.gapFound(first)
            recorder.gapFound(second)
            pause()
            recorder.read(try sample.batch("A:B", [("100", "1", 181_000)]))
            var late = try sample.batch("A:B", [("100", "1", 62_000)])
            late.trades[0].marks = [.filled]
            recorder.read(late)
            pause()
            recorder.gapSettled(Self.outcome(first))
            pause()
            if isWrittenBetween {
                let minutes = try HistoryStore(path: path).bars(of: "A:B", .minute, from: nil, to: nil, limit: 9)
                #expect(minutes.map(\.isIncomplete) == [true, true, false, false])
            }
            recorder.gapSettled(Self.outcome(second))
            _ = await recorder.finish()
            let minutes = try HistoryStore(path: path).bars(of: "A:B", .minute, from: nil, to: nil, limit: 9)
            #expect(minutes.map(\.isIncomplete) == [true, false, false, false])
            #expect(minutes.map(\.count) == [1, 2, 1, 1])
        }
    }

    @Test(
        "the bars of a gap without ids are complete for the symbols that have an outcome",
        arguments: [true, false]
    )
    func withoutIDs(isWrittenBetween: Bool) async throws {
        try await self.folder { path in
            var sample = HistorySample()
            let recorder = try self.recorder(path, pause: isWrittenBetween ? 0.01 : 60)
            func pause() { if isWrittenBetween { recorder.waitUntilWritten() } }
            func take(_ second: Int64) throws {
                for symbol in ["A:B", "C:D"] {
                    recorder.read(try sample.batch(symbol, [("100", "1", second * 1_000)]))
                }
            }
            for second in [1, 61, 121] as [Int64] { try take(second) }
            var gap = Self.gap(70, 130, nil)
            gap.symbol = nil
            recorder.gapFound(gap)
            pause()
            try take(181)
            pause()
            recorder.gapSettled(Self.outcome(gap))
            pause()
            // Many later ones: then nobody waits for the first any more.
            for minute in 10..<20 as Range<Int64> {
                var later = Self.gap(minute * 60, minute * 60 + 1, nil)
                later.symbol = nil
                recorder.gapFound(later)
            }
            recorder.gapSettled(Self.outcome(gap))
            _ = await recorder.finish()
            let store = try HistoryStore(path: path)
            let minutes = { (symbol: String) in
                try store.bars(of: symbol, .minute, from: nil, to: nil, limit: 9).map(\.isIncomplete)
            }
            #expect(try minutes("A:B") == [true, false, false, false])
            #expect(try minutes("C:D") == [true, true, true, false])
        }
    }

    @Test("bars stay marked over a restart if trades are lost for good, are still awaited, or have no ids")
    func unsettled() async throws {
        try await self.folder { path in
            var sample = HistorySample()
            let recorder = try self.recorder(path)
            for second in [1, 61, 121, 181, 241] as [Int64] {
                recorder.read(try sample.batch("A:B", [("100", "1", second * 1_000)]))
            }
            let (lost, open) = (Self.gap(70, 80, 7...9), Self.gap(130, 140, 20...29))
            for gap in [lost, open, Self.gap(190, 200, nil)] { recorder.gapFound(gap) }
            recorder.waitUntilWritten()
            recorder.gapSettled(Self.outcome(lost, lost: [8...8]))
            recorder.read(try sample.batch("A:B", [("100", "1", 331_000)]))
            _ = await recorder.finish()
            let second = try self.recorder(path)
            second.read(try sample.batch("A:B", [("100", "1", 601_000)]))
            // The earlier run's gap, which this run never had.
            second.gapSettled(Self.outcome(open))
            _ = await second.finish()
            let minutes = try HistoryStore(path: path).bars(of: "A:B", .minute, from: nil, to: nil, limit: 6)
            #expect(minutes.map(\.isIncomplete) == [true, true, true, false, true, true])
        }
    }

    @Test("the first bar of a symbol stays marked where filled trades come before its first trade")
    func filledFirst() async throws {
        try await self.folder { path in
            var sample = HistorySample()
            let recorder = try self.recorder(path)
            var early = try sample.batch("A:B", [("9", "1", 1_000)])
            early.trades[0].marks = [.filled]
            recorder.read(early)
            recorder.read(try sample.batch("A:B", [("100", "1", 61_000)]))
            _ = await recorder.finish()
            let minutes = try HistoryStore(path: path).bars(of: "A:B", .minute, from: nil, to: nil, limit: 3)
            #expect(minutes.map(\.isIncomplete) == [true, true])
        }
    }

    @Test(
        "a trade from the future is in the bar of its arrival, and hides no hole of a restart, even when it is stored",
        arguments: [false, true]
    )
    func ahead(wasTakenForNewest: Bool) async throws {
        try await self.folder { path in
            var sample = HistorySample()
            let first = try self.recorder(path)
            first.read(try sample.batch("A:B", [("100", "1", 1_000)]))
            var wrong = try sample.batch("A:B", [("105", "1", 2_592_000_000)])
            if !wasTakenForNewest {
                wrong.aheadArrival = HistorySample.start + 2_000_000_000
                wrong.trades[0].marks = [.ahead]
            }
            first.read(wrong)
            first.read(try sample.batch("A:B", [("101", "1", 59_000)]))
            _ = await first.finish()
            let second = try self.recorder(path)
            second.read(try sample.batch("A:B", [("98", "1", 150_000)]))
            second.read(try sample.batch("A:B", [("97", "1", 300_000)]))
            _ = await second.finish()
            let store = try HistoryStore(path: path)
            let end = HistorySample.start + 1_000_000_000_000
            let minutes = try store.bars(of: "A:B", .minute, from: nil, to: end, limit: 10)
            #expect(minutes.map { ($0.start - HistorySample.start) / 60_000_000_000 } == [0, 2, 5])
            #expect(minutes.map(\.isIncomplete) == [true, true, false])
            #expect(
                try store.bars(of: "A:B", .second, from: nil, to: end, limit: 9).map(\.isIncomplete).suffix(3) == [
                    true, true, false,
                ]
            )
            let last = try #require(try store.bars(of: "A:B", .minute, from: nil, to: nil, limit: 1).first)
            #expect((last.start < end) != wasTakenForNewest)
            #expect(try store.newestTime(notAfter: end) == HistorySample.start + 300_000_000_000)
        }
    }

    @Test(
        "a closed database is complete in its one file, even while another program has it open",
        arguments: [false, true]
    )
    func copied(isOpenElsewhere: Bool) async throws {
        try await self.folder { path in
            var sample = HistorySample()
            let recorder = try self.recorder(path)
            recorder.read(try sample.batch("A:B", [("100.5", "2", 1_000)]))
            try await self.eventually { recorder.report.commits > 0 }
            // A query makes the pool open its readers.
            let asked = try await recorder.ask { try $0.bars(of: "A:B", .minute, from: nil, to: nil, limit: 10).count }
            #expect(asked == 1)
            let other = isOpenElsewhere ? try HistoryStore(path: path) : nil
            _ = try other?.contents()
            _ = await recorder.finish()
            let copy = "\(path).copy"
            try FileManager.default.copyItem(atPath: path, toPath: copy)
            let bars = try HistoryStore(path: copy).bars(of: "A:B", .minute, from: nil, to: nil, limit: 10)
            #expect(bars.map(\.open.description) == ["100.5"])
            if !isOpenElsewhere { #expect(!FileManager.default.fileExists(atPath: "\(path)-wal")) }
            try other?.close()
        }
    }

    @Test("the number of possible repeats is kept with the bars, across restarts")
    func possibleRepeats() async throws {
        try await self.folder { path in
            var sample = HistorySample()
            for _ in 0..<2 {
                let recorder = try self.recorder(path)
                var batch = try sample.batch("A:B", [("1", "2", 1_000), ("1", "2", 1_000), ("1", "0", 1_000)])
                for place in 1...2 { batch.trades[place].marks = .possibleRepeat }
                recorder.read(batch)
                _ = await recorder.finish()
            }
            let store = try HistoryStore(path: path)
            for width in BarWidth.allCases {
                let bars = try store.bars(of: "A:B", width, from: nil, to: nil, limit: 10)
                #expect(bars.map(\.count) == [4] && bars.map(\.possibleRepeats) == [2])
            }
        }
    }

    @Test("a gap marks the bars that it touches, in the database as well")
    func gaps() async throws {
        try await self.folder { path in
            var sample = HistorySample()
            let recorder = try self.recorder(path)
            let quiet = HistorySample.start + 3_600_000_000_000
            recorder.read(try sample.batch("A:B", [("1", "1", 0), ("1", "1", 600_000), ("1", "1", 3_500_000)]))
            try await self.eventually { recorder.report.commits > 0 }
            recorder.gapFound(
                Gap(from: quiet - 90_000_000_000, to: quiet, reason: "the connection was lost", nextSequence: 4)
            )
            recorder.read(try sample.batch("A:B", [("1", "1", 3_660_000)]))
            _ = await recorder.finish()
            let store = try HistoryStore(path: path)
            let minutes = try store.bars(of: "A:B", .minute, from: nil, to: nil, limit: 10)
            #expect(minutes.map { ($0.start - HistorySample.start) / 60_000_000_000 } == [0, 10, 58, 61])
            // The first bar of all, and the one that the gap reaches back to.
            #expect(minutes.map(\.isIncomplete) == [true, false, true, false])
            #expect(try store.contents().gaps == 1)
        }
    }

    /// The statements of schema 1, and those that the later schemas added.
    private static let schemas = [
        """
        CREATE TABLE symbol (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
        CREATE TABLE bar (
            symbol INTEGER NOT NULL REFERENCES symbol (id), width INTEGER NOT NULL, start INTEGER NOT NULL,
            open TEXT NOT NULL, openTime INTEGER NOT NULL, high TEXT NOT NULL, low TEXT NOT NULL,
            close TEXT NOT NULL, closeTime INTEGER NOT NULL, volume TEXT, turnover TEXT,
            trades INTEGER NOT NULL, incomplete INTEGER NOT NULL, PRIMARY KEY (symbol, width, start)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE segment (
            path TEXT PRIMARY KEY NOT NULL, epoch INTEGER, firstSeq INTEGER, nextSeq INTEGER,
            firstTime INTEGER NOT NULL, lastTime INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX segmentByTime ON segment (lastTime);
        CREATE TABLE state (name TEXT PRIMARY KEY NOT NULL, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        """,
        """
        CREATE TABLE gap (
            id INTEGER PRIMARY KEY, symbol TEXT, fromTime INTEGER NOT NULL, toTime INTEGER NOT NULL, reason TEXT NOT NULL
        ) STRICT;
        CREATE INDEX gapByTime ON gap (toTime);
        """,
        "ALTER TABLE bar ADD COLUMN possibleRepeats INTEGER NOT NULL DEFAULT 0;",
        """
        CREATE TABLE room (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, newest INTEGER NOT NULL) STRICT;
        CREATE TABLE roomMessage (
            room INTEGER NOT NULL REFERENCES room (id), id INTEGER NOT NULL, time INTEGER NOT NULL,
            user TEXT NOT NULL, userId INTEGER NOT NULL, message TEXT NOT NULL, PRIMARY KEY (room, id)
        ) STRICT, WITHOUT ROWID;
        """,
        """
        CREATE TABLE period (
            run INTEGER NOT NULL, begun INTEGER NOT NULL, ended INTEGER NOT NULL, state TEXT NOT NULL, reason TEXT,
            PRIMARY KEY (run, begun)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX periodByTime ON period (ended);
        """,
    ]

    /// Creates a database with a bar.
    ///
    /// - Parameter isNumbered: whether the number is in the file. If not, a table has a row for each step, as before
    ///   the first release.
    private func make(_ path: String, schema: Int, isNumbered: Bool) throws {
        let database = try DatabaseQueue(path: path)
        try database.write { database in
            for statements in Self.schemas.prefix(schema) { try database.execute(sql: statements) }
            try database.execute(
                sql: """
                    INSERT INTO symbol (name) VALUES ('A:B');
                    INSERT INTO bar (
                        symbol, width, start, open, openTime, high, low, close, closeTime, volume, turnover, trades,
                        incomplete
                    ) VALUES (1, 60, \(HistorySample.start), '1.5', 1, '2', '1', '1.75', 2, '3', '4.5', 2, 0);
                    """
            )
            if isNumbered {
                try database.execute(sql: "PRAGMA user_version = \(schema)")
            } else {
                try database.execute(sql: "CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
                for name in ["bars and segments", "gaps", "possible repeats"].prefix(schema) {
                    try database.execute(sql: "INSERT INTO grdb_migrations VALUES (?)", arguments: [name])
                }
            }
        }
        try database.close()
    }

    private func number(of path: String) throws -> Int? {
        let database = try DatabaseQueue(path: path)
        defer { try? database.close() }
        return try database.read { try Int.fetchOne($0, sql: "PRAGMA user_version") }
    }

    @Test(
        "an older database is migrated with all its data, after a copy was made; a current one is only opened",
        arguments: [(1, true), (2, true), (3, true), (4, true), (5, true), (1, false), (3, false)]
    )
    func migration(schema: Int, isNumbered: Bool) async throws {
        try await self.folder { path in
            try self.make(path, schema: schema, isNumbered: isNumbered)
            let reported = Reported()
            for _ in 0..<2 {
                let store = try HistoryStore(path: path) { reported.add($0) }
                let bars = try store.bars(of: "A:B", .minute, from: nil, to: nil, limit: 1)
                #expect(bars.map(\.possibleRepeats) == [0])
                #expect(bars.map(\.average?.description) == ["1.5"] && bars[0].close.description == "1.75")
                #expect(try store.contents().gaps == 0)
                try store.close()
            }
            #expect(try self.number(of: path) == 5)
            let copy = "\(path).schema-\(schema)"
            #expect(FileManager.default.fileExists(atPath: copy) == (schema < 5))
            #expect(
                reported.all
                    == (schema < 5
                        ? ["the history \(path) gets schema 5; \(copy) is a copy with schema \(schema)"] : [])
            )
            guard schema < 5 else { return }
            #expect(try self.number(of: copy) == (isNumbered ? schema : 0))
            let database = try DatabaseQueue(path: copy)
            #expect(try await database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM bar") } == 1)
            #expect(try await database.read { try $0.columns(in: "bar").count } == (schema < 3 ? 13 : 14))
            try database.close()
        }
    }

    @Test("an older database that cannot be migrated stays unchanged")
    func failedMigration() async throws {
        try await self.folder { path in
            try self.make(path, schema: 1, isNumbered: true)
            do {
                // The third step fails.
                let database = try DatabaseQueue(path: path)
                try await database.write { try $0.execute(sql: "ALTER TABLE bar ADD COLUMN possibleRepeats INTEGER") }
                try database.close()
            }
            #expect(throws: HistoryFailure.self) { try HistoryStore(path: path) }
            #expect(!FileManager.default.fileExists(atPath: "\(path).schema-1"))
            #expect(try self.number(of: path) == 1)
            let database = try DatabaseQueue(path: path)
            #expect(try await database.read { try $0.tableExists("gap") } == false)
            try database.close()
        }
    }

    @Test("a database with a newer schema is left unchanged, with a remedy")
    func newer() async throws {
        try await self.folder { path in
            try self.make(path, schema: 5, isNumbered: true)
            do {
                let database = try DatabaseQueue(path: path)
                try await database.write { try $0.execute(sql: "PRAGMA user_version = 6") }
                try database.close()
            }
            let words =
                "\(path) was made by a newer tickertape (schema 6, known up to 5): "
                + "run that one, or name another file with history.file"
            #expect(throws: HistoryFailure(.newer, words)) {
                try HistoryStore.opening(path, now: 0) { _ in Issue.record("it was moved") }
            }
            #expect(try self.number(of: path) == 6)
        }
    }

    @Test(
        "a file that is not a database, or a damaged one, is moved aside with a message, and a new one is created",
        arguments: ["nonsense, and a lot of it: \(String(repeating: "x", count: 5_000))", "SQLite format 3\0garbage"]
    )
    func damaged(text: String) async throws {
        try await self.folder { path in
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            let reported = Reported()
            let recorder = try self.recorder(path, reported)
            var sample = HistorySample()
            recorder.read(try sample.batch("A:B", [("1", "1", 0)]))
            _ = await recorder.finish()
            #expect(reported.all.count == 1 && reported.all[0].contains("is damaged"), "\(reported.all)")
            #expect(try HistoryStore(path: path).bars(of: "A:B", .second, from: nil, to: nil, limit: 9).count == 1)
            let aside = "\(path).damaged-\(HistorySample.start / 1_000_000_000)"
            #expect(FileManager.default.contents(atPath: aside) == Data(text.utf8))
        }
    }

    /// Creates a database with a few bars, of which something is changed.
    private func spoil(_ path: String, _ statement: String) async throws {
        let recorder = try self.recorder(path)
        var sample = HistorySample()
        recorder.read(try sample.batch("A:B", (0..<9).map { ("\(100 + $0)", "1", Int64($0) * 1_000) }))
        _ = await recorder.finish()
        let database = try DatabaseQueue(path: path)
        try await database.write { try $0.execute(sql: statement) }
        try database.close()
    }

    @Test(
        "a history with an unreadable cell is moved aside with a message when it is read, and a new one is created",
        arguments: [
            "volume = '1e-9223372036854775808'", "volume = '1e400'", "volume = 'none'", "volume = '-1'",
            "turnover = '1e9223372036854775807'", "turnover = '1e400'", "turnover = '-1'", "high = '1e999'",
            "low = '-1'", "open = ''", "trades = -1",
        ]
    )
    func spoilt(change: String) async throws {
        try await self.folder { path in
            try await self.spoil(path, "UPDATE bar SET \(change) WHERE width = 60")
            let reported = Reported()
            let recorder = try self.recorder(path, reported)
            let bars = try await recorder.ask { try $0.bars(of: "A:B", .minute, from: nil, to: nil, limit: 9) }
            #expect(bars.isEmpty)
            #expect(
                reported.all.count == 1
                    && reported.all[0].contains("is damaged (a bar in it cannot be read); it is now"),
                "\(reported.all)"
            )
            #expect(FileManager.default.fileExists(atPath: "\(path).damaged-\(HistorySample.start / 1_000_000_000)"))
            var sample = HistorySample()
            recorder.read(try sample.batch("A:B", [("1", "1", 0)]))
            #expect(await recorder.finish().lost == 0)
            #expect(try HistoryStore(path: path).bars(of: "A:B", .second, from: nil, to: nil, limit: 9).count == 1)
        }
    }

    @Test("an unreadable cell that is overwritten moves the history aside, too, and no trade is lost")
    func spoiltBeforeWriting() async throws {
        try await self.folder { path in
            try await self.spoil(path, "UPDATE bar SET volume = '1e-9223372036854775808'")
            let reported = Reported()
            let recorder = try self.recorder(path, reported)
            var sample = HistorySample()
            recorder.read(try sample.batch("A:B", [("1", "1", 0)]))
            #expect(await recorder.finish().lost == 0)
            #expect(reported.all.count == 1 && reported.all[0].contains("is damaged"), "\(reported.all)")
            #expect(try HistoryStore(path: path).bars(of: "A:B", .minute, from: nil, to: nil, limit: 9).count == 1)
        }
    }

    @Test("a database that another program writes is not moved aside by one that only reads")
    func spoiltElsewhere() async throws {
        try await self.folder { path in
            try await self.spoil(path, "UPDATE bar SET high = 'x'")
            let writing = try self.recorder(path)
            let reported = Reported()
            let reading = try self.recorder(path, reported)
            await #expect(throws: HistoryFailure.self) {
                _ = try await reading.ask { try $0.bars(of: "A:B", .hour, from: nil, to: nil, limit: 9) }
            }
            #expect(!reported.all.contains { $0.contains("damaged") }, "\(reported.all)")
            _ = await reading.finish()
            _ = await writing.finish()
            #expect(FileManager.default.fileExists(atPath: path))
        }
    }

    @Test("a sum that could not be stored exactly is no damage")
    func sumless() async throws {
        try await self.folder { path in
            try await self.spoil(path, "UPDATE bar SET volume = NULL, turnover = NULL")
            let bars = try HistoryStore(path: path).bars(of: "A:B", .hour, from: nil, to: nil, limit: 9)
            #expect(bars.count == 1 && bars[0].lacksSomething && bars[0].average == nil)
        }
    }

    @Test("any byte of the file can be wrong: there is an answer or an error, and never a trap", arguments: 0..<24)
    func flipped(round: Int) async throws {
        try await self.folder { path in
            var sample = HistorySample()
            let recorder = try self.recorder(path)
            recorder.read(
                try sample.batch("A:B", (0..<300).map { ("\(100 + $0 % 7).25", "0.\(1 + $0 % 9)", Int64($0) * 700) })
            )
            _ = await recorder.finish()
            var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
            var chance = SeededGenerator(seed: UInt64(round))
            for _ in 0..<(1 << (round % 6)) {
                bytes[Int.random(in: 0..<bytes.count, using: &chance)] ^= UInt8.random(in: 1...255, using: &chance)
            }
            if round % 5 == 4 { bytes.removeLast(Int.random(in: 1..<bytes.count, using: &chance)) }
            try bytes.write(to: URL(fileURLWithPath: path))
            let reported = Reported()
            let again = try self.recorder(path, reported)
            again.read(try sample.batch("A:B", [("1", "1", 400_000)]))
            for width in BarWidth.allCases {
                _ = try? await again.ask { try $0.bars(of: "A:B", width, from: nil, to: nil, limit: 1_000) }
            }
            _ = try? await again.ask { try $0.contents() }
            _ = await again.finish()
        }
    }

    @Test("a full disk is reported once, trades are kept within the memory limit, and writing continues later")
    func full() async throws {
        try await self.folder { path in
            let reported = Reported()
            let recorder = try self.recorder(path, reported)
            var sample = HistorySample()
            let pages = try await recorder.ask { store in
                try store.pool.read { try Int.fetchOne($0, sql: "PRAGMA page_count") ?? 0 }
            }
            try await recorder.ask { try $0.limit(pages: pages + 1) }
            for part in 0..<20 {
                recorder.read(
                    try sample.batch("A:B", (0..<200).map { ("1", "1", Int64(part * 200 + $0) * 1_000) })
                )
            }
            try await self.eventually { reported.all.contains { $0.contains("cannot be written") } }
            try await recorder.ask { try $0.limit(pages: 1_000_000) }
            try await self.eventually { reported.all.contains { $0.contains("is written again") } }
            let report = await recorder.finish()
            #expect(report.trades == 4_000 && report.lost == 0)
            #expect(reported.all.count == 2, "\(reported.all)")
            let hours = try HistoryStore(path: path).bars(of: "A:B", .hour, from: nil, to: nil, limit: 9)
            #expect(hours.reduce(0) { $0 + $1.count } == 4_000)
        }
    }

    @Test(
        "a stop waits no longer than its limit for a stalled disk, reports it, and the disk gets all data later"
    )
    func stalled() async throws {
        try await self.folder { path in
            let recorder = try self.recorder(path)
            let gate = ConditionLock(value: 0)
            let isStuck = NIOLockedValueBox(false)
            // The writing connection hangs in a call, as with a disk that does not answer.
            async let stall: Void = recorder.ask { store in
                store.pool.writeWithoutTransaction { _ in
                    isStuck.withLockedValue { $0 = true }
                    gate.lock(whenValue: 1)
                    gate.unlock()
                }
            }
            try await self.eventually { isStuck.withLockedValue { $0 } }
            var sample = HistorySample()
            recorder.read(try sample.batch("A:B", [("1", "1", 0), ("2", "1", 61_000), ("3", "1", 240_000)]))
            let hanging = await recorder.finish(within: .milliseconds(50))
            #expect(!hanging.isWhole && hanging.commits == 0)
            gate.lock()
            gate.unlock(withValue: 1)
            try await stall
            let report = await recorder.finish()
            #expect(report == HistoryRecorder.Report(trades: 3, lost: 0, commits: 1))
            let minutes = try HistoryStore(path: path).bars(of: "A:B", .minute, from: nil, to: nil, limit: 9)
            #expect(minutes.map(\.open.description) == ["1", "2", "3"])
        }
    }

    @Test("dropped trades are counted, and the bars that lack them are marked")
    func overflow() async throws {
        try await self.folder { path in
            var limits = HistoryRecorder.Limits()
            limits.waitingTrades = 10
            let recorder = try self.recorder(path, limits: limits)
            var sample = HistorySample()
            recorder.read(try sample.batch("A:B", [("1", "1", 0)]))
            recorder.read(try sample.batch("A:B", (0..<11).map { ("2", "1", 60_000 + Int64($0)) }))
            recorder.read(try sample.batch("A:B", [("1", "1", 61_000), ("1", "1", 240_000)]))
            let report = await recorder.finish()
            #expect(report.lost == 11 && report.trades == 3 && report.lostGaps == 0)
            let minutes = try HistoryStore(path: path).bars(of: "A:B", .minute, from: nil, to: nil, limit: 9)
            #expect(minutes.map(\.isIncomplete) == [true, true, false])
            #expect(minutes.allSatisfy { $0.high.description == "1" })
        }
    }

    @Test("gaps that find no space in the queue are counted and reported once")
    func gapOverflow() async throws {
        try await self.folder { path in
            var limits = HistoryRecorder.Limits()
            limits.waitingTrades = 10
            let reported = Reported()
            let recorder = try self.recorder(path, reported, limits: limits, pause: 60)
            for place in 0..<13 {
                let from = HistorySample.start + Int64(place) * 1_000_000_000
                recorder.gapFound(Gap(from: from, to: from, reason: "test", nextSequence: 1, epoch: 1))
            }
            #expect(recorder.report.lostGaps == 3)
            recorder.waitUntilWritten()
            recorder.waitUntilWritten()
            #expect(await recorder.finish().lostGaps == 3)
            #expect(reported.all.count == 1 && reported.all[0].contains("lacks gaps"), "\(reported.all)")
        }
    }

    @Test("two programs do not write the same history; the second begins after the first one's end, and marks the seam")
    func lock() async throws {
        try await self.folder { path in
            var sample = HistorySample()
            let reported = Reported()
            let one = try self.recorder(path)
            one.read(try sample.batch("A:B", [("1", "1", 0)]))
            let two = try self.recorder(path, reported)
            #expect(reported.all.count == 1 && reported.all[0].contains("another tickertape writes"), "\(reported.all)")
            let both = try sample.batch("A:B", [("2", "1", 10_000)])
            one.read(both)
            two.read(both)
            try await self.eventually { two.report.trades == 0 && one.report.trades == 2 }
            // Its thread has discarded the trades of the other program.
            two.waitUntilWritten()
            _ = await one.finish()
            two.read(try sample.batch("A:B", [("3", "1", 20_000)]))
            #expect(await two.finish().trades == 1)
            let minutes = try HistoryStore(path: path).bars(of: "A:B", .minute, from: nil, to: nil, limit: 9)
            #expect(minutes.map(\.count) == [3] && minutes[0].high.description == "3")
            let seconds = try HistoryStore(path: path).bars(of: "A:B", .second, from: nil, to: nil, limit: 9)
            #expect(seconds.map(\.isIncomplete) == [true, true, true])
        }
    }

    @Test("only older data is removed")
    func prune() async throws {
        try await self.folder { path in
            var sample = HistorySample()
            let recorder = try self.recorder(path)
            recorder.read(try sample.batch("A:B", [("1", "1", 0), ("1", "1", 7_200_000)]))
            recorder.read(try sample.batch("OLD", [("1", "1", 0)]))
            _ = await recorder.finish()
            let store = try HistoryStore(path: path)
            let pruned = try store.prune(before: HistorySample.start + 7_200_000_000_000)
            #expect(pruned.bars == 8)
            #expect(try store.symbols() == ["A:B"])
            for width in BarWidth.allCases {
                #expect(try store.bars(of: "A:B", width, from: nil, to: nil, limit: 9).count == 1)
            }
        }
    }
}
