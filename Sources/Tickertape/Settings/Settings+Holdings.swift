package import Market
import Relay
package import Terminal

extension Settings {
    /// What the person holds.
    package struct HoldingChoice: Sendable, Equatable {
        /// The lots, with their symbols as written.
        package var lots: [Lot] = []
        /// The currency in which all of them are shown; `nil` leaves each in its own.
        package var currency: String?
        /// The symbols whose prices convert currencies, as written.
        package var rates: [CurrencyRate] = []
        package var clients = Clients.auto

        /// Whether the relay's clients, such as the page, see the lots.
        package enum Clients: String, Sendable, CaseIterable {
            /// If the relay listens to this machine only.
            case auto
            case always, never
        }
    }

    /// The groups and the time zone for the relay's page, and the holdings if its clients may see them.
    var relayHoldings: RelayHoldings {
        let isShown =
            switch self.holdings.clients {
            case .auto: self.relay.listen?.isLoopback ?? true
            case .always: true
            case .never: false
            }
        return RelayHoldings(
            holdings: isShown ? self.namedHoldings : Holdings(),
            groups: self.namedGroups.map { group in
                RelayHoldings.Group(
                    name: group.name,
                    symbols: group.symbols,
                    order: group.sort.order.rawValue,
                    isReversed: group.sort.isReversed
                )
            },
            isHidden: self.screen.hidesAmounts,
            timeZone: self.screen.timeZone.name
        )
    }

    /// The holdings with the symbols' names on the tape.
    package var namedHoldings: Holdings {
        Holdings(
            lots: self.holdings.lots.map { lot in
                var lot = lot
                lot.symbol = ChosenSymbol(lot.symbol).name
                return lot
            },
            rates: self.holdings.rates.map { rate in
                var rate = rate
                rate.symbol = ChosenSymbol(rate.symbol).name
                return rate
            },
            currency: self.holdings.currency
        )
    }

    /// The groups with the symbols' names on the tape.
    package var namedGroups: [SymbolGroup] {
        self.screen.groups.map { group in
            var group = group
            group.symbols = group.symbols.map { ChosenSymbol($0).name }
            return group
        }
    }

    /// Adds the symbols of groups, holdings and rates to those that are followed, unless symbols are chosen on the
    /// command line. They replace the default one.
    mutating func followHoldings() {
        let symbols = self.origin(of: .symbols)
        if case .flag = symbols { return }
        let sources: [(setting: Setting, symbols: [String])] = [
            (.groups, self.screen.groups.flatMap(\.symbols)), (.lots, self.holdings.lots.map(\.symbol)),
            (.rates, self.holdings.rates.map(\.symbol)),
        ]
        guard let first = sources.first(where: { !$0.symbols.isEmpty }) else { return }
        if symbols == .builtIn {
            self.finnhub.symbols = []
            self.origins[Setting.symbols.key] = self.origin(of: first.setting)
        }
        for symbol in sources.flatMap(\.symbols) {
            let name = ChosenSymbol(symbol).name
            if !self.finnhub.symbols.contains(where: { ChosenSymbol($0).name == name }) {
                self.finnhub.symbols.append(symbol)
            }
        }
    }

    /// Refuses holdings that cannot be added up as the settings ask, and groups with the same name.
    func refuseUnusableHoldings() throws(OperatorError) {
        var currencies: [String: String] = [:]
        let holdings = self.namedHoldings
        for lot in holdings.lots {
            if let other = currencies.updateValue(lot.currency, forKey: lot.symbol), other != lot.currency {
                throw OperatorError(
                    "holdings.lots has \(lot.symbol) in \(other) and in \(lot.currency); its price has one currency",
                    status: .configuration
                )
            }
            if let shown = holdings.currency, shown != lot.currency, holdings.rate(from: lot.currency) == nil {
                throw OperatorError(
                    "holdings.currency is \(shown), and no rate converts \(lot.currency) to it; add one to holdings.rates, "
                        + "like \"BINANCE:EURUSDT EUR/USDT\"",
                    status: .configuration
                )
            }
        }
        var names: Set<String> = []
        for group in self.screen.groups where !names.insert(group.name).inserted {
            throw OperatorError("groups has \(group.name) twice; give one another name", status: .configuration)
        }
    }
}

/// The words of a setting's text. A symbol with blanks stands in double quotes.
struct SettingWords {
    private var words: [String] = []

    init(_ text: String) throws(ParseError) {
        for (index, part) in text.split(separator: "\"", omittingEmptySubsequences: false).enumerated() {
            if index % 2 == 1 {
                self.words.append(String(part))
            } else {
                self.words += part.split(whereSeparator: \.isWhitespace).map(String.init)
            }
        }
        guard text.filter({ $0 == "\"" }).count % 2 == 0 else {
            throw ParseError("has a quotation mark without its pair")
        }
    }

    var count: Int { self.words.count }

    subscript(place: Int) -> String { self.words[place] }

    func dropping(_ count: Int) -> [String] { Array(self.words.dropFirst(count)) }

