import Feeds
import Glibc
import NIOConcurrencyHelpers
import Testing
import TickertapeTesting
@testable import Tickertape

@Suite("The watchlist that is kept")
struct WatchlistFileTests {
    private let folder = ScratchFolder()
    private let warnings = NIOLockedValueBox<[String]>([])

    private func settings(_ symbols: [String] = ["X:A"], origin: Origin = .builtIn) -> Settings {
        var settings = Settings()
        settings.finnhub.symbols = symbols
        settings.origins["symbols"] = origin
        settings.state.directory = .path(self.folder.folder("state"))
        return settings
    }

    private func list(_ settings: Settings) -> WatchlistFile? {
        WatchlistFile(settings) { [warnings] text in warnings.withLockedValue { $0.append(text) } }
    }

    private func write(_ text: String) {
        _ = self.folder.folder("state")
        _ = self.folder.file("state/watchlist", text)
    }

    private var warned: [String] { self.warnings.withLockedValue { $0 } }

    @Test("is restored as it was left, without removed symbols, from a file that only this user can read")
    func keeps() throws {
        defer { unlink("\(self.folder.path)/state/watchlist") }
        let list = try #require(self.list(self.settings()))
        #expect(list.load() == ["X:A"])
        #expect(list.save(["X:B", "IC MARKETS:1"]) == nil)
        var facts = stat()
        #expect(stat("\(self.folder.path)/state/watchlist", &facts) == 0 && facts.st_mode & 0o777 == 0o600)
        #expect(self.list(self.settings())?.load() == ["X:B", "IC MARKETS:1"])
        #expect(self.warned == [])
    }

    @Test("counts no more where the settings name other symbols than those it was made from")
    func settingsWin() throws {
        defer { unlink("\(self.folder.path)/state/watchlist") }
        #expect(self.list(self.settings())?.save(["X:B"]) == nil)
        #expect(self.list(self.settings(["X:C"], origin: .file("/c.yaml")))?.load() == ["X:C"])
        // The file is valid again once the settings have the same list, from any origin.
        #expect(self.list(self.settings(["X:A"], origin: .file("/c.yaml")))?.load() == ["X:B"])
    }

    @Test("is not used with symbols on the command line, when it is disabled, or without a state folder")
    func none() {
        #expect(self.list(self.settings(origin: .flag("--symbol"))) == nil)
        var settings = self.settings()
        settings.display.keepsWatchlist = false
        #expect(self.list(settings) == nil)
        settings = self.settings()
        settings.state.directory = .off
        #expect(self.list(settings) == nil)
        #expect(self.warned == [])
    }

    @Test(
        "a file with invalid contents is reported and ignored",
        arguments: [
            "", "\n", "nonsense\n", "tickertape watchlist 2\nbase X:A\nsymbol X:B\n", "tickertape watchlist 1\n",
            "tickertape watchlist 1\nbase X:A\n", "tickertape watchlist 1\nbase X:A\nsymbol X:B",
            "tickertape watchlist 1\nbase X:A\nsymbol X:B\nsymbol X:B\n",
            "tickertape watchlist 1\nbase X:A\nsymbol \n", "tickertape watchlist 1\nbase X:A\nother X:B\n",
            "tickertape watchlist 1\nbase X:A\nsymbol X\u{1B}[2J\n",
            "tickertape watchlist 1\r\nbase X:A\r\nsymbol X:B\r\n",
            "tickertape watchlist 1\nbase X:A\nsymbol " + String(repeating: "X", count: 65) + "\n",
            "tickertape watchlist 1\nbase X:A\nsymbol abcdefghij0123456789\n",
            "tickertape watchlist 1\nbase X:A\n" + (0...1_000).map { "symbol X:\($0)\n" }.joined(),
            String(repeating: "x", count: 300 << 10), "\u{0}",
        ]
    )
    func damaged(text: String) {
        self.write(text)
        #expect(self.list(self.settings())?.load() == ["X:A"])
        #expect(self.warned.count == 1)
        #expect(self.warned.first?.contains("/watchlist cannot be used") == true)
        #expect(self.warned.first?.contains("abcdefghij") != true)
        unlink("\(self.folder.path)/state/watchlist")
    }

    @Test("a failed read or write is reported in one line, and the program continues")
    func obstacles() throws {
        let path = self.folder.folder("state")
        let target = self.folder.file("elsewhere", "tickertape watchlist 1\nbase X:A\nsymbol X:B\n")
        #expect(symlink(target, "\(path)/watchlist") == 0)
        #expect(self.list(self.settings())?.load() == ["X:A"])
        #expect(self.warned.count == 1)
        unlink("\(path)/watchlist")
        #expect(mkdir("\(path)/watchlist", 0o700) == 0)
        let list = try #require(self.list(self.settings()))
        #expect(list.load() == ["X:A"])
        #expect(list.save(["X:B"])?.contains("so the watchlist is not kept") == true)
        rmdir("\(path)/watchlist")
        // A folder that others can write to is not trusted.
        chmod(path, 0o777)
        #expect(self.list(self.settings()) == nil)
        #expect(self.warned.last?.contains("others can write") == true)
        chmod(path, 0o700)
    }
}
