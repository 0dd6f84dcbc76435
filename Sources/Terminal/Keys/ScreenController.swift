import Market

/// The state machine of the screen's user interface: it turns keys into a choice of the view and into commands.
///
/// The loop that reads the terminal calls it, draws ``choice`` with the state from ``shown(_:now:)``, and executes the
/// commands. Times are arguments; `now` has both clocks.
struct ScreenController: Sendable {
    /// The distance of the rewind and forward keys in a replay, ns.
    static let leap: Int64 = 10_000_000_000
    /// The distance of the keys that step by time, ns.
    static let second: Int64 = 1_000_000_000
    /// The age of headlines after which opening the pane loads them again, ns.
    static let newsLast: Int64 = 60_000_000_000

    var choice = DisplayChoice() {
        didSet {
            let symbol = self.choice.opened ?? self.choice.selected
            guard let symbol, symbol != oldValue.opened ?? oldValue.selected else { return }
            self.remote.symbolChosen(symbol)
        }
    }
    /// The number of lines in a page of a pane or of the table.
    var pageLines = 10
    /// The last scroll position of the help, from the last drawing.
    var helpEnd = Int.max
    let bindings: KeyBindings
    /// Whether the terminal reports the mouse.
    var takesMouse: Bool
    /// Where clicks act on the drawn screen.
    var clickAreas: [ClickArea] = []
    /// The actions of the rest of the program.
    let remote: DisplayRemote
    let glyphs: ScreenGlyphs
    /// The clock of the screen's times, also of typed ones.
    let clock: ScreenClock
    /// The prompt's state, while ``DisplayChoice/pane`` is a prompt.
    var question: ScreenQuestion?
    /// The number of searches, which identifies late answers to older ones.
    var searches = 0
    /// The message to the user, until the next key.
    var notice: DisplayNotice?
    /// The frozen state, while the screen is frozen.
    var frozen: DisplayState?
    var news = DisplayNews.notAsked
    /// The time at which the headlines arrived; monotonic ns.
    private var newsSince: Int64?
    /// The open room, once something is known of it.
    var room: DisplayRoom?
    /// The number of submissions to rooms, which identifies their outcomes.
    var submissions = 0
    /// The person's last name in a room.
    var userName = ""

    init(
        bindings: KeyBindings = KeyBindings(),
        remote: DisplayRemote,
        glyphs: ScreenGlyphs = .unicode,
        clock: ScreenClock = .utc,
        hidesAmounts: Bool = false,
        groups: [SymbolGroup] = [],
        takesMouse: Bool = false
    ) {
        self.bindings = bindings
        self.takesMouse = takesMouse
        self.remote = remote
        self.glyphs = glyphs
        self.clock = clock
        self.choice.hints = Self.hints(bindings, glyphs: glyphs)
        self.choice.hidesAmounts = hidesAmounts
        self.choice.groups = groups
        if remote.live.obstacle == nil { self.choice.liveHints = Self.liveHints(bindings, glyphs: glyphs) }
    }

    /// Returns the line that names the key to the live market, longest first; empty if no key is bound.
    private static func liveHints(_ bindings: KeyBindings, glyphs: ScreenGlyphs) -> [String] {
        guard let key = bindings[.live].first?.label(glyphs: glyphs) else { return [] }
        return [
            "This is the bundled recording, not the market: \(key) shows the live market, which needs no key",
            "a recording: \(key) shows the live market, without a key", "\(key): the live market, no key needed",
            "\(key): live market", "\(key): live",
        ]
    }

    private static func hints(_ bindings: KeyBindings, glyphs: ScreenGlyphs) -> [String] {
        let help = bindings[.help].first.map { "\($0.label(glyphs: glyphs)) help" }
        let quit = "\((bindings[.quit].first ?? .control("c")).label(glyphs: glyphs)) quits"
        return [[help, quit].compactMap(\.self).joined(separator: "   "), help ?? quit]
    }

    // MARK: Keys

    /// Handles input from the terminal; `state` is the newest one.
    mutating func took(_ input: TerminalInput, state: DisplayState, now: Moment) -> [ScreenCommand] {
        let room = self.choice.room
        return self.commands(for: input, state: state, now: now) + self.roomCommands(before: room)
    }

