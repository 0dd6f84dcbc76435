import Market

// The mouse.
extension ScreenController {
    /// The number of a pane's lines that one step of the wheel scrolls.
    private static let wheelLines = 3

    /// Switches the mouse on or off for this session.
    mutating func toggleMouse(_ now: Moment) -> [ScreenCommand] {
        self.takesMouse.toggle()
        let key = self.bindings[.mouse].first?.label(glyphs: self.glyphs) ?? "the key"
        let text =
            self.takesMouse
            ? "the mouse selects, opens, sorts and scrolls; \(key) gives it back to the terminal, to select text"
            : "the mouse belongs to the terminal again"
        return [.takeMouse(self.takesMouse)] + self.say(text, now)
    }

    /// What the mouse does, for the help; empty while it is the terminal's.
    var mouseHelp: [KeyHelp] {
        guard self.takesMouse else { return [] }
        return [
            KeyHelp(keys: "Click", meaning: "select; again: open"),
            KeyHelp(keys: "Click", meaning: "on a heading: sort"),
            KeyHelp(keys: "Wheel", meaning: "select; scroll a pane"),
        ] + (self.choice.groups.isEmpty ? [] : [KeyHelp(keys: "Click", meaning: "on a tab: open the group")])
    }

    mutating func moused(_ mouse: TerminalMouse, state: DisplayState, now: Moment) -> [ScreenCommand] {
        // Reports may still be on the way after the mouse was given back.
        guard self.takesMouse else { return [] }
        self.notice = nil
        switch mouse.kind {
        case .wheelUp: return self.wheeled(by: -1, state, now)
        case .wheelDown: return self.wheeled(by: 1, state, now)
        case .press:
            let area = self.clickAreas.first { $0.row == mouse.row && $0.columns.contains(mouse.column) }
            if let area { self.clicked(area.action, state, now) }
            return []
        }
    }

    private mutating func wheeled(by steps: Int, _ state: DisplayState, _ now: Moment) -> [ScreenCommand] {
        if self.question != nil {
            self.choose(by: steps, state, now)
            return []
        }
        // An opened symbol stays, whatever the wheel is turned for.
        guard self.choice.pane != nil || self.choice.opened == nil else { return [] }
        let scrolls = if case .list(let list, _) = self.choice.pane { list != .latency } else { false }
        return self.moved(by: scrolls ? steps * Self.wheelLines : steps, state: state, now: now)
    }

    private mutating func clicked(_ action: ClickArea.Action, _ state: DisplayState, _ now: Moment) {
        if self.question != nil {
            // A line that is being typed is not lost by a click.
            if case .symbol(let symbol) = action, self.question?.kind == .find { self.found(symbol) }
            return
        }
        switch action {
        case .symbol(let symbol):
            let symbols = self.symbols(state, now)
            guard symbols.contains(symbol) else { return }
            if self.selected(symbols) == symbol, symbols.count > 1 { self.choice.opened = symbol }
            self.choice.selected = symbol
        case .order(let order):
            self.choice.isReversed = self.choice.order == order && !self.choice.isReversed
            self.choice.order = order
        case .group(let group): self.choice.open(group: group)
        case .back: self.choice.opened = nil
        }
    }
}
