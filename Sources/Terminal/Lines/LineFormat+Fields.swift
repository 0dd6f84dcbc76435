import Market
import NIOCore
import Wire

// The line of a price with selected fields, in each format that has fields.
extension LineFormat {
    /// Returns words separated by spaces, with a dash for an unknown value. A source other than the market adds its
    /// mark.
    static func plain(_ price: LinePrice, _ fields: [LineField]) -> String {
        var words = fields.map { field in
            guard let text = price.text(field) else { return "-" }
            return field == .symbol ? SymbolName.word(text) : text
        }
        if let mark = price.status.source.mark { words.append(mark) }
        return words.joined(separator: " ")
    }

    /// Returns the first record of a CSV output: the fields' names.
    static func csvHeader(_ fields: [LineField]) -> String { fields.map(\.rawValue).joined(separator: ",") + "\r" }

    /// Returns a record (RFC 4180), with the CR of its line end; an unknown value is empty.
    static func csv(_ price: LinePrice, _ fields: [LineField]) -> String {
        // A line break in foreign text is replaced by a visible character, so that a record is one line.
        fields.map { CSVText.field(ScreenText.clean(price.text($0) ?? "", columns: 256)) }.joined(separator: ",") + "\r"
    }

    /// Returns the relay's message, reduced to these keys, with the keys that only lines have.
    ///
    /// Units are the relay's: decimals are exact strings, `time` is milliseconds, `received` microseconds and `age`
    /// milliseconds.
    static func json(_ price: LinePrice, _ fields: [LineField]) -> ByteBuffer {
        let summary = price.update.summary
        var out = JSONWriter(type: "price")
        for field in fields {
            let key = field.jsonKey
            switch field {
            case .time: out.field(named: key, summary.exchangeTime / 1_000_000)
            case .received: out.field(named: key, summary.received / 1_000)
            case .sequence: out.field(named: key, summary.sequence)
            case .trades: out.field(named: key, summary.trades)
            case .skipped: out.field(named: key, price.update.skipped)
            case .age: out.field(named: key, price.age.map { max($0, 0) / 1_000_000 })
            case .paused: out.field(named: key, price.status.isPaused)
            case .symbol, .price, .size, .source, .state, .change, .percent, .open, .high, .low, .volume, .quantity,
                .currency, .value, .weight, .profit, .profitPercent, .today, .todayPercent, .span:
                out.field(named: key, price.text(field))
            }
        }
        return out.finish()
    }
}

extension LineField {
    /// The field's key in the relay's messages; its own name where they lack it.
    fileprivate var jsonKey: String { self == .sequence ? "seq" : self.rawValue }
}
