import Market

extension CompletenessHour {
    /// Reads the members of an hour as ``JSONWriter/fields(of:start:)`` writes them into a recording, with its beginning
    /// in µs; `nil` if one is missing or not valid.
    init?(_ reader: inout JSONReader) {
        var symbol: String?
        var start: Int64?
        var hash: String?
        var reason: String?
        var (first, last) = (UInt64?.none, UInt64?.none)
        var counts: [UInt64?] = [nil, nil, nil, nil]
        var isWhole = false
        let isRead = reader.object { key, reader in
            switch reader.kind() {
            case .string:
                guard let text = reader.string()?.text else { return false }
                if key.equals("symbol") { symbol = text }
                if key.equals("first") { first = TradeID.parse(text) }
                if key.equals("last") { last = TradeID.parse(text) }
                if key.equals("sha256") { hash = text }
                if key.equals("reason") { reason = text }
            case .number:
                guard let number = reader.integer() else { return false }
                if key.equals("hour") { start = number }
                let names: [StaticString] = ["count", "missing", "repeated", "filled"]
                if let place = names.firstIndex(where: { key.equals($0) }) { counts[place] = UInt64(exactly: number) }
            case .literal where key.equals("whole"):
                isWhole = reader.literal() == UInt8(ascii: "t")
            case .object, .array, .literal, .invalid: return reader.skipValue()
            }
            return true
        }
        let numbers = counts.compactMap(\.self)
        guard isRead, let symbol, SymbolName.isValid(symbol), numbers.count == counts.count, let start,
            start.multipliedReportingOverflow(by: 1_000).overflow == false, hash.map(Self.isHash) ?? true
        else { return nil }
        self.init(symbol: symbol, start: start * 1_000)
        (self.first, self.last) = (first, last)
        (self.count, self.missing, self.repeated, self.filled) = (numbers[0], numbers[1], numbers[2], numbers[3])
        self.isWhole = isWhole
        self.sha256 = hash
        self.reason = reason
    }

    /// Whether a text is 32 bytes in lower-case hexadecimal.
    private static func isHash(_ text: String) -> Bool {
        text.utf8.count == 64 && text.utf8.allSatisfy { Array("0123456789abcdef".utf8).contains($0) }
    }
}
