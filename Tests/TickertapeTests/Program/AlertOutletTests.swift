import Glibc
import Testing
import TickertapeTesting

/// The outputs of the built program's alerts: other programs and servers.
@Suite("The outlets of alerts", .serialized, .timeLimit(.minutes(3 * Patience.factor)))
struct AlertOutletTests {
    /// A webhook's whole address is secret. This is not the key that is searched for in the output of all tests, since
    /// the server here prints its requests.
    private static let secret = "onlyTheWebhookKnowsThis"

    private static let demo = "\(RunningProgram.sources)/Sources/Tickertape/Resources/demo.jsonl"

    private func replay(_ arguments: String..., environment: [String: String] = [:]) throws -> RunningProgram {
        let all = ["replay", Self.demo, "--relay", "off", "--quiet", "--speed", "max"]
        return try RunningProgram(RunningProgram.tickertape, all + arguments, environment: environment)
    }

    @Test("notify-send is called with a heading and a body, and nothing of them is taken for an option")
    func notifies() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let script =
            "#!/bin/sh\nfor word; do printf '[%s]' \"$word\"; done >> '\(folder.path)/out'\necho >> '\(folder.path)/out'\n"
        chmod(try folder.write(script, to: "notify-send"), 0o700)
        let program = try self.replay(
            "--alert",
            "BTCUSDT below 59990 once",
            "--set",
            "alerts.actions=notify-send",
            environment: ["PATH": "\(folder.path):/usr/bin:/bin"]
        )
        #expect(await program.ending() == .exit(0), "\(program.errors)")
        let lines = try folder.read("out").split(separator: "\n")
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix("[--app-name=tickertape][--][") == true, "\(lines)")
        #expect(lines.first?.contains("BINANCE:BTCUSDT") == true && lines.first?.contains("below 59990") == true)
    }

    @Test(
        "an alert on an unsubscribed symbol is reported at the start, and one on a subscribed symbol, or on all, is not"
    )
    func mistyped() async throws {
        let program = try self.replay(
            "--alert",
            "BINANCE:BTCUSTD below 59990",
            "--alert",
            "btcusdt below 1",
            "--alert",
            "* moves 50% in 5m"
        )
        #expect(await program.ending() == .exit(0), "\(program.errors)")
        let reported = program.errors.split(separator: "\n").filter { $0.contains("waits until") }
        #expect(reported.count == 1 && reported.first?.contains("BINANCE:BTCUSTD") == true, "\(program.errors)")
    }

    @Test("a desktop without notify-send is reported once, with the missing program")
    func missing() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let program = try self.replay(
            "--alert",
            "BTCUSDT below 59990 once",
            "--set",
            "alerts.actions=notify-send",
            environment: ["PATH": folder.path]
        )
        #expect(await program.ending() == .exit(0), "\(program.errors)")
        #expect(program.errors.contains("notify-send"), "\(program.errors)")
    }

    @Test("an invalid webhook is reported before a recording begins")
    func noRecording() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let url = try folder.write("https://localhost:9/hook\n", to: "url")
        chmod(url, 0o600)
        let missing = "\(folder.path)/missing.pem"
        let program = try self.replay(
            "--record",
            "\(folder.path)/new.jsonl",
            "--set",
            "alerts.webhook-file=\(url)",
            "--set",
            "alerts.webhook-ca-file=\(missing)"
        )
        #expect(await program.ending() == .exit(78))
        #expect(program.errors.contains(missing), "\(program.errors)")
        #expect(access("\(folder.path)/new.jsonl", F_OK) != 0)
    }

    @Test("a webhook is posted to a server of the configured authority, and to no other")
    func webhook() async throws {
        try #require(access(RunningProgram.python, X_OK) == 0, "scripts/test makes \(RunningProgram.python)")
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let pair = try RunningProgram(RunningProgram.tickertape, ["cert", "--out", folder.path])
        #expect(await pair.ending() == .exit(0), "\(pair.errors)")
        let server = try RunningProgram(
            RunningProgram.python,
            [
                "\(RunningProgram.sources)/Tests/Clients/webhook_server.py", "\(folder.path)/certificate.pem",
                "\(folder.path)/key.pem",
            ]
        )
        let first = await server.lines(1)
        let port = try #require(first.first.flatMap { RunningProgram.number(in: String($0), behind: "port ") })
        let url = try folder.write("https://localhost:\(port)/hook?secret=\(Self.secret)\n", to: "url")
        chmod(url, 0o600)
        let alerts = ["--alert", "BTCUSDT below 59990 once", "--alert", "* new low once"]
        func run(_ more: String...) throws -> RunningProgram {
            try RunningProgram(
                RunningProgram.tickertape,
                [
                    "replay", Self.demo, "--relay", "off", "--quiet", "--speed", "max", "--set",
                    "alerts.webhook-file=\(url)",
                ]
                    + alerts + more
            )
        }
        let stranger = try run()
        #expect(await stranger.ending() == .exit(0), "\(stranger.errors)")
        #expect(stranger.errors.contains("certificate"), "\(stranger.errors)")
        #expect(!stranger.errors.contains(Self.secret))
        let program = try run("--set", "alerts.webhook-ca-file=\(folder.path)/certificate.pem")
        #expect(await program.ending() == .exit(0), "\(program.errors)")
        #expect(!program.errors.contains("warning") && !program.errors.contains(Self.secret), "\(program.errors)")
        let reported = program.errors.split(separator: "\n").count { $0.hasPrefix("alert: ") }
        #expect(reported >= 2)
        let posts = await server.lines(1 + reported).dropFirst()
        #expect(posts.count == reported, "\(server.output)")
        for post in posts {
            #expect(
                post.hasPrefix(#"/hook?secret=\#(Self.secret) application/json {"type":"alert","rule":""#),
                "\(post)"
            )
            #expect(post.hasSuffix("}"))
        }
        server.send(signal: SIGTERM)
        #expect(await server.ending() != nil)
    }
}
