import Testing
@testable import Market
@testable import Terminal

@Suite("Which keys do what")
struct KeyBindingsTests {
    @Test("Every action has a different key, and no key with a fixed meaning")
    func defaults() {
        let bindings = KeyBindings()
        #expect(bindings.conflict == nil)
        for action in KeyAction.allCases {
            #expect(!bindings[action].isEmpty && bindings[action].count <= KeyBindings.maximumKeys)
            for key in bindings[action] {
                #expect(TerminalKey.fixed[key] == nil)
                #expect(bindings.action(of: key) == action)
            }
        }
    }

    @Test("Every key is read as it is written")
    func words() throws {
        var keys: [TerminalKey] = KeyAction.allCases.flatMap(\.keys)
        keys += TerminalKey.Name.allCases.flatMap { [.named($0), .shifted($0)] }
        keys += ["é", "\\", "#", " ", ","] + (1...12).map { .function($0) } + [.control("a"), .control("]")]
        for key in keys { #expect(try TerminalKey(key.word) == key, "\(key.word)") }
        #expect(try TerminalKey("ESC") == .named(.escape))
        #expect(try TerminalKey("Ctrl-X") == .control("x"))
        let upper = "Q"
        #expect(try TerminalKey(upper) == "Q")
    }

    @Test(
        "An invalid key is refused with a hint",
        arguments: [
            "", "qq", "ctrl-", "ctrl-ab", "ctrl-1", "shift-q", "f13", "f0", "\u{1B}", "\n", "pageup", "escape-",
            "ctrl-é",
        ]
    )
    func misspelt(text: String) {
        let misspelling = #expect(throws: TerminalKey.Misspelling.self) { try TerminalKey(text) }
        #expect(misspelling?.reason.contains("write one character") == true)
    }

    @Test("Keys that a terminal cannot distinguish, and keys with a fixed meaning, are refused with the reason")
    func impossible() {
        for (text, words) in [
            ("ctrl-m", "write enter"), ("ctrl-i", "write tab"), ("ctrl-h", "write backspace"), ("ctrl-[", "write esc"),
            ("ctrl-c", "always quits"), ("ctrl-z", "always stops"), ("ctrl-\\", "core dump"),
        ] {
            let misspelling = #expect(throws: TerminalKey.Misspelling.self) { try TerminalKey(text) }
            #expect(misspelling?.reason.contains(words) == true, "\(text)")
        }
    }

    @Test("Two actions on one key are found")
    func conflict() {
        var bindings = KeyBindings()
        bindings[.quit] = ["s"]
        #expect(bindings.conflict == KeyBindings.Conflict(key: "s", actions: [.quit, .sort]))
        bindings[.sort] = []
        #expect(bindings.conflict == nil)
        #expect(bindings.action(of: "s") == .quit && bindings.action(of: "q") == nil)
    }

    @Test("The help has the keys as they are, those for replays only in a replay, and always a way out")
    func help() {
        var bindings = KeyBindings()
        bindings[.quit] = []
        bindings[.latency] = []
        let help = bindings.help(isReplay: false)
        #expect(help.contains(KeyHelp(keys: "Ctrl-C", meaning: "quit")))
        #expect(help.contains(KeyHelp(keys: "↑ k", meaning: "the one above; scroll")))
        #expect(!help.contains { $0.meaning == "latency" || $0.meaning == "slower" })
        let replay = bindings.help(isReplay: true, glyphs: .ascii)
        #expect(replay.contains(KeyHelp(keys: "Space", meaning: "pause the replay")))
        #expect(replay.contains(KeyHelp(keys: ", Shift-Left", meaning: "one message back")))
        #expect(replay.allSatisfy { $0.keys.unicodeScalars.allSatisfy(\.isASCII) })
    }
}
