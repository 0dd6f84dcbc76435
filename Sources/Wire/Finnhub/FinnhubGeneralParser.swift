import Market

/// A parser that reads a Finnhub frame as any valid JSON: keys in any order, unknown keys, escapes, exponents.
///
/// It makes one pass. Since `type` comes after `data`, it appends trades as soon as it reads `data`, and removes them
/// if the type turns out to be another. Of duplicate keys the last counts, as in common JSON readers.
struct FinnhubGeneralParser {
    private var reader: JSONReader

    init(frame: UnsafeRawBufferPointer) { self.reader = JSONReader(frame) }

    /// The kind of the frame's `data`.
    private enum Payload {
        case absent
        case list(skipped: Int)
        case other
    }

    /// The error for a frame that is not a message.
    private struct Malformed: Error {
        let reason: String
    }

    mutating func parse(symbols: inout SymbolTable, into trades: inout [Trade]) -> FinnhubMessage {
        let start = trades.count
        do {
            let message = try self.parseFrame(symbols: &symbols, into: &trades)
            if case .trade = message { return message }
            trades.removeLast(trades.count - start)
            return message
        } catch {
            trades.removeLast(trades.count - start)
            return .malformed(reason: error.reason)
        }
    }

    private mutating func parseFrame(
        symbols: inout SymbolTable,
        into trades: inout [Trade]
    ) throws(Malformed) -> FinnhubMessage {
        let start = trades.count
        var type: JSONString?
        var text: JSONString?
        var payload = Payload.absent

        guard self.reader.take(UInt8(ascii: "{")) else { throw Malformed(reason: "no JSON object") }
        var isFirst = true
        members: while true {
            switch self.reader.nextMember(isFirst: &isFirst) {
            case .end: break members
            case .invalid: throw Malformed(reason: "broken JSON object")
            case .key(let key):
                if key.equals("data") {
                    trades.removeLast(trades.count - start)
                    payload = try self.parseData(symbols: &symbols, into: &trades)
                } else if key.equals("type") {
                    type = try self.parseString()
                } else if key.equals("msg") {
                    text = try self.parseString()
                } else {
                    guard self.reader.skipValue() else { throw Malformed(reason: "broken JSON value") }
                }
            }
        }
        guard self.reader.isAtEnd() else { throw Malformed(reason: "bytes after the JSON object") }

        guard let type else { throw Malformed(reason: "no type") }
        if type.equals("trade") {
            guard case .list(let skipped) = payload else { throw Malformed(reason: "a trade message without data") }
            return .trade(count: trades.count - start, skipped: skipped)
        }
        if type.equals("ping") { return .ping }
        if type.equals("error") {
            return .error(Self.clipped(text?.text ?? "", to: FinnhubMessage.maximumErrorLength))
        }
        if type.equals("news") { return .news }
        return .unknown(type: Self.clipped(type.text, to: 64))
    }

    /// Reads a value that should be a string; `nil` if it is of another kind.
    private mutating func parseString() throws(Malformed) -> JSONString? {
        if case .string = self.reader.kind(), let string = self.reader.string() { return string }
        guard self.reader.skipValue() else { throw Malformed(reason: "broken JSON value") }
        return nil
    }

    private mutating func parseData(
        symbols: inout SymbolTable,
        into trades: inout [Trade]
    ) throws(Malformed) -> Payload {
        switch self.reader.kind() {
        case .array:
            break
        case .literal:
            // A Go program may encode an empty list as null.
            guard let letter = self.reader.literal() else { throw Malformed(reason: "broken JSON value") }
            return letter == UInt8(ascii: "n") ? .list(skipped: 0) : .other
        case .object, .string, .number, .invalid:
            guard self.reader.skipValue() else { throw Malformed(reason: "broken JSON value") }
            return .other
        }
        _ = self.reader.take(UInt8(ascii: "["))
        if self.reader.take(UInt8(ascii: "]")) { return .list(skipped: 0) }
        var skipped = 0
        repeat {
            if case .object = self.reader.kind() {
                if let trade = try self.parseTrade(symbols: &symbols) {
                    trades.append(trade)
                } else {
                    skipped += 1
                }
            } else {
                guard self.reader.skipValue() else { throw Malformed(reason: "broken JSON value in data") }
                skipped += 1
            }
        } while self.reader.take(UInt8(ascii: ","))
        guard self.reader.take(UInt8(ascii: "]")) else { throw Malformed(reason: "broken JSON list in data") }
        return .list(skipped: skipped)
    }

    /// Reads one element; `nil` if it is valid JSON but not a trade.
    private mutating func parseTrade(symbols: inout SymbolTable) throws(Malformed) -> Trade? {
        var price: ExactDecimal?
        var size: ExactDecimal?
        var time: Int64?
        var symbol: JSONString?
        _ = self.reader.take(UInt8(ascii: "{"))
        var isFirst = true
        members: while true {
            switch self.reader.nextMember(isFirst: &isFirst) {
            case .end: break members
            case .invalid: throw Malformed(reason: "broken JSON object in data")
            case .key(let key):
                switch key.onlyByte {
                case UInt8(ascii: "p"): price = try self.parseNumber()
                case UInt8(ascii: "v"): size = try self.parseNumber()
                case UInt8(ascii: "t"): time = try self.parseNumber().flatMap(Self.time)
                case UInt8(ascii: "s"): symbol = try self.parseString()
                default:
                    guard self.reader.skipValue() else { throw Malformed(reason: "broken JSON value in data") }
                }
            }
        }
        guard
            let price, TradeBounds.canBePrice(price), let size, TradeBounds.canBeSize(size), let time, let symbol
        else { return nil }
        guard let id = symbol.withUnescaped({ symbols.intern(utf8: $0) }) else {
            if symbols.isFull, symbol.withUnescaped({ SymbolTable.isName($0) }) { symbols.noteLeftOut() }
            return nil
        }
        return Trade(price: price, size: size, exchangeTime: time, symbol: id)
    }

    /// Reads a value that should be a number; `nil` if it is of another kind or cannot be held.
    private mutating func parseNumber() throws(Malformed) -> ExactDecimal? {
        guard case .number = self.reader.kind() else {
            guard self.reader.skipValue() else { throw Malformed(reason: "broken JSON value in data") }
            return nil
        }
        switch self.reader.number() {
        case .number(let number, _): return number
        case .unheld: return nil
        case .invalid: throw Malformed(reason: "broken number in data")
        }
    }

    private static func time(_ number: ExactDecimal) -> Int64? {
        Int64(exactly: number).flatMap(FinnhubTime.nanoseconds)
    }

    /// Cuts a text longer than `limit` bytes at the boundary of a Unicode scalar.
    private static func clipped(_ text: String, to limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        var length = 0
        let kept = text.unicodeScalars.prefix { scalar in
            length += UTF8.width(scalar)
            return length <= limit
        }
        return String(String.UnicodeScalarView(kept))
    }
}
