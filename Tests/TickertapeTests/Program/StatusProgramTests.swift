import Foundation
import History
import Market
import Testing
import TickertapeTesting

/// The built program's report about itself, over a restart.
@Suite("`tickertape status`", .serialized, .timeLimit(.minutes(5 * Patience.factor)))
struct StatusProgramTests {
    private static let demo = "\(RunningProgram.sources)/Sources/Tickertape/Resources/demo.jsonl"

    private struct Span: Decodable {
        struct Gap: Decodable {
            var from: Int64
            var to: Int64
            var reason: String
        }

        var knownSince: Int64?
        var share: Double?
        var gapCount: Int
        var gaps: [Gap]
    }

    private struct Report: Decodable {
        var running: Bool
        var state: String?
        var since: Span?
        var today: Span?
        var week: Span?
        var disk: String?
        var diskFree: Int?
    }

    private func status(
        _ arguments: [String],
        _ folder: TemporaryFolder,
        more: [String: String] = [:]
    ) async throws -> (ending: RunningProgram.Ending?, output: String, errors: String) {
        let environment = ["TICKERTAPE_RECORD_DIRECTORY": folder.path, "LC_ALL": "C"].merging(more) { $1 }
        let program = try RunningProgram(RunningProgram.tickertape, ["status"] + arguments, environment: environment)
        let ending = await program.ending()
        return (ending, program.output, program.errors)
    }

    private static func report(_ output: String) throws -> Report {
        try JSONDecoder().decode(Report.self, from: Data(output.utf8))
    }

    /// Starts a program that records, and returns it with its relay's port when it is live.
    private func start(_ upstream: Int, _ folder: TemporaryFolder) async throws -> (program: RunningProgram, port: Int)
    {
        let program = try RunningProgram(
            RunningProgram.tickertape,
            ["record", "--quiet", "--relay", "127.0.0.1:0", "--upstream", "ws://127.0.0.1:\(upstream)"],
            environment: [
                "FINNHUB_TOKEN": Canary.key, "XDG_STATE_HOME": folder.path, "XDG_RUNTIME_DIR": folder.path,
                "TICKERTAPE_RECORD_DIRECTORY": folder.path,
            ]
        )
        let port = try #require(await program.relayPort(), "\(program.errors)")
        #expect(await program.printsError(of: "state=live"), "\(program.errors)")
        return (program, port)
    }

    @Test("says from the history how much of the time a feed was live, over a program's death, and without a program")
    func overRestart() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let server = try RunningProgram(
            RunningProgram.tickertape,
            ["serve", Self.demo, "--plain", "--listen", "127.0.0.1:0"]
        )
        #expect(await server.printsError(of: "Ctrl-C stops"))
        let upstream = try #require(RunningProgram.number(in: server.errors, behind: "ws://127.0.0.1:"))
        let (first, firstPort) = try await self.start(upstream, folder)
        let early = try await self.status(["--json", "--since", "1h", "ws://127.0.0.1:\(firstPort)"], folder)
        #expect(early.ending == .exit(0), "\(early.errors)")
        let report = try Self.report(early.output)
        #expect(report.running && report.state != nil && report.since?.knownSince != nil, "\(early.output)")
        #expect(report.since?.gaps.first?.reason == "connecting", "\(early.output)")
        // What is not written yet, a killed program was not live for.
        let store = try HistoryStore(path: "\(folder.path)/tickertape-history.sqlite")
        let end = ContinuousClock.now + .seconds(30) * Patience.factor
        while try !store.periods(from: 0, to: .max).periods.contains(where: {
            $0.state == "live" && $0.ended > $0.begun
        }) {
            try #require(ContinuousClock.now < end, "\(first.errors)")
            try await Task.sleep(for: .milliseconds(20))
        }
        try store.close()
        first.send(signal: SIGKILL)
        _ = await first.ending()

        // Without a program the file is read; the status says that none answers.
        let between = try await self.status(["--json", "--relay", "127.0.0.1:\(firstPort)"], folder)
        #expect(between.ending == .exit(1) && between.errors.contains("no tickertape answers at"))
        #expect(try Self.report(between.output).since?.gaps.last?.reason == "not running", "\(between.output)")

