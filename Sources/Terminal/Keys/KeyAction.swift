/// An action of a key at the screen, outside a prompt.
package enum KeyAction: String, Sendable, Hashable, CaseIterable {
    case help, quit
    case add, remove, find
    case up, down, first, last
    case pageUp = "page-up"
    case pageDown = "page-down"
    case open, back
    case sort, reverse, span, candles, freeze
    case nextGroup = "next-group"
    case previousGroup = "previous-group"
    case amounts
    case latency, events, news, room
    case alert, alerts
    case reconnect, live, redraw, mouse
    case pause
    case rewind, forward
    case stepBack = "step-back"
    case step
    case stepSecondBack = "step-second-back"
    case stepSecond = "step-second"
    case slower, faster
    case goTo = "go-to"

    /// The default keys and the meaning of an action.
    ///
    /// The meaning appears in the help on the screen. It has at most 24 characters, so that two columns fit 80.
    private var facts: (keys: [TerminalKey], meaning: String) {
        switch self {
        case .help: ([.character("?")], "this help")
        case .quit: ([.character("q"), .character("Q")], "quit")
        case .add: ([.character("+")], "add a symbol")
        case .remove: ([.character("-"), .named(.delete)], "remove symbol or alert")
        case .find: ([.character("/")], "find a symbol")
        case .up: ([.named(.up), .character("k")], "the one above; scroll")
        case .down: ([.named(.down), .character("j")], "the one below; scroll")
        case .first: ([.named(.home)], "the first")
        case .last: ([.named(.end)], "the last")
        case .pageUp: ([.named(.pageUp)], "a page up")
        case .pageDown: ([.named(.pageDown)], "a page down")
        case .open: ([.named(.enter)], "open the symbol")
        case .back: ([.named(.escape)], "back")
        case .sort: ([.character("s")], "sort by the next column")
        case .reverse: ([.character("S")], "sort the other way round")
        case .span: ([.character("t")], "time span of charts")
        case .candles: ([.character("c")], "chart: area or candles")
        case .freeze: ([.character("p")], "freeze the screen")
        case .nextGroup: ([.named(.tab)], "the next group")
        case .previousGroup: ([.shifted(.tab)], "the group before")
        case .amounts: ([.character("$")], "hide or show holdings")
        case .latency: ([.character("l"), .character("L")], "latency")
        case .events: ([.character("e")], "event log")
        case .news: ([.character("n")], "news")
        case .room: ([.character("m")], "room of the symbol")
        case .alert: ([.character("a")], "set an alert")
        case .alerts: ([.character("A")], "list of alerts")
        case .reconnect: ([.character("r")], "reconnect now")
        case .live: ([.character("v")], "the live market, no key")
        case .redraw: ([.control("l")], "draw everything anew")
        case .mouse: ([.character("M")], "mouse on, or off")
        case .pause: ([.character(" ")], "pause the replay")
        case .rewind: ([.named(.left), .character("h")], "10 s back")
        case .forward: ([.named(.right)], "10 s on")
        case .stepBack: ([.character(","), .shifted(.left)], "one message back")
        case .step: ([.character("."), .shifted(.right)], "one message on")
        case .stepSecondBack: ([.character("<")], "a second back")
        case .stepSecond: ([.character(">")], "a second on")
        case .slower: ([.character("[")], "slower")
        case .faster: ([.character("]")], "faster")
        case .goTo: ([.character("g")], "go to a time, 50% or gap")
        }
    }

    /// The default keys.
    var keys: [TerminalKey] { self.facts.keys }

    /// The action's text in the help on the screen.
    package var meaning: String { self.facts.meaning }

    /// Whether the action is available in replays only.
    package var isForReplays: Bool { Self.forReplays.contains(self) }

    private static let forReplays: Set<KeyAction> = [
        .pause, .rewind, .forward, .stepBack, .step, .stepSecondBack, .stepSecond, .slower, .faster, .goTo,
    ]
}

extension DisplayList {
    /// The action that opens and closes the pane.
    var action: KeyAction {
        switch self {
        case .help: .help
        case .latency: .latency
        case .events: .events
        case .news: .news
        case .alerts: .alerts
        case .room: .room
        }
    }
}