    private mutating func commands(
        for input: TerminalInput,
        state: DisplayState,
        now: Moment
    ) -> [ScreenCommand] {
        switch input {
        // The wait for this answer is over.
        case .answer: return []
        case .pasted(let text):
            // Outside a prompt, pasted text would act as keys that were never pressed.
            return self.question == nil ? [] : self.inserted(text, now: now)
        case .mouse(let mouse): return self.moused(mouse, state: state, now: now)
        case .key(.control("c")): return [.quit]
        case .key(.control("z")): return [.suspend]
        case .key(.control("\\")): return [.abort]
        case .key(let key):
            self.notice = nil
            if self.question != nil { return self.typed(key, state: state, now: now) }
            guard let action = self.bindings.action(of: key) else { return [] }
            return self.pressed(action, state: state, now: now)
        }
    }

    private mutating func pressed(_ action: KeyAction, state: DisplayState, now: Moment) -> [ScreenCommand] {
        let isReplay = self.isReplay(state)
        if action.isForReplays, let obstacle = self.remote.replay.obstacle, !self.walks(action) {
            return self.say(obstacle, now)
        }
        switch action {
        case .quit: return [.quit]
        case .redraw: return [.redraw]
        case .help:
            let help = self.bindings.help(
                isReplay: isReplay,
                isDemo: self.remote.live.obstacle == nil,
                hasGroups: !self.choice.groups.isEmpty,
                glyphs: self.glyphs
            )
            return self.toggle(.help(help + self.mouseHelp))
        case .mouse: return self.toggleMouse(now)
        case .latency: return self.toggle(.latency)
        case .events: return self.toggle(.events)
        case .news: return self.toggleNews(now)
        case .room: return self.toggleRoom(state, now)
        case .alerts: return self.toggle(.alerts)
        case .up: return self.moved(by: -1, state: state, now: now)
        case .down: return self.moved(by: 1, state: state, now: now)
        case .pageUp: return self.moved(by: -self.pageLines, state: state, now: now)
        case .pageDown: return self.moved(by: self.pageLines, state: state, now: now)
        case .first: return self.moved(by: -1_000_000, state: state, now: now)
        case .last: return self.moved(by: 1_000_000, state: state, now: now)
        case .open:
            if self.choice.room != nil { return self.writeToRoom(now) }
            guard self.choice.pane == nil else { return [] }
            let symbols = self.symbols(state, now)
            if symbols.count > 1 { self.choice.opened = self.selected(symbols) }
            return []
        case .back:
            if self.choice.pane != nil {
                self.choice.pane = nil
            } else {
                self.choice.opened = nil
            }
            return []
        case .sort:
            repeat {
                self.choice.order = self.choice.order.next
            } while self.choice.order.isOfHoldings && state.holdings.isEmpty
            self.choice.isReversed = false
            return []
        case .nextGroup: return self.changeGroup(by: 1, now)
        case .previousGroup: return self.changeGroup(by: -1, now)
        case .amounts:
            guard !state.holdings.isEmpty else {
                let words = "no holdings: write them to holdings.lots in the config file, such as"
                return self.say("\(words) BINANCE:BTCUSDT 0.25 at 61000.50 USDT", now)
            }
            self.choice.hidesAmounts.toggle()
            return []
        case .reverse:
            self.choice.isReversed.toggle()
            return []
        case .span:
            self.choice.span = self.choice.span.next
            return []
        case .candles:
            self.choice.form = self.choice.form.next
            return []
        case .freeze:
            self.frozen = self.frozen == nil ? state : nil
            self.choice.frozenSince = self.frozen == nil ? nil : now
            return []
        case .add: return self.ask(.symbol, prefilled: "", now: now)
        case .remove: return self.remove(state, now)
        case .find: return self.find(state, now)
        case .alert:
            let symbol = self.selected(self.symbols(state, now)).map { "\($0) " }
            return self.ask(.alert, prefilled: symbol ?? "", now: now)
        case .goTo: return self.ask(.place, prefilled: "", now: now)
        case .reconnect:
            if let obstacle = self.remote.reconnect.obstacle { return self.say(obstacle, now) }
            return [.reconnect]
        case .live:
            if let obstacle = self.remote.live.obstacle { return self.say(obstacle, now) }
            return [.live]
        case .pause: return [.replay(.togglePause)]
        case .slower: return [.replay(.slower)]
        case .faster: return [.replay(.faster)]
        case .stepBack: return [.replay(.stepMessages(-1))]
        case .step: return [.replay(.stepMessages(1))]
        case .stepSecondBack: return [.replay(.stepTime(-Self.second))]
        case .stepSecond: return [.replay(.stepTime(Self.second))]
        case .rewind: return self.leapt(by: -1, isReplay: isReplay, state: state, now: now)
        case .forward: return self.leapt(by: 1, isReplay: isReplay, state: state, now: now)
        }
    }

