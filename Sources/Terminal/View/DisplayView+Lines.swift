import Market
import Wire

/// The lines of every screen: the status at the top, and the session's facts at the bottom.
extension DisplayView {
    /// Draws the status and the marks; returns the reason if it did not fit.
    mutating func drawHeader() -> String? {
        let words = self.statusWords()
        let symbols = self.state.rows.count + self.state.waiting.count
        let items = [
            ScreenItem(words.forms, CellStyle(words.ink, .bold)),
            self.sourceMark(),
            self.certificateMark(),
            self.frozenMark(),
            ScreenItem(self.followedForms(), CellStyle(.accent)),
            ScreenItem(symbols > 1 ? [Self.count(symbols, "symbol")] : [], .dimmed),
            // Only where there is no last line.
            self.grid.size.rows < 5 ? self.recordingItem : ScreenItem([]),
        ]
        var candidates = [items[1].shortest(1), items[2].shortest(2), items[3].shortest(3)] + items[0].all(0).prefix(3)
        // Full-word marks precede longer status words. The reason comes last, since it can have its own line. The
        // frozen mark is the only sign of a frozen screen, whereas the status words also identify a replay.
        candidates += items[6].shortWord(6)
        candidates += items[3].shortWord(3) + items[1].shortWord(1) + items[2].shortWord(2) + items[4].shortWord(4)
        candidates += items[0].all(0)
        if words.reason != nil { candidates.removeAll { $0.item == 0 && $0.form == 0 } }
        candidates += items[1].all(1).dropLast() + items[2].all(2) + items[3].all(3) + items[4].all(4)
        candidates += items[6].all(6) + [(0, 0), (1, 0), (5, 0)]
        let chosen = self.place(items, candidates: candidates, row: 0, gap: 2)
        return chosen[0] == 0 ? nil : words.reason
    }

    /// Draws how to leave the demo for the live market, or how far that is; returns the row below.
    mutating func drawDemo(row: Int) -> Int {
        let hints = ScreenItem(self.choice.liveHints, CellStyle(.accent, .bold))
        guard let text = self.state.liveStart ?? (hints.forms.isEmpty ? self.status.reason : nil) else {
            self.place([hints], candidates: hints.all(0), row: row, gap: 1)
            return hints.forms.isEmpty ? row : row + 1
        }
        let size = self.grid.size
        let lines = ScreenText.lines(text, columns: size.columns, most: size.rows >= 12 ? 3 : 1, glyphs: self.glyphs)
        for (index, line) in lines.enumerated() { self.put(line, hints.style, row: row + index) }
        return row + lines.count
    }

    /// Returns the mark of a source other than the market, with its speed.
    ///
    /// - Parameter isAlone: whether the status words beside it do not fit.
    func sourceMark(isAlone: Bool = false) -> ScreenItem {
        let replay = self.feed.replay
        let forms =
            isAlone
            ? DisplayMarks.played(self.status, replay: replay) : DisplayMarks.source(self.status.source, replay: replay)
        return ScreenItem(forms, CellStyle(.warning, [.bold, .reversed]))
    }

    /// Returns the mark of an unchecked certificate.
    func certificateMark() -> ScreenItem {
        let forms = DisplayMarks.certificate(isChecked: self.status.certificateChecked)
        return ScreenItem(forms, CellStyle(.alarm, [.bold, .reversed]))
    }

    /// Returns the mark of a screen that the user has frozen.
    mutating func frozenMark() -> ScreenItem {
        guard let since = self.choice.frozenSince else { return ScreenItem([]) }
        let age = self.now.monotonic - since.monotonic
        self.note(changeIn: AgeText.untilChange(growing: age))
        let words = AgeText.words(age)
        return ScreenItem(
            [
                "FROZEN at \(self.clock.timeOfDay(since.wall)) \(self.clock.label(at: since.wall)), \(words) ago",
                "FROZEN \(words)", "FROZEN", "F",
            ],
            CellStyle(.accent, [.bold, .reversed])
        )
    }

    /// Returns the text for the program's part in a cluster, or for a feed that follows another program's relay, since
    /// that program holds the connection to the service.
    private func followedForms() -> [String] {
        if let cluster = self.state.cluster { return cluster.forms }
        guard let via = self.status.via else { return [] }
        return ["follows the tickertape at \(via)", "follows \(via)", "follows another", "follows"]
    }

    mutating func drawFooter(row: Int) {
        let items = [
            self.recordingItem,
            ScreenItem(self.state.relay?.forms(clients: self.state.clients) ?? [], CellStyle(.plain, .dim)),
            ScreenItem(self.choice.hints, .dimmed),
        ]
        var candidates = [items[0].shortest(0), items[2].shortest(2), items[1].shortest(1)]
        candidates += items[0].all(0) + items[2].all(2) + items[1].all(1)
        self.place(items, candidates: candidates, row: row, gap: 3)
    }

