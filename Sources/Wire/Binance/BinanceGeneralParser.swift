import Market

/// A parser that reads a frame of Binance as any valid JSON: keys in any order, unknown keys, escapes, exponents.
///
/// Of duplicate keys the last counts, as in common JSON readers.
struct BinanceGeneralParser {
    /// The members of an event: of a combined stream's `data`, or of the whole frame on a raw stream.
    private struct Event {
        var kind: JSONString?
        /// Whether the event has the member `X`, which the futures' trades have and the spot market's have not.
        var isFuture = false
        var trade = VenueTradeFields()

        /// Reads the value of a key; `false` for broken JSON.
        mutating func take(_ key: JSONString, _ reader: inout JSONReader) -> Bool {
            switch key.onlyByte {
            case UInt8(ascii: "e"): return reader.take(string: &self.kind)
            case UInt8(ascii: "s"): return reader.take(string: &self.trade.symbol)
            case UInt8(ascii: "t"): return reader.take(unsigned: &self.trade.id)
            case UInt8(ascii: "p"): return reader.take(quoted: &self.trade.price)
            case UInt8(ascii: "q"): return reader.take(quoted: &self.trade.size)
            case UInt8(ascii: "T"):
                var time: Int64?
                guard reader.take(integer: &time) else { return false }
                self.trade.time = time.flatMap(VenueTime.nanoseconds)
                return true
            case UInt8(ascii: "X"):
                self.isFuture = true
                return reader.skipValue()
            default: return reader.skipValue()
            }
        }
    }

    private var event = Event()
    private var data: Event?
    private var hasResult = false
    private var hasError = false
    private var request: Int64?
    private var text: JSONString?

    static func parse(
        _ frame: UnsafeRawBufferPointer,
        symbols: inout SymbolTable,
        into trades: inout [Trade]
    ) -> VenueMessage {
        var parser = BinanceGeneralParser()
        guard JSONReader.wholeObject(frame, { parser.take($0, &$1) }) else { return .malformed }
        return parser.message(symbols: &symbols, into: &trades)
    }

    /// Reads the value of a key of the whole frame; `false` for broken JSON.
    private mutating func take(_ key: JSONString, _ reader: inout JSONReader) -> Bool {
        if key.equals("data") {
            self.data = nil
            guard case .object = reader.kind() else { return reader.skipValue() }
            var data = Event()
            defer { self.data = data }
            return reader.object { data.take($0, &$1) }
        }
        if key.equals("result") {
            self.hasResult = true
            return reader.skipValue()
        }
        if key.equals("id") { return reader.take(integer: &self.request) }
        if key.equals("code") {
            self.hasError = true
            return reader.skipValue()
        }
        if key.equals("msg") { return reader.take(string: &self.text) }
        if key.equals("error") {
            // Some servers put code and text into an object.
            self.hasError = true
            guard case .object = reader.kind() else { return reader.take(string: &self.text) }
            return reader.object { key, reader in
                key.equals("msg") ? reader.take(string: &self.text) : reader.skipValue()
            }
        }
        return self.event.take(key, &reader)
    }

    private func message(symbols: inout SymbolTable, into trades: inout [Trade]) -> VenueMessage {
        let event = self.data ?? self.event
        if let kind = event.kind {
            if kind.equals("trade") {
                guard !event.isFuture else { return .other }
                guard let trade = event.trade.trade(of: .binance, symbols: &symbols) else { return .trades(skipped: 1) }
                trades.append(trade)
                return .trades(skipped: 0)
            }
            return kind.equals("serverShutdown") ? .closing : .other
        }
        if self.hasError { return .error(self.text?.text(atMost: VenueMessage.maximumTextLength) ?? "") }
        return self.hasResult ? .acknowledged(request: self.request) : .other
    }
}
