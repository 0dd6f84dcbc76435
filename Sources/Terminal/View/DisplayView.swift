import Market
import Measurements

/// A drawn screen, and the time of its next change.
struct DisplayFrame: Sendable {
    var grid: ScreenGrid
    /// The time at which the clock alone changes the screen, monotonic ns; `nil` if only new data can change it.
    var changesAt: Int64?
    /// The time at which the clock alone makes a displayed status untrue, such as when a price becomes late; monotonic
    /// ns.
    var stateChangesAt: Int64?
    /// The last scroll position of the help, while it is open.
    var helpEnd: Int?
    /// Where clicks act.
    var clickAreas: [ClickArea] = []
}

/// The renderer of a ``DisplayState`` with a ``DisplayChoice``, a size and the time, as a grid of cells.
///
/// Text that does not fit is omitted. Only reasons and panes wrap, since their hints are at the end. The order of
/// priority is: the marks (demo, replay, frozen, unchecked certificate), the price, its age, the rest.
struct DisplayView {
    let state: DisplayState
    let choice: DisplayChoice
    let now: Moment
    /// The newest moment that the previous frame covers, monotonic ns, if there was one.
    let since: Int64?
    let look: DisplayLook
    var glyphs: ScreenGlyphs { self.look.glyphs }
    var clock: ScreenClock { self.look.clock }
    /// The name of the clock's zone now.
    var zone: String { self.clock.label(at: self.now.wall) }
    /// The figures of the latency pane.
    let latency: LatencyReport?
    /// The completeness of the tape, in the same pane.
    let completeness: CompletenessSummary?
    var grid: ScreenGrid
    /// The feed's current facts, also behind a frozen screen.
    let feed: FeedFacts
    /// The holdings at the current prices; `nil` without holdings.
    let portfolio: Portfolio?
    /// The value of all holdings, of which each has a weight.
    let wholeValue: ExactSum?
    /// The current status, with the age of the newest trade taken into account.
    let status: FeedStatus
    /// The facts that determine the rows' freshness: those at the freeze, or the current ones.
    private let judged: (facts: FeedFacts, phase: FeedStatus.Phase, at: Int64)
    private var changesAt: Int64?
    private var stateChangesAt: Int64?
    var helpEnd: Int?
    /// Where clicks act.
    private var clickAreas: [ClickArea] = []

    /// Draws a frame.
    ///
    /// - Parameters:
    ///   - choice: the user's choices.
    ///   - since: the newest moment that the previous frame covers, monotonic ns.
    ///   - latency: the figures of the latency pane, needed only while `choice` has it open.
    ///   - completeness: the same pane's.
    static func frame(
        of state: DisplayState,
        choice: DisplayChoice = DisplayChoice(),
        size: ScreenGrid.Size,
        now: Moment,
        since: Int64? = nil,
        look: DisplayLook = DisplayLook(),
        latency: LatencyReport? = nil,
        completeness: CompletenessSummary? = nil
    ) -> DisplayFrame {
        let grid = ScreenGrid(size: size)
        var view = DisplayView(state, choice, grid, now: now, since: since, look, latency, completeness)
        view.draw()
        if look.setsTitle { view.grid.title = view.title() }
        return DisplayFrame(
            grid: view.grid,
            changesAt: view.changesAt,
            stateChangesAt: view.stateChangesAt,
            helpEnd: view.helpEnd,
            clickAreas: view.clickAreas
        )
    }

    private init(
        _ state: DisplayState,
        _ choice: DisplayChoice,
        _ grid: ScreenGrid,
        now: Moment,
        since: Int64?,
        _ look: DisplayLook,
        _ latency: LatencyReport?,
        _ completeness: CompletenessSummary?
    ) {
        (self.state, self.choice, self.grid) = (state, choice, grid)
        (self.now, self.since, self.look) = (now, since, look)
        (self.latency, self.completeness) = (latency, completeness)
        let facts = state.facts
        let pictured = choice.frozenSince ?? now
        self.portfolio = state.holdings.isEmpty ? nil : Portfolio(of: state, wall: pictured.wall)
        self.wholeValue = self.portfolio?.whole
        self.feed = state.behind ?? facts
        self.status = self.feed.effective(at: now)
        self.judged = (facts, facts.effective(at: pictured).phase, pictured.monotonic)
    }

