import ArgumentParser
import Terminal
import Testing
@testable import Tickertape

@Suite("Output settings that contradict each other")
struct DisplayContradictionTests {
    private func load(_ arguments: [String], environment: [String: String] = [:]) throws -> Settings {
        let options = try DisplayOptions.parse(arguments)
        var flags = GivenFlags()
        options.add(to: &flags)
        let own = ["XDG_CONFIG_HOME": "/nonexistent", "HOME": "/nonexistent"]
        return try Settings.load(flags: flags, environment: own.merging(environment) { $1 }).settings
    }

    @Test(
        "are refused in one line that names both, with a hint",
        arguments: [
            (
                ["--once", "--quiet"],
                "display.once (true, from --once) cannot be combined with display.quiet (true, from --quiet)",
                "leave one"
            ),
            (
                ["--once", "--format", "tui"],
                "display.once (true, from --once) cannot be combined with display.format",
                "plain, json"
            ),
            (
                ["--quiet", "--format", "json"], "display.format (json, from --format) cannot be combined with",
                "leave one"
            ),
            (
                ["--fields", "price", "--format", "tui"], "display.fields ([price], from --fields) cannot be",
                "--format plain"
            ),
            (
                ["--fields", "price", "--format", "waybar"],
                "display.fields ([price], from --fields) cannot be combined with display.format (waybar, from --format)",
                "--format plain"
            ),
            (
                ["--rotate", "5s", "--format", "json"],
                "display.rotate (5s, from --rotate) has no effect with display.format (json, from --format)",
                "--format oneline"
            ),
            (
                ["--once-within", "5s"],
                "display.once-within (5s, from --once-within) has no effect with display.once (false", "add --once"
            ),
        ]
    )
    func refused(arguments: [String], beginning: String, hint: String) {
        let error = #expect(throws: OperatorError.self) { try self.load(arguments) }
        let message = error?.message ?? ""
        #expect(message.hasPrefix(beginning) && message.contains("; ") && message.contains(hint), "\(message)")
        #expect(!message.contains("\n") && error?.status == .usage)
    }

    @Test("are refused where a terminal gets a screen by itself, and a bar by a file, and a flag asks for fields")
    func fields() throws {
        let settings = try self.load(["--fields", "price"])
        #expect(DisplayService.format(settings, outputIsTerminal: true, term: "xterm") == .tui)
        let error = #expect(throws: OperatorError.self) { try settings.refuseFields(of: .tui) }
        #expect(error?.status == .usage && error?.message.contains("--format plain, json or csv") == true)
        #expect(DisplayService.format(settings, outputIsTerminal: false, term: "xterm") == .plain)
        try settings.refuseFields(of: .plain)
        #expect(throws: OperatorError.self) {
            try self.load(["--fields", "price"], environment: ["TICKERTAPE_DISPLAY_FORMAT": "oneline"])
        }
        // Fields in a config file apply to the outputs that have fields.
        let file = try self.load([], environment: ["TICKERTAPE_DISPLAY_FIELDS": "price"])
        try file.refuseFields(of: .tui)
    }

    @Test("lead to one output, and --once never to a screen")
    func once() throws {
        let once = try self.load(["--once"])
        #expect(DisplayService.format(once, outputIsTerminal: true, term: "xterm") == .plain)
        let quiet = try self.load(["--quiet"])
        #expect(DisplayService.format(quiet, outputIsTerminal: true, term: "xterm") == nil)
        #expect(DisplayService.format(try self.load([]), outputIsTerminal: true, term: "dumb") == .plain)
    }

    @Test("are no contradiction if the command line overrides a file or a variable")
    func overruled() throws {
        let quiet = try self.load(["--quiet"], environment: ["TICKERTAPE_DISPLAY_FORMAT": "json"])
        #expect(quiet.display.isQuiet)
        let once = try self.load(["--once"], environment: ["TICKERTAPE_DISPLAY_FORMAT": "tui"])
        #expect(once.display.isOnce)
        // Both together are an error even from different origins, since nothing could be printed.
        let error = #expect(throws: OperatorError.self) {
            try self.load(["--once"], environment: ["TICKERTAPE_DISPLAY_QUIET": "true"])
        }
        #expect(error?.status == .usage)
    }
}