    /// Returns a word as it is read.
    static func written(_ word: String) -> String { word.contains(where: \.isWhitespace) ? "\"\(word)\"" : word }
}

extension Syntax<String> {
    /// The short name of a currency.
    static var currency: Syntax {
        Syntax(
            read: { text throws(ParseError) in
                guard (2...12).contains(text.utf8.count), text.utf8.allSatisfy(\.isLetterOrDigit) else {
                    throw ParseError("is not a currency; write it like EUR or USDT")
                }
                return text.uppercased()
            },
            write: { $0 }
        )
    }
}

extension UInt8 {
    /// Whether this is an ASCII letter or digit.
    fileprivate var isLetterOrDigit: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: false
        }
    }
}

extension Syntax<Lot> {
    /// `SYMBOL QUANTITY at COST CURRENCY`.
    static var lot: Syntax {
        Syntax(
            read: { text throws(ParseError) in
                let usage = ParseError("is not a lot; write it like \"BINANCE:BTCUSDT 0.25 at 61000.50 USDT\"")
                let words = try SettingWords(text)
                guard words.count == 5, words[2].lowercased() == "at" else { throw usage }
                let symbol = try Syntax<String>.symbol.read(words[0])
                guard let quantity = ExactDecimal(words[1]), let cost = ExactDecimal(words[3]) else { throw usage }
                guard !quantity.isZero else { throw ParseError("holds nothing; leave it out") }
                guard cost >= .zero else { throw ParseError("has a negative cost; a sold lot has a negative quantity") }
                let currency = try Syntax<String>.currency.read(words[4])
                return Lot(symbol: symbol, quantity: quantity, cost: cost, currency: currency)
            },
            write: { "\(SettingWords.written($0.symbol)) \($0.quantity) at \($0.cost) \($0.currency)" }
        )
    }
}

extension Syntax<CurrencyRate> {
    /// `SYMBOL BASE/QUOTE`.
    static var currencyRate: Syntax {
        Syntax(
            read: { text throws(ParseError) in
                let usage = ParseError(
                    "is not a rate; write it like \"BINANCE:EURUSDT EUR/USDT\", whose price is that of 1 EUR in USDT"
                )
                let words = try SettingWords(text)
                guard words.count == 2 else { throw usage }
                let pair = words[1].split(separator: "/", omittingEmptySubsequences: false)
                guard pair.count == 2 else { throw usage }
                let symbol = try Syntax<String>.symbol.read(words[0])
                let base = try Syntax<String>.currency.read(String(pair[0]))
                let quote = try Syntax<String>.currency.read(String(pair[1]))
                guard base != quote else { throw usage }
                return CurrencyRate(symbol: symbol, base: base, quote: quote)
            },
            write: { "\(SettingWords.written($0.symbol)) \($0.base)/\($0.quote)" }
        )
    }
}

extension Syntax<SymbolGroup> {
    /// The longest name, in characters: tabs are narrow.
    private static let longestName = 20

    /// `NAME = SYMBOL SYMBOL … by ORDER reversed`.
    static var symbolGroup: Syntax {
        Syntax(
            read: { text throws(ParseError) in
                let usage = ParseError(
                    "is not a group; write it like \"Majors = BINANCE:BTCUSDT BINANCE:ETHUSDT by change\""
                )
                let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard parts.count == 2 else { throw usage }
                let name = parts[0].trimmingBlanks()
                guard !name.isEmpty, name.count <= Self.longestName, SymbolName.isValid(name) else {
                    throw ParseError("needs a name of at most \(Self.longestName) printable characters before the =")
                }
                let words = try SettingWords(String(parts[1]))
                var symbols = words.dropping(0)
                var sort = TableSort()
                if let by = symbols.lastIndex(where: { $0.lowercased() == "by" }) {
                    sort = try Self.sort(symbols[(by + 1)...])
                    symbols.removeSubrange(by...)
                }
                guard !symbols.isEmpty else { throw usage }
                for symbol in symbols { _ = try Syntax<String>.symbol.read(symbol) }
                return SymbolGroup(name: name, symbols: symbols, sort: sort)
            },
            write: { group in
                let symbols = group.symbols.map(SettingWords.written).joined(separator: " ")
                let by = group.sort == TableSort() ? "" : " by \(group.sort.order.rawValue)"
                return "\(group.name) = \(symbols)\(by)\(group.sort.isReversed ? " reversed" : "")"
            }
        )
    }

    private static func sort(_ words: ArraySlice<String>) throws(ParseError) -> TableSort {
        let orders = DisplayOrder.allCases.map(\.rawValue).joined(separator: ", ")
        guard let word = words.first, let order = DisplayOrder(rawValue: word.lowercased()),
            words.count == 1 || (words.count == 2 && words.last?.lowercased() == "reversed")
        else { throw ParseError("has an unknown order; after \"by\" stands one of \(orders), and reversed") }
        return TableSort(order: order, isReversed: words.count == 2)
    }
}
