import Foundation
import History
import Market
import NIOCore
import NIOHTTP1
import Testing
import TickertapeTesting
import Wire

/// The export, the history and the bars of the built program.
@Suite("The program's history", .serialized, .timeLimit(.minutes(5 * Patience.factor)))
struct HistoryProgramTests {
    private static let demo = "\(RunningProgram.sources)/Sources/Tickertape/Resources/demo.jsonl"
    private static let emptyRecording = String(buffer: RecordingBuffer(RecordingHeader()).bytes)

    private func run(_ arguments: [String]) async throws -> (ending: RunningProgram.Ending?, program: RunningProgram) {
        let program = try RunningProgram(RunningProgram.tickertape, arguments)
        return (await program.ending(), program)
    }

    /// Returns all trades of the bundled recording, read by the simplest means.
    private static func trades() throws -> (trades: [Trade], symbols: SymbolTable) {
        var reader = RecordingParser()
        reader.feed(ByteBuffer(string: try TemporaryFolder.text(of: Self.demo)))
        reader.finish()
        var parser = FinnhubParser()
        var symbols = SymbolTable()
        var trades: [Trade] = []
        while let event = reader.nextEvent() {
            guard case .frame(let frame) = event else { continue }
            _ = parser.parse(frame.frame, symbols: &symbols, into: &trades)
        }
        return (trades, symbols)
    }

