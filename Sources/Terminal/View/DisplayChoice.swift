import Market

/// The user's choices at the screen, separate from the feed's data.
///
/// Keys change it, and ``DisplayView`` draws it.
struct DisplayChoice: Sendable, Equatable {
    /// The selected symbol of a table; `nil` for the first.
    var selected: String?
    /// The symbol whose card is open.
    var opened: String?
    /// The groups of symbols, in the order of their tabs.
    var groups: [SymbolGroup] = []
    /// The index of the group whose tab is open; `nil` for all symbols.
    var openGroup: Int?
    var order = DisplayOrder.watchlist
    var isReversed = false
    /// The order of the table of all symbols while a group is open.
    var sortOfAll = TableSort()
    /// Whether amounts of money are hidden.
    var hidesAmounts = false
    /// The time range of the chart and of the sparklines.
    var span = ChartSpan.session
    /// The form of the large chart.
    var form = ChartForm.area
    /// The moment at which the view was frozen; the feed continues.
    var frozenSince: Moment?
    var pane: DisplayPane?
    /// The key hints in the last line, longest first.
    var hints = ["? help   q quits", "? help"]
    /// The line that names the key from the demo to the live market, longest first; empty outside a demo.
    var liveHints: [String] = []

    /// The text that the listed symbols contain; `nil` if all are listed.
    var narrowing: String? {
        guard case .prompt(let prompt) = self.pane, prompt.narrows else { return nil }
        return prompt.text.trimmedOfBlanks
    }
}

extension DisplayChoice {
    /// The group whose tab is open; `nil` for all symbols.
    var group: SymbolGroup? { self.openGroup.map { self.groups[$0] } }

    /// Opens the tab of a group, or that of all symbols; each keeps its own order.
    mutating func open(group: Int?) {
        let left = TableSort(order: self.order, isReversed: self.isReversed)
        if let openGroup { self.groups[openGroup].sort = left } else { self.sortOfAll = left }
        self.openGroup = group
        let sort = self.group?.sort ?? self.sortOfAll
        (self.order, self.isReversed) = (sort.order, sort.isReversed)
        self.opened = nil
    }
}

/// The sort order of a table.
package enum DisplayOrder: String, Sendable, Equatable, CaseIterable {
    /// The order of the watchlist, or of the group.
    case watchlist
    case symbol
    case price
    case change
    case volume
    case rate
    case age
    /// The value of the holdings, and the profit on them.
    case value
    case profit

    /// Whether the order is one of holdings.
    var isOfHoldings: Bool { self == .value || self == .profit }
}

/// The time range of a chart.
enum ChartSpan: Sendable, Equatable, CaseIterable {
    case session
    case minute
    case fiveMinutes
    case hour
    case day
}

/// The form of a chart's prices.
enum ChartForm: Sendable, Equatable, CaseIterable {
    case area
    case candles
}

/// A pane over or beside the prices; at most one is open.
enum DisplayPane: Sendable, Equatable {
    /// A list and its first visible entry; for alerts, the selected entry.
    case list(DisplayList, at: Int)
    case prompt(DisplayPrompt)
}

/// The contents of a list pane.
enum DisplayList: Sendable, Equatable {
    /// Each key and its action.
    case help([KeyHelp])
    case latency
    /// The feed's events (``DisplayState/events``).
    case events
    /// Headlines (``DisplayState/news``).
    case news
    /// The alerts that are set (``DisplayState/alerts``).
    case alerts
    /// The messages in the room of this name (``DisplayState/room``); its position counts from the newest.
    case room(String)
}

/// One line of the help.
struct KeyHelp: Sendable, Equatable {
    /// The labels of the keys: `q`, `Ctrl-C`, `↑`.
    var keys: String
    var meaning: String
}

/// A line being typed, with its suggestions.
package struct DisplayPrompt: Sendable, Equatable {
    package struct Suggestion: Sendable, Equatable {
        package var text: String
        /// A short description.
        package var note: String

        package init(text: String, note: String) {
            self.text = text
            self.note = note
        }
    }

    /// The request: `add a symbol`.
    var title: String
    var text: String
    /// The caret, in characters from the start.
    var caret: Int
    var suggestions: [Suggestion] = []
    var chosen: Int?
    /// An error or a hint that says what to do.
    var message: String?
    /// The room that stays open above the line, to which the line belongs.
    var room: String?
    /// Whether the table lists only the symbols that contain the text.
    var narrows = false

    init(title: String, text: String = "", message: String? = nil) {
        self.title = title
        self.text = text
        self.caret = text.count
        self.message = message
    }
}

/// One entry of the event log.
struct DisplayEvent: Sendable, Equatable {
    /// Wall clock, ns since 1970.
    var time: Int64
    var text: String
    /// Whether it reports a problem.
    var isTrouble: Bool
}

/// One headline.
package struct DisplayHeadline: Sendable, Equatable {
    /// Wall clock, ns since 1970.
    package var time: Int64
    package var source: String
    package var text: String
    /// The article's address; empty if it has none.
    package var url: String

    package init(time: Int64, source: String, text: String, url: String = "") {
        self.url = url
        self.time = time
        self.source = source
        self.text = text
    }
}

/// The contents of the news pane.
package enum DisplayNews: Sendable, Equatable {
    case notAsked
    case asking
    case headlines([DisplayHeadline])
    /// One line that says what to do.
    case failed(String)
}
