import Market

/// The watchlist of the screen across restarts, as a ``StateFile``.
///
/// The file also holds the settings' list from which it was made. If the settings have another list now, the file is
/// ignored. With `--symbol` there is no file, since those symbols are meant for one run.
struct WatchlistFile: Sendable {
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

    private let file: StateFile
    /// The symbols of the settings.
    private let base: [String]

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
        guard
            let file = StateFile(
                "watchlist",
                in: path,
                limit: Self.largestFile,
                loss: "the watchlist is not kept",
                warn: warn
            )
        else { return nil }
        self.file = file
        self.base = settings.finnhub.symbols
    }

    /// Returns the symbols to start with: the file's if it was made from the settings' list, else the settings'.
    func load() -> [String] {
        guard let contents = self.file.load({ Contents(text: $0) }), contents.base == self.base else {
            return self.base
        }
        return contents.symbols
    }

    /// Stores the symbols of the screen in place of those that are not written yet; never blocks.
    ///
    /// - Parameter failed: receives one line about a failure, on another thread.
    func keep(_ symbols: [String], failed: @escaping @Sendable (String) -> Void) {
        let contents = Contents(base: self.base, symbols: symbols)
        self.file.keep(failed: failed) { contents.text }
    }

    /// Waits until everything is written, for at most 500 ms.
    func settle() async { await self.file.settle(within: .milliseconds(500)) }

    /// Writes the symbols of the screen. Returns `nil`, or the reason for a failure in one line. Blocks on the disk.
    func save(_ symbols: [String]) -> String? {
        self.file.write(Contents(base: self.base, symbols: symbols).text)
    }
}
