import Market
import NIOCore
import Wire

/// The one line with all symbols, written anew whenever its text changes: for the status bars of tmux, i3 and Waybar.
///
/// The age grows even if nothing arrives, so that a dead feed is visible. A pure state machine: time is an argument.
struct LiveLine: Sendable {
    enum Style: Sendable, Equatable {
        /// Plain text.
        case oneline
        /// A JSON object for Waybar's custom module with `return-type: json`.
        case waybar
    }

    /// The shortest time between two lines, ns.
    static let interval: Int64 = 1_000_000_000
    /// The most symbols in a line.
    private static let maximumSymbols = 20

    private struct Row {
        var update: PriceUpdate?
        /// The arrival of its trade, monotonic ns.
        var arrived: Int64?
        var fractionDigits = 0
    }

    private let style: Style
    /// The feed's status and what derives from it.
    private var feed: FeedFacts
    /// The symbols in the order of the line.
    private var order: [String]
    /// The symbols that stay, with or without a subscription.
    private let own: Set<String>
    /// The symbols without a subscriber. A price held back until then must not bring one back.
    private var unsubscribed: Set<String> = []
    private var rows: [String: Row] = [:]
    private var states: [String: SymbolStatus] = [:]
    /// The newest line and the time of its writing, monotonic ns.
    private var written: (text: String, at: Int64)?
    /// When the text may change without an item; monotonic ns.
    private var changesAt: Int64?
    private var isChanged = true

    /// - Parameter symbols: the symbols that stand first, even before they have a price.
    init(_ style: Style, symbols: [String], status: FeedStatus, limits: FreshnessLimits = FreshnessLimits()) {
        self.style = style
        self.feed = FeedFacts(status: status)
        self.feed.limits = limits
        self.own = Set(symbols)
        self.order = []
        for symbol in symbols where self.rows[symbol] == nil { self.add(symbol) }
    }

    private mutating func add(_ symbol: String) {
        guard self.order.count < SymbolTable.capacity else { return }
        self.order.append(symbol)
        self.rows[symbol] = Row()
    }

    /// Takes an item for the next line.
    mutating func took(_ item: LineItem, now: Int64) {
        self.isChanged = true
        switch item {
        case .price(let update, let arrived): self.took(update, arrived: arrived ?? now)
        case .snapshot(let update, let arrived):
            // A snapshot belongs to a new subscription; if the symbol has no subscriber, a message after it says so.
            self.unsubscribed.remove(update.summary.symbol)
            self.took(update, arrived: arrived)
        case .status(let status):
            self.feed.status = status
            self.standStill(now: now)
        case .symbol(let status):
            self.unsubscribed.remove(status.symbol)
            if self.states.count < SymbolTable.capacity { self.states[status.symbol] = status }
        case .unsubscribed(let symbol, _):
            self.states[symbol] = nil
            guard !self.own.contains(symbol) else { break }
            self.order.removeAll { $0 == symbol }
            self.rows[symbol] = nil
            if self.unsubscribed.count < SymbolTable.capacity { self.unsubscribed.insert(symbol) }
        case .paused(let isPaused, _):
            self.feed.isPaused = isPaused
            self.standStill(now: now)
        case .day, .gap, .settled, .expected, .alert:
            break
        }
    }

    /// Records whether the replay stands still, as it also does at its end.
    private mutating func standStill(now: Int64) {
        self.feed.pauses.took(isPaused: self.feed.isPaused || self.feed.status.phase == .ended, now: now)
    }

    private mutating func took(_ update: PriceUpdate, arrived: Int64) {
        let symbol = update.summary.symbol
        guard !self.unsubscribed.contains(symbol) else { return }
        if self.rows[symbol] == nil { self.add(symbol) }
        guard var row = self.rows[symbol] else { return }
        row.update = update
        row.arrived = arrived
        row.fractionDigits = min(
            max(row.fractionDigits, -Int(update.summary.price.exponent)),
            PriceText.maximumFractionDigits
        )
        self.rows[symbol] = row
    }

    /// When ``line(now:isForced:)`` may return a line, monotonic ns; `nil` when only an item can change the text.
    var due: Int64? {
        let earliest = self.written.map { written in
            // A recording may contain any time.
            let (at, isOut) = written.at.addingReportingOverflow(Self.interval)
            return isOut ? .max : at
        }
        if self.isChanged { return earliest ?? 0 }
        return self.changesAt.map { max($0, earliest ?? 0) }
    }

    /// Returns the line, if its text differs from the previous one's.
    ///
    /// - Parameter isForced: whether to return it in any case.
    mutating func line(now: Moment, isForced: Bool = false) -> [UInt8]? {
        guard isForced || self.due.map({ $0 <= now.monotonic }) ?? false else { return nil }
        self.isChanged = false
        let (text, lasts) = self.words(now)
        self.changesAt = lasts.map { now.monotonic + $0 }
        guard isForced || text != self.written?.text else { return nil }
        self.written = (text, now.monotonic)
        return Array(text.utf8) + [UInt8(ascii: "\n")]
    }

    /// Returns the very last line, if its text differs from the previous one's, without the minimum interval: a reader
    /// keeps the newest line, and would show an ended feed as a live one.
    mutating func last(now: Moment) -> [UInt8]? {
        guard self.words(now).text != self.written?.text else { return nil }
        return self.line(now: now, isForced: true)
    }

    // MARK: Words

