import Market
import Measurements

/// The panes that a person opens: they stand at the foot of the prices, of which at least one line stays where there are
/// three.
extension DisplayView {
    /// One line of a pane: pieces of text, each with its look.
    struct PaneLine {
        var pieces: [(text: String, style: CellStyle)]

        init(_ text: String, _ style: CellStyle = .plain) { self.pieces = [(text, style)] }
        init(_ pieces: [(String, CellStyle)]) { self.pieces = pieces.map { (text: $0.0, style: $0.1) } }
    }

    /// Draws the pane that is open; returns the first line that it took.
    mutating func drawPane(lines: Range<Int>) -> Int {
        switch self.choice.pane {
        case nil: return lines.upperBound
        case .latency: return self.drawLatency(lines: lines)
        case .help(let keys, let scrolled): return self.drawHelp(keys, scrolled, lines: lines)
        case .events(let scrolled): return self.drawEvents(scrolled, lines: lines)
        case .news(let scrolled): return self.drawNews(scrolled, lines: lines)
        case .alerts(let selected): return self.drawAlerts(selected, lines: lines)
        case .prompt(let prompt): return self.drawPrompt(prompt, lines: lines)
        }
    }

    /// How many lines a pane may take of so many: the prices keep some.
    private func room(_ lines: Range<Int>) -> Int {
        switch lines.count {
        case ..<3: lines.count
        case ..<12: lines.count - 1
        default: lines.count * 2 / 3
        }
    }

    /// Draws a pane of a heading and as many of the entries as there is room for, each of some lines, and says how many more
    /// there are behind the last that is whole.
    ///
    /// - Parameter first: from this one on.
    private mutating func drawPane(
        _ title: String,
        entries count: Int,
        from first: Int,
        lines: Range<Int>,
        room: Int,
        entry: (Int) -> [PaneLine]
    ) -> Int {
        var contents: [PaneLine] = []
        var whole = max(first, 0)
        var next = whole
        while next < count, contents.count < room - 1 {
            contents += entry(next)
            next += 1
            if contents.count < room { whole = next }
        }
        return self.drawPane(title, contents, lines: lines, room: room, rest: count - whole)
    }

    /// Draws a pane of a heading and as many lines as there is room for.
    ///
    /// - Parameter rest: how many more there are to be seen; `nil` for the lines that are left out.
    private mutating func drawPane(
        _ title: String,
        _ contents: [PaneLine],
        lines: Range<Int>,
        room: Int,
        rest: Int? = nil
    ) -> Int {
        let shown = contents.prefix(max(room - 1, 0))
        let top = lines.upperBound - min(room, shown.count + 1)
        let columns = self.grid.size.columns
        let rule = self.glyphs == .unicode ? "─" : "-"
        let rest = rest ?? contents.count - shown.count
        let more = rest > 0 ? "+\(rest) more" : ""
        self.grid.put(String(repeating: rule, count: columns), row: top, column: 0, style: CellStyle(.faint))
        let head = columns >= 12 ? " \(title) " : title
        self.grid.put(
            head,
            row: top,
            column: columns >= 12 ? 1 : 0,
            style: CellStyle(.accent, .bold),
            glyphs: self.glyphs
        )
        if !more.isEmpty, head.count + more.count + 8 <= columns {
            self.grid.put(" \(more) ", row: top, column: columns - more.count - 3, style: .dimmed)
        }
        for (index, line) in shown.enumerated() {
            var column = 0
            for piece in line.pieces {
                column += self.grid.put(
                    piece.text,
                    row: top + 1 + index,
                    column: column,
                    style: piece.style,
                    glyphs: self.glyphs
                )
            }
        }
        return top
    }

    // MARK: Help

