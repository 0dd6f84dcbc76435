import Market
import NIOCore
import Wire

/// The one line with all symbols, or with one after the other, written anew whenever its text changes: for the status
/// bars of tmux, i3 and Waybar.
///
/// The age grows even if nothing arrives, so that a dead feed is visible. A pure state machine: time is an argument.
struct LiveLine: Sendable {
    enum Style: Sendable, Equatable {
        /// Plain text.
        case oneline
        /// A JSON object for Waybar's custom module with `return-type: json`.
        case waybar
        /// A JSON object for a block of i3blocks with `format=json`.
        case i3blocks
    }

    /// The shortest time between two lines, ns.
    static let interval: Int64 = 1_000_000_000
    /// The most symbols in a line.
    static let maximumSymbols = 20

    struct Row {
        var update: PriceUpdate?
        /// The arrival of its trade, monotonic ns.
        var arrived: Int64?
        var fractionDigits = 0
        /// The venue's own figures of the last 24 hours.
        var day: VenueDay?
    }

    private let style: Style
    /// How long one symbol is shown before the next, ns; `nil` to show all symbols together.
    private let rotation: Int64?
    /// The colours of a bar without a style sheet.
    let look: DisplaySettings
    /// The feed's status and what derives from it.
    private var feed: FeedFacts
    /// The symbols in the order of the line.
    private(set) var order: [String]
    /// The place in `order` of the symbol that is shown alone; `nil` while all are shown.
    private var alone: Int?
    /// When the next symbol follows, monotonic ns.
    private var turnsAt: Int64?
    /// The symbols that stay, with or without a subscription.
    private let own: Set<String>
    /// The symbols without a subscriber. A price held back until then must not bring one back.
    private var unsubscribed: Set<String> = []
    private var rows: [String: Row] = [:]
    private(set) var states: [String: SymbolStatus] = [:]
    /// The newest line.
    private var written: String?
    /// The earliest time of the next one, monotonic ns.
    private var earliest: Int64 = 0
    /// When the text may change without an item; monotonic ns.
    private var changesAt: Int64?
    private var isChanged = true

    /// - Parameters:
    ///   - symbols: the symbols that stand first, even before they have a price.
    ///   - rotation: how long one symbol is shown before the next, ns; `nil` to show all together.
    ///   - look: the colours of a bar without a style sheet.
    init(
        _ style: Style,
        symbols: [String],
        status: FeedStatus,
        limits: FreshnessLimits = FreshnessLimits(),
        rotation: Int64? = nil,
        look: DisplaySettings = DisplaySettings()
    ) {
        self.style = style
        self.rotation = rotation
        self.look = look
        self.feed = FeedFacts(status: status)
        self.feed.limits = limits
        self.own = Set(symbols)
        self.order = []
        for symbol in symbols where self.rows[symbol] == nil { self.add(symbol) }
    }

