import Feeds
import Market
import Platform
import Recordings

/// The symbols that a person added and removed at the screen, kept for the next start as a file in the state directory.
///
/// What the settings name wins: the file says from which list it was made, and where the settings name another one by now,
/// it counts no more. With `--symbol` there is none, for whoever names symbols at the start means these and for this time.
struct WatchlistFile: Sendable {
    static let fileName = "watchlist"
    /// More than the most symbols need, in bytes.
    static let largestFile = 256 << 10
    /// As many as ``Setting/symbols`` may have.
    static let maximumSymbols = 1_000

    /// What stands in the file.
    struct Contents: Equatable {
        private static let heading = "tickertape watchlist 1"

        /// What the settings named.
        var base: [String]
        /// What was on the screen last.
        var symbols: [String]

        init(base: [String], symbols: [String]) {
            self.base = base
            self.symbols = symbols
        }

        /// One symbol a line: names have blanks, and no line ends.
        var text: String {
            let lines = [Self.heading] + self.base.map { "base \($0)" } + self.symbols.map { "symbol \($0)" }
            return lines.joined(separator: "\n") + "\n"
        }

        /// Reads a file; `nil` where any of it is not as it was written.
        init?(text: String) {
            var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            guard lines.popLast() == "", lines.first == Self.heading[...] else { return nil }
            self.init(base: [], symbols: [])
            for line in lines.dropFirst() {
                let parts = line.split(separator: " ", maxSplits: 1)
                guard parts.count == 2, let symbol = try? Syntax<String>.symbol.read(String(parts[1])) else {
                    return nil
                }
                switch parts[0] {
                case "base": self.base.append(symbol)
                case "symbol": self.symbols.append(symbol)
                default: return nil
                }
            }
            let counts = 1...WatchlistFile.maximumSymbols
            guard counts.contains(self.symbols.count), counts.contains(self.base.count),
                Set(self.symbols).count == self.symbols.count
            else { return nil }
        }
    }

    private let folder: PrivateFolder
    /// What the settings name.
    private let base: [String]
    private let warn: @Sendable (String) -> Void
    private let disk = WorkQueue("watchlist")

    /// - Parameter warn: is told in one line what does not work.
    /// - Returns: `nil` where nothing is to be kept, or nothing can be.
    init?(
        _ settings: Settings,
        environment: ProcessEnvironment = .current,
        warn: @escaping @Sendable (String) -> Void
    ) {
        guard settings.display.keepsWatchlist else { return nil }
        if case .flag = settings.origin(of: .symbols) { return nil }
        // Where the system names no folder, the file of the attempts warns of it.
        guard let path = settings.state.directory.path(orAuto: environment.stateFolder) else { return nil }
        do throws(PrivateFolder.Failure) {
            self.folder = try PrivateFolder(path)
        } catch {
            warn("the watchlist is not kept: \(error.reason) (state.directory)")
            return nil
        }
        self.base = settings.finnhub.symbols
        self.warn = warn
    }

    /// The symbols to begin with: those of the file where it was made from what the settings name, else the latter.
    func load() -> [String] {
        let reason: String
        do throws(PrivateFolder.Failure) {
            guard let text = try self.folder.read(Self.fileName, limit: Self.largestFile) else { return self.base }
            if let contents = Contents(text: text) {
                return contents.base == self.base ? contents.symbols : self.base
            }
            reason = "it is damaged or of another version"
        } catch {
            reason = error.reason
        }
        self.warn("\(self.folder.path)/\(Self.fileName) cannot be used and is replaced at the next change: \(reason)")
        return self.base
    }

    /// Keeps what is on the screen, behind what was kept before; never waits.
    ///
    /// - Parameter failed: is told in one line why not, from another thread.
    func keep(_ symbols: [String], failed: @escaping @Sendable (String) -> Void) {
        self.disk.submit { if let problem = self.save(symbols) { failed(problem) } }
    }

    /// Waits until all that was kept is in the file, for as long as a stop waits for a small file.
    func settle() async { _ = await self.disk.answer(within: .milliseconds(500)) {} }

    /// Keeps what is on the screen; returns why not, in one line, or `nil`. Waits for the disk.
    func save(_ symbols: [String]) -> String? {
        do throws(PrivateFolder.Failure) {
            try self.folder.replace(Self.fileName, with: Contents(base: self.base, symbols: symbols).text)
            return nil
        } catch {
            return
                "\(self.folder.path)/\(Self.fileName) cannot be written, so the watchlist is not kept: \(error.reason)"
        }
    }
}
