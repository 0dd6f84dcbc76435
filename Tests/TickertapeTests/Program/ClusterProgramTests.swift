import Foundation
import Testing
import TickertapeTesting

/// An ingest and an edge as programs, on a real nats-server.
@Suite(
    "`tickertape cluster`",
    .serialized,
    .enabled(if: !NATSServer.programs.isEmpty, Comment(rawValue: NATSServer.missing)),
    .timeLimit(.minutes(5 * Patience.factor))
)
struct ClusterProgramTests {
    private static func cluster(
        _ address: String,
        _ arguments: [String] = []
    ) async throws -> (ending: RunningProgram.Ending?, output: String, errors: String) {
        let program = try RunningProgram(
            RunningProgram.tickertape,
            ["cluster", "--set", "cluster.servers=\(address)"] + arguments
        )
        let ending = await program.ending()
        return (ending, program.output, program.errors)
    }

    private static func get(_ path: String, port: Int) async throws -> String {
        let curl = try RunningProgram("/usr/bin/env", ["curl", "-s", "http://127.0.0.1:\(port)\(path)"])
        _ = await curl.ending()
        return curl.output
    }

    @Test("says what to do where NATS cannot be reached, and where no ingest answers")
    func complaints() async throws {
        let nothing = try await Self.cluster("nats://127.0.0.1:1")
        #expect(nothing.ending == .exit(1) && nothing.output.isEmpty)
        #expect(
            nothing.errors.contains("NATS cannot be reached at nats://127.0.0.1:1 (")
                && nothing.errors.contains("): start nats-server there, or correct cluster.servers or "),
            "\(nothing.errors)"
        )
        #expect(nothing.errors.split(separator: "\n").count == 1)

        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let server = try await NATSServer(NATSServer.programs[0], in: folder)
        let alone = try await Self.cluster(server.address, ["--set", "cluster.name=other"])
        #expect(alone.ending == .exit(1) && alone.output.isEmpty)
        #expect(
            alone.errors.contains(
                "no ingest of the cluster other answers at \(server.address): start one (cluster.role: ingest)"
            ),
            "\(alone.errors)"
        )
    }

    @Test("an edge reads the trusted certificates for its NATS servers before it starts")
    func trust() async throws {
        let edge = try RunningProgram(
            RunningProgram.tickertape,
            [
                "--quiet", "--relay", "off", "--set", "cluster.role=edge", "--set", "cluster.servers=tls://127.0.0.1:1",
                "--ca-file", "/missing.pem",
            ]
        )
        #expect(await edge.ending() == .exit(78), "\(edge.errors)")
        #expect(edge.errors.contains("/missing.pem") && edge.errors.contains("(tls.ca-file, --ca-file)"))
        #expect(edge.errors.split(separator: "\n").count == 1, "\(edge.errors)")
    }

    @Test("shows NATS its identity, also on a machine that is no member")
    func identity() async throws {
        let secrets = try TemporaryFolder()
        // Its files have the password, so they are not kept and searched for it.
        defer { try? FileManager.default.removeItem(atPath: secrets.path) }
        let server = try await NATSServer(
            NATSServer.programs[0],
            configuration: "authorization { user: operator, password: \(Canary.key) }",
            in: secrets
        )
        let refused = try await Self.cluster(server.address)
        #expect(refused.ending == .exit(1) && refused.errors.contains("NATS cannot be reached"), "\(refused.errors)")
        #expect(refused.errors.contains("uthoriz") && refused.errors.contains("cluster.identity-file"))
        let file = try secrets.write("operator:\(Canary.key)\n", to: "identity")
        let known = try await Self.cluster(server.address, ["--set", "cluster.identity-file=\(file)"])
        #expect(known.ending == .exit(1) && known.errors.contains("no ingest of the cluster main answers"))
        #expect(!known.errors.contains(Canary.key), "\(known.errors)")
    }

    @Test(
        "an ingest waits with its leases for a key that another program of its machine uses, and changes it only by a restart"
    )
    func key() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let nats = try await NATSServer(NATSServer.programs[0], ["-js", "-sd", folder.path], in: folder)
        let trade =
            #"{"data":[{"c":null,"p":61837.63,"s":"BINANCE:BTCUSDT","t":1723161255342,"v":0.02}],"type":"trade"}"#
        let finnhub = try await ScriptedFinnhub.start { _ in .play([.send(trade)]) }
        let file = try folder.write("firstsecretkey0\n", to: "key")
        chmod(file, 0o600)
        func start(_ more: [String] = []) throws -> RunningProgram {
            try RunningProgram(
                RunningProgram.tickertape,
                [
                    "--quiet", "--upstream", "ws://127.0.0.1:\(finnhub.port)", "--relay", "127.0.0.1:0", "--symbol",
                    "BINANCE:BTCUSDT", "--token-file", file,
                ] + more,
                environment: ["XDG_STATE_HOME": folder.path, "XDG_RUNTIME_DIR": folder.path]
            )
        }
        let other = try start()
        #expect(await other.printsError(of: "state=live"), "\(other.errors)")
        let ingest = try start([
            "--set", "cluster.role=ingest", "--set", "cluster.member=host-a", "--set",
            "cluster.servers=\(nats.address)",
        ])
        let words = "another tickertape (pid \(other.processIdentifier)) on this machine holds this key: stop it"
        #expect(await ingest.printsError(of: words), "\(ingest.errors)")
        // Another ingest that had the leases meanwhile would be the second one with a connection.
        let members = try await Self.cluster(nats.address)
        #expect(members.output.contains("holding 2 leases"), "\(members.output)\(members.errors)")

        _ = try folder.write("secondsecretkey\n", to: "key")
        ingest.send(signal: SIGHUP)
        #expect(await ingest.printsError(of: "nothing takes effect now\n"), "\(ingest.errors)")
        #expect(await ingest.printsError(of: "SIGHUP: only a restart changes token\n"), "\(ingest.errors)")
        other.send(signal: SIGTERM)
        #expect(await other.ending() == .exit(0), "\(other.errors)")
        #expect(await ingest.printsError(of: "state=live"), "\(ingest.errors)")
        ingest.send(signal: SIGTERM)
        #expect(await ingest.ending() == .exit(0), "\(ingest.errors)")
        try await finnhub.stop()
        var targets: [String] = []
        for await event in finnhub.events { if case .opened(_, let target) = event { targets.append(target) } }
        #expect(targets.count == 2 && targets.allSatisfy { $0.contains("firstsecretkey0") }, "\(targets)")
        #expect(!ingest.errors.contains("secretkey"))
    }

    private struct Member: Decodable {
        var member: String
        var role: String
        var publishing: Bool
        var ingest: String?
        var hops: Int?
        var epoch: UInt64?
        var clockOffset: Int64?
        var lag: Double?
        var edges: Int?
        var clients: Int?
        var server: String?
    }

    private struct Overview: Decodable {
        var cluster: String
        var server: String
        var members: [Member]
    }

    private struct Readiness: Decodable {
        var ready: Bool
        var via: String?
        var cluster: Member?
    }

    @Test("shows an ingest and its edge, as do /readyz, /metrics and status of the edge")
    func members() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let nats = try await NATSServer(NATSServer.programs[0], ["-js", "-sd", folder.path], in: folder)
        let market = try RunningProgram(
            RunningProgram.tickertape,
            ["serve", "--simulate", "--live-times", "--plain", "--listen", "127.0.0.1:0"]
        )
        #expect(await market.printsError(of: "Ctrl-C stops"), "\(market.errors)")
        let upstream = try #require(RunningProgram.number(in: market.errors, behind: "ws://127.0.0.1:"))
        func start(_ role: String, _ member: String, _ more: [String] = []) throws -> RunningProgram {
            try RunningProgram(
                RunningProgram.tickertape,
                [
                    "--quiet", "--relay", "127.0.0.1:0", "--set", "cluster.role=\(role)", "--set",
                    "cluster.member=\(member)", "--set", "cluster.servers=\(nats.address)", "--symbol",
                    "BINANCE:BTCUSDT",
                ] + more,
                environment: [
                    "FINNHUB_TOKEN": Canary.key, "XDG_STATE_HOME": "\(folder.path)/\(member)",
                    "XDG_RUNTIME_DIR": folder.path,
                ]
            )
        }
        let ingest = try start("ingest", "host-a", ["--upstream", "ws://127.0.0.1:\(upstream)"])
        #expect(await ingest.printsError(of: "state=live"), "\(ingest.errors)")
        let recording = "\(folder.path)/edge.jsonl"
        let edge = try start("edge", "edge-1", ["--record", recording])
        #expect(await edge.printsError(of: "state=live"), "\(edge.errors)")
        let port = try #require(await edge.relayPort(), "\(edge.errors)")

        let json = try await Self.cluster(nats.address, ["--json"])
        #expect(json.ending == .exit(0), "\(json.errors)")
        let overview = try JSONDecoder().decode(Overview.self, from: Data(json.output.utf8))
        #expect(overview.cluster == "main" && overview.server == nats.address)
        #expect(overview.members.map(\.member) == ["host-a", "edge-1"])
        let (first, second) = (overview.members[0], overview.members[1])
        #expect(first.role == "ingest" && first.publishing && first.hops == 0 && first.edges == 1)
        #expect(first.epoch != nil && first.clockOffset == nil && first.server == nats.address)
        #expect(second.role == "edge" && !second.publishing && second.ingest == "host-a" && second.hops == 1)
        #expect(second.epoch == first.epoch && second.clients == 0)
        #expect(abs(try #require(second.clockOffset)) < 5_000_000 && (second.lag ?? 100) < 10)

        let table = try await Self.cluster(nats.address)
        #expect(table.output.hasPrefix("cluster main at \(nats.address), 2 members\n"), "\(table.output)")
        #expect(table.output.contains("following host-a") && table.output.contains("publishing"))

        let answer = try JSONDecoder().decode(
            Readiness.self,
            from: Data(try await Self.get("/readyz", port: port).utf8)
        )
        #expect(answer.ready && answer.via == "host-a" && answer.cluster?.ingest == "host-a")
        #expect(answer.cluster?.hops == 1 && answer.cluster?.clockOffset != nil && answer.cluster?.epoch == first.epoch)
        let metrics = try await Self.get("/metrics", port: port)
        #expect(metrics.contains(#"tickertape_cluster_hops{ingest="host-a"} 1"#))
        #expect(metrics.contains("tickertape_cluster_clock_offset_seconds "))

        let status = try RunningProgram(
            RunningProgram.tickertape,
            ["status", "ws://127.0.0.1:\(port)"],
            environment: ["TICKERTAPE_RECORD_DIRECTORY": folder.path, "COLUMNS": "400"]
        )
        #expect(await status.ending() == .exit(0), "\(status.errors)")
        let words = status.output.replacing("\n  ", with: " ")
        #expect(words.contains("cluster: follows the ingest host-a, epoch"), "\(status.output)")
        #expect(words.contains(", 1 hop, its clock ") && words.contains("; NATS at \(nats.address)"))

        // A client in Python gets the ingest's trades by the documentation alone.
        let python = RunningProgram.python
        try #require(access(python, X_OK) == 0, "\(python) is missing: run scripts/test, which makes it")
        let script = "\(RunningProgram.sources)/Tests/Clients/cluster_reader.py"
        let reader = try RunningProgram(python, [script, nats.address])
        let epoch = try #require(first.epoch)
        #expect(await reader.prints("\(epoch) trade BINANCE:BTCUSDT "), "\(reader.output)\(reader.errors)")

        // The recording has the ingest's epoch and numbers.
        edge.send(signal: SIGTERM)
        #expect(await edge.ending() == .exit(0), "\(edge.errors)")
        let export = try RunningProgram(RunningProgram.tickertape, ["export", recording, "--csv"])
        #expect(await export.ending() == .exit(0), "\(export.errors)")
        let rows = export.output.split(separator: "\n").dropFirst()
        #expect(!rows.isEmpty && rows.allSatisfy { $0.contains(",\(epoch),") }, "\(export.output.prefix(500))")

        // It is replayed like any other one, and the trades' texts stay as they are.
        let copy = "\(folder.path)/copy"
        let replay = try RunningProgram(
            RunningProgram.tickertape,
            ["replay", recording, "--speed", "max", "--quiet", "--relay", "off", "--record", "\(copy).jsonl"]
        )
        #expect(await replay.ending() == .exit(0), "\(replay.errors)")
        func texts(_ path: String) async throws -> [String] {
            let form = try RunningProgram(RunningProgram.tickertape, ["recording", "repair", path, "\(path).out"])
            #expect(await form.ending() == .exit(0), "\(form.errors)")
            return try String(contentsOfFile: "\(path).out", encoding: .utf8).split(separator: "\n").compactMap {
                $0.contains("\"dialect\":\"tickertape\"")
                    ? $0.split(separator: "\"frame\":").last.map(String.init) : nil
            }
        }
        let recorded = try await texts(recording)
        #expect(recorded.count == rows.count, "\(recorded.count) \(rows.count)")
        #expect(try await texts("\(copy)-0002.jsonl").map { $0.dropLast(18) } == recorded.map { $0.dropLast(18) })
    }
}
