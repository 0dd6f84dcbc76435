import Terminal
import Testing
@testable import Tickertape

@Suite("The columns of the table in the settings")
struct DisplayColumnSettingsTests {
    private let folder = ScratchFolder()

    @Test("are known names, each once; an unknown one is refused with all of them")
    func columns() throws {
        var flags = GivenFlags()
        flags.configFile = self.folder.file("config.yaml", "display: {columns: [Symbol, price, symbol, percent]}")
        let settings = try Settings.load(flags: flags, environment: [:]).settings
        #expect(settings.screen.look.columns == [.symbol, .price, .percent])
        #expect(Setting.displayColumns.write(settings) == "[symbol, price, percent]")
        flags.configFile = self.folder.file("config.yaml", "display: {columns: [symbol, prise]}")
        let error = #expect(throws: OperatorError.self) { try Settings.load(flags: flags, environment: [:]) }
        let words = error?.message ?? ""
        #expect(words.contains("did you mean price?") && words.contains("chart, high, low"), "\(words)")
    }
}