    /// Opens the next tab, or the one before; the first one has all symbols.
    private mutating func changeGroup(by tabs: Int, _ now: Moment) -> [ScreenCommand] {
        let count = self.choice.groups.count + 1
        guard count > 1 else {
            return self.say("no groups: write them to groups in the config file, such as Two = X:A X:B", now)
        }
        let tab = ((self.choice.openGroup ?? -1) + 1 + tabs + count) % count
        self.choice.open(group: tab == 0 ? nil : tab - 1)
        return []
    }

    func isReplay(_ state: DisplayState) -> Bool { self.remote.replay.obstacle == nil && state.replay != nil }

    mutating func say(_ text: String, _ now: Moment) -> [ScreenCommand] {
        self.notice = DisplayNotice(text: text, since: now.monotonic)
        return []
    }

    // MARK: Panes

    private mutating func toggle(_ list: DisplayList) -> [ScreenCommand] {
        if case .list(let open, _) = self.choice.pane, open.action == list.action {
            self.choice.pane = nil
        } else {
            self.choice.pane = .list(list, at: 0)
        }
        return []
    }

    private mutating func toggleNews(_ now: Moment) -> [ScreenCommand] {
        if let obstacle = self.remote.news.obstacle { return self.say(obstacle, now) }
        _ = self.toggle(.news)
        guard self.choice.pane != nil, self.news != .asking else { return [] }
        if case .headlines = self.news, let newsSince, now.monotonic - newsSince < Self.newsLast { return [] }
        self.news = .asking
        return [.news]
    }

    /// Moves the selection, or scrolls the open pane.
    mutating func moved(by lines: Int, state: DisplayState, now: Moment) -> [ScreenCommand] {
        switch self.choice.pane {
        case .list(.latency, _), nil: self.select(by: lines, state: state, now: now)
        case .list(let list, var place):
            guard let last = self.last(of: list, state) else { break }
            // The help's end depends on the screen's size, which may have changed.
            if case .help = list { place = min(place, last) }
            // The newest message of a room is its last.
            let on = if case .room = list { -lines } else { lines }
            self.choice.pane = .list(list, at: min(max(place + on, 0), max(last, 0)))
        case .prompt: break
        }
        return []
    }

    /// Returns the last scroll position of a list; `nil` for an empty one.
    private func last(of list: DisplayList, _ state: DisplayState) -> Int? {
        switch list {
        case .help(let keys): return min(self.helpEnd, max(keys.count - 1, 0))
        case .events: return state.events.count - 1
        case .alerts: return state.alerts.count - 1
        case .room: return self.room.map { $0.entries.count - 1 }
        case .news:
            guard case .headlines(let headlines) = self.news else { return nil }
            return headlines.count - 1
        case .latency: return nil
        }
    }

    /// Begins to narrow the table to the symbols that contain a text.
    private mutating func find(_ state: DisplayState, _ now: Moment) -> [ScreenCommand] {
        let symbols = self.symbols(state, now)
        guard symbols.count > 1 else { return self.say("there is no other symbol to find", now) }
        let commands = self.ask(.find, prefilled: "", now: now)
        self.question?.before = (self.choice.selected, self.choice.opened)
        self.choice.selected = self.selected(symbols)
        self.choice.opened = nil
        return commands
    }

    mutating func select(by lines: Int, state: DisplayState, now: Moment) {
        let symbols = self.symbols(state, now)
        guard !symbols.isEmpty else { return }
        let from = self.selected(symbols).flatMap { symbols.firstIndex(of: $0) } ?? 0
        let symbol = symbols[min(max(from + lines, 0), symbols.count - 1)]
        self.choice.selected = symbol
        // If a symbol is open, the next one opens in its place.
        if self.choice.opened != nil { self.choice.opened = symbol }
    }

    /// Returns all symbols in the table's order.
    func symbols(_ state: DisplayState, _ now: Moment) -> [String] {
        DisplayListing.symbols(of: self.frozen ?? state, choice: self.choice, now: now)
    }

