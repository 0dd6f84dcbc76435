/// What a key can do at the screen, outside a line that is being typed.
package enum KeyAction: String, Sendable, Hashable, CaseIterable {
    case help, quit
    case add, remove
    case up, down, first, last
    case pageUp = "page-up"
    case pageDown = "page-down"
    case open, back
    case sort, reverse, span, freeze
    case latency, events, news
    case alert, alerts
    case reconnect, redraw
    case pause
    case rewind, forward
    case stepBack = "step-back"
    case step
    case stepSecondBack = "step-second-back"
    case stepSecond = "step-second"
    case slower, faster
    case goTo = "go-to"

    /// The keys where the settings name no others.
    var keys: [TerminalKey] {
        switch self {
        case .help: [.character("?")]
        case .quit: [.character("q"), .character("Q")]
        case .add: [.character("+")]
        case .remove: [.character("-"), .named(.delete)]
        case .up: [.named(.up), .character("k")]
        case .down: [.named(.down), .character("j")]
        case .first: [.named(.home)]
        case .last: [.named(.end)]
        case .pageUp: [.named(.pageUp)]
        case .pageDown: [.named(.pageDown)]
        case .open: [.named(.enter)]
        case .back: [.named(.escape)]
        case .sort: [.character("s")]
        case .reverse: [.character("S")]
        case .span: [.character("t")]
        case .freeze: [.character("p")]
        case .latency: [.character("l"), .character("L")]
        case .events: [.character("e")]
        case .news: [.character("n")]
        case .alert: [.character("a")]
        case .alerts: [.character("A")]
        case .reconnect: [.character("r")]
        case .redraw: [.control("l")]
        case .pause: [.character(" ")]
        case .rewind: [.named(.left), .character("h")]
        case .forward: [.named(.right)]
        case .stepBack: [.character(","), .shifted(.left)]
        case .step: [.character("."), .shifted(.right)]
        case .stepSecondBack: [.character("<")]
        case .stepSecond: [.character(">")]
        case .slower: [.character("[")]
        case .faster: [.character("]")]
        case .goTo: [.character("g")]
        }
    }

    /// What it does, for the help on the screen; 26 characters at most, so that the help fits 80 columns uncut.
    package var meaning: String {
        switch self {
        case .help: "this help"
        case .quit: "quit"
        case .add: "add a symbol"
        case .remove: "remove the symbol or alert"
        case .up: "the one above; scroll"
        case .down: "the one below; scroll"
        case .first: "the first"
        case .last: "the last"
        case .pageUp: "a page up"
        case .pageDown: "a page down"
        case .open: "open the symbol"
        case .back: "back"
        case .sort: "sort by the next column"
        case .reverse: "sort the other way round"
        case .span: "time span of charts"
        case .freeze: "freeze, or go on"
        case .latency: "latency"
        case .events: "event log"
        case .news: "news"
        case .alert: "set an alert"
        case .alerts: "list of alerts"
        case .reconnect: "reconnect now"
        case .redraw: "draw everything anew"
        case .pause: "pause, or go on"
        case .rewind: "10 s back"
        case .forward: "10 s on"
        case .stepBack: "one message back"
        case .step: "one message on"
        case .stepSecondBack: "a second back"
        case .stepSecond: "a second on"
        case .slower: "slower"
        case .faster: "faster"
        case .goTo: "go to a time, 50% or gap"
        }
    }

    /// Whether it is for replays only.
    package var isForReplays: Bool {
        switch self {
        case .pause, .rewind, .forward, .stepBack, .step, .stepSecondBack, .stepSecond, .slower, .faster, .goTo: true
        case .help, .quit, .add, .remove, .up, .down, .first, .last, .pageUp, .pageDown, .open, .back, .sort, .reverse,
            .span, .freeze, .latency, .events, .news, .alert, .alerts, .reconnect, .redraw:
            false
        }
    }
}
