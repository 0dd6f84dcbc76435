import Terminal

/// A source of a screen's symbols.
protocol ScreenSymbolSource: Sendable {
    /// Subscribes to a symbol. Returns `nil`, or the reason for a refusal in one line.
    func add(_ symbol: String) async -> String?
    /// Unsubscribes from a symbol.
    func remove(_ symbol: String) async
}

/// The watchlist of a screen, which applies additions and removals in order.
actor ScreenSymbols {
    private var symbols: [ChosenSymbol]
    /// The symbols that the person has added; the settings do not remove them.
    private var personal: Set<String> = []
    private let source: any ScreenSymbolSource
    private let display: PriceDisplay
    private let watchlist: WatchlistFile?
    /// The symbols that exist, if they are known: those of a recording.
    private let recorded: Set<String>?
    private let material: String
    private let choose: @Sendable (ChosenSymbol) -> String?

    /// - Parameter choose: notes the feed of a symbol; returns `nil`, or the reason for a refusal in one line.
    init(
        symbols: [String],
        source: any ScreenSymbolSource,
        choose: @escaping @Sendable (ChosenSymbol) -> String? = { _ in nil },
        display: PriceDisplay,
        watchlist: WatchlistFile? = nil,
        recorded: Set<String>? = nil,
        material: String = "the recording"
    ) {
        self.symbols = symbols.map { ChosenSymbol($0) }
        self.choose = choose
        self.source = source
        self.display = display
        self.watchlist = watchlist
        self.recorded = recorded
        self.material = material
    }

    /// Adds a symbol. Returns `nil`, or the reason for a refusal in one line.
    func add(_ text: String) async -> String? {
        let chosen: ChosenSymbol
        do throws(ParseError) {
            chosen = ChosenSymbol(try Syntax<String>.symbol.read(text))
        } catch {
            return error.echoes ? "\(text) \(error.reason)" : "this \(error.reason)"
        }
        let symbol = chosen.name
        if self.symbols.contains(where: { $0.name == symbol && $0.feed != chosen.feed && chosen.feed != nil }) {
            return "\(symbol) is here already; remove it first to take it from another feed"
        }
        if let recorded, !recorded.contains(symbol) { return self.missing(symbol, from: recorded) }
        let refusal = await self.follow(chosen)
        if refusal == nil { self.personal.insert(symbol) }
        return refusal
    }

    /// Adds a symbol that the settings name. Returns `nil`, or the reason for a refusal in one line.
    func follow(_ chosen: ChosenSymbol) async -> String? {
        let symbol = chosen.name
        if let refusal = self.choose(chosen) { return refusal }
        // The symbol's state may arrive before the answer.
        self.display.symbolAwaited(symbol)
        if let problem = await self.source.add(symbol) {
            self.display.symbolDenied(symbol)
            return problem
        }
        if !self.symbols.contains(where: { $0.name == symbol }) { self.symbols.append(chosen) }
        self.display.symbolAdded(symbol)
        self.keep()
        return nil
    }

    /// Removes a symbol. Returns `nil`, or the reason for a refusal in one line.
    func remove(_ symbol: String) async -> String? {
        self.personal.remove(symbol)
        await self.leave(symbol)
        return nil
    }

    /// Removes a symbol that the settings no longer name, unless the person has added it.
    func unfollow(_ symbol: String) async {
        if !self.personal.contains(symbol) { await self.leave(symbol) }
    }

    private func leave(_ symbol: String) async {
        self.symbols.removeAll { $0.name == symbol }
        self.display.symbolRemoved(symbol)
        await self.source.remove(symbol)
        self.keep()
    }

    private func keep() {
        // An empty list is not stored; the next start then uses the settings.
        guard let watchlist, !self.symbols.isEmpty else { return }
        watchlist.keep(self.symbols.map(\.text)) { [display] in display.notice("warning: \($0)") }
    }

    private func missing(_ symbol: String, from recorded: Set<String>) -> String {
        let names = recorded.sorted()
        let more = names.count > 5 ? " and \(names.count - 5) more" : ""
        return "\(self.material) has no \(symbol); it has \(names.prefix(5).joined(separator: ", "))\(more)"
    }
}
