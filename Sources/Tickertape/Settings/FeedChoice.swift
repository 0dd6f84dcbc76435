import Feeds
import Wire

/// The kind of feed that a symbol's trades come from.
package enum SymbolFeed: String, Sendable, CaseIterable {
    /// Finnhub, with a key.
    case finnhub
    /// The exchange itself, without a key.
    case venue
}

/// The kind of feed for the symbols that name none.
package enum FeedChoice: String, Sendable, CaseIterable {
    /// Finnhub where there is a key, otherwise the bundled recording.
    case auto
    case finnhub
    case venue
}

/// A symbol as a person writes it: `BINANCE:BTCUSDT`, or `BINANCE:BTCUSDT@venue` with the kind of its feed.
package struct ChosenSymbol: Sendable, Equatable {
    /// The symbol's name on the tape.
    package var name: String
    /// The symbol without the kind of its feed, as it is written: `KRAKEN:BTC/USD`.
    package var written: String
    /// The kind of feed that the text names; `nil` where it names none.
    package var feed: SymbolFeed?

    /// The symbol as ``init(_:)`` reads it.
    var text: String { self.feed.map { "\(self.written)@\($0.rawValue)" } ?? self.written }

    /// Reads a text. An unknown word behind the last `@` is a part of the name.
    package init(_ text: String) {
        self.name = text
        self.written = text
        if let at = text.lastIndex(of: "@"), at > text.startIndex,
            let feed = SymbolFeed(rawValue: String(text[text.index(after: at)...]))
        {
            self.written = String(text[..<at])
            self.feed = feed
        }
        let written = self.written
        self.name = Venue(of: written)?.tapeName(of: written) ?? written
    }
}

extension Settings {
    /// Whether a program with these settings follows the market, and not the bundled recording.
    var hasLiveFeed: Bool {
        self.cluster.role != .alone || self.token != nil || self.from != .auto
            || self.finnhub.symbols.contains { ChosenSymbol($0).feed == .venue }
    }

    /// The names of the chosen symbols on the tape, in display order.
    package var symbolNames: [String] {
        var names: [String] = []
        for text in self.finnhub.symbols {
            let name = ChosenSymbol(text).name
            if !names.contains(name) { names.append(name) }
        }
        return names
    }

    /// Refuses a symbol that is chosen from both kinds of feed.
    func refuseDoubleSymbols() throws(OperatorError) {
        var feeds: [String: SymbolFeed] = [:]
        for text in self.finnhub.symbols {
            let chosen = ChosenSymbol(text)
            let feed = chosen.feed ?? (self.from == .venue ? .venue : .finnhub)
            if let other = feeds[chosen.name], other != feed {
                throw OperatorError(
                    "symbols has \(chosen.name) from two feeds; leave one of them out",
                    status: .configuration
                )
            }
            feeds[chosen.name] = feed
        }
    }
}
