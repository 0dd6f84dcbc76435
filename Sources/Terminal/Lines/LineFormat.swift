package import Market
import NIOCore
import Wire

/// The format of one line of text for each value, for people (`plain`) or for programs (`json`, `csv`).
///
/// Foreign text never reaches the output raw: ``PrintableText`` cleans it for plain lines and CSV, and JSON escapes the
/// same characters.
package struct LineFormat: Sendable {
    /// The bytes of an item, for each of the two outputs.
    package struct Lines: Sendable, Equatable {
        package var output: [UInt8] = []
        package var errors: [UInt8] = []
    }

    /// The style of the lines.
    package enum Style: Sendable, Equatable {
        case plain, json, csv
    }

    private let style: Style
    /// The fields of a line; for JSON, an empty list means the relay's whole message.
    private let fields: [LineField]
    /// The feed's status, and whether the replay that is its source is paused.
    private var status: FeedStatus
    private var isPaused = false
    private var troubles = ReportedSymbolStates()
    /// The person's holdings at the newest prices.
    private var holdings: LineHoldings

    /// - Parameters:
    ///   - fields: the fields of a line, in this order; empty for ``LineField/usual(in:)``.
    ///   - holdings: those of the fields about holdings.
    package init(_ style: Style, fields: [LineField] = [], status: FeedStatus, holdings: Holdings = Holdings()) {
        self.holdings = LineHoldings(holdings)
        self.style = style
        self.fields = LineField.shown(fields, in: style)
        self.status = status
    }

    /// The feed's status as lines report it: a paused replay overrides it.
    private var reported: FeedStatus {
        var status = self.isPaused ? self.status.heldStill : self.status
        if !self.isPaused { status.isPaused = false }
        return status
    }

    /// The bytes before all lines.
    package var header: [UInt8] {
        switch self.style {
        case .plain, .json: []
        case .csv: Self.line(Self.csvHeader(self.fields))
        }
    }

    /// Returns the lines of an item.
    ///
    /// - Plain: `2026-11-21T05:31:02.123Z BINANCE:BTCUSDT 61837.63 0.02 live` on the output (exchange time, symbol,
    ///   price, size, status, `CERTIFICATE-NOT-CHECKED` where due, and at the end of any line `DEMO`, `REPLAY` or
    ///   `SIMULATED`). Status changes and gaps go to the errors, and so does a symbol's status when it becomes quiet or
    ///   refused, and when that ends.
    /// - CSV: a record for each price on the output, the rest as with plain lines.
    /// - JSON: the messages of the relay's `/v1/stream`, each with the `source`, all on the output.
    ///
    /// - Parameter now: monotonic ns, for ages.
    package mutating func lines(_ item: LineItem, now: Int64) -> Lines {
        let before = self.reported
        switch item {
        case .status(let status): self.status = status
        case .paused(let isPaused, _): self.isPaused = isPaused
        case .price(let update, _), .snapshot(let update, _): self.holdings.take(update.summary)
        case .day(let day): self.holdings.take(day)
        case .gap, .settled, .symbol, .unsubscribed, .expected, .step, .alert: break
        }
        let reported = self.reported
        if self.style == .json {
            let message =
                switch item {
                case .price(let update, let arrived): self.json(self.price(update, age: arrived.map { now - $0 }))
                case .snapshot(let update, let arrived): self.json(self.price(update, age: now - arrived))
                case .status: StreamEncoder.status(reported)
                case .gap(let gap): StreamEncoder.gap(gap)
                case .settled(let outcome, _): StreamEncoder.settled(outcome)
                case .symbol(let status): StreamEncoder.symbol(status)
                case .unsubscribed(let symbol, let since): StreamEncoder.released(symbol, since: since)
                case .paused: reported == before ? nil : StreamEncoder.status(reported)
                case .expected, .day, .step: nil as ByteBuffer?
                case .alert(let alert, _): AlertText.json(alert)
                }
            guard let message else { return Lines() }
            let saysSource =
                switch item {
                case .status, .paused: true
                case .price, .snapshot: !self.fields.isEmpty
                case .day, .gap, .settled, .symbol, .unsubscribed, .expected, .step, .alert: false
                }
            return Lines(output: Self.jsonLine(message, source: saysSource ? nil : reported.source))
        }
        switch item {
        case .price(let update, let arrived):
            return self.record(self.price(update, age: arrived.map { now - $0 }))
        case .snapshot(let update, let arrived):
            return self.record(self.price(update, age: now - arrived))
        case .status:
            // An attempt after a failure has the failure's reason, which has been printed.
            guard !reported.isAttempt(after: before) else { return Lines() }
            return Lines(errors: Self.line("\(UTCText.timestamp(reported.since)) \(Self.sentence(reported))"))
        case .paused(_, let since):
            guard reported.spokenWord != before.spokenWord else { return Lines() }
            return Lines(errors: Self.line("\(UTCText.timestamp(since)) \(Self.sentence(reported))"))
        case .gap(let gap):
            return Lines(errors: Self.line("\(UTCText.timestamp(gap.to)) \(gap.sentence)"))
        case .settled(let outcome, let time):
            return Lines(errors: Self.line("\(UTCText.timestamp(time)) \(outcome.sentence)"))
        case .symbol(let status):
            return Lines(errors: self.news(of: status).map(Self.line) ?? [])
        case .unsubscribed(let symbol, _):
            self.troubles.forget(symbol)
            return Lines()
        case .expected, .day, .step:
            return Lines()
        case .alert(let alert, let call):
            return Lines(errors: Self.line("alert: \(AlertText.line(alert))") + call)
        }
    }

    private func price(_ update: PriceUpdate, age: Int64?) -> LinePrice {
        let reported = self.reported
        // In a plain line, the source's mark stands at the end.
        let state = self.style == .plain ? Self.words([reported.spokenWord], reported) : Self.machineWords(of: reported)
        let holding = self.holdings.holding(of: update.summary.symbol)
        return LinePrice(update: update, age: age, state: state, status: reported, holding: holding)
    }

    private func record(_ price: LinePrice) -> Lines {
        let text = self.style == .csv ? Self.csv(price, self.fields) : Self.plain(price, self.fields)
        return Lines(output: Self.line(text))
    }

    private func json(_ price: LinePrice) -> ByteBuffer {
        self.fields.isEmpty ? StreamEncoder.price(price.update) : Self.json(price, self.fields)
    }

    /// Returns the line about a symbol that becomes quiet or refused, or trades again; `nil` for other changes.
    private mutating func news(of status: SymbolStatus) -> String? {
        guard self.troubles.isNews(status) else { return nil }
        return "\(UTCText.timestamp(status.since)) \(status.sentence)\(SymbolText.hint(status))"
    }

    /// Returns the line about items dropped because the reader was slow.
    package func dropped(_ count: UInt64) -> Lines {
        if self.style == .json {
            let message = ByteBuffer(string: "{\"type\":\"dropped\",\"lines\":\(count)}")
            return Lines(output: Self.jsonLine(message, source: self.status.source))
        }
        return Lines(errors: Self.line("\(count) lines left out: the reader of the output is too slow"))
    }

    private static func line(_ text: String) -> [UInt8] { Array(text.utf8) + [UInt8(ascii: "\n")] }

    /// Returns the status for people, with the marks that must not be overlooked.
    static func words(of status: FeedStatus) -> String {
        self.words([status.spokenWord] + (status.source.mark.map { [$0] } ?? []), status)
    }

    /// Returns the status for programs, with the same marks.
    private static func machineWords(of status: FeedStatus) -> String {
        self.words([status.word] + (status.source.mark.map { [$0] } ?? []), status)
    }

    private static func words(_ words: [String], _ status: FeedStatus) -> String {
        (words + (status.certificateMark.map { [$0] } ?? [])).joined(separator: " ")
    }

    /// Returns the status with its reason.
    static func sentence(_ status: FeedStatus) -> String {
        let marks = [
            DisplayMarks.source(status.source).first,
            DisplayMarks.certificate(isChecked: status.certificateChecked).first,
        ]
        return status.sentence(marks: marks.compactMap(\.self))
    }

    /// Returns a JSON object as a line of printable characters.
    ///
    /// - Parameter source: the origin of the trades, for an object that does not state it.
    private static func jsonLine(_ object: ByteBuffer, source: FeedStatus.Source? = nil) -> [UInt8] {
        StreamLine.text(of: object, source: source) + [UInt8(ascii: "\n")]
    }
}