    /// Draws the keys, in as many columns as make them fit; on a small screen over the prices, and a part of them.
    private mutating func drawHelp(_ keys: [KeyHelp], _ scrolled: Int, lines: Range<Int>) -> Int {
        let columns = self.grid.size.columns
        let keyWidth = min(keys.map { ScreenText.width(of: $0.keys, limit: 12, glyphs: self.glyphs) }.max() ?? 0, 12)
        let widest = keys.map { ScreenText.width(of: $0.meaning, limit: 60, glyphs: self.glyphs) }.max() ?? 0
        var room = self.room(lines)
        func count(_ width: Int) -> Int { max(1, (columns + 3) / (width + 3)) }
        var width = keyWidth + 2 + widest
        // Rather over the prices than with a key left out, and rather with a meaning cut.
        if (keys.count + count(width) - 1) / count(width) > room - 1 { room = lines.count }
        let whole = width
        while (keys.count + count(width) - 1) / count(width) > room - 1, width > keyWidth + 2 + 9 { width -= 1 }
        // Where they do not fit at all they are scrolled, and no meaning is cut for nothing.
        if (keys.count + count(width) - 1) / count(width) > room - 1 { width = whole }
        let across = count(width)
        width = min(width, (columns + 3) / across - 3)
        let down = (keys.count + across - 1) / across
        var contents: [PaneLine] = []
        for line in 0..<down {
            var pieces: [(String, CellStyle)] = []
            for place in 0..<across where place * down + line < keys.count {
                let key = keys[place * down + line]
                let name = ScreenText.clean(key.keys, columns: keyWidth, glyphs: self.glyphs)
                let used = ScreenText.width(of: name, glyphs: self.glyphs)
                pieces.append((name + String(repeating: " ", count: keyWidth - used + 2), CellStyle(.accent)))
                let meaning = ScreenText.clean(key.meaning, columns: max(1, width - keyWidth - 2), glyphs: self.glyphs)
                let length = ScreenText.width(of: meaning, glyphs: self.glyphs)
                // Behind the last there is no room for blanks.
                let isLast = (place + 1) * down + line >= keys.count || place + 1 == across
                let blanks = isLast ? 0 : max(0, width - keyWidth - 2 - length) + 3
                pieces.append((meaning + String(repeating: " ", count: blanks), .plain))
            }
            contents.append(PaneLine(pieces))
        }
        let end = max(contents.count - max(room - 1, 1), 0)
        self.helpEnd = end
        let first = min(max(scrolled, 0), end)
        let more = first > 0 ? ", \(first) on" : ""
        return self.drawPane("KEYS\(more)", Array(contents.dropFirst(first)), lines: lines, room: room)
    }

    // MARK: Events, news, alerts

    /// Draws what befell the feed, the newest first.
    private mutating func drawEvents(_ scrolled: Int, lines: Range<Int>) -> Int {
        let events = self.state.events
        let room = self.room(lines)
        guard !events.isEmpty else {
            let none = [PaneLine("nothing has happened yet", .dimmed)]
            return self.drawPane("EVENTS (UTC)", none, lines: lines, room: room)
        }
        let more = scrolled > 0 ? ", \(min(scrolled, events.count)) back" : ""
        let view = self
        return self.drawPane("EVENTS (UTC)\(more)", entries: events.count, from: scrolled, lines: lines, room: room) {
            let event = events[events.count - 1 - $0]
            let mark = event.isTrouble ? (view.glyphs == .unicode ? "✖ " : "! ") : "  "
            let style = CellStyle(event.isTrouble ? .alarm : .plain)
            return view.wrapped(UTCText.timeOfDay(event.time) + " ", mark + event.text, style, most: 3)
        }
    }