    @Test(
        "the bundled recording is exported whole, and Python's csv reads the same sums",
        arguments: [[], ["--bars", "1m"]]
    )
    func export(bars: [String]) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = "\(folder.path)/out.csv"
        let (ending, program) = try await self.run(["export", Self.demo, "--csv", "--output", path] + bars)
        #expect(ending == .exit(0), "\(program.errors)")
        let reader = try RunningProgram(
            RunningProgram.python,
            ["\(RunningProgram.sources)/Tests/Clients/read_csv.py", path]
        )
        #expect(await reader.ending() == .exit(0), "\(reader.errors)")
        let (trades, symbols) = try Self.trades()
        var total = ExactSum()
        for trade in trades { total.add(trade.size) }
        var minutes: Set<String> = []
        for trade in trades {
            minutes.insert("\(symbols.name(of: trade.symbol)) \(BarWidth.minute.start(of: trade.exchangeTime))")
        }
        let rows = bars.isEmpty ? trades.count : minutes.count
        #expect(reader.output.hasPrefix("rows \(rows)\ntotal \(total)\n"), "\(reader.output)")
        // An existing file is never overwritten.
        let again = try await self.run(["export", Self.demo, "--csv", "--output", path])
        #expect(again.ending == .exit(1) && again.program.errors.contains("nothing is overwritten"))
    }

    @Test("the first rows of the bundled recording are these, for ever")
    func golden() async throws {
        let (ending, program) = try await self.run(["export", Self.demo, "--jsonl"])
        #expect(ending == .exit(0))
        let lines = program.output.split(separator: "\n")
        #expect(
            lines.prefix(2) == [
                #"{"symbol":"BINANCE:ETHUSDT","price":"2600","size":"0.002","time":1767225600089,"received":1767225600447034,"epoch":null,"seq":null}"#,
                #"{"symbol":"BINANCE:BTCUSDT","price":"60000","size":"0.0629","time":1767225600147,"received":1767225600447034,"epoch":null,"seq":null}"#,
            ]
        )
        #expect(lines.count == (try Self.trades().trades.count))
    }

    @Test("a reader that goes away ends an export without a word")
    func closedPipe() async throws {
        let program = try RunningProgram(
            "/bin/sh",
            [
                "-c",
                "{ '\(RunningProgram.tickertape)' export '\(Self.demo)' --csv; echo $? >&2; } | head -n 1",
            ]
        )
        #expect(await program.ending() == .exit(0))
        #expect(program.output == "symbol,price,size,time,received,epoch,seq,possibleRepeat,ahead,id,filled\n")
        #expect(program.errors == "0\n")
    }

    @Test(
        "an impossible export is refused with a hint",
        arguments: [
            (["export", "x.jsonl", "--parquet"], 64 as Int32, "duckdb -c"),
            (["export", "x.jsonl"], 64, "--csv or --jsonl"),
            (["export", "/nonexistent", "--csv"], 1, "No such file"),
            (["export", "/nonexistent", "--csv", "--bars", "2m"], 64, "1s, 1m, 5m, 1h"),
            (["export", "/nonexistent", "--csv", "--from", "yesterday"], 64, "2026-01-01T14:30:00Z"),
            (["history", "info", "--file", "/nonexistent"], 1, "there is no history"),
            (["history", "prune", "--older-than", "3 weeks"], 64, "30d"),
        ]
    )
    func refusals(arguments: [String], status: Int32, words: String) async throws {
        let (ending, program) = try await self.run(arguments)
        #expect(ending == .exit(status) && program.errors.contains(words), "\(program.errors)")
    }

    private static func get(_ path: String, port: Int) async throws -> String {
        let url = try #require(URL(string: "http://127.0.0.1:\(port)\(path)"))
        let curl = try RunningProgram("/usr/bin/env", ["curl", "-s", url.absoluteString])
        _ = await curl.ending()
        return curl.output
    }

    /// Returns the closed bars of an answer, as text by their starts.
    private static func closed(_ answer: String) -> [String: Substring] {
        var bars: [String: Substring] = [:]
        for part in answer.split(separator: "{").dropFirst() where part.contains(#""closed":true"#) {
            let start = part.prefix { $0 != "," }
            bars[String(start)] = part.prefix { $0 != "}" }
        }
        return bars
    }

    /// Waits until the database has a bar that begins after `start`, ms since 1970. Bars are written in order, and
    /// atomically.
    private static func waits(forBarsBehind start: Int, in path: String) async throws {
        let end = ContinuousClock.now + .seconds(60) * Patience.factor
        let store = try HistoryStore(path: path)
        defer { try? store.close() }
        while ContinuousClock.now < end {
            let newest = try store.bars(of: "BINANCE:BTCUSDT", .second, from: nil, to: nil, limit: 1).last?.start
            if let newest, newest > Int64(start) * 1_000_000 { return }
            try await Task.sleep(for: .milliseconds(20))
        }
        Issue.record("no bar behind \(start) was written")
    }

    @Test("after repeated kills, it continues with its earlier bars")
    func killed() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        var before: [String: Substring] = [:]
        var last: Int?
        for round in 0..<4 {
            let program = try RunningProgram(
                RunningProgram.tickertape,
                [
                    "--quiet", "--relay", "127.0.0.1:0", "--record", "\(folder.path)/r\(round).jsonl", "--set",
                    "state.directory=off",
                ]
            )
            let port = try #require(await program.relayPort(), "\(program.errors)")
            let path = "/v1/bars/BINANCE:BTCUSDT?width=1s&limit=10000"
            var bars = Self.closed(try await Self.get(path, port: port))
            // All earlier bars are there again: they were on the disk before the kill.
            for (start, bar) in before {
                let now = try #require(bars[start], "\(start) is gone in round \(round)")
                // The last of them may have been marked as incomplete meanwhile, and the first trades of this run, which
                // arrive a moment after their time, may belong to it.
                let isLast = RunningProgram.number(in: start, behind: #""start":"#) == last
                let end: Character = isLast ? "h" : "d"
                #expect(now.prefix { $0 != end } == bar.prefix { $0 != end })
            }
            let end = ContinuousClock.now + .seconds(60) * Patience.factor
            let known = bars.count
            while bars.count < known + 3, ContinuousClock.now < end {
                try await Task.sleep(for: .milliseconds(100))
                bars = Self.closed(try await Self.get(path, port: port))
            }
            #expect(bars.count >= known + 3)
            // Killed as soon as the bars that it has sent are written.
            let newest = try #require(
                bars.keys.compactMap { RunningProgram.number(in: $0, behind: #""start":"#) }.max()
            )
            try await Self.waits(forBarsBehind: newest, in: "\(folder.path)/tickertape-history-demo.sqlite")
            (before, last) = (bars, newest)
            kill(program.processIdentifier, SIGKILL)
            #expect(await program.ending() == .signal(SIGKILL))
            #expect(!program.errors.contains("damaged"), "\(program.errors)")
        }
        let info = try await self.run(["history", "info", "--file", "\(folder.path)/tickertape-history-demo.sqlite"])
        #expect(info.ending == .exit(0) && info.program.output.contains("recordings: 4,"), "\(info.program.output)")
        let json = try await self.run(
            ["history", "info", "--json", "--file", "\(folder.path)/tickertape-history-demo.sqlite"]
        )
        #expect(json.program.output.contains(#""recordings":4,"#))
        // Nothing is old enough.
        let prune = try await self.run(
            ["history", "prune", "--older-than", "1h", "--file", "\(folder.path)/tickertape-history-demo.sqlite"]
        )
        #expect(prune.program.output == "removed 0 bars and 0 recordings (0 bytes)\n", "\(prune.program.output)")
    }

    @Test("trades of a run that was killed are read from its recording")
    func pastTrades() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        func start(_ name: String) async throws -> (RunningProgram, Int) {
            let program = try RunningProgram(
                RunningProgram.tickertape,
                [
                    "--quiet", "--relay", "127.0.0.1:0", "--record", "\(folder.path)/\(name)", "--set",
                    "state.directory=off",
                ]
            )
            return (program, try #require(await program.relayPort(), "\(program.errors)"))
        }
        let (first, port) = try await start("1.jsonl")
        let end = ContinuousClock.now + .seconds(60) * Patience.factor
        var answer = ""
        while !answer.contains(#""seq":20,"#), ContinuousClock.now < end {
            try await Task.sleep(for: .milliseconds(200))
            answer = try await Self.get("/v1/trades/BINANCE:BTCUSDT?limit=10000", port: port)
        }
        let epoch = try #require(RunningProgram.number(in: answer, behind: #""epoch":"#))
        // Killed as soon as the frame of the last of these trades is in the file.
        let last = try #require(answer.range(of: #""seq":20,"#).map { String(answer[$0.upperBound...]) })
        let time = try #require(RunningProgram.number(in: last, behind: #""time":"#))
        while try !folder.read("1.jsonl").contains(#"t\":\#(time)"#) || !folder.read("1.jsonl").hasSuffix("\n"),
            ContinuousClock.now < end
        {
            try await Task.sleep(for: .milliseconds(20))
        }
        kill(first.processIdentifier, SIGKILL)
        _ = await first.ending()
        let (second, secondPort) = try await start("2.jsonl")
        let past = try await Self.get("/v1/trades/BINANCE:BTCUSDT?before=\(epoch):18&limit=3", port: secondPort)
        // The first part is the object around the trades.
        let items = past.split(separator: "{").dropFirst(1)
        #expect(items.count == 3 && past.contains(#""complete":true"#), "\(past)")
        for item in items {
            #expect(item.hasPrefix(#""epoch":\#(epoch),"#))
            let facts = item.drop { $0 != "," }.dropFirst().prefix { $0 != "}" }
            #expect(facts.hasPrefix("\"seq\":") && answer.contains(facts), "\(item)")
        }
        second.send(signal: SIGTERM)
        #expect(await second.ending() == .exit(0))
    }

    @Test("the description counts existing recordings only")
    func gone() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let there = try folder.write(Self.emptyRecording, to: "there.jsonl")
        let path = "\(folder.path)/h.sqlite"
        let store = try HistoryStore(path: path)
        try store.note(
            [there, "\(folder.path)/gone.jsonl"].enumerated().map { place, path in
                let time = Int64(place + 1) * 86_400_000_000_000
                return HistoryBatch.Segment(path: path, epoch: 1, sequences: 1..<2, firstTime: time, lastTime: time)
            }
        )
        try store.close()
        let (ending, program) = try await self.run(["history", "info", "--file", path])
        #expect(ending == .exit(0))
        #expect(
            program.output.contains(
                "recordings: 1, \(Self.emptyRecording.utf8.count) bytes, from 1970-01-02T00:00:00Z"
            ),
            "\(program.output)"
        )
        #expect(program.output.contains("recordings that are not there any more: 1"), "\(program.output)")
        let (_, json) = try await self.run(["history", "info", "--json", "--file", path])
        #expect(json.output.contains(#""recordings":1,"recordingsGone":1,"#), "\(json.output)")
    }

    @Test("old recordings and bars are removed, except a recording in progress")
    func prune() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let header = Self.emptyRecording
        let old = try folder.write(header, to: "old.jsonl")
        let held = try folder.write(header, to: "held.jsonl")
        let letter = try folder.write("Dear Sir,\n", to: "letter.jsonl")
        let descriptor = open(held, O_RDONLY)
        defer { close(descriptor) }
        #expect(flock(descriptor, LOCK_EX) == 0)
        let path = "\(folder.path)/h.sqlite"
        let store = try HistoryStore(path: path)
        try store.note(
            [held, letter, old].map {
                HistoryBatch.Segment(path: $0, epoch: 1, sequences: 1..<2, firstTime: 1, lastTime: 2)
            }
        )
        try store.close()
        let (ending, program) = try await self.run(["history", "prune", "--older-than", "30d", "--file", path])
        #expect(ending == .exit(0))
        #expect(
            program.output == "\(held) is still written and stays\n\(letter) is not a recording and stays\n"
                + "removed 0 bars and 1 recordings (\(header.utf8.count) bytes)\n",
            "\(program.output)"
        )
        #expect(access(old, F_OK) != 0 && access(held, F_OK) == 0 && access(letter, F_OK) == 0)
    }

    @Test("pruning a copied folder deletes files there, and elsewhere only if the settings say so")
    func pruneCopy() async throws {
        let (original, copy) = (try TemporaryFolder(), try TemporaryFolder())
        defer {
            original.remove()
            copy.remove()
        }
        let header = Self.emptyRecording
        let kept = try original.write(header, to: "old.jsonl")
        let alone = try original.write(header, to: "alone.jsonl")
        let copied = try copy.write(header, to: "old.jsonl")
        let path = "\(copy.path)/h.sqlite"
        let store = try HistoryStore(path: path)
        try store.note(
            [alone, kept].map {
                HistoryBatch.Segment(path: $0, epoch: 1, sequences: 1..<2, firstTime: 1, lastTime: 2)
            }
        )
        try store.close()
        func prune(_ place: String...) async throws -> String {
            let (ending, program) = try await self.run(["history", "prune", "--older-than", "30d"] + place)
            #expect(ending == .exit(0), "\(program.errors)")
            return program.output
        }
        let first = try await prune("--file", path)
        #expect(
            first.hasPrefix("\(alone) is in another folder than this history and stays")
                && first.hasSuffix("removed 0 bars and 1 recordings (\(header.utf8.count) bytes)\n"),
            "\(first)"
        )
        #expect(access(kept, F_OK) == 0 && access(copied, F_OK) != 0 && access(alone, F_OK) == 0)
        let config = try copy.write("history:\n  file: \(path)\n", to: "config.yaml")
        let second = try await prune("--config", config)
        #expect(second == "removed 0 bars and 1 recordings (\(header.utf8.count) bytes)\n", "\(second)")
        #expect(access(kept, F_OK) == 0 && access(alone, F_OK) != 0)
    }
}