    private func words(_ now: Moment) -> (text: String, lasts: Int64?) {
        var lasts: Int64?
        func ends(in span: Int64?) { if let span { lasts = min(lasts ?? .max, span) } }
        var feed = self.feed
        feed.newestArrival = self.rows.values.lazy.compactMap(\.arrived).max()
        let status = feed.effective(at: now)
        var parts: [String] = []
        var details: [String] = []
        for symbol in self.order.prefix(Self.maximumSymbols) {
            let row = self.rows[symbol] ?? Row()
            let age = row.arrived.map { max(feed.age(since: $0, now: now.monotonic), 0) }
            if let age, feed.status.phase != .ended { ends(in: AgeText.untilChange(growing: age)) }
            let silence = row.arrived.map { max(feed.silence(since: $0, now: now.monotonic), 0) }
            parts.append(self.part(symbol, row, age: age, silence: silence))
            details.append(self.detail(symbol, row, age: age, silence: silence))
        }
        if self.order.count > Self.maximumSymbols { parts.append("\(self.order.count - Self.maximumSymbols) more") }
        let (state, stateLasts) = Self.state(status, wall: now.wall)
        ends(in: stateLasts)
        let line = (parts + [state]).joined(separator: " | ")
        switch self.style {
        case .oneline: return (line, lasts)
        case .waybar: return (self.object(line, details: details, status), lasts)
        }
    }

    /// `BTCUSDT 61837.63 +0.02% 3 s`, and a word where the symbol is in trouble.
    private func part(_ symbol: String, _ row: Row, age: Int64?, silence: Int64?) -> String {
        var words = [self.shortName(symbol)]
        if let update = row.update {
            words.append(PriceText.exact(update.summary.price, fractionDigits: row.fractionDigits))
            if let percent = PriceText.percent(update.summary.price, since: update.summary.open) {
                words.append(percent)
            }
        } else {
            words.append("-")
        }
        if let trouble = self.trouble(symbol, silence: silence) { words.append(trouble) }
        if let age { words.append(AgeText.words(age)) }
        return words.joined(separator: " ")
    }

    /// - Parameter silence: the time since the newest price, ns; `nil` where there is no price.
    private func trouble(_ symbol: String, silence: Int64?) -> String? {
        switch self.states[symbol]?.state {
        case .quiet, .refused: self.states[symbol]?.word
        case .live: nil
        // A symbol just subscribed may have an old price.
        case .asked, nil: silence.map { $0 >= self.feed.limits.staleAfter ? "old" : nil } ?? "no trade yet"
        }
    }

    /// Returns the symbol without its exchange. The full name stands where another symbol would look the same, or the
    /// service refuses it, since the exchange may be wrong. tmux interprets `#`.
    private func shortName(_ symbol: String) -> String {
        let short = SymbolName.withoutExchange(symbol)
        let isRefused = self.states[symbol]?.isRefused == true
        let isAlone =
            !isRefused
            && self.order.prefix(Self.maximumSymbols).allSatisfy {
                $0 == symbol || !$0.hasSuffix(":\(short)") && $0 != short
            }
        return SymbolName.word(isAlone ? short : symbol).replacing("#", with: "_")
    }

    private static func state(_ status: FeedStatus, wall: Int64) -> (words: String, lasts: Int64?) {
        var words = LineFormat.words(of: status)
        guard let retryAt = status.phase.retryAt else { return (words, nil) }
        let wait = retryAt - wall
        let when = AgeText.seconds(wait) == 0 ? "now" : "in \(AgeText.words(wait))"
        if case .reconnecting(let attempt, _) = status.phase { words += " \(attempt)" }
        return ("\(words) \(when)", AgeText.untilChange(shrinking: wait))
    }

    // MARK: Waybar

    private func detail(_ symbol: String, _ row: Row, age: Int64?, silence: Int64?) -> String {
        let name = SymbolName.word(symbol)
        guard let update = row.update else {
            return "\(name): \(self.trouble(symbol, silence: silence) ?? "no trade yet")"
        }
        let summary = update.summary
        var text = "\(name) \(PriceText.exact(summary.price, fractionDigits: row.fractionDigits))"
        if let age { text += ", \(AgeText.words(age)) ago" }
        if let change = PriceText.change(summary.price, since: summary.open, fractionDigits: row.fractionDigits) {
            text += ", \(change) since the start"
        }
        text += ", high \(summary.high), low \(summary.low), volume \(PriceText.shortened(summary.volume))"
        return text + ", \(summary.trades) trades"
    }

    private func object(_ line: String, details: [String], _ status: FeedStatus) -> String {
        let object = JSONWriter.object { out in
            out.field("text", Self.markup(line))
            out.field("alt", status.word)
            out.field("tooltip", Self.markup((details + [LineFormat.sentence(status)]).joined(separator: "\n")))
            out.field("class", self.classes(status))
        }
        return String(buffer: object)
    }

    /// Returns words for the style sheet: the status first, then the kind of prices and the direction of the first
    /// symbol.
    private func classes(_ status: FeedStatus) -> [String] {
        var classes = [status.word]
        if status.source != .live { classes.append(status.source.word) }
        if status.isPaused { classes.append("paused") }
        if !status.certificateChecked { classes.append("unchecked") }
        if let summary = self.order.first.flatMap({ self.rows[$0]?.update?.summary }) {
            classes.append(summary.price == summary.open ? "flat" : summary.price < summary.open ? "down" : "up")
        }
        return classes
    }

    /// Escapes a text for Pango markup, which Waybar expects in text and tooltip.
    private static func markup(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}
