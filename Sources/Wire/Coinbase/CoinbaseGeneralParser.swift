import Market

/// A parser that reads a frame of Coinbase Exchange as any valid JSON: keys in any order, unknown keys, escapes,
/// exponents.
///
/// Of duplicate keys the last counts, as in common JSON readers.
struct CoinbaseGeneralParser {
    /// The largest number of products in an answer.
    private static let maximumProducts = 4_096

    private var type: JSONString?
    private var trade = VenueTradeFields()
    private var lastTrade: UInt64?
    private var text: JSONString?
    private var reason: JSONString?
    /// The products whose matches are subscribed to, as the tape names them; `nil` without a list of channels.
    private var products: [String]?

    static func parse(
        _ frame: UnsafeRawBufferPointer,
        symbols: inout SymbolTable,
        into trades: inout [Trade]
    ) -> VenueMessage {
        var parser = CoinbaseGeneralParser()
        guard JSONReader.wholeObject(frame, { parser.take($0, &$1) }) else { return .malformed }
        return parser.message(symbols: &symbols, into: &trades)
    }

    /// Reads the value of a key; `false` for broken JSON.
    private mutating func take(_ key: JSONString, _ reader: inout JSONReader) -> Bool {
        if key.equals("type") { return reader.take(string: &self.type) }
        if key.equals("trade_id") { return reader.take(unsigned: &self.trade.id) }
        if key.equals("size") { return reader.take(quoted: &self.trade.size) }
        if key.equals("price") { return reader.take(quoted: &self.trade.price) }
        if key.equals("product_id") { return reader.take(string: &self.trade.symbol) }
        if key.equals("time") {
            var time: JSONString?
            guard reader.take(string: &time) else { return false }
            self.trade.time = time?.withUnescaped { VenueTime.nanoseconds($0) }
            return true
        }
        if key.equals("last_trade_id") { return reader.take(unsigned: &self.lastTrade) }
        if key.equals("message") { return reader.take(string: &self.text) }
        if key.equals("reason") { return reader.take(string: &self.reason) }
        if key.equals("channels") { return self.takeChannels(&reader) }
        return reader.skipValue()
    }

    private mutating func takeChannels(_ reader: inout JSONReader) -> Bool {
        self.products = nil
        guard reader.kind() == .array, reader.take(UInt8(ascii: "[")) else { return reader.skipValue() }
        var products: [String] = []
        if !reader.take(UInt8(ascii: "]")) {
            repeat {
                guard reader.kind() == .object else {
                    guard reader.skipValue() else { return false }
                    continue
                }
                guard let found = Self.matches(&reader) else { return false }
                products += found
            } while reader.take(UInt8(ascii: ","))
            guard reader.take(UInt8(ascii: "]")) else { return false }
        }
        self.products = products
        return true
    }

    /// Reads a channel and returns the products of its matches, none for another channel; `nil` for broken JSON.
    private static func matches(_ reader: inout JSONReader) -> [String]? {
        var name: JSONString?
        var products: [String] = []
        let isWhole = reader.object { key, reader in
            if key.equals("name") { return reader.take(string: &name) }
            guard key.equals("product_ids"), reader.kind() == .array else { return reader.skipValue() }
            guard let list = reader.strings(atMost: Self.maximumProducts) else { return false }
            products = list
            return true
        }
        guard isWhole else { return nil }
        return name?.equals("matches") == true ? products.map(Venue.coinbase.symbol) : []
    }

    private func message(symbols: inout SymbolTable, into trades: inout [Trade]) -> VenueMessage {
        guard let type else { return .other }
        if type.equals("match") { return self.trades([], symbols: &symbols, into: &trades) }
        if type.equals("last_match") { return self.trades(.filled, symbols: &symbols, into: &trades) }
        if type.equals("heartbeat") {
            guard let product = self.trade.symbol else { return .alive }
            let newest = self.lastTrade == 0 ? nil : self.lastTrade
            return .heartbeat(symbol: Venue.coinbase.symbol(of: product.text), newest: newest)
        }
        if type.equals("subscriptions") { return .subscribed(self.products ?? []) }
        return type.equals("error") ? self.error : .other
    }

    private func trades(
        _ marks: TradeMarks,
        symbols: inout SymbolTable,
        into trades: inout [Trade]
    ) -> VenueMessage {
        guard let trade = self.trade.trade(of: .coinbase, marks: marks, symbols: &symbols) else {
            return .trades(skipped: 1)
        }
        trades.append(trade)
        return .trades(skipped: 0)
    }

    /// The error. A refused product is only named in the text: `LOOM-USDC is delisted`.
    private var error: VenueMessage {
        let limit = VenueMessage.maximumTextLength / 2
        let text = self.text?.text(atMost: limit) ?? ""
        let reason = self.reason?.text(atMost: limit) ?? ""
        let words = [text, reason].filter { !$0.isEmpty }.joined(separator: ": ")
        guard text == "Failed to subscribe" else { return .error(words) }
        let first = reason.prefix { $0 != " " }
        let isProduct =
            first.contains("-")
            && ["is not a valid product", "is delisted"].contains(reason.dropFirst(first.count + 1))
        return .refused(symbol: isProduct ? Venue.coinbase.symbol(of: String(first)) : nil, text: words)
    }
}