    private mutating func draw() {
        let rows = self.grid.size.rows
        guard rows > 1 else {
            self.drawOnlyLine()
            return
        }
        let unsaid = self.drawHeader()
        var top = 1
        if rows >= 3, let reason = unsaid {
            // The hint is at the end of a reason, so a large screen shows the whole text.
            let most = rows >= 12 ? 4 : (rows >= 10 ? 3 : 1)
            let lines = ScreenText.lines(reason, columns: self.grid.size.columns, most: most, glyphs: self.glyphs)
            for line in lines {
                self.put(line, CellStyle(.alarm), row: top)
                top += 1
            }
        }
        if rows >= 4, self.status.source == .demo { top = self.drawDemo(row: top) }
        if rows >= 8, let replay = self.feed.replay {
            self.drawReplay(replay, row: top)
            top += 1
        }
        if rows >= 16 { top += 1 }
        var bottom = rows
        if rows >= 5 {
            bottom -= 1
            self.drawFooter(row: bottom)
        }
        if rows >= 6, self.state.gaps > 0 {
            bottom -= 1
            self.drawGaps(row: bottom)
        }
        let alert = self.livingAlert()
        if rows >= 4, let notice = self.livingNotice() {
            // An alert and an empty line follow, and the prices need some lines.
            let left = bottom - (alert == nil ? 0 : 1) - 1 - top
            bottom = self.drawNotice(notice, above: bottom, most: rows >= 16 ? min(max(left - 6, 1), 3) : 1)
        }
        if let alert {
            bottom -= rows >= 4 ? 1 : 0
            self.drawAlert(alert, row: rows >= 4 ? bottom : 0)
        }
        if rows >= 16 { bottom -= 1 }
        guard top < bottom else { return }
        bottom = self.drawPane(lines: top..<bottom)
        guard top < bottom else { return }
        self.drawPrices(lines: top..<bottom, hasHeadings: rows >= 5)
    }

    /// Draws the card of the open or only symbol, else the table.
    private mutating func drawPrices(lines: Range<Int>, hasHeadings: Bool) {
        let lines = self.drawGroups(lines: lines)
        let isOnly = self.state.rows.count + self.state.waiting.count == 1 && self.choice.groups.isEmpty
        let only = isOnly ? self.state.rows.first : nil
        let opened = self.state.rows.first { $0.summary.symbol == self.choice.opened }
        if lines.count >= 2, let row = opened ?? only {
            self.drawCard(row, lines: lines)
        } else if lines.count >= 2, let opened = self.choice.opened, self.state.waiting.contains(opened) {
            self.drawWaitingCard(opened, lines: lines)
        } else {
            self.drawTable(lines: lines, hasHeadings: hasHeadings)
        }
    }

    /// Notes that a click on these columns of a line acts; by default on all of them.
    mutating func note(click action: ClickArea.Action, row: Int, columns: Range<Int>? = nil) {
        self.clickAreas.append(ClickArea(row: row, columns: columns ?? 0..<self.grid.size.columns, action: action))
    }

    // MARK: Time

    /// Notes that the screen changes after this many ns without new data.
    mutating func note(changeIn span: Int64?) {
        guard let span else { return }
        let at = self.now.monotonic + max(span, 1)
        self.changesAt = min(self.changesAt ?? at, at)
    }

    /// Notes that the screen changes when a growing age reaches a limit; ns.
    ///
    /// - Parameter isOfState: whether the status of a price or of the feed changes then.
    private mutating func note(changeAt limit: Int64, of age: Int64, isOfState: Bool) {
        guard age < limit else { return }
        self.note(changeIn: limit - age)
        let at = self.now.monotonic + (limit - age)
        if isOfState { self.stateChangesAt = min(self.stateChangesAt ?? at, at) }
    }

    /// The time on the charts' clock; it is constant while the view is frozen.
    var marketTime: Int64 { self.state.marketTime(self.choice.frozenSince ?? self.now) }

    // MARK: What is true of the feed and of a row

    /// Returns the status in words, and notes how long they stay true.
    mutating func statusWords() -> StatusText {
        let silence = self.feed.newestAge(now: self.now.monotonic)
        let words = StatusText(self.status, silence: silence, wall: self.now.wall, glyphs: self.glyphs)
        self.note(changeIn: words.lasts)
        if let silence, self.feed.status.phase == .live, !self.feed.isPaused {
            // The times at which the feed should have reported the silence.
            let limits = self.feed.limits
            for limit in [limits.lateAfter, max(limits.lateAfter, limits.staleAfter)] {
                self.note(changeAt: limit + FreshnessLimits.patience, of: silence, isOfState: true)
            }
        }
        return words
    }