    init(_ style: Style, _ settings: LinePrinter.Settings, status: FeedStatus) {
        self.init(
            style,
            symbols: settings.symbols,
            status: status,
            limits: settings.limits,
            rotation: settings.rotation,
            look: settings.look
        )
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
            if let place = self.order.firstIndex(of: symbol) {
                self.order.remove(at: place)
                // The next symbol moves to the place of the removed one.
                if let alone, place < alone { self.alone = alone - 1 }
            }
            self.rows[symbol] = nil
            if self.unsubscribed.count < SymbolTable.capacity { self.unsubscribed.insert(symbol) }
        case .paused(let isPaused, _):
            self.feed.isPaused = isPaused
            self.standStill(now: now)
        case .day(let day):
            self.rows[day.symbol]?.day = day
        case .step(let step):
            self.go(step)
            self.turnsAt = self.rotation.map { now.addingCapped($0) }
            // A person waits for it.
            self.earliest = 0
        case .gap, .settled, .expected, .alert:
            break
        }
    }

    /// Shows the neighbour of the symbol that is shown. Without a rotation, all symbols together are a place of their own.
    private mutating func go(_ step: SymbolStep) {
        // The number of the place: 0 for all together.
        let place = self.alone.map { $0 + 1 } ?? 0
        let places = self.order.count + 1
        var next = (place + (step == .next ? 1 : places - 1)) % places
        if next == 0, self.rotation != nil { next = step == .next ? 1 : places - 1 }
        self.alone = next == 0 || self.order.isEmpty ? nil : next - 1
    }

    /// Shows the symbol whose turn it is, if symbols are shown one after the other.
    private mutating func rotate(now: Int64) {
        guard let rotation else {
            if let alone, alone >= self.order.count { self.alone = nil }
            return
        }
        guard !self.order.isEmpty else { return self.alone = nil }
        if let alone, let turnsAt {
            if now >= turnsAt { self.go(.next) } else if alone < self.order.count { return }
        }
        if self.alone ?? self.order.count >= self.order.count { self.alone = 0 }
        self.turnsAt = now.addingCapped(rotation)
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
        if self.isChanged { return self.earliest }
        return self.changesAt.map { max($0, self.earliest) }
    }

    /// Returns the line, if its text differs from the previous one's.
    ///
    /// - Parameter isForced: whether to return it in any case.
    mutating func line(now: Moment, isForced: Bool = false) -> [UInt8]? {
        guard isForced || self.due.map({ $0 <= now.monotonic }) ?? false else { return nil }
        self.isChanged = false
        self.rotate(now: now.monotonic)
        let (text, lasts) = self.words(now)
        self.changesAt = lasts.map { now.monotonic.addingCapped($0) }
        guard isForced || text != self.written else { return nil }
        self.written = text
        // A recording may contain any time.
        self.earliest = now.monotonic.addingCapped(Self.interval)
        return Array(text.utf8) + [UInt8(ascii: "\n")]
    }

    /// Returns the very last line, if its text differs from the previous one's, without the minimum interval: a reader
    /// keeps the newest line, and would show an ended feed as a live one.
    mutating func last(now: Moment) -> [UInt8]? {
        guard self.words(now).text != self.written else { return nil }
        return self.line(now: now, isForced: true)
    }

    // MARK: Words

    private func words(_ now: Moment) -> (text: String, lasts: Int64?) {
        var lasts: Int64?
        func ends(in span: Int64?) { if let span { lasts = min(lasts ?? .max, span) } }
        var feed = self.feed
        feed.newestArrival = self.rows.values.lazy.compactMap(\.arrived).max()
        let status = feed.effective(at: now)
        let entries = self.order.prefix(Self.maximumSymbols).map { self.entry($0, feed: feed, now: now) }
        var shown = entries
        if let alone, alone < self.order.count {
            shown = [alone < entries.count ? entries[alone] : self.entry(self.order[alone], feed: feed, now: now)]
            if self.rotation != nil, self.order.count > 1 { ends(in: self.turnsAt.map { max($0 - now.monotonic, 0) }) }
        }
        for entry in self.style == .waybar ? shown + entries : shown {
            if let age = entry.age, feed.status.phase != .ended { ends(in: AgeText.untilChange(growing: age)) }
            ends(in: entry.base?.lasts)
        }
        let (state, stateLasts) = Self.state(status, wall: now.wall)
        ends(in: stateLasts)
        var parts = shown.map(\.text)
        if shown.count > 1, self.order.count > Self.maximumSymbols {
            parts.append("\(self.order.count - Self.maximumSymbols) more")
        }
        let line = (parts + [state]).joined(separator: " | ")
        switch self.style {
        case .oneline: return (line, lasts)
        case .waybar: return (Self.waybar(line, shown: shown, details: entries.map(\.detail), status), lasts)
        case .i3blocks: return (self.i3blocks(line, shown: shown, state: state, status), lasts)
        }
    }

    private func entry(_ symbol: String, feed: FeedFacts, now: Moment) -> Entry {
        let row = self.rows[symbol] ?? Row()
        let silence = row.arrived.map { max(feed.silence(since: $0, now: now.monotonic), 0) }
        return Entry(
            symbol: symbol,
            name: self.shortName(symbol),
            row: row,
            age: row.arrived.map { max(feed.age(since: $0, now: now.monotonic), 0) },
            trouble: self.trouble(symbol, silence: silence),
            wall: now.wall
        )
    }

    /// - Parameter silence: the time since the newest price, ns; `nil` where there is no price.
    private func trouble(_ symbol: String, silence: Int64?) -> Entry.Trouble? {
        switch self.states[symbol]?.state {
        case .quiet: .quiet
        case .refused: .refused(self.states[symbol]?.word ?? "refused")
        case .live: nil
        // A symbol just subscribed may have an old price.
        case .asked, nil: silence.map { $0 >= self.feed.limits.staleAfter ? .old : nil } ?? .noTrade
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
}
