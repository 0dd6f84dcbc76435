import Feeds
import Market
import Platform
import Recordings

/// The watchlist of the screen, stored for the next start in the state directory.
///
/// The file also holds the settings' list from which it was made. If the settings have another list now, the file is
/// ignored. With `--symbol` there is no file, since those symbols are meant for one run.
struct WatchlistFile: Sendable {
    static let fileName = "watchlist"
    /// More than the largest watchlist needs, in bytes.
    static let largestFile = 256 << 10
    /// The limit of ``Setting/symbols``.
    static let maximumSymbols = 1_000

    /// The contents of the file.
    struct Contents: Equatable {
        private static let heading = "tickertape watchlist 1"

        /// The symbols of the settings.
        var base: [String]
        /// The last symbols of the screen.
        var symbols: [String]

        init(base: [String], symbols: [String]) {
            self.base = base
            self.symbols = symbols
        }

        /// The file's text, with one symbol per line. Names may have blanks, but no line ends.
        var text: String {
            let lines = [Self.heading] + self.base.map { "base \($0)" } + self.symbols.map { "symbol \($0)" }
            return lines.joined(separator: "\n") + "\n"
        }

        /// Parses a file; `nil` if any part of it is invalid.
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
    /// The symbols of the settings.
    private let base: [String]
    private let warn: @Sendable (String) -> Void
    private let disk = WorkQueue("watchlist")

    /// - Parameter warn: receives one line about a problem.
    /// - Returns: `nil` when the watchlist is not stored, or cannot be.
    init?(
        _ settings: Settings,
        environment: ProcessEnvironment = .current,
        warn: @escaping @Sendable (String) -> Void
    ) {
        guard settings.display.keepsWatchlist else { return nil }
        if case .flag = settings.origin(of: .symbols) { return nil }
        // If the system defines no folder, ``KeyStorage`` warns of it.
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

    /// Returns the symbols to start with: the file's if it was made from the settings' list, else the settings'.
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

    /// Stores the symbols of the screen after earlier calls have finished; never blocks.
    ///
    /// - Parameter failed: receives one line about a failure, on another thread.
    func keep(_ symbols: [String], failed: @escaping @Sendable (String) -> Void) {
        self.disk.submit { if let problem = self.save(symbols) { failed(problem) } }
    }

    /// Waits until everything is written, for at most 500 ms.
    func settle() async { _ = await self.disk.answer(within: .milliseconds(500)) {} }

    /// Writes the symbols of the screen. Returns `nil`, or the reason for a failure in one line. Blocks on the disk.
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
