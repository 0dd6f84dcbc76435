import Testing
import TickertapeTesting

/// The program in front of mock servers of three services, whose trades it records together, and the replay of that
/// recording.
@Suite("A recording of several services, from outside", .serialized, .timeLimit(.minutes(6 * Patience.factor)))
struct MixedReplayProgramTests {
    private static let symbols = ["BINANCE:BTCUSDT", "BINANCE:ETHUSDT", "KRAKEN:XXBTZUSD"]

    private func serve(_ flags: String...) async throws -> (RunningProgram, port: Int) {
        let server = try RunningProgram(
            RunningProgram.tickertape,
            ["serve", "--plain", "--listen", "127.0.0.1:0", "--shared-clock"] + flags
        )
        return (server, try #require(await server.errorText(numberBehind: "on ws://127.0.0.1:"), "\(server.errors)"))
    }

    /// Records Finnhub's, Binance's and Kraken's trades until there are enough; Binance's have holes, which are filled.
    private func record(in folder: TemporaryFolder) async throws -> String {
        let (finnhub, first) = try await self.serve("--simulate", "--rate", "150", "--market-symbol", Self.symbols[0])
        let (binance, second) = try await self.serve(
            "--simulate",
            "--venue",
            "binance",
            "--rate",
            "200",
            "--fault",
            "withhold=0.02",
            "--fault",
            "drop@1@2s"
        )
        let (kraken, third) = try await self.serve("--simulate", "--venue", "kraken", "--rate", "150")
        let path = "\(folder.path)/mixed.jsonl"
        let program = try RunningProgram(
            RunningProgram.tickertape,
            ["record", path, "--relay", "off", "--format", "plain", "--from", "venue"]
                + ["--upstream", "ws://127.0.0.1:\(first)", "--set", "record.compress=false"]
                + ["--symbol", "\(Self.symbols[0])@finnhub", "--symbol", Self.symbols[1], "--symbol", Self.symbols[2]]
                + ["--set", "venues.binance-url=ws://127.0.0.1:\(second)/stream"]
                + ["--set", "venues.binance-service=http://127.0.0.1:\(second)"]
                + ["--set", "venues.kraken-url=ws://127.0.0.1:\(third)/v2"]
                + ["--set", "venues.kraken-service=http://127.0.0.1:\(third)"],
            environment: [
                "FINNHUB_TOKEN": Canary.key, "XDG_STATE_HOME": folder.path, "XDG_RUNTIME_DIR": folder.path,
            ]
        )
        for text in Self.symbols + ["is filled"] {
            #expect(try await Self.prints(program, text, times: 4), "\(text) \(program.output) \(program.errors)")
        }
        program.send(signal: 15)
        #expect(await program.ending() == .exit(0), "\(program.errors)")
        for server in [finnhub, binance, kraken] {
            server.send(signal: 15)
            _ = await server.ending()
        }
        return path
    }

    /// Waits until a text stands in what a program prints.
    private static func prints(_ program: RunningProgram, _ text: String, times: Int = 1) async throws -> Bool {
        for _ in 0..<(1_200 * Patience.factor) {
            let count = program.output.ranges(of: text).count + program.errors.ranges(of: text).count
            if count >= times { return true }
            try await Task.sleep(for: .milliseconds(50))
        }
        return false
    }

    private func replay(
        _ path: String,
        _ speed: String,
        into file: String,
        _ flags: String...
    ) throws -> RunningProgram {
        try RunningProgram(
            RunningProgram.tickertape,
            ["replay", path, "--relay", "off", "--quiet", "--speed", speed, "--record", file]
                + ["--set", "record.compress=false"] + flags
        )
    }

    /// Returns the trades of a recording in the order of the tape: number, symbol, price, size, time, id and marks.
    private func trades(of path: String) async throws -> [String] {
        let export = try RunningProgram(RunningProgram.tickertape, ["export", "--csv", path])
        #expect(await export.ending() == .exit(0), "\(export.errors)")
        // symbol,price,size,time,received,epoch,seq,possibleRepeat,ahead,id,filled
        return export.output.split(separator: "\n").dropFirst().map { line in
            var cells = line.split(separator: ",", omittingEmptySubsequences: false)
            cells.removeSubrange(4...5)
            return cells.joined(separator: ",")
        }
    }

    @Test("is replayed whole, at any speed, with the trades, marks and order of the recorded tape; and so is its hash")
    func wholeTape() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = try await self.record(in: folder)
        let recorded = try await self.trades(of: path)
        #expect(recorded.count > 200)
        for symbol in Self.symbols {
            #expect(recorded.filter { $0.hasPrefix("\(symbol),") }.count > 20, "\(symbol)")
        }
        #expect(recorded.contains { $0.hasSuffix(",true") }, "no filled trade")
        for (place, speed) in ["max", "max", "5"].enumerated() {
            let again = "\(folder.path)/again-\(place).jsonl"
            let replay = try self.replay(path, speed, into: again)
            #expect(await replay.ending() == .exit(0), "\(replay.errors)")
            #expect(try await self.trades(of: again) == recorded, "at \(speed)")
        }
        // One symbol's part.
        let part = "\(folder.path)/part.jsonl"
        let replay = try self.replay(path, "max", into: part, "--symbol", Self.symbols[0])
        #expect(await replay.ending() == .exit(0), "\(replay.errors)")
        func withoutNumbers(_ lines: [String]) -> [String] {
            lines.map { line in
                var cells = line.split(separator: ",", omittingEmptySubsequences: false)
                cells.remove(at: 4)
                return cells.joined(separator: ",")
            }
        }
        #expect(
            withoutNumbers(try await self.trades(of: part))
                == withoutNumbers(recorded.filter { $0.hasPrefix("\(Self.symbols[0]),") })
        )
        // Virtual time.
        var digests: [String] = []
        for speed in ["max", "3"] {
            let hash = try RunningProgram(RunningProgram.tickertape, ["replay", path, "--hash", "--speed", speed])
            #expect(await hash.ending() == .exit(0), "\(hash.errors)")
            digests.append(hash.output)
        }
        #expect(digests[0] == digests[1] && digests[0].contains("  trades\n"), "\(digests)")
        try await self.serveAgain(path, recorded)
    }

    /// Serves the recording, and connects a program to each of its services.
    private func serveAgain(_ path: String, _ recorded: [String]) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let server = try RunningProgram(
            RunningProgram.tickertape,
            ["serve", path, "--plain", "--listen", "127.0.0.1:0", "--speed", "max"]
        )
        let port = try #require(await server.errorText(numberBehind: "ws://127.0.0.1:"), "\(server.errors)")
        for name in ["Finnhub", "Binance", "Kraken"] { #expect(server.errors.contains("\(name) on ws://")) }
        let own = "\(folder.path)/own.jsonl"
        let client = try RunningProgram(
            RunningProgram.tickertape,
            ["record", own, "--relay", "off", "--format", "plain", "--from", "venue", "--set", "record.compress=false"]
                + ["--symbol", Self.symbols[2], "--set", "venues.kraken-url=ws://127.0.0.1:\(port)/v2"]
                + ["--set", "venues.kraken-service=http://127.0.0.1:\(port)"],
            environment: ["XDG_STATE_HOME": folder.path, "XDG_RUNTIME_DIR": folder.path]
        )
        #expect(try await Self.prints(client, "reconnecting"), "\(client.output) \(client.errors)")
        client.send(signal: 15)
        #expect(await client.ending() == .exit(0), "\(client.errors)")
        let ids = { (lines: [String]) in
            Set(
                lines.filter { $0.hasPrefix("\(Self.symbols[2]),") }.map {
                    $0.split(separator: ",", omittingEmptySubsequences: false)[7]
                }
            )
        }
        #expect(ids(try await self.trades(of: own)).isSuperset(of: ids(recorded)))
        server.send(signal: 15)
        #expect(await server.ending() == .exit(0), "\(server.errors)")
    }
}
