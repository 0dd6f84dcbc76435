import Market
import Measurements

/// The panes that the user opens. They cover the lower part of the prices, of which at least one line remains on a
/// screen of three.
extension DisplayView {
    /// Draws the open pane; returns its first line.
    mutating func drawPane(lines: Range<Int>) -> Int {
        switch self.choice.pane {
        case nil: return lines.upperBound
        case .prompt(let prompt):
            let top = self.drawPrompt(prompt, lines: lines)
            guard let name = prompt.room, top > lines.lowerBound else { return top }
            let height = Self.paneHeight(lines.lowerBound..<top)
            return self.draw(self.room(name, back: 0, height: height), above: top)
        case .list(let list, let place):
            let room = Self.paneHeight(lines)
            let contents =
                switch list {
                case .help(let keys): self.help(keys, from: place, room: room, most: lines.count)
                case .latency: self.latencyContents(room: room)
                case .events: self.events(from: place, room: room)
                case .news: self.news(from: place, room: room)
                case .alerts: self.alerts(selected: place, room: room)
                case .room(let name): self.room(name, back: place, height: room)
                }
            return self.draw(contents, above: lines.upperBound)
        }
    }

    /// Returns the largest height of a pane; some lines remain for the prices.
    private static func paneHeight(_ lines: Range<Int>) -> Int {
        switch lines.count {
        case ..<3: lines.count
        case ..<12: lines.count - 1
        default: lines.count * 2 / 3
        }
    }

    private mutating func draw(_ contents: PaneContents, above bottom: Int) -> Int {
        let shown = contents.lines.prefix(max(contents.room - 1, 0))
        let top = bottom - min(contents.room, shown.count + 1)
        let columns = self.grid.size.columns
        self.drawRule(row: top)
        let head = columns >= 12 ? " \(contents.title) " : contents.title
        self.put(head, CellStyle(.accent, .bold), row: top, column: columns >= 12 ? 1 : 0)
        let rest = contents.rest ?? contents.lines.count - shown.count
        let more = "+\(rest) more"
        if rest > 0, head.count + more.count + 8 <= columns {
            self.put(" \(more) ", .dimmed, row: top, column: columns - more.count - 3)
        }
        for (index, line) in shown.enumerated() {
            var column = 0
            for piece in line { column += self.put(piece.text, piece.style, row: top + 1 + index, column: column) }
        }
        return top
    }

    // MARK: Help

    /// Returns the keys in as many columns as needed; on a small screen they cover the prices and can be scrolled.
    ///
    /// - Parameter most: the number of lines including those of the prices.
    private mutating func help(_ keys: [KeyHelp], from place: Int, room: Int, most: Int) -> PaneContents {
        var room = room
        let columns = self.grid.size.columns
        let keyWidth = min(keys.map { ScreenText.width(of: $0.keys, limit: 12, glyphs: self.glyphs) }.max() ?? 0, 12)
        let widest = keys.map { ScreenText.width(of: $0.meaning, limit: 60, glyphs: self.glyphs) }.max() ?? 0
        func across(_ width: Int) -> Int { max(1, (columns + 3) / (width + 3)) }
        func down(_ width: Int) -> Int { (keys.count + across(width) - 1) / across(width) }
        let whole = keyWidth + 2 + widest
        // Rather than omit a key, it covers the prices; if they still do not fit, it is scrolled.
        if down(whole) > room - 1 { room = most }
        let (count, length) = (across(whole), down(whole))
        let width = min(whole, (columns + 3) / count - 3)
        let lines = (0..<length).map { line in
            var pieces: PaneContents.Line = []
            for place in stride(from: line, to: min(keys.count, count * length), by: length) {
                pieces.append((self.padded(keys[place].keys, to: keyWidth) + "  ", CellStyle(.accent)))
                let room = max(1, width - keyWidth - 2)
                // The last column needs no padding.
                let isLast = place + length >= keys.count || place / length + 1 == count
                let meaning = keys[place].meaning
                let text =
                    isLast
                    ? ScreenText.clean(meaning, columns: room, glyphs: self.glyphs)
                    : self.padded(meaning, to: room) + "   "
                pieces.append((text, .plain))
            }
            return pieces
        }
        let end = max(lines.count - max(room - 1, 1), 0)
        self.helpEnd = end
        let first = min(max(place, 0), end)
        return PaneContents(first > 0 ? "KEYS, \(first) on" : "KEYS", room: room, Array(lines.dropFirst(first)))
    }

    /// Returns the text padded or truncated to this width.
    private func padded(_ text: String, to columns: Int) -> String {
        let text = ScreenText.clean(text, columns: columns, glyphs: self.glyphs)
        return text + String(repeating: " ", count: max(0, columns - ScreenText.width(of: text, glyphs: self.glyphs)))
    }

    // MARK: Events, news, alerts

    /// Returns the feed's events, newest first.
    private func events(from place: Int, room: Int) -> PaneContents {
        let events = self.state.events
        let back = min(place, events.count)
        let title = "EVENTS (\(self.zone))\(back > 0 ? ", \(back) back" : "")"
        let none = "nothing has happened yet"
        return PaneContents(title, room: room, entries: events.count, from: place, none: none) {
            let event = events[events.count - 1 - $0]
            let mark = event.isTrouble ? self.glyphs.sign("✖ ", "! ") : "  "
            let style = CellStyle(event.isTrouble ? .alarm : .plain)
            return self.wrapped(self.clock.timeOfDay(event.time) + " ", mark + event.text, style, most: 3)
        }
    }

