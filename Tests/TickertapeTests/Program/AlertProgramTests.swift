import Glibc
import Testing
import TickertapeTesting

/// Alerts of the built program, on the bundled recording.
@Suite("Alerts of the program", .serialized, .timeLimit(.minutes(5 * Patience.factor)))
struct AlertProgramTests {
    private static let demo = "\(RunningProgram.sources)/Sources/Tickertape/Resources/demo.jsonl"
    private static let rules = [
        "BINANCE:BTCUSDT crosses 60000 hysteresis 0 cooldown 0", "* moves 0.05% in 10s cooldown 0",
        "ETHUSDT new high cooldown 0 hysteresis 0", "BINANCE:BTCUSDT below 59990 once",
        "BTCUSDT stale for 2s cooldown 0",
    ]

    private func replay(_ arguments: String..., environment: [String: String] = [:]) throws -> RunningProgram {
        let alerts = Self.rules.flatMap { ["--alert", $0] }
        return try RunningProgram(
            RunningProgram.tickertape,
            ["replay", Self.demo, "--relay", "off"] + alerts + arguments,
            environment: environment
        )
    }

    private func alerts(of text: String) -> [String] {
        text.split(separator: "\n").filter { $0.hasPrefix("alert: ") }.map(String.init)
    }

    @Test("the same recording gives the same alerts at any speed, with lines and without")
    func sameAtAnySpeed() async throws {
        let fast = try self.replay("--quiet", "--speed", "max")
        #expect(await fast.ending() == .exit(0), "\(fast.errors)")
        let expected = self.alerts(of: fast.errors)
        #expect(expected.count > 10, "\(fast.errors)")
        #expect(expected.contains { $0.contains("has crossed 60000") })
        let slow = try self.replay("--format", "plain", "--speed", "40")
        let json = try self.replay("--format", "json", "--speed", "150")
        #expect(await slow.ending() == .exit(0))
        #expect(await json.ending() == .exit(0))
        #expect(self.alerts(of: slow.errors) == expected)
        #expect(json.output.split(separator: "\n").count { $0.hasPrefix(#"{"type":"alert","#) } == expected.count)
        #expect(self.alerts(of: json.errors).isEmpty)
    }

    @Test("each alert reaches a program, and the end of a replay waits for it")
    func exec() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let script = try folder.write("#!/bin/sh\nIFS= read -r line\necho \"$line\" >> \"$1\"\n", to: "tell")
        chmod(script, 0o700)
        let program = try RunningProgram(
            RunningProgram.tickertape,
            [
                "replay", Self.demo, "--relay", "off", "--quiet", "--speed", "max", "--alert",
                "BTCUSDT below 59990 once", "--alert", "* new low once", "--set",

                "alerts.exec=\(script),\(folder.path)/out",
            ]
        )
        #expect(await program.ending() == .exit(0), "\(program.errors)")
        let reported = self.alerts(of: program.errors).count
        #expect(reported >= 2)
        let lines = try folder.read("out").split(separator: "\n")
        #expect(lines.count == reported)
        #expect(lines.allSatisfy { $0.hasPrefix(#"{"type":"alert","rule":""#) && $0.hasSuffix("}") })
    }

    @Test("an invalid rule is a usage error with a hint; a webhook is never repeated")
    func mistakes() async throws {
        let rule = try RunningProgram(RunningProgram.tickertape, ["--alert", "BTCUSDT over 60000"])
        #expect(await rule.ending() == .exit(64))
        #expect(rule.errors.contains("alerts.rules") && rule.errors.contains("above 60000"), "\(rule.errors)")
        let url = "https://example.com/\(Canary.key)"
        let webhook = try RunningProgram(RunningProgram.tickertape, ["--set", "alerts.webhook=\(url)"])
        #expect(await webhook.ending() == .exit(64))
        #expect(
            !Canary.occurs(in: webhook.errors) && webhook.errors.contains("alerts.webhook-file"),
            "\(webhook.errors)"
        )
        let config = try RunningProgram(
            RunningProgram.tickertape,
            ["config"],
            environment: ["TICKERTAPE_ALERTS_WEBHOOK": url]
        )
        #expect(await config.ending() == .exit(0))
        #expect(config.output.contains("alerts.webhook: set (from TICKERTAPE_ALERTS_WEBHOOK)"))
        #expect(!Canary.occurs(in: config.output))
    }
}
