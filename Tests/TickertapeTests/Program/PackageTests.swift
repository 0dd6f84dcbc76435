import ArgumentParser
import Foundation
import Testing
import TickertapeTesting
@testable import Tickertape

/// What the packages are made of, as far as it can be seen without making them (`scripts/package-lab` installs one).
@Suite("The packages", .timeLimit(.minutes(5 * Patience.factor)))
struct PackageTests {
    private static let python = "/usr/bin/python3"

    private func text(_ path: String) throws -> String {
        try TemporaryFolder.text(of: "\(RunningProgram.sources)/\(path)")
    }

    private func environment(_ variables: [String: String]) -> ProcessEnvironment {
        ProcessEnvironment(variable: { variables[$0] }, userID: 42, processID: 99, parentID: 7, hasTerminal: false)
    }

    /// Returns the whole names of all commands, joined by hyphens as the names of manual pages are.
    private static func names(of command: any ParsableCommand.Type, above: String = "") -> [String] {
        let name = above + (command.configuration.commandName ?? "?")
        return [name] + command.configuration.subcommands.flatMap { Self.names(of: $0, above: "\(name)-") }
    }

    @Test("have a manual page for each command, and one for all settings")
    func manual() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let script = try RunningProgram(
            Self.python,
            ["\(RunningProgram.sources)/scripts/manual", RunningProgram.tickertape, folder.path],
            environment: ["SOURCE_DATE_EPOCH": "1790000000"]
        )
        #expect(await script.ending() == .exit(0), "\(script.errors)")
        let names = Self.names(of: TickertapeCommand.self)
        #expect(names.count > 20)
        let pages = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(Set(pages) == Set(names.map { "\($0).1" } + ["tickertape.yaml.5"]))
        for name in names {
            let page = try folder.read("\(name).1")
            #expect(page.contains(".Dd September 21, 2026\n.Dt \(name.uppercased()) 1\n"), "\(name)")
            #expect(page.contains("\n.Sh SYNOPSIS\n.Nm tickertape"), "\(name)")
            #expect(page.contains("\n.Sh SEE ALSO\n"), "\(name)")
        }
        let settings = try folder.read("tickertape.yaml.5")
        for setting in Setting.all {
            let name = setting.key.replacing("-", with: "\\-")
            #expect(settings.contains("\n.It Cm \"\(name):\""), "\(setting.key)")
        }
    }

    @Test("find the bundled recording beside the program, above the build, and in the folders for data")
    func recordingPlaces() {
        let places = BundledRecording.places(
            programFolder: "/opt/t/bin",
            environment: self.environment(["HOME": "/home/a"])
        )
        #expect(
            places == [
                "/opt/t/bin/../share/tickertape/demo.jsonl", "/opt/t/bin/share/tickertape/demo.jsonl",
                "/opt/t/bin/../../../Sources/Tickertape/Resources/demo.jsonl",
                "/home/a/.local/share/tickertape/demo.jsonl", "/usr/local/share/tickertape/demo.jsonl",
                "/usr/share/tickertape/demo.jsonl",
            ]
        )
        #expect(
            BundledRecording.places(programFolder: nil, environment: self.environment(["XDG_DATA_DIRS": "/d"]))
                == ["/d/tickertape/demo.jsonl"]
        )
    }

    @Test("play the demo through a symbolic link to the program")
    func demoThroughLink() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let link = "\(folder.path)/ticker"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: RunningProgram.tickertape)
        let program = try RunningProgram(
            link,
            ["--demo", "--relay", "off", "--once", "--fields", "symbol,price", "--format", "plain"]
        )
        #expect(await program.ending() == .exit(0), "\(program.errors)")
        #expect(program.output.hasPrefix("BINANCE:"), "\(program.output)")
    }

    @Test("name a license for each package that is linked, and no other")
    func licenses() throws {
        struct Workspace: Decodable {
            struct Object: Decodable { var dependencies: [Dependency] }
            struct Dependency: Decodable { var packageRef: Package }
            struct Package: Decodable { var identity: String }
            var object: Object
        }
        let state = Data(try self.text(".build/workspace-state.json").utf8)
        let built = try JSONDecoder().decode(Workspace.self, from: state).object.dependencies.map(\.packageRef.identity)
        let script = try self.text("scripts/components")
        let rest = try #require(script.split(separator: "PACKAGES = {").dropFirst().first)
        let table = try #require(rest.split(separator: "\n}").first)
        let named = table.split(separator: "\n").compactMap { line in
            line.split(separator: "\"").dropFirst().first.map(String.init)
        }
        #expect(Set(named) == Set(built))
    }

    @Test("have a version that Semantic Versioning knows, and notes in the changelog")
    func version() async throws {
        #expect(tickertapeVersion.wholeMatch(of: /\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?/) != nil)
        let script = try RunningProgram("\(RunningProgram.sources)/scripts/release", ["--notes"])
        #expect(await script.ending() == .exit(0), "\(script.errors)")
        #expect(script.output.contains("\n- "))
        #expect(!script.output.contains("\n## "))
    }

    @Test("make completions for each shell")
    func completions() async throws {
        for shell in ["bash", "zsh", "fish"] {
            let program = try RunningProgram(RunningProgram.tickertape, ["--generate-completion-script", shell])
            #expect(await program.ending() == .exit(0), "\(program.errors)")
            #expect(program.output.contains("replay"), "\(shell)")
        }
    }
}
