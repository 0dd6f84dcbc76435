import NIOCore
import Testing
import TickertapeTesting
import Wire

/// Places in recordings, and the messages about places that do not exist.
@Suite("Places in recordings, from outside", .serialized, .timeLimit(.minutes(5 * Patience.factor)))
struct PlaceProgramTests {
    /// Three minutes from 2026-01-01 on. The header has a whole second, and the first message follows 447 ms later.
    private static let demo = "\(RunningProgram.sources)/Sources/Tickertape/Resources/demo.jsonl"

    private func run(
        _ arguments: [String]
    ) async throws -> (status: RunningProgram.Ending?, output: String, errors: String) {
        let program = try RunningProgram(RunningProgram.tickertape, arguments)
        let status = await program.ending()
        return (status, program.output, program.errors)
    }

    /// Returns the demo without its header, and with this many seconds between its start and its first message.
    private func plain(in folder: TemporaryFolder) throws -> String {
        let text = try TemporaryFolder.text(of: Self.demo)
        return try folder.write(
            String(text[text.index(after: try #require(text.firstIndex(of: "\n")))...]),
            to: "plain.jsonl"
        )
    }

    @Test(
        "the second in which a recording begins is its start, and a place outside of it is refused with its range"
    )
    func replay() async throws {
        let always = ["replay", Self.demo, "--speed", "max", "--quiet", "--relay", "off", "--log-level", "warning"]
        let first = try await self.run(always + ["--from", "00:00:00", "--to", "00:00:02"])
        #expect(first.status == .exit(0), "\(first.errors)")
        for place in ["2h", "14:30", "2030-01-01"] {
            let beyond = try await self.run(always + ["--from", place])
            #expect(beyond.status == .exit(64))
            #expect(
                beyond.errors.contains(
                    "it is 3m00s long, from 2026-01-01T00:00:00.447Z to 2026-01-01T00:02:59.968Z"
                ),
                "\(beyond.errors)"
            )
        }
        let seconds = try await self.run(always + ["--from", "90"])
        #expect(
            seconds.status == .exit(64) && seconds.errors.contains("\"90\" is not a place: 90s,"),
            "\(seconds.errors)"
        )
    }

    @Test("a replay of a symbol that is not recorded is refused with those that are", arguments: [[], ["--hash"]])
    func mistyped(flags: [String]) async throws {
        let replay = try await self.run(
            ["replay", Self.demo, "--speed", "max", "--quiet", "--relay", "off", "--symbol", "BINANCE:BTCUSTD"] + flags
        )
        #expect(replay.status == .exit(64))
        #expect(
            replay.errors.contains("demo.jsonl has no BINANCE:BTCUSTD; it has BINANCE:BTCUSDT, BINANCE:ETHUSDT\n"),
            "\(replay.errors)"
        )
    }