    private mutating func drawNews(_ scrolled: Int, lines: Range<Int>) -> Int {
        let room = self.room(lines)
        var contents: [PaneLine] = []
        switch self.state.news {
        case .notAsked: contents = [PaneLine("not asked for yet", .dimmed)]
        case .asking: contents = [PaneLine("asking the service", .dimmed)]
        case .failed(let reason): contents = self.wrapped("", reason, CellStyle(.alarm), most: 4)
        case .headlines(let headlines):
            guard !headlines.isEmpty else {
                contents = [PaneLine("the service has no headlines", .dimmed)]
                break
            }
            let isWide = self.grid.size.columns >= 60
            let view = self
            return self.drawPane("NEWS (UTC)", entries: headlines.count, from: scrolled, lines: lines, room: room) {
                let headline = headlines[$0]
                let time = isWide ? "\(UTCText.date(headline.time)) " : ""
                let hour = UTCText.timeOfDay(headline.time).prefix(5)
                let source = isWide ? "\(headline.source): " : ""
                return view.wrapped("\(time)\(hour) ", source + headline.text, .plain, most: 2)
            }
        }
        return self.drawPane("NEWS (UTC)", contents, lines: lines, room: room)
    }

    private mutating func drawAlerts(_ selected: Int, lines: Range<Int>) -> Int {
        let room = self.room(lines)
        let columns = self.grid.size.columns
        let alerts = self.state.alerts
        guard !alerts.isEmpty else {
            return self.drawPane("ALERTS", [PaneLine("no alert is set", .dimmed)], lines: lines, room: room)
        }
        // The selected one is among those shown.
        let perAlert = columns >= 60 ? 1 : 2
        let shown = max(1, (room - 1) / perAlert)
        let first = max(0, min(selected, alerts.count - 1) - shown + 1)
        let glyphs = self.glyphs
        return self.drawPane("ALERTS", entries: alerts.count, from: first, lines: lines, room: room) { index in
            let isSelected = index == selected
            let mark = isSelected ? (glyphs == .unicode ? "▸" : ">") : " "
            let style = isSelected ? CellStyle(.accent, .bold) : .plain
            let state = alerts[index].state
            if perAlert == 1 { return [PaneLine([("\(mark)\(alerts[index].text)  ", style), (state, .dimmed)])] }
            return [PaneLine("\(mark)\(alerts[index].text)", style), PaneLine("  \(state)", .dimmed)]
        }
    }

    /// A text behind a moment, in a few lines that begin below each other: the cure stands at the end of a reason.
    private func wrapped(_ time: String, _ text: String, _ style: CellStyle, most: Int) -> [PaneLine] {
        let columns = self.grid.size.columns
        let indent = time.count
        guard columns > indent + 12 else { return [PaneLine(text, style)] }
        let lines = ScreenText.lines(text, columns: columns - indent, most: most, glyphs: self.glyphs)
        return lines.enumerated().map { index, line in
            let start = index == 0 ? time : String(repeating: " ", count: indent)
            return PaneLine([(start, .dimmed), (line, style)])
        }
    }

    // MARK: Latency

    private mutating func drawLatency(lines: Range<Int>) -> Int {
        self.note(changeIn: 1_000_000_000)
        var contents: [PaneLine] = []
        for row in self.latency?.rows ?? [] {
            let figures = [row.summary.median, row.summary.percentile99, row.summary.maximum]
            contents.append(
                PaneLine(Self.latencyLine(row.path.rawValue, figures.map(LatencyReport.milliseconds)))
            )
        }
        if contents.isEmpty {
            contents.append(PaneLine("nothing measured yet", .dimmed))
        } else {
            contents.insert(PaneLine(Self.latencyLine("milliseconds", ["p50", "p99", "max"]), .dimmed), at: 0)
        }
        if let latency, latency.clockOffset > 0 {
            let offset = LatencyReport.milliseconds(latency.clockOffset)
            contents.append(PaneLine("clock at least \(offset) ms behind: check NTP", CellStyle(.warning)))
        } else if self.latency?.clocks == .recorded {
            contents.append(PaneLine("a replay: no time from the exchange", .dimmed))
        }
        return self.drawPane("LATENCY", contents, lines: lines, room: self.room(lines))
    }

    /// A label of 19 columns and three figures of 7: 40 in all.
    private static func latencyLine(_ label: String, _ figures: [String]) -> String {
        label + String(repeating: " ", count: max(0, 19 - label.count))
            + figures.map { String(repeating: " ", count: max(1, 7 - $0.count)) + $0 }.joined()
    }
}
