import Market
import NIOCore
import Wire

/// The rules for the readers of the venues' frames: for each venue, the template and the general parser must agree.
enum VenueFuzz {
    /// A trade with its symbol's name, since two tables may number the same symbols differently.
    private struct NamedTrade: Equatable {
        var trade: Trade
        var symbol: String

        init(_ trade: Trade, _ symbols: SymbolTable) {
            self.trade = trade
            self.trade.symbol = SymbolID(index: 0)
            self.symbol = symbols.name(of: trade.symbol)
        }
    }

    /// Fragments for inputs of this kind.
    static let words: [[UInt8]] =
        [
            "\"stream\":", "\"e\":", "\"E\":", "\"T\":", "\"q\":", "\"X\":\"MARKET\",", "\"m\":true", "\"M\":false",
            "\"match\"", "\"last_match\"", "\"trade_id\":", "\"product_id\":", "\"size\":", "\"price\":", "\"time\":",
            "\"channel\":", "\"update\"", "\"snapshot\"", "\"qty\":", "\"timestamp\":", "\"0.00000000\"",
            "\"1.00000000\"",
            "2026-02-29T00:00:00.000000Z", "1969-12-31T23:59:59.999999Z", "2262-04-11T23:47:16.854775Z", "24:00:00",
            ":60",
            "BTC/USD", "XBT/USD", "ETH-USD", "\"data\":{", "}}", "}]}", "\"sequence\":",
        ].map { Array($0.utf8) }

    static func check(_ input: [UInt8]) throws(FuzzFinding) -> Bool {
        // The allocation has the exact size, so that the address sanitizer detects a read beyond its end.
        let exact = UnsafeMutableRawBufferPointer.allocate(byteCount: input.count, alignment: 1)
        defer { exact.deallocate() }
        exact.copyBytes(from: input)
        let frame = UnsafeRawBufferPointer(exact)
        _ = FrameDialect.recognised(in: ByteBuffer(bytes: input))
        var isGood = false
        for venue in Venue.allCases { if try Self.check(frame, of: venue) { isGood = true } }
        return isGood
    }

    private static func check(_ frame: UnsafeRawBufferPointer, of venue: Venue) throws(FuzzFinding) -> Bool {
        // Names that require escapes must not match plain bytes.
        var fast = SymbolTable()
        for name in ["BTCUSDT", "BTC-USD", "XXBTZUSD", "AB\"DEFGHIJ", "AB\\uDEFGHIJ"] {
            _ = fast.intern("\(venue.prefix)\(name)")
        }
        var general = fast
        var parser = VenueParser(venue)
        var fastTrades: [Trade] = []
        var generalTrades: [Trade] = []
        let message = parser.parse(frame, symbols: &fast, into: &fastTrades)
        let other = VenueParser.parseGenerally(frame, of: venue, symbols: &general, into: &generalTrades)
        let trades = fastTrades.map { NamedTrade($0, fast) }
        try FuzzFinding.require(message == other, "the template says \(message), the general parser \(other)")
        try FuzzFinding.require(trades == generalTrades.map { NamedTrade($0, general) }, "other trades")
        if case .trades(let skipped) = message {
            try FuzzFinding.require(skipped >= 0, "\(skipped) skipped")
        } else {
            try FuzzFinding.require(trades.isEmpty, "trades of \(message)")
        }
        for trade in trades { try Self.judge(trade, of: venue) }

        // Another table, in which the numbers mean other symbols: the same parser must not use the remembered numbers.
        var renewed = SymbolTable()
        for name in ["BINANCE:ETHUSDT", "COINBASE:ETH-USD", "KRAKEN:XETHZUSD"] { _ = renewed.intern(name) }
        var again: [Trade] = []
        let second = parser.parse(frame, symbols: &renewed, into: &again)
        try FuzzFinding.require(
            second == message && again.map { NamedTrade($0, renewed) } == trades,
            "with another table it is \(second)"
        )
        return !trades.isEmpty
    }

    private static func judge(_ trade: NamedTrade, of venue: Venue) throws(FuzzFinding) {
        let (price, size) = (trade.trade.price, trade.trade.size)
        let isSane =
            TradeBounds.canBePrice(price) && TradeBounds.canBeSize(size) && !size.isZero && trade.trade.exchangeTime > 0
        // The largest 64-bit number counts as no id.
        try FuzzFinding.require(isSane, "\(trade)")
        try FuzzFinding.require(Venue(of: trade.symbol) == venue, "\(trade) is not of \(venue)")
    }
}
