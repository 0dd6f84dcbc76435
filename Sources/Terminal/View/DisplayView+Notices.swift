import Market

/// The notices that appear for a limited time: warnings, and alerts that have fired.
extension DisplayView {
    /// Returns the newest warning while it is displayed, and notes its end.
    mutating func livingNotice() -> DisplayNotice? {
        guard let notice = self.state.notice, notice.isShown(at: self.now.monotonic) else { return nil }
        if !notice.isLasting { self.note(changeIn: notice.since + DisplayNotice.lifetime - self.now.monotonic) }
        return notice
    }

    /// Draws a warning with its age, above the line `bottom`; returns its first line.
    ///
    /// Its hint is at the end, so it wraps onto up to `most` lines if they are wide enough, and is then truncated.
    ///
    /// - Parameter most: the largest number of lines.
    mutating func drawNotice(_ notice: DisplayNotice, above bottom: Int, most: Int) -> Int {
        let age = self.now.monotonic - notice.since
        let style = CellStyle(.warning, .bold)
        var lines = [self.glyphs.sign("▲", "!") + " " + notice.text]
        // The line breaks must not depend on the width of the age.
        let room = self.grid.size.columns - Self.longestAgo
        if most > 1, room >= Self.minimumPassing {
            lines = ScreenText.lines(lines[0], columns: room, most: most, glyphs: self.glyphs)
        }
        guard let last = lines.popLast() else { return bottom }
        let top = bottom - 1 - lines.count
        for (index, line) in lines.enumerated() { self.put(line, style, row: top + index) }
        self.drawPassing(last, age: age, row: bottom - 1, style: style)
        return top
    }

    /// Returns the alert that fired last, for half a minute, and notes the end of that time.
    mutating func livingAlert() -> ListedAlert? {
        guard let alert = self.state.alerts.max(by: { $0.fired ?? .min < $1.fired ?? .min }), let fired = alert.fired
        else { return nil }
        let left = DisplayNotice.lifetime - (self.now.monotonic - fired)
        guard left > 0, left <= DisplayNotice.lifetime else { return nil }
        self.note(changeIn: left)
        return alert
    }

    /// Whether an alert fired within the last second, during which every screen shows it; notes the end of that time.
    mutating func isNew(_ alert: ListedAlert) -> Bool {
        guard let fired = alert.fired else { return false }
        let left = fired + 1_000_000_000 - self.now.monotonic
        guard left > 0 else { return false }
        self.note(changeIn: left)
        return true
    }

    /// Draws an alert that has fired: reversed across the line for a second, if flashing is on, then bold.
    mutating func drawAlert(_ alert: ListedAlert, row: Int) {
        let age = self.now.monotonic - (alert.fired ?? self.now.monotonic)
        let isNew = self.isNew(alert)
        // On a screen of few lines it covers the status for a second.
        guard isNew || row > 0 else { return }
        let style = CellStyle(.alarm, isNew && alert.flashes ? [.bold, .reversed] : .bold)
        if isNew { self.put(String(repeating: " ", count: self.grid.size.columns), style, row: row) }
        self.drawPassing("\(self.glyphs.sign("◆", "*")) ALERT \(alert.text)", age: age, row: row, style: style)
    }

    private mutating func drawPassing(_ text: String, age: Int64, row: Int, style: CellStyle) {
        self.note(changeIn: AgeText.untilChange(growing: age))
        let room = self.grid.size.columns - Self.ago(age).count - 2
        guard room >= Self.minimumPassing else {
            self.put(text, style, row: row)
            return
        }
        let text = ScreenText.clean(text, columns: room, glyphs: self.glyphs)
        let width = self.put(text, style, row: row)
        self.put(Self.ago(age), style.attributes.contains(.reversed) ? style : .dimmed, row: row, column: width + 2)
    }

    /// The smallest width of a text with its age beside it.
    private static let minimumPassing = 24

    /// The width of an age below a hundred days, with the gap before it.
    private static let longestAgo = "  23h59m ago".count

    private static func ago(_ age: Int64) -> String { "\(AgeText.words(age)) ago" }
}
