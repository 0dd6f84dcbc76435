import Market

/// A parser that reads a frame of Kraken's WebSocket API, version 2, as any valid JSON: keys in any order, unknown
/// keys, escapes, exponents.
///
/// It makes one pass. Since other keys may come after `data`, it appends trades as soon as it reads `data`, and marks
/// or removes them when it knows the channel. Of duplicate keys the last counts, as in common JSON readers.
struct KrakenGeneralParser {
    private var channel: JSONString?
    private var type: JSONString?
    private var method: JSONString?
    private var error: JSONString?
    private var symbol: JSONString?
    private var resultChannel: JSONString?
    private var resultSymbol: JSONString?
    private var success: Bool?
    private var request: Int64?
    /// The number of malformed elements in `data`; `nil` without a list.
    private var skipped: Int?

    static func parse(
        _ frame: UnsafeRawBufferPointer,
        symbols: inout SymbolTable,
        into trades: inout [Trade]
    ) -> VenueMessage {
        let start = trades.count
        var parser = KrakenGeneralParser()
        let isWhole = JSONReader.wholeObject(frame) { key, reader in
            guard key.equals("data") else { return parser.take(key, &reader) }
            trades.removeLast(trades.count - start)
            return parser.takeData(&reader, symbols: &symbols, into: &trades)
        }
        let message = isWhole ? parser.message : .malformed
        guard case .trades = message else {
            trades.removeLast(trades.count - start)
            if case .service = message { return .service(KrakenStatus.parse(frame)) }
            return message
        }
        if parser.type?.equals("snapshot") == true {
            for index in start..<trades.count { trades[index].marks.insert(.filled) }
        }
        return message
    }

    /// Reads the value of a key other than `data`; `false` for broken JSON.
    private mutating func take(_ key: JSONString, _ reader: inout JSONReader) -> Bool {
        if key.equals("channel") { return reader.take(string: &self.channel) }
        if key.equals("type") { return reader.take(string: &self.type) }
        if key.equals("method") { return reader.take(string: &self.method) }
        if key.equals("error") { return reader.take(string: &self.error) }
        if key.equals("symbol") { return reader.take(string: &self.symbol) }
        if key.equals("success") { return reader.take(bool: &self.success) }
        if key.equals("req_id") { return reader.take(integer: &self.request) }
        guard key.equals("result") else { return reader.skipValue() }
        self.resultChannel = nil
        self.resultSymbol = nil
        guard case .object = reader.kind() else { return reader.skipValue() }
        return reader.object { key, reader in
            if key.equals("channel") { return reader.take(string: &self.resultChannel) }
            if key.equals("symbol") { return reader.take(string: &self.resultSymbol) }
            return reader.skipValue()
        }
    }

    /// Reads the value of `data`; `false` for broken JSON.
    private mutating func takeData(
        _ reader: inout JSONReader,
        symbols: inout SymbolTable,
        into trades: inout [Trade]
    ) -> Bool {
        self.skipped = nil
        guard reader.kind() == .array, reader.take(UInt8(ascii: "[")) else { return reader.skipValue() }
        var skipped = 0
        if !reader.take(UInt8(ascii: "]")) {
            repeat {
                guard reader.kind() == .object else {
                    guard reader.skipValue() else { return false }
                    skipped += 1
                    continue
                }
                var fields = VenueTradeFields()
                guard reader.object({ Self.take($0, &$1, into: &fields) }) else { return false }
                if let trade = fields.trade(of: .kraken, symbols: &symbols) {
                    trades.append(trade)
                } else {
                    skipped += 1
                }
            } while reader.take(UInt8(ascii: ","))
            guard reader.take(UInt8(ascii: "]")) else { return false }
        }
        self.skipped = skipped
        return true
    }

    /// Reads the value of a key of an element; `false` for broken JSON.
    private static func take(
        _ key: JSONString,
        _ reader: inout JSONReader,
        into fields: inout VenueTradeFields
    ) -> Bool {
        if key.equals("symbol") { return reader.take(string: &fields.symbol) }
        if key.equals("price") { return reader.take(number: &fields.price) }
        if key.equals("qty") { return reader.take(number: &fields.size) }
        if key.equals("trade_id") { return reader.take(unsigned: &fields.id) }
        guard key.equals("timestamp") else { return reader.skipValue() }
        var time: JSONString?
        guard reader.take(string: &time) else { return false }
        fields.time = time?.withUnescaped { VenueTime.nanoseconds($0) }
        return true
    }

    private var message: VenueMessage {
        if let channel {
            if channel.equals("heartbeat") { return .alive }
            if channel.equals("status") { return .service(VenueServiceState()) }
            guard channel.equals("trade"), let skipped, let type else { return .other }
            return type.equals("update") || type.equals("snapshot") ? .trades(skipped: skipped) : .other
        }
        let words = self.error?.text(atMost: VenueMessage.maximumTextLength)
        guard let method else { return words.map { .error($0) } ?? .other }
        if self.success == false || (self.success == nil && words != nil) {
            guard method.equals("subscribe") else { return .error(words ?? "") }
            return .refused(symbol: (self.symbol ?? self.resultSymbol).map(Self.name), text: words ?? "")
        }
        if method.equals("pong") { return .alive }
        guard self.success == true else { return .other }
        if self.resultChannel?.equals("trade") == true, let symbol = self.resultSymbol {
            if method.equals("subscribe") { return .subscribed([Self.name(of: symbol)]) }
            if method.equals("unsubscribe") { return .unsubscribed([Self.name(of: symbol)]) }
        }
        return .acknowledged(request: self.request)
    }

    private static func name(of symbol: JSONString) -> String { Venue.kraken.symbol(of: symbol.text) }
}