    private mutating func news(from place: Int, room: Int) -> PaneContents {
        let title = "NEWS (\(self.zone))"
        switch self.state.news {
        case .notAsked: return PaneContents(title, room: room, [[("not requested yet", .dimmed)]])
        case .asking: return PaneContents(title, room: room, [[("asking the service", .dimmed)]])
        case .failed(let reason):
            return PaneContents(title, room: room, self.wrapped("", reason, CellStyle(.alarm), most: 4))
        case .headlines(let headlines):
            let isWide = self.grid.size.columns >= 60
            let none = "the service has no headlines"
            var grid = self.grid
            let contents = PaneContents(title, room: room, entries: headlines.count, from: place, none: none) {
                let headline = headlines[$0]
                let time = isWide ? "\(self.clock.date(headline.time)) " : ""
                let hour = self.clock.minute(headline.time)
                let source = isWide ? "\(headline.source): " : ""
                var style = CellStyle.plain
                if self.look.hasLinks, let link = ScreenLink(headline.url) { style.link = grid.add(link) }
                return self.wrapped("\(time)\(hour) ", source + headline.text, style, most: 2)
            }
            self.grid = grid
            return contents
        }
    }

    private func alerts(selected: Int, room: Int) -> PaneContents {
        let alerts = self.state.alerts
        // The selected alert is always visible.
        let perAlert = self.grid.size.columns >= 60 ? 1 : 2
        let shown = max(1, (room - 1) / perAlert)
        let first = max(0, min(selected, alerts.count - 1) - shown + 1)
        return PaneContents("ALERTS", room: room, entries: alerts.count, from: first, none: "no alert is set") {
            index in
            let isSelected = index == selected
            let text = (isSelected ? self.glyphs.pointer : " ") + alerts[index].text
            let style = isSelected ? CellStyle(.accent, .bold) : .plain
            let state = alerts[index].state
            return perAlert == 1
                ? [[(text + "  ", style), (state, .dimmed)]] : [[(text, style)], [("  \(state)", .dimmed)]]
        }
    }

    /// Returns a text after a time, in a few lines with the same indentation. A reason has its hint at the end, so it
    /// is wrapped.
    func wrapped(_ time: String, _ text: String, _ style: CellStyle, most: Int) -> [PaneContents.Line] {
        let columns = self.grid.size.columns
        let indent = time.count
        guard columns > indent + 12 else { return [[(text, style)]] }
        let lines = ScreenText.lines(text, columns: columns - indent, most: most, glyphs: self.glyphs)
        return lines.enumerated().map { index, line in
            [(index == 0 ? time : String(repeating: " ", count: indent), .dimmed), (line, style)]
        }
    }

    // MARK: Latency

    private mutating func latencyContents(room: Int) -> PaneContents {
        self.note(changeIn: 1_000_000_000)
        var lines: [PaneContents.Line] = []
        for row in self.latency?.rows ?? [] {
            let figures = [row.summary.median, row.summary.percentile99, row.summary.maximum]
            lines.append([(Self.latencyLine(row.path.rawValue, figures.map(LatencyReport.milliseconds)), .plain)])
        }
        if lines.isEmpty {
            lines = [[("nothing measured yet", .dimmed)]]
        } else {
            lines.insert([(Self.latencyLine("milliseconds", ["p50", "p99", "max"]), .dimmed)], at: 0)
        }
        if let latency, latency.clockOffset > 0 {
            let offset = LatencyReport.milliseconds(latency.clockOffset)
            lines.append([("clock at least \(offset) ms behind: check NTP", CellStyle(.warning))])
        } else if self.latency?.clocks == .recorded {
            lines.append([("a replay: no time from the exchange", .dimmed)])
        }
        let trades = self.state.rows.reduce(UInt64(0)) { $0 &+ $1.summary.trades }
        let skipped = self.state.rows.reduce(UInt64(0)) { $0 &+ $1.skipped }
        if skipped > 0 { lines.append([("left out by the debounce: \(skipped) of \(trades)", .plain)]) }
        if let completeness, completeness.symbols > 0 {
            for line in completeness.lines { lines.append([(line, .plain)]) }
        }
        lines += self.auditLines
        return PaneContents("LATENCY", room: room, lines)
    }

    /// What `finnhub.audit` has found out about the marked symbol.
    private var auditLines: [PaneContents.Line] {
        guard let audit = self.latency?.audit else { return [] }
        let selected = DisplayListing.selected(of: self.state, choice: self.choice, now: self.now)
        let symbol = self.choice.opened ?? selected
        guard let found = audit.symbols.first(where: { $0.symbol == symbol }), let text = found.shortText else {
            return self.wrapped("audit  ", audit.trouble ?? "nothing to compare yet", .dimmed, most: 2)
        }
        return self.wrapped("audit  ", text, found.missing > 0 ? CellStyle(.warning) : .plain, most: 2)
    }

    /// A label of 19 columns and three figures of 7: 40 in all.
    private static func latencyLine(_ label: String, _ figures: [String]) -> String {
        label + String(repeating: " ", count: max(0, 19 - label.count))
            + figures.map { String(repeating: " ", count: max(1, 7 - $0.count)) + $0 }.joined()
    }
}
