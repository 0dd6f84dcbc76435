import ArgumentParser
import Testing

@testable import Tickertape

@Suite("Wishes for the output that contradict each other")
struct DisplayContradictionTests {
    private func load(_ arguments: [String], environment: [String: String] = [:]) throws -> Settings {
        let options = try DisplayOptions.parse(arguments)
        var flags = GivenFlags()
        options.add(to: &flags)
        let own = ["XDG_CONFIG_HOME": "/nonexistent", "HOME": "/nonexistent"]
        return try Settings.load(flags: flags, environment: own.merging(environment) { $1 }).settings
    }

    @Test(
        "are refused in one line that names both and the cure",
        arguments: [
            (
                ["--once", "--quiet"],
                "display.once (true, from --once) cannot be obeyed with display.quiet (true, from --quiet)", "leave one"
            ),
            (
                ["--once", "--format", "tui"], "display.once (true, from --once) cannot be obeyed with display.format",
                "plain, json"
            ),
            (
                ["--quiet", "--format", "json"], "display.format (json, from --format) cannot be obeyed with",
                "leave one"
            ),
            (
                ["--fields", "price", "--format", "tui"], "display.fields ([price], from --fields) cannot be",
                "--format plain"
            ),
            (
                ["--once-within", "5s"],
                "display.once-within (5s, from --once-within) is of no use with display.once (false", "add --once"
            ),
        ]
    )
    func refused(arguments: [String], beginning: String, cure: String) {
        let error = #expect(throws: OperatorError.self) { try self.load(arguments) }
        let message = error?.message ?? ""
        #expect(message.hasPrefix(beginning) && message.contains("; ") && message.contains(cure), "\(message)")
        #expect(!message.contains("\n") && error?.status == .usage)
    }

    @Test("are no contradiction where the command line says otherwise than a file or a variable")
    func overruled() throws {
        let quiet = try self.load(["--quiet"], environment: ["TICKERTAPE_DISPLAY_FORMAT": "json"])
        #expect(quiet.display.isQuiet)
        let once = try self.load(["--once"], environment: ["TICKERTAPE_DISPLAY_FORMAT": "tui"])
        #expect(once.display.isOnce)
        // Both at once are one all the same, wherever they come from: nothing could be printed.
        let error = #expect(throws: OperatorError.self) {
            try self.load(["--once"], environment: ["TICKERTAPE_DISPLAY_QUIET": "true"])
        }
        #expect(error?.status == .usage)
    }
}
