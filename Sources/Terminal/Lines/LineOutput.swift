package import Market

/// The formatting of a printer's items in any of the formats, apart from the waiting.
///
/// A pure state machine: time is an argument.
package struct LineOutput: Sendable {
    private enum Form {
        /// Each item has separate lines.
        case items(LineFormat)
        /// All items share one line.
        case live(LiveLine)
    }

    private var form: Form
    private let status: FeedStatus
    private var gate: FreshPriceWait?
    /// Whether the last line of an output that ends by itself has been returned.
    private var hasEnded = false

    package init(_ settings: LinePrinter.Settings, status: FeedStatus, now: Int64) {
        func items(_ style: LineFormat.Style) -> Form {
            .items(LineFormat(style, fields: settings.fields, status: status, holdings: settings.holdings))
        }
        switch settings.format {
        case .tui, .plain: self.form = items(.plain)
        case .json: self.form = items(.json)
        case .csv: self.form = items(.csv)
        case .oneline: self.form = .live(LiveLine(.oneline, settings, status: status))
        case .waybar: self.form = .live(LiveLine(.waybar, settings, status: status))
        case .i3blocks: self.form = .live(LiveLine(.i3blocks, settings, status: status))
        }
        self.status = status
        self.gate = settings.once.map { FreshPriceWait($0, status: status, now: now) }
    }

    /// The bytes before all lines.
    package var header: [UInt8] {
        switch self.form {
        case .items(let format): format.header
        case .live: []
        }
    }

    /// Returns the lines of an item, which may be empty.
    package mutating func lines(_ item: LineItem, now: Int64) -> LineFormat.Lines {
        let isWanted = self.gate == nil || self.gate?.took(item, now: now) == true
        switch self.form {
        case .items(var format):
            // Also for an item that is not printed, since it may change the format's state.
            let lines = format.lines(item, now: now)
            self.form = .items(format)
            return isWanted ? lines : LineFormat.Lines()
        case .live(var line):
            line.took(item, now: now)
            self.form = .live(line)
            // The line has no space for an alert, but the bell and the log have.
            guard case .alert = item, isWanted else { return LineFormat.Lines() }
            var format = LineFormat(.plain, status: self.status)
            return format.lines(item, now: now)
        }
    }

    /// Returns the line about items dropped because the reader was slow; empty for one shared line, which loses nothing
    /// by it.
    func dropped(_ count: UInt64) -> LineFormat.Lines {
        switch self.form {
        case .items(let format) where self.gate == nil: format.dropped(count)
        case .items, .live: LineFormat.Lines()
        }
    }

    /// Returns the shared line, where its text has changed; and the last one of an output that ends by itself.
    package mutating func live(now: Moment) -> [UInt8]? {
        guard case .live(var line) = self.form else { return nil }
        defer { self.form = .live(line) }
        guard let gate else { return line.line(now: now) }
        guard gate.isOver(now: now.monotonic), !self.hasEnded else { return nil }
        self.hasEnded = true
        return line.line(now: now, isForced: true)
    }

    /// Returns the last shared line of an output that is stopped. One that ends by itself has returned it already.
    package mutating func last(now: Moment) -> [UInt8]? {
        guard case .live(var line) = self.form, self.gate == nil else { return nil }
        defer { self.form = .live(line) }
        return line.last(now: now)
    }

    /// The time of the next change without an item, monotonic ns.
    package var due: Int64? {
        if let gate { return gate.deadline }
        guard case .live(let line) = self.form else { return nil }
        return line.due
    }

    /// Whether the output must end by itself.
    func isOver(now: Int64) -> Bool { self.gate?.isOver(now: now) ?? false }

    /// Names the symbols without a price and the reasons, for an output that waits for them.
    func report(now: Int64) -> String? { self.gate?.report(now: now) }
}
