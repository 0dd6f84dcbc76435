import Market
import NIOCore
import Wire

// A price as a line of chosen fields, in each of the formats that have them.
extension LineFormat {
    /// Words with a space in between; what is not known is a dash. What is not the market's ends with its mark.
    static func plain(_ price: LinePrice, _ fields: [LineField]) -> String {
        var words = fields.map { field in
            guard let text = price.text(field) else { return "-" }
            return field == .symbol ? Self.word(text) : text
        }
        if let mark = price.status.source.mark { words.append(mark) }
        return words.joined(separator: " ")
    }

    /// The first record of a CSV output: the fields' names.
    static func csvHeader(_ fields: [LineField]) -> String { fields.map(\.rawValue).joined(separator: ",") + "\r" }

    /// A record (RFC 4180), with the CR of its line end; what is not known is empty.
    static func csv(_ price: LinePrice, _ fields: [LineField]) -> String {
        // A line break in foreign text is made visible, so that a record is a line.
        fields.map { CSVText.field(ScreenText.clean(price.text($0) ?? "", columns: 256)) }.joined(separator: ",") + "\r"
    }

    /// The relay's message cut down to these keys, and those that only a line has.
    ///
    /// Decimals are strings and exact, `time` is milliseconds, `received` microseconds and `age` milliseconds, as there.
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
            case .symbol, .price, .size, .source, .state, .change, .percent, .open, .high, .low, .volume:
                out.field(named: key, price.text(field))
            }
        }
        return out.finish()
    }
}

extension LineField {
    /// The key in the relay's messages, where they have it.
    fileprivate var jsonKey: String { self == .sequence ? "seq" : self.rawValue }
}
