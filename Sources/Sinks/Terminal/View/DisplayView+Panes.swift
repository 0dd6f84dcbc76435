import Market

/// What comes up for a while: the latency pane, on request, and the line of warnings.
extension DisplayView {
    /// The newest warning as long as it is to be shown; notes when that ends.
    mutating func livingNotice() -> DisplayNotice? {
        guard let notice = self.state.notice else { return nil }
        let left = DisplayNotice.lifetime - (self.now.monotonic - notice.since)
        guard left > 0 else { return nil }
        self.note(changeIn: left)
        return notice
    }

    /// Draws a warning with its age; where it does not fit, its end is cut.
    mutating func drawNotice(_ notice: DisplayNotice, row: Int) {
        let age = self.now.monotonic - notice.since
        self.note(changeIn: AgeText.untilChange(growing: age))
        let mark = self.glyphs == .unicode ? "▲" : "!"
        let ago = "\(AgeText.words(age)) ago"
        let style = CellStyle(.warning, .bold)
        let room = self.grid.size.columns - ago.count - 2
        guard room >= 24 else {
            self.grid.put("\(mark) \(notice.text)", row: row, column: 0, style: style, glyphs: self.glyphs)
            return
        }
        let text = ScreenText.clean("\(mark) \(notice.text)", columns: room)
        let width = self.grid.put(text, row: row, column: 0, style: style, glyphs: self.glyphs)
        self.grid.put(ago, row: row, column: width + 2, style: .dimmed, glyphs: self.glyphs)
    }

    /// Draws the figures at the foot of the lines; answers with the first line that it took.
    ///
    /// Where there is no room for all of it, the prices keep one line and the rest of the figures is left out.
    mutating func drawLatency(_ report: LatencyReport, lines: Range<Int>) -> Int {
        self.note(changeIn: 1_000_000_000)
        var texts = [Self.latencyLine("latency ms", ["p50", "p99", "max"])]
        for row in report.rows {
            let figures = [row.summary.median, row.summary.percentile99, row.summary.maximum]
            texts.append(Self.latencyLine(row.path.rawValue, figures.map(LatencyReport.milliseconds)))
        }
        if report.rows.isEmpty { texts.append("nothing measured yet") }
        if report.clockOffset > 0 {
            texts.append("clock at least \(LatencyReport.milliseconds(report.clockOffset)) ms behind: check NTP")
        } else if report.clocks == .recorded {
            texts.append("a replay: no time from the exchange")
        }
        let room = lines.count >= 3 ? lines.count - 1 : lines.count
        let shown = texts.prefix(room)
        let top = lines.upperBound - shown.count
        for (line, text) in shown.enumerated() {
            let style = line == 0 ? CellStyle.dimmed : .plain
            self.grid.put(text, row: top + line, column: 0, style: style, glyphs: self.glyphs)
        }
        return top
    }

    /// A label of 19 columns and three figures of 7: 40 in all.
    private static func latencyLine(_ label: String, _ figures: [String]) -> String {
        label + String(repeating: " ", count: max(0, 19 - label.count))
            + figures.map { String(repeating: " ", count: max(1, 7 - $0.count)) + $0 }.joined()
    }
}