    /// Returns the symbol to which keys apply.
    func selected(_ symbols: [String]) -> String? {
        for symbol in [self.choice.opened, self.choice.selected] {
            if let symbol, symbols.contains(symbol) { return symbol }
        }
        return symbols.first
    }

    // MARK: Replays

    /// Whether the rewind and forward keys open the previous or next symbol: outside replays, with a symbol open.
    private func walks(_ action: KeyAction) -> Bool {
        (action == .rewind || action == .forward) && self.remote.replay.obstacle != nil && self.choice.opened != nil
    }

    private mutating func leapt(
        by direction: Int64,
        isReplay: Bool,
        state: DisplayState,
        now: Moment
    ) -> [ScreenCommand] {
        guard self.remote.replay.obstacle == nil else { return self.moved(by: Int(direction), state: state, now: now) }
        guard let position = state.replay else { return self.say("the replay has not begun", now) }
        let at = position.at + direction * Self.leap
        return [.replay(.seek(.time(min(max(at, position.start), position.end))))]
    }

    // MARK: The watchlist and the alerts

    private mutating func remove(_ state: DisplayState, _ now: Moment) -> [ScreenCommand] {
        if case .list(.alerts, let selected) = self.choice.pane {
            if let obstacle = self.remote.removeAlert.obstacle { return self.say(obstacle, now) }
            guard state.alerts.indices.contains(selected) else { return self.say("there is no alert to remove", now) }
            return [.removeAlert(selected, text: state.alerts[selected].text)]
        }
        if let obstacle = self.remote.unsubscribe.obstacle { return self.say(obstacle, now) }
        let symbols = self.symbols(state, now)
        guard let symbol = self.selected(symbols), let place = symbols.firstIndex(of: symbol) else {
            return self.say("there is no symbol to remove", now)
        }
        guard symbols.count > 1 else { return self.say("the last symbol stays: add another one first", now) }
        if self.choice.room == symbol { self.choice.pane = nil }
        self.choice.opened = nil
        self.choice.selected = symbols[place + 1 < symbols.count ? place + 1 : place - 1]
        return [.unsubscribe(symbol)]
    }

    // MARK: Answers

    /// Handles the result of a command; returns commands that follow from it.
    mutating func received(_ answer: ScreenAnswer, state: DisplayState, now: Moment) -> [ScreenCommand] {
        switch answer {
        case .subscribed(let symbol, let problem):
            guard self.settled(.symbol, of: symbol, problem: problem, now: now) else { return [] }
            self.choice.selected = symbol
            if self.choice.opened != nil { self.choice.opened = symbol }
            return []
        case .unsubscribed(let symbol, let problem):
            if let problem { return self.say(problem, now) }
            let back = self.bindings[.add].first.map { "; \($0.label(glyphs: self.glyphs)) adds it again" } ?? ""
            return self.say("\(symbol) is removed\(back)", now)
        case .reconnecting(let problem): return self.say(problem ?? "reconnecting, as requested", now)
        case .live(let text): return text.map { self.say($0, now) } ?? []
        case .found(let suggestions, let number, let problem):
            return self.found(suggestions, number: number, problem: problem, now: now)
        case .news(let news):
            self.news = news
            self.newsSince = now.monotonic
            return []
        case .room(let room): return self.roomChanged(room, now: now)
        case .alertSet(let text, let problem):
            guard self.settled(.alert, of: text, problem: problem, now: now) else { return [] }
            let loss = self.remote.alertsAreLost().map { "; \($0)" } ?? ""
            return self.say("alert: \(text)\(loss)", now)
        case .alertRemoved(let text, let problem):
            if case .list(.alerts, let selected) = self.choice.pane, selected > 0, selected >= state.alerts.count - 1 {
                self.choice.pane = .list(.alerts, at: selected - 1)
            }
            return self.say(problem ?? "removed the alert: \(text)", now)
        case .replay(let problem): return problem.map { self.say($0, now) } ?? []
        }
    }
}

extension CaseIterable where Self: Equatable, AllCases == [Self] {
    /// The next case; the first one after the last.
    fileprivate var next: Self {
        let place = Self.allCases.firstIndex(of: self) ?? 0
        return Self.allCases[(place + 1) % Self.allCases.count]
    }
}