    @Test("a span of time counts from the first frame, for a replay and for a piece")
    func oneZero() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let always = ["--speed", "max", "--quiet", "--relay", "off"]
        let part = ["--from", "60s", "--to", "75s"]
        let piece = "\(folder.path)/piece.jsonl"
        let whole = try await self.run(["replay", Self.demo] + part + always)
        #expect(try await self.run(["recording", "cut"] + part + [Self.demo, piece]).status == .exit(0))
        let cut = try await self.run(["replay", piece] + always)
        let trades = try #require(RunningProgram.number(in: whole.errors, behind: "replayed "), "\(whole.errors)")
        #expect(trades > 100 && cut.errors.contains("replayed \(trades) trades"), "\(trades) \(cut.errors)")
    }

    @Test("a replay that no command could start is refused", arguments: ["--paused", "--wait-client"])
    func forEver(flag: String) async throws {
        let replay = try await self.run(["replay", Self.demo, flag, "--quiet", "--relay", "off"])
        #expect(replay.status == .exit(64) && replay.errors.contains(flag), "\(replay.errors)")
    }

    @Test("a client of a mock server whose start is outside of the recording gets the recording's range")
    func serve() async throws {
        let program = try RunningProgram(
            RunningProgram.tickertape,
            ["serve", Self.demo, "--plain", "--listen", "127.0.0.1:0"]
        )
        let port = try #require(await program.errorText(numberBehind: "as Finnhub on ws://127.0.0.1:"))
        func ask(_ start: String) async throws -> String {
            let curl = try RunningProgram(
                "/usr/bin/env",
                [
                    "curl", "-s", "-H", "Connection: Upgrade", "-H", "Upgrade: websocket", "-H",
                    "Sec-WebSocket-Version: 13", "-H", "Sec-WebSocket-Key: x3JJHMbDL1EzLkh9GBhXDw==",
                    "http://127.0.0.1:\(port)/?token=x&start=\(start)",
                ]
            )
            _ = await curl.ending()
            return curl.output
        }
        let beyond = try await ask("14:30:00")
        #expect(
            beyond
                == #"{"error":"the recording has nothing at this start; it runs from 1767225600447 to 1767225779968, in ms since 1970"}"#
        )
        let nonsense = try await ask("noon")
        #expect(nonsense.contains("start must be 90s"), "\(nonsense)")
    }

    @Test(
        "the plain form is cut and exported at the places at which it is replayed",
        arguments: ["90s", "50%", "00:01:30"]
    )
    func plainForm(place: String) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = try self.plain(in: folder)
        let whole = try await self.run(["export", path, "--csv"])
        let rows = try await self.run(["export", path, "--csv", "--from", place])
        #expect(rows.status == .exit(0), "\(rows.errors)")
        let share = Double(rows.output.count) / Double(whole.output.count)
        #expect((0.3...0.7).contains(share), "\(share)")
        let piece = "\(folder.path)/piece.jsonl"
        let cut = try await self.run(["recording", "cut", "--from", place, path, piece])
        #expect(cut.status == .exit(0), "\(cut.errors)")
        // Its start is the likely one, derived from its first trade.
        let info = try await self.run(["recording", "info", piece])
        #expect(info.output.contains("from 2026-01-01T00:01:"), "\(info.output)")
        // The same holds for a file made from it without a start time, whose lines have none.
        let (made, part) = ("\(folder.path)/made.jsonl", "\(folder.path)/part.jsonl")
        let repair = try await self.run(["recording", "repair", path, made])
        #expect(repair.status == .exit(0), "\(repair.errors)")
        let end = try await self.run(["recording", "cut", "--to", place, made, part])
        #expect(end.status == .exit(0), "\(end.errors)")
        let (all, some) = (try folder.read("made.jsonl").utf8.count, try folder.read("part.jsonl").utf8.count)
        #expect((0.3...0.7).contains(Double(some) / Double(all)), "\(some) of \(all)")
    }

    @Test("an export from a moment on includes trades from before the recording's start, and reports damage")
    func exportBegin() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let empty = RecordingBuffer(RecordingHeader(symbols: ["A"], start: 1_767_225_600_400_000_000, source: "live"))
        var recording = empty
        for (at, time) in [(10_000_000, 1_767_225_600_350), (2_000_000_000, 1_767_225_602_350)] as [(Int64, Int64)] {
            let frame = #"{"data":[{"c":null,"p":1,"s":"A","t":\#(time),"v":1}],"type":"trade"}"#
            recording.frame(ByteBuffer(string: frame), at: at)
        }
        let path = try folder.write(String(buffer: recording.bytes), to: "begin.jsonl")
        let rows = try await self.run(["export", path, "--csv", "--from", "2026-01-01T00:00:00Z"])
        #expect(
            rows.status == .exit(0) && rows.output.split(separator: "\n").count == 3,
            "\(rows.output) \(rows.errors)"
        )
        recording = empty
        recording.frame(FinnhubEncoder.ping, at: 0)
        let damaged = try folder.write(String(buffer: recording.bytes) + "{\n", to: "damaged.jsonl")
        let none = try await self.run(["export", damaged, "--csv"])
        #expect(
            none.status == .exit(1) && none.errors.contains("1 line or frame cannot be read and is left out"),
            "\(none.errors)"
        )
    }

    @Test(
        "an empty export fails with the available range; another one reports the missing symbols",
        arguments: [
            (
                ["--symbol", "BINANCE:BTCUSTD"], 1 as Int32,
                "no trade of BINANCE:BTCUSTD is recorded, only of BINANCE:BTCUSDT, BINANCE:ETHUSDT\n"
            ),
            (["--symbol", "A:B", "--symbol", "BINANCE:BTCUSDT"], 0, "warning: no trade of A:B is recorded, only of"),
            (
                ["--from", "2026-11-21"], 1,
                "no trade of that time is recorded; there are trades from 2026-01-01T00:00:00.089Z to"
            ),
            (["--symbol", "BINANCE:ETHUSDT", "--to", "2025-12-31"], 1, "no trade of that symbol and time is recorded"),
        ]
    )
    func nothing(flags: [String], status: Int32, words: String) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let rows = try await self.run(["export", Self.demo, "--csv"] + flags)
        #expect(rows.status == .exit(status))
        #expect(rows.output.hasPrefix("symbol,price,size,time,received,epoch,seq,possibleRepeat,ahead,id,filled\n"))
        #expect(rows.errors.contains(words) && rows.errors.split(separator: "\n").count == 1, "\(rows.errors)")
        let path = "\(folder.path)/out.csv"
        let file = try await self.run(["export", Self.demo, "--csv", "--output", path] + flags)
        #expect(file.status == .exit(status))
        // An export without rows leaves no file.
        #expect((try? folder.read("out.csv")) != nil ? status == 0 : status == 1)
    }
}
