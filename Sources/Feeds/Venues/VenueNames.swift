import Market
package import Wire

/// The names of a venue's symbols, according to its own list.
package struct VenueNames: Sendable, Equatable {
    package let venue: Venue
    /// The name on the WebSocket for each of the tape's names.
    private let names: [String: String]
    /// The tape's names that are listed and not traded now.
    private let halted: Set<String>
    /// The tape's name without marks for each, and the tape's names that are traded now, for suggestions.
    private let plain: [String: String]
    private let traded: [String]

    package init(_ venue: Venue, _ listings: [VenueListing]) {
        self.venue = venue
        self.names = Dictionary(listings.map { ($0.symbol, $0.name) }) { first, _ in first }
        var plain: [String: String] = [:]
        for listing in listings {
            plain[Self.plain(listing.symbol)] = listing.symbol
            plain[Self.plain("\(venue.prefix)\(listing.name)")] = listing.symbol
        }
        self.plain = plain
        self.halted = Set(listings.filter { !$0.isTrading }.map(\.symbol))
        self.traded = listings.filter(\.isTrading).map(\.symbol)
    }

    /// Returns the name on the WebSocket; `nil` for a symbol that the venue does not list.
    package func name(of symbol: String) -> String? { self.names[symbol] }

    /// Returns the words about a symbol that the venue lists and does not trade now; `nil` for others. A venue under
    /// repair says so of all its symbols.
    package func halt(of symbol: String) -> String? {
        self.halted.contains(symbol) ? "\(self.venue.name) lists it as halted" : nil
    }

    /// Returns the words about a symbol that the venue does not list; `nil` for one that it lists.
    ///
    /// - Parameter suggests: whether the most similar name is looked for, which takes about a millisecond.
    package func fault(of symbol: String, suggests: Bool = true) -> String? {
        guard self.names[symbol] == nil else { return nil }
        let meant = self.plain[Self.plain(symbol)] ?? (suggests ? symbol.uppercased().nearest(in: self.traded) : nil)
        let cure =
            meant.map { "did you mean \($0)?" } ?? "write it as \(self.venue.name) does, such as \(self.venue.example)"
        return "\(self.venue.name) lists no such symbol: \(cure)"
    }

    /// A name without the marks between its parts and without the case of its letters.
    private static func plain(_ symbol: String) -> String {
        symbol.uppercased().filter { $0 != "-" && $0 != "/" && $0 != "_" }
    }
}
