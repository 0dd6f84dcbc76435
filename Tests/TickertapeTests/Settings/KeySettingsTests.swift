import Terminal
import Testing
@testable import Tickertape

@Suite("The keys in the settings")
struct KeySettingsTests {
    private let folder = ScratchFolder()

    private func load(_ yaml: String, environment: [String: String] = [:]) throws -> Settings {
        var flags = GivenFlags()
        flags.configFile = self.folder.file("config.yaml", yaml)
        return try Settings.load(flags: flags, environment: environment).settings
    }

    private func message(_ yaml: String) -> String {
        let error = #expect(throws: OperatorError.self) { try self.load(yaml) }
        #expect(error?.status == .configuration)
        return error?.message ?? ""
    }

    @Test("each action has a setting, and the defaults are written as they are read")
    func all() throws {
        for action in KeyAction.allCases {
            let setting = try #require(Setting.named("keys.\(action.rawValue)"))
            var settings = Settings()
            settings.keys[action] = []
            try setting.read(&settings, KeyBindings()[action].map(\.word))
            #expect(settings == Settings())
        }
    }

    @Test("keys are characters or names, one or several, or none")
    func forms() throws {
        let keys = try self.load(
            "keys:\n  quit: [q, ctrl-q, f10]\n  help: '?'\n  pause: space\n  step-back: comma\n  latency: []\n  redraw: f5"
        ).keys
        #expect(keys[.quit] == [.character("q"), .control("q"), .function(10)])
        #expect(keys[.help] == [.character("?")] && keys[.pause] == [.character(" ")])
        #expect(keys[.stepBack] == [.character(",")])
        #expect(keys[.latency] == [] && keys[.redraw] == [.function(5)])
        let environment = try self.load(
            "",
            environment: ["TICKERTAPE_KEYS_GO_TO": "g,ctrl-g,comma", "TICKERTAPE_KEYS_STEP_BACK": "b"]
        )
        #expect(environment.keys[.goTo] == [.character("g"), .control("g"), .character(",")])
    }

    @Test("one key for two actions is an error that names both, with a hint")
    func shared() {
        let message = self.message("keys:\n  quit: [s]")
        #expect(message.contains("keys.quit (from ") && message.contains("keys.sort (default)"))
        #expect(message.hasSuffix("both have the key s: give one of them another, or none with []"))
    }

    @Test("invalid keys, and keys that cannot be bound, are refused with a hint")
    func misspelt() {
        #expect(self.message("keys:\n  quit: [pageup]").contains("page-up, page-down"))
        #expect(self.message("keys:\n  quit: ctrl-m").contains("is the same as enter to a terminal; write enter"))
        #expect(self.message("keys:\n  sort: ctrl-c").contains("always quits; choose another key"))
        #expect(self.message("keys:\n  quti: q").contains("did you mean keys.quit?"))
        #expect(self.message("keys:\n  quit: [a, b, c, d, f, i, m, o, u]").contains("0 to 8"))
    }
}
