import Market

/// What the person at the screen has chosen, apart from what the feed brings.
///
/// The keys change it, ``DisplayView`` draws it.
struct DisplayChoice: Sendable, Equatable {
    /// The selected symbol of a table; `nil`: the first.
    var selected: String?
    /// The symbol that is open as if it were the only one.
    var opened: String?
    var order = DisplayOrder.watchlist
    var isReversed = false
    /// The span of the chart and of the sparklines.
    var span = ChartSpan.session
    /// When the view was frozen; the feed runs on.
    var frozenSince: Moment?
    var pane: DisplayPane?
    /// What the last line says of the keys, longest first.
    var hints = ["? help   q quits", "? help"]
}

/// What a table is sorted by.
enum DisplayOrder: String, Sendable, Equatable, CaseIterable {
    /// As the symbols were named.
    case watchlist
    case symbol
    case price
    case change
    case volume
    case rate
    case age
}

/// How far back a chart reaches.
enum ChartSpan: Sendable, Equatable, CaseIterable {
    case session
    case minute
    case fiveMinutes
    case hour
}

/// A pane over or beside the prices; one at a time.
enum DisplayPane: Sendable, Equatable {
    /// A list from so many entries on; of alerts, the one that is selected.
    case list(DisplayList, at: Int)
    case prompt(DisplayPrompt)
}

/// What a pane lists.
enum DisplayList: Sendable, Equatable {
    /// Each key as it is bound, with what it does.
    case help([KeyHelp])
    case latency
    /// What befell the feed (``DisplayState/events``).
    case events
    /// Headlines (``DisplayState/news``).
    case news
    /// The alerts that are set (``DisplayState/alerts``).
    case alerts

    /// What opens the pane, and closes it.
    var action: KeyAction {
        switch self {
        case .help: .help
        case .latency: .latency
        case .events: .events
        case .news: .news
        case .alerts: .alerts
        }
    }
}

/// One line of the help.
struct KeyHelp: Sendable, Equatable {
    /// The keys as a person reads them: `q`, `Ctrl-C`, `↑`.
    var keys: String
    var meaning: String
}

/// A line that is being typed, with what fits it.
package struct DisplayPrompt: Sendable, Equatable {
    package struct Suggestion: Sendable, Equatable {
        package var text: String
        /// What it is, in a few words.
        package var note: String

        package init(text: String, note: String) {
            self.text = text
            self.note = note
        }
    }

    /// What is asked for: `add a symbol`.
    var title: String
    var text: String
    /// The caret, in characters from the start.
    var caret: Int
    var suggestions: [Suggestion] = []
    var chosen: Int?
    /// An error or a hint, with the cure.
    var message: String?

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
    /// Whether it is bad news.
    var isTrouble: Bool
}

/// One headline.
package struct DisplayHeadline: Sendable, Equatable {
    /// Wall clock, ns since 1970.
    package var time: Int64
    package var source: String
    package var text: String

    package init(time: Int64, source: String, text: String) {
        self.time = time
        self.source = source
        self.text = text
    }
}

/// What the news pane shows.
package enum DisplayNews: Sendable, Equatable {
    case notAsked
    case asking
    case headlines([DisplayHeadline])
    /// One line that names the cure.
    case failed(String)
}