        let (second, port) = try await self.start(upstream, folder)
        let later = try await self.status(["--json", "--since", "1h", "--relay", "127.0.0.1:\(port)"], folder)
        let gaps = try #require(try Self.report(later.output).since?.gaps)
        #expect(gaps.map(\.reason).contains("not running"), "\(later.output)")
        let share = try #require(try Self.report(later.output).since?.share)
        #expect(share > 0 && share < 1)
        let people = try await self.status(["--since", "1h", "--relay", "127.0.0.1:\(port)"], folder)
        #expect(people.ending == .exit(0) && people.output.hasPrefix("live "), "\(people.output)")
        for text in ["% of the time since ", "each character is 5 min", "state: ", "gaps: ", "clients: ", "disk: "] {
            #expect(people.output.contains(text), "\(text): \(people.output)")
        }
        #expect(people.output.utf8.allSatisfy { $0 < 0x80 }, "\(people.output)")
        second.send(signal: SIGTERM)
        #expect(await second.ending() == .exit(0))
        server.send(signal: SIGTERM)
        #expect(await server.ending() == .exit(0))
    }

    @Test("without a history it says what is known since the start; a time that is not past is refused")
    func withoutHistory() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let program = try RunningProgram(RunningProgram.tickertape, ["--quiet", "--relay", "127.0.0.1:0"])
        let port = try #require(await program.relayPort())
        let found = try await self.status(["--relay", "127.0.0.1:\(port)"], folder)
        #expect(found.ending == .exit(0) && found.output.contains("since the start"), "\(found.output)")
        #expect(found.output.contains("state: live (demo)") || found.output.contains("(demo)"), "\(found.output)")
        let refused = try await self.status(["--since", "tomorrow"], folder)
        #expect(refused.ending == .exit(64) && refused.errors.contains("--since \"tomorrow\" is no time in the past"))
        program.send(signal: SIGTERM)
        #expect(await program.ending() == .exit(0))
    }

    @Test("has the disk of the running program, whose working directory and settings are other ones")
    func disk() async throws {
        let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
        defer {
            folder.remove()
            other.remove()
        }
        let program = try RunningProgram(
            RunningProgram.tickertape,
            ["--quiet", "--relay", "127.0.0.1:0", "--record", "\(other.path)/prices.jsonl"]
        )
        let port = try #require(await program.relayPort(), "\(program.errors)")
        let found = try await self.status(["--relay", "127.0.0.1:\(port)", "--json"], folder)
        let report = try Self.report(found.output)
        #expect(report.disk == other.path && (report.diskFree ?? 0) > 0, "\(found.output)")
        program.send(signal: SIGTERM)
        #expect(await program.ending() == .exit(0))
        // Without a program the settings of the command count.
        let without = try Self.report(try await self.status(["--relay", "127.0.0.1:\(port)", "--json"], folder).output)
        #expect(!without.running && without.disk == folder.path)
    }

    @Test("says that a relay which other machines can reach does not tell where it records")
    func hiddenDisk() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let token = try folder.write("0123456789abcdef0123456789abcdef\n", to: "token")
        #expect(chmod(token, 0o600) == 0)
        let set = ["--set", "relay.token-file=\(token)"]
        let program = try RunningProgram(
            RunningProgram.tickertape,
            ["--quiet", "--relay", "0.0.0.0:0"] + set
        )
        let port = try #require(await program.errorText(numberBehind: "ws://0.0.0.0:"), "\(program.errors)")
        let found = try await self.status(["--relay", "0.0.0.0:\(port)"] + set, folder)
        let words = "disk: not known: other machines can reach the relay, so it does not say where it records"
        #expect(found.ending == .exit(0) && found.output.contains(words), "\(found.output) \(found.errors)")
        let without = try await self.status(["ws://127.0.0.1:\(port)"], folder)
        #expect(without.ending == .exit(1) && without.errors.contains(": set relay.token-file as"), "\(without.errors)")
        #expect(!without.errors.contains("FINNHUB_TOKEN"), "\(without.errors)")
        program.send(signal: SIGTERM)
        #expect(await program.ending() == .exit(0))
    }

    @Test("checks the certificate of another machine's relay with --ca-file")
    func certificate() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let pair = try RunningProgram(
            RunningProgram.tickertape,
            ["cert", "--out", folder.path, "--name", "ticker.test"]
        )
        #expect(await pair.ending() == .exit(0), "\(pair.errors)")
        let program = try RunningProgram(
            RunningProgram.tickertape,
            [
                "--quiet", "--relay", "127.0.0.1:0", "--set", "relay.host-names=ticker.test", "--set",
                "relay.certificate-file=\(folder.path)/certificate.pem", "--set",
                "relay.key-file=\(folder.path)/key.pem",
            ]
        )
        let port = try #require(await program.errorText(numberBehind: "wss://127.0.0.1:"), "\(program.errors)")
        let (proxy, proxyPort) = try await ConnectProxy.start(.tunnel(to: port))
        defer { proxy.send(signal: SIGKILL) }
        let more = ["HTTPS_PROXY": "http://127.0.0.1:\(proxyPort)"]
        let unknown = try await self.status(["wss://ticker.test"], folder, more: more)
        #expect(unknown.ending == .exit(1) && unknown.errors.contains("certificate refused"), "\(unknown.errors)")
        let known = try await self.status(
            ["wss://ticker.test", "--ca-file", "\(folder.path)/certificate.pem"],
            folder,
            more: more
        )
        #expect(known.ending == .exit(0), "\(known.output) \(known.errors)")
        #expect(known.output.contains("disk: not known: it is another machine's"), "\(known.output)")
        program.send(signal: SIGTERM)
        #expect(await program.ending() == .exit(0))
    }
}
