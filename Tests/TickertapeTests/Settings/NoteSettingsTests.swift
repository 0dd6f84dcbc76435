import Terminal
import Testing
@testable import Tickertape

@Suite("Notes in the settings")
struct NoteSettingsTests {
    private let folder = ScratchFolder()

    private func load(_ yaml: String) throws -> Settings {
        var flags = GivenFlags()
        flags.configFile = self.folder.file("config.yaml", yaml)
        return try Settings.load(flags: flags, environment: [:]).settings
    }

    @Test("are read, and written as they are read; of two about one symbol the first counts")
    func read() throws {
        let settings = try self.load(
            """
            notes:
              - BINANCE:BTCUSDT Violet  the   long one
              - '"IC MARKETS:1" grey'
              - BINANCE:BTCUSDT@venue none another
            """
        )
        #expect(settings.screen.notes.count == 3)
        #expect(settings.screen.notes[0] == SymbolNote(symbol: "BINANCE:BTCUSDT", tint: .violet, text: "the long one"))
        #expect(settings.namedNotes["BINANCE:BTCUSDT"]?.text == "the long one")
        #expect(settings.namedNotes["IC MARKETS:1"]?.tint == .grey && settings.namedNotes.count == 2)
        let texts = Setting.symbolNotes.write(settings).dropFirst().dropLast().split(separator: ", ").map(String.init)
        var again = settings
        try Setting.symbolNotes.read(&again, texts)
        #expect(again.screen.notes == settings.screen.notes)
    }

    @Test(
        "that are wrong are refused with the cure",
        arguments: [
            ("A:B", "write it like"), ("A:B red mine", "violet, magenta, grey"), ("A:B none", "write it like"),
            ("A:B violet \(String(repeating: "x", count: 81))", "81 characters"),
            ("A:B violet a\u{1B}[31mb", "cannot be printed"), ("A:B violet a\u{202E}b", "cannot be printed"),
            ("A:B violet \"x", "quotation mark"),
        ]
    )
    func wrong(_ note: String, _ words: String) {
        var settings = Settings()
        let error = #expect(throws: ParseError.self) { try Setting.symbolNotes.read(&settings, [note]) }
        #expect(error?.reason.contains(words) == true, "\(error?.reason ?? "")")
    }
}