    /// Returns the text of a row, and notes when the words of its age change.
    mutating func text(of row: DisplayRow) -> RowText {
        let age = self.judged.facts.age(since: row.arrived, now: self.now.monotonic)
        let symbol = self.state.symbolStates[row.summary.symbol]
        let limits = self.state.limits
        let unusual = row.history.longestGap.map { limits.unusualSilence(longest: $0) }
        let effective = self.freshness(of: row)
        let silence = self.judged.facts.silence(since: row.arrived, now: self.judged.at)
        let freshness = effective(silence)
        let isOver = self.judged.facts.status.phase == .ended
        if !isOver { self.note(changeIn: AgeText.untilChange(growing: age)) }
        // A price does not become late on a frozen screen or in a paused replay.
        let grows = self.choice.frozenSince == nil && !self.judged.facts.isPaused && !isOver
        for limit in grows ? [limits.lateAfter, limits.staleAfter, unusual ?? limits.lateAfter] : [] {
            self.note(changeAt: limit, of: silence, isOfState: effective(limit) != freshness)
        }
        let words = SymbolText(symbol, age: age, glyphs: self.glyphs)
        let base = ChangeBase(of: row, wall: self.now.wall)
        self.note(changeIn: base.lasts)
        return RowText(
            row,
            words == nil ? freshness : .old,
            ages: words?.forms ?? freshness.forms(age: age, glyphs: self.glyphs),
            isStruck: self.now.monotonic - row.arrived >= limits.staleAfter,
            look: self.look,
            base: base
        )
    }

    /// Whether a row's price is up to date.
    func isFresh(_ row: DisplayRow) -> Bool {
        let silence = self.judged.facts.silence(since: row.arrived, now: self.judged.at)
        return self.freshness(of: row)(silence) == .fresh
            && SymbolText(self.state.symbolStates[row.summary.symbol], age: 0, glyphs: self.glyphs) == nil
    }

    /// Returns the freshness of a row's price at any age, ns.
    private func freshness(of row: DisplayRow) -> (Int64) -> Freshness {
        let symbol = self.state.symbolStates[row.summary.symbol]
        let limits = self.state.limits
        let unusual = row.history.longestGap.map { limits.unusualSilence(longest: $0) }
        let phase = self.judged.phase
        return { age in Freshness(age: age, unusual: unusual, phase: phase, symbol: symbol?.state, limits: limits) }
    }

    /// The duration of the highlight of a changed price, ns.
    static let flashLength: Int64 = 300_000_000

    /// Returns the index of the first character that differs from the previous price while the highlight lasts; notes
    /// its end.
    mutating func flash(of text: RowText) -> Int? {
        guard self.look.flashes, text.freshness == .fresh, let changed = text.row.changed else { return nil }
        var left = changed.at + Self.flashLength - self.now.monotonic
        // With rare frames, the highlight could end before it is drawn. It then lasts for one frame.
        if left <= 0, let since, changed.at > since { left = 1 }
        guard left > 0, left <= Self.flashLength else { return nil }
        self.note(changeIn: left)
        let (new, old) = (text.price, text.text(changed.from))
        guard new.count == old.count else { return 0 }
        return zip(new, old).enumerated().first { $0.element.0 != $0.element.1 }?.offset
    }

    /// Returns the text for a symbol without a price, in the longest form that fits `room`, else the shortest; notes
    /// when it changes.
    mutating func waitingWords(
        _ symbol: String,
        room: Int = 0,
        isNamed: Bool = false
    ) -> (text: String, style: CellStyle) {
        let status = self.state.symbolStates[symbol]
        let age = self.now.wall - (status?.since ?? self.now.wall)
        guard let words = SymbolText(status, age: age, glyphs: self.glyphs) else { return ("no price yet", .dimmed) }
        if words.isAged { self.note(changeIn: AgeText.untilChange(growing: age)) }
        let sentences = isNamed ? words.unnamed : words.sentences
        let text = sentences.first { ScreenText.width(of: $0, limit: room + 1, glyphs: self.glyphs) <= room }
        let style = words.isAged ? CellStyle(.warning) : CellStyle(.alarm)
        return (text ?? sentences[sentences.count - 1], style)
    }

    mutating func rate(of row: DisplayRow) -> String? {
        self.note(changeIn: row.rate.nextChange(now: self.now.monotonic).map { $0 - self.now.monotonic })
        return row.rate.tenthsPerSecond(now: self.now.monotonic).map(PriceText.rate(tenths:))
    }
}
