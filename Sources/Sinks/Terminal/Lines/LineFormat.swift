package import Market
import NIOCore
import Wire

/// One line of text for each value, for people (`plain`) or for programs (`json`, `csv`).
///
/// Foreign text never reaches the output raw: plain lines and CSV have what ``PrintableText`` makes of it, JSON escapes the
/// same characters.
package struct LineFormat: Sendable {
    /// The bytes of an item, each for one of the two outputs.
    package struct Lines: Sendable, Equatable {
        package var output: [UInt8] = []
        package var errors: [UInt8] = []
    }

    /// How a line is written.
    package enum Style: Sendable, Equatable {
        case plain, json, csv
    }

    private let style: Style
    /// What a line says; for JSON, none means the relay's whole message.
    private let fields: [LineField]
    /// The state, and the marks that nobody may miss.
    private var state: String
    /// Symbols that were last told to be quiet or refused, with the word, so that their recovery is news.
    private var troubled: [String: String] = [:]

    /// - Parameter fields: what a line says, in this order; none means ``LineField/usual(in:)``.
    package init(_ style: Style, fields: [LineField] = [], status: FeedStatus) {
        self.style = style
        self.fields = fields.isEmpty ? LineField.usual(in: style) : fields
        self.state = Self.words(of: status)
    }

    /// What stands before all lines.
    package var header: [UInt8] {
        switch self.style {
        case .plain, .json: []
        case .csv: Self.line(Self.csvHeader(self.fields))
        }
    }

    /// The lines of an item.
    ///
    /// Plain: `2026-11-21T05:31:02.123Z BINANCE:BTCUSDT 61837.63 0.02 live` (exchange time, symbol, price, size, state,
    /// then `DEMO`, `REPLAY` or `CERTIFICATE-NOT-CHECKED` where due) on the output; states and gaps among the errors,
    /// and a symbol's state when it becomes quiet or refused, and when that is over.
    /// CSV: a record for each price on the output, the rest as with plain lines.
    /// JSON: the messages of the relay's `/v1/stream`, all on the output.
    ///
    /// - Parameter now: monotonic ns, for ages.
    package mutating func lines(_ item: LineItem, now: Int64) -> Lines {
        if case .status(let status) = item { self.state = Self.words(of: status) }
        if self.style == .json {
            let message =
                switch item {
                case .price(let update, let arrived):
                    self.json(LinePrice(update: update, age: arrived.map { now - $0 }, state: self.state))
                case .snapshot(let update, let arrived):
                    self.json(LinePrice(update: update, age: now - arrived, state: self.state))
                case .status(let status): StreamEncoder.status(status)
                case .gap(let gap): StreamEncoder.gap(gap)
                case .symbol(let status): StreamEncoder.symbol(status)
                case .unwished(let symbol, let since): StreamEncoder.released(symbol, since: since)
                case .expected, .paused: nil as ByteBuffer?
                case .alert(let alert, _): AlertText.json(alert)
                }
            return Lines(output: message.map { JSONText.printable($0.readableBytesView) + [UInt8(ascii: "\n")] } ?? [])
        }
        switch item {
        case .price(let update, let arrived):
            return self.record(LinePrice(update: update, age: arrived.map { now - $0 }, state: self.state))
        case .snapshot(let update, let arrived):
            return self.record(LinePrice(update: update, age: now - arrived, state: self.state))
        case .status(let status):
            return Lines(errors: Self.line("\(UTCText.timestamp(status.since)) \(Self.sentence(status))"))
        case .gap(let gap):
            let span = AgeText.record(gap.length)
            let reason = ScreenText.clean(gap.reason, columns: 256)
            return Lines(errors: Self.line("\(UTCText.timestamp(gap.to)) gap of \(span): \(reason)"))
        case .symbol(let status):
            return Lines(errors: self.news(of: status).map(Self.line) ?? [])
        case .unwished(let symbol, _):
            self.troubled[symbol] = nil
            return Lines()
        case .expected, .paused:
            return Lines()
        case .alert(let alert, let call):
            return Lines(errors: Self.line("alert: \(AlertText.line(alert))") + call)
        }
    }

    private func record(_ price: LinePrice) -> Lines {
        let text = self.style == .csv ? Self.csv(price, self.fields) : Self.plain(price, self.fields)
        return Lines(output: Self.line(text))
    }

    private func json(_ price: LinePrice) -> ByteBuffer {
        self.fields.isEmpty ? StreamEncoder.price(price.update) : Self.json(price, self.fields)
    }

    /// What is told of a symbol: that it is quiet or refused, and that it trades again. That it was asked for and came is
    /// seen by its prices.
    private mutating func news(of status: SymbolStatus) -> String? {
        switch status.state {
        case .asked:
            return nil
        case .live:
            guard self.troubled.removeValue(forKey: status.symbol) != nil else { return nil }
        case .quiet, .refused:
            // Another attempt that fails alike is no news.
            guard self.troubled[status.symbol] != status.word else { return nil }
            // The feed has no more symbols than this.
            if self.troubled.count < SymbolTable.capacity { self.troubled[status.symbol] = status.word }
        }
        var text = "\(UTCText.timestamp(status.since)) \(Self.word(status.symbol)) \(status.word)"
        if let reason = status.reason { text += ": \(ScreenText.clean(reason, columns: 256))" }
        if case .refused(_, let retryAt) = status.state, retryAt > status.since {
            text += ", asked again in \(AgeText.record(retryAt - status.since))"
        }
        return text + SymbolWords.hint(status)
    }

    /// The line that tells of items dropped because the reader was slow.
    package func dropped(_ count: UInt64) -> Lines {
        if self.style == .json { return Lines(output: Self.line("{\"type\":\"dropped\",\"lines\":\(count)}")) }
        return Lines(errors: Self.line("\(count) lines left out: the reader of the output is too slow"))
    }

    private static func line(_ text: String) -> [UInt8] { Array(text.utf8) + [UInt8(ascii: "\n")] }

    /// Foreign text as one word: printable and without a space.
    static func word(_ text: String) -> String {
        String(ScreenText.clean(text, columns: 128).map { $0 == " " ? "_" : $0 })
    }

    /// The state as one word, with the marks that nobody may miss.
    static func words(of status: FeedStatus) -> String {
        var words = [status.word]
        switch status.source {
        case .live: break
        case .replay: words.append("REPLAY")
        case .demo: words.append("DEMO")
        }
        if !status.certificateChecked { words.append("CERTIFICATE-NOT-CHECKED") }
        return words.joined(separator: " ")
    }

    /// What is true of the feed, with the reason.
    static func sentence(_ status: FeedStatus) -> String {
        var text = status.word
        switch status.phase {
        case .reconnecting(let attempt, let retryAt):
            text += ", attempt \(attempt) in \(AgeText.record(retryAt - status.since))"
        case .rateLimited(let until):
            text += " for \(AgeText.record(until - status.since))"
        case .keyInUse(let retryAt), .keyRejected(.some(let retryAt)):
            text += ", next attempt in \(AgeText.record(retryAt - status.since))"
        case .connecting, .waiting, .live, .late, .stale, .keyRejected(nil), .noSuchSymbol, .notPermitted, .ended,
            .stopped:
            break
        }
        if let via = status.via { text += " by the relay at \(ScreenText.clean(via, columns: 64))" }
        if let reason = status.reason { text += ": \(ScreenText.clean(reason, columns: 256))" }
        for mark in [
            DisplayMarks.source(status.source).first,
            DisplayMarks.certificate(isChecked: status.certificateChecked).first,
        ] {
            if let mark { text += ", \(ScreenText.clean(mark, columns: 256))" }
        }
        return text
    }
}
