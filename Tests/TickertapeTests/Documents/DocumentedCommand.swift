import Foundation
import TickertapeTesting

/// A command of a shell block in the README or in `docs`.
struct DocumentedCommand: CustomStringConvertible {
    let file: String
    let text: String

    var description: String { "\(self.file): \(self.text)" }

    /// The commands of all pages. A block with prompts has output, too, and only its lines with a prompt count.
    static func all() throws -> [DocumentedCommand] {
        let docs = "\(RunningProgram.sources)/docs"
        let pages = try FileManager.default.subpathsOfDirectory(atPath: docs).filter { $0.hasSuffix(".md") }.sorted()
        return try (["README.md", "CONTRIBUTING.md"] + pages.map { "docs/\($0)" }).flatMap { file in
            let text = try String(contentsOfFile: "\(RunningProgram.sources)/\(file)", encoding: .utf8)
            return Self.blocks(of: text).flatMap(Self.commands).map { DocumentedCommand(file: file, text: $0) }
        }
    }

    private static func blocks(of text: String) -> [[Substring]] {
        var blocks: [[Substring]] = []
        var open: [Substring]?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line == "```", let block = open {
                blocks.append(block)
                open = nil
            } else if ["```sh", "```console"].contains(line) {
                open = []
            } else {
                open?.append(line)
            }
        }
        return blocks
    }

    private static func commands(of block: [Substring]) -> [String] {
        let hasPrompts = block.contains { $0.hasPrefix("$ ") }
        var commands: [String] = []
        var isContinued = false
        for line in block where !hasPrompts || line.hasPrefix("$ ") {
            var text = String(line.drop { $0 == "$" }).trimmingCharacters(in: .whitespaces)
            if let comment = text.range(of: #"(^|\s+)# .*$"#, options: .regularExpression) {
                text.removeSubrange(comment)
            }
            guard !text.isEmpty else { continue }
            if isContinued { text = commands.removeLast() + text }
            isContinued = text.hasSuffix("\\")
            if isContinued { text.removeLast() }
            commands.append(text)
        }
        // A loop is one command.
        guard commands.contains("done") else { return commands }
        return [commands.joined(separator: "\n")]
    }
}

/// How a documented command is run in a test.
enum CommandTrial {
    /// It ends by itself with this status.
    case ends(Int32 = 0)
    /// It prints a text to standard error, and ends well at SIGINT.
    case runs(until: String)
    /// It prints a line, and is ended.
    case prints(String)
    /// Another test or script runs it, which has this text in it.
    case elsewhere(file: String, containing: String)
    /// It needs what no test has: another program, or the rights of a machine's administrator.
    case never(String)

    /// Returns the first rule that fits a command; `nil` if there is none.
    static func of(_ command: DocumentedCommand) -> CommandTrial? {
        Self.rules.first { command.text.hasPrefix($0.0) }?.1
    }

    /// On several machines.
    private static let cluster = CommandTrial.elsewhere(file: "scripts/cluster-lab", containing: "def ten_commands")

    /// By the beginnings of commands, the more special ones first.
    private static let rules: [(String, CommandTrial)] = [
        ("./scripts/test", .elsewhere(file: ".ci/run", containing: "scripts/test")),
        ("./scripts/run symbols", .ends()),
        ("./scripts/run --once", .ends()),
        ("./scripts/run --format json", .prints("{")),
        ("./scripts/run --from venue", .runs(until: "refuses connections")),
        ("./scripts/run", .runs(until: "waiting")),
        ("export FINNHUB_TOKEN", .ends()),
        (
            "curl --unix-socket",
            .elsewhere(file: "Tests/TickertapeTests/Program/RelayServiceProgramTests.swift", containing: "unix-socket")
        ),
        (
            "curl --cacert",
            .elsewhere(file: "Tests/TickertapeTests/Program/RelayTLSProgramTests.swift", containing: "health")
        ),
        ("curl -H \"Authorization", .ends()),
        ("curl", .ends()),
        ("(echo", .prints("")),
        ("websocat", .prints("{")),
        ("exec 3<>/dev/tcp", .prints("")),
        ("nc ", .elsewhere(file: "Tests/RelayTests/Rooms/RoomLineTests.swift", containing: "iam:")),
        ("docker", .never("an engine of containers; the image is built without one by the project's tools")),
        ("kit/kit.py", .elsewhere(file: "scripts/clients", containing: "kit")),
        ("scripts/build", .elsewhere(file: "scripts/run", containing: "scripts/build")),
        ("Benchmarks/compared.py", .never("minutes of measuring, and other programs")),
        ("scripts/lease-simulation", .elsewhere(file: "scripts/proof", containing: "lease-simulation")),
        ("swift run -c release Schedules", .elsewhere(file: "scripts/proof", containing: "Schedules")),
        ("swift build", .elsewhere(file: "scripts/build", containing: "swift build")),
        (".build/release/Schedules", .elsewhere(file: "scripts/proof", containing: "Schedules")),
        ("duckdb", .never("DuckDB, which Debian does not have")),
        ("python3 -c", .ends()),
        ("(umask 077; openssl rand -hex 24 > ~", .ends()),
        ("(umask 077", .never("the rights of an administrator: /etc")),
        ("scripts/package", .never("a release, which takes minutes; scripts/package-lab tries what it makes")),
        ("sudo ", .never("the rights of an administrator")),
        ("tar -xf", .never("a release's archive; scripts/package-lab tries it")),
        ("tickertape-*/", .never("a release's archive; scripts/package-lab tries it")),
        ("cp docs/monitoring", .never("the rights of an administrator")),
        ("promtool", .elsewhere(file: "scripts/monitoring-lab", containing: "promtool")),
        ("journalctl", .never("a running systemd")),
        ("systemd-sysusers", .never("the rights of an administrator")),
        ("install ", .never("the rights of an administrator; the package does the same")),
        ("systemctl", .never("a running systemd")),
        ("ssh c ", Self.cluster), ("umask 077; for role in", Self.cluster), ("sed 's/\\(.*\\):", Self.cluster),
        ("for m in a", Self.cluster),
        (
            "tickertape doctor",
            .elsewhere(file: "Tests/TickertapeTests/Program/DoctorProgramTests.swift", containing: "doctor")
        ),
        (
            "tickertape status",
            .elsewhere(file: "Tests/TickertapeTests/Program/StatusProgramTests.swift", containing: "status")
        ),
        (
            "tickertape cluster",
            .elsewhere(file: "Tests/TickertapeTests/Program/ClusterProgramTests.swift", containing: "cluster")
        ),
        ("tickertape cert --out /etc", .never("the rights of an administrator: /etc; cert has its own tests")),
        ("tickertape history prune", .ends()),
        ("tickertape history", .ends()),
        ("tickertape export", .ends()),
        ("tickertape watch --format json", .prints("BINANCE:BTCUSDT ")),
        ("tickertape record", .runs(until: "recording")),
        ("tickertape audit", .ends()),
        ("tickertape symbols", .ends()),
        ("tickertape news", .ends()),
        ("tickertape replay btc.jsonl --hash", .ends()),
        ("tickertape replay", .runs(until: "the relay is on")),
        ("tickertape serve", .runs(until: "Ctrl-C stops")),
        ("FINNHUB_TOKEN=any tickertape symbols", .ends()),
        ("FINNHUB_TOKEN=anything tickertape", .runs(until: "waiting")),
        ("tickertape --symbol BINANCE:BTCUSDT@venue", .runs(until: "refuses connections")),
        ("tickertape --from venue", .runs(until: "refuses connections")),
        ("tickertape", .runs(until: "waiting")),
    ]
}
