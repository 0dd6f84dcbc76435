import Testing
import TickertapeTesting

/// The program with `finnhub.fill`, in front of a mock server of Finnhub that cuts the connection, and one of Binance.
@Suite(
    "The gaps of Finnhub's trades, filled while the program runs",
    .serialized,
    .timeLimit(.minutes(5 * Patience.factor))
)
struct FilledGapProgramTests {
    /// Exports a recording; returns its rows by the names of their columns.
    private func export(_ path: String) async throws -> [[String: String]] {
        let export = try RunningProgram(RunningProgram.tickertape, ["export", "--csv", path])
        #expect(await export.ending() == .exit(0), "\(export.errors)")
        let lines = export.output.split(separator: "\n").map {
            $0.split(separator: ",", omittingEmptySubsequences: false)
        }
        let names = lines.first?.map(String.init) ?? []
        return lines.dropFirst().map { values in
            Dictionary(zip(names, values.map(String.init))) { first, _ in first }
        }
    }

    private func content(_ row: [String: String]) -> String {
        "\(row["time"] ?? "") \(row["price"] ?? "") \(row["size"] ?? "")"
    }

    @Test("the tape has each of the exchange's trades once, and a replay of its recording has the same")
    func filled() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        // 20 times as fast: a minute.
        let market = AuditedMarket(seed: 9, count: 30_000, share: 0)
        let recordings = [
            try folder.write(market.finnhubRecording, to: "finnhub.jsonl"),
            try folder.write(market.venueRecording, to: "venue.jsonl"),
        ]
        var servers: [RunningProgram] = []
        var ports: [Int] = []
        for (recording, faults) in zip(recordings, [["--fault", "drop@3s@1", "--fault", "status=503@2"], []]) {
            let server = try RunningProgram(
                RunningProgram.tickertape,
                ["serve", recording, "--plain", "--listen", "127.0.0.1:0", "--speed", "20", "--shared-clock"] + faults
            )
            #expect(await server.printsError(of: "Ctrl-C stops"), "\(server.errors)")
            ports.append(try #require(RunningProgram.number(in: server.errors, behind: "ws://127.0.0.1:")))
            servers.append(server)
        }
        let out = "\(folder.path)/out.jsonl"
        let program = try RunningProgram(
            RunningProgram.tickertape,
            [
                "run", "--fill", "--format", "json", "--upstream", "ws://127.0.0.1:\(ports[0])/", "--relay", "off",
                "--symbol", "BINANCE:BTCUSDT",
                "--set", "venues.binance-url=ws://127.0.0.1:\(ports[1])/stream",
                "--set", "venues.binance-service=http://127.0.0.1:\(ports[1])",
                "--record", out, "--set", "record.compress=false",
            ],
            environment: [
                "FINNHUB_TOKEN": Canary.key, "XDG_STATE_HOME": folder.path, "XDG_RUNTIME_DIR": folder.path,
            ]
        )
        #expect(await program.prints("{\"type\":\"settled\""), "\(program.errors)")
        program.send(signal: 15)
        #expect(await program.ending() == .exit(0))
        for server in servers {
            server.send(signal: 15)
            #expect(await server.ending() == .exit(0))
        }

        let rows = try await self.export(out)
        let filled = rows.filter { $0["filled"] == "true" }
        #expect(!filled.isEmpty && filled.allSatisfy { $0["id"]?.isEmpty == false })
        #expect(rows.filter { $0["filled"] != "true" }.allSatisfy { $0["id"] == "" })
        // All of the exchange's trades but for those of the tape's last second, each as often as it was made. Finnhub's
        // trades are not in the order of their times, so the frame that comes next has some that are older than the newest.
        let end = (rows.compactMap { Int64($0["time"] ?? "") }.max() ?? 0) - 1_000
        var expected: [String: Int] = [:]
        for item in market.venue where item.time < end {
            expected["\(item.time) \(item.priceText) \(item.sizeText)", default: 0] += 1
        }
        var found: [String: Int] = [:]
        for row in rows where Int64(row["time"] ?? "") ?? 0 < end { found[self.content(row), default: 0] += 1 }
        let differences = Set(found.keys).union(expected.keys).sorted().compactMap { content -> String? in
            let (there, due) = (found[content, default: 0], expected[content, default: 0])
            return there == due ? nil : "\(content): \(there) on the tape, \(due) made"
        }
        #expect(found.count > 3_000)
        let messages = program.output.split(separator: "\n").filter { !$0.contains("\"type\":\"price\"") }
        #expect(differences.isEmpty, "\(messages)")

        // The recording has no symbol whose trades have ids, and so none that is missing.
        let check = try RunningProgram(RunningProgram.tickertape, ["recording", "verify", out])
        #expect(await check.ending() == .exit(0))
        #expect(check.output.contains("intact") && !check.output.contains("missing"), "\(check.output)")

        let again = "\(folder.path)/again.jsonl"
        let replay = try RunningProgram(
            RunningProgram.tickertape,
            [
                "replay", out, "--speed", "max", "--relay", "off", "--format", "json", "--record", again, "--set",
                "record.compress=false",
            ],
            environment: ["XDG_STATE_HOME": folder.path, "XDG_RUNTIME_DIR": folder.path]
        )
        #expect(await replay.ending() == .exit(0), "\(replay.errors)")
        let columns = ["symbol", "price", "size", "time", "seq", "possibleRepeat", "id", "filled"]
        let texts = { (rows: [[String: String]]) in rows.map { row in columns.map { row[$0] ?? "" } } }
        #expect(texts(try await self.export(again)) == texts(rows))
        let settled = { (text: String) in
            text.split(separator: "\n").filter { $0.hasPrefix("{\"type\":\"settled\"") }
                .map { $0.replacing("\"source\":\"replay\"", with: "\"source\":\"live\"") }
        }
        #expect(!settled(program.output).isEmpty)
        #expect(settled(replay.output) == settled(program.output))
    }

    @Test("are refused where the exchanges must not be asked, in one line that names both settings")
    func refused() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let program = try RunningProgram(
            RunningProgram.tickertape,
            ["run", "--fill", "--set", "venues.backfill=false", "--relay", "off", "--symbol", "BINANCE:BTCUSDT"],
            environment: ["FINNHUB_TOKEN": Canary.key, "XDG_STATE_HOME": folder.path]
        )
        #expect(await program.ending() == .exit(78))
        #expect(program.errors.contains("finnhub.fill") && program.errors.contains("venues.backfill"))
    }
}