    /// The file that is recorded, and its size.
    var recordingItem: ScreenItem {
        self.state.recording.map { ScreenItem($0.forms, $0.style) } ?? ScreenItem([])
    }

    mutating func drawGaps(row: Int) {
        guard let gap = self.state.lastGap else { return }
        let gaps = Self.count(self.state.gaps, "gap")
        let span = AgeText.words(gap.length)
        let until = self.clock.timeOfDay(gap.to)
        let outcome = self.state.lastOutcome
        let item = ScreenItem(
            [
                "\(gaps), the last \(span) until \(until) \(self.clock.label(at: gap.to)): \(outcome?.sentence ?? gap.reason)",
                "\(gaps), the last \(span) until \(until)\(outcome?.isComplete == true ? ", filled" : "")",
                "\(gaps), the last \(span)", gaps,
            ],
            CellStyle(.warning)
        )
        self.place([item], candidates: item.all(0), row: row, gap: 1)
    }

    /// Draws the replay's position: the recording's clock, a bar, and the end.
    mutating func drawReplay(_ replay: ReplayPosition, row: Int) {
        let columns = self.grid.size.columns
        let (date, time) = (self.clock.date(replay.at), self.clock.timeOfDay(replay.at))
        let clock = ScreenItem(["\(date) \(time) \(self.clock.label(at: replay.at))", "\(date) \(time)", time])
        guard replay.end < .max else {
            // A simulated market has no end, so it has no bar.
            self.place([clock], candidates: clock.all(0), row: row, gap: 1)
            return
        }
        let length = max(replay.end - replay.start, 1)
        let part = min(max(Double(replay.at - replay.start) / Double(length), 0), 1)
        let percent = "\(Int(part * 100))%"
        let items = [clock, ScreenItem(["\(percent) of \(AgeText.words(length))", percent], .dimmed)]
        let candidates = [items[0].shortest(0), items[1].shortest(1)] + items[1].all(1) + items[0].all(0)
        let widths = items.map { $0.forms.map { ScreenText.width(of: $0) } }
        // The bar gets the remaining columns, if they suffice.
        let chosen = LineFitter(gap: 2).choose(widths: widths, candidates: candidates, columns: max(columns - 12, 14))
        var column = 0
        if let form = chosen[0] { column = self.put(items[0].forms[form], row: row) + 1 }
        let tail = chosen[1].map { items[1].forms[$0] } ?? ""
        let room = columns - column - (tail.isEmpty ? 0 : tail.count + 1)
        if room >= 6 {
            let done = Int((part * Double(room - 1)).rounded())
            let passed = String(repeating: self.glyphs.sign("━", "="), count: done)
            self.put(passed, CellStyle(.accent), row: row, column: column)
            self.put(self.glyphs.sign("●", "#"), CellStyle(.accent, .bold), row: row, column: column + done)
            let left = String(repeating: self.glyphs.rule, count: room - done - 1)
            self.put(left, CellStyle(.faint), row: row, column: column + done + 1)
            column += room + 1
        }
        self.put(tail, .dimmed, row: row, column: column)
    }

    /// Returns the terminal's title: one symbol's price, and marks about its reliability.
    mutating func title() -> String? {
        let selected = self.choice.opened ?? self.choice.selected
        let row = self.state.rows.first { $0.summary.symbol == selected } ?? self.state.rows.first
        guard let row else { return ScreenText.clean("tickertape \(self.status.spokenWord)", columns: 80) }
        let text = self.text(of: row)
        let mark =
            switch text.freshness {
            case .fresh where self.choice.frozenSince != nil: self.isPassable ? "FROZEN " : "OLD "
            case .fresh: self.glyphs == .ascii ? "" : (row.direction == .down ? "▼ " : "▲ ")
            case .late: "LATE "
            case .old: "OLD "
            }
        // The longest form without a file name.
        let sources = DisplayMarks.played(self.status, replay: self.feed.replay)
        let source = sources.first { $0.count <= 14 }.map { " \($0)" } ?? ""
        let name = SymbolName.withoutExchange(row.summary.symbol)
        return ScreenText.clean("\(mark)\(text.price) \(name)\(source)", columns: 80, glyphs: self.glyphs)
    }

    /// Whether the feed delivers trades, even late ones, or has delivered all.
    private var isPassable: Bool { [.live, .late, .ended].contains(self.status.phase) }
}
