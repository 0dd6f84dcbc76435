import Market
import NIOCore
import Wire

/// The rules for the readers of the venues' REST services: they accept exactly the lists of trades that a general JSON
/// parser accepts, with the same ids, times, prices and sizes.
enum RestFuzz {
    /// Arrays and objects that are nested deeper than this are refused as hostile.
    private static let maximumDepth = 64

    static let words: [[UInt8]] =
        [
            "/api/v3/historicalTrades?symbol=BTCUSDT&fromId=1&limit=1000\n", "/api/v3/trades?symbol=BTCUSDT\n",
            "/products/BTC-USD/trades?after=7&limit=3\n", "/0/public/Trades?pair=XXBTZUSD&since=1&count=1000\n",
            "\"id\":", "\"price\":", "\"qty\":", "\"time\":", "\"trade_id\":", "\"size\":", "\"error\":[]",
            "\"error\":[\"WSome:warning\"]", "\"error\":[\"EQuery:Unknown asset pair\"]", "\"result\":{", "\"last\":",
            "\"message\":\"NotFound\"", "\"msg\":\"Invalid symbol.\"", "\"code\":-1121", "\"0.00000000\"", "\"1e-7\"",
            "18446744073709551614", "18446744073709551615", "18446744073709551616", "1723161255342",
            "1723161255342123", "9223372036854", "1e3", "7.0", "1790359840.9392912", "1790359840.9392912123",
            "0.0000000001", "9999999999.9", "2026-02-29T00:00:00.000000Z", "1969-12-31T23:59:59.999999Z",
            "2262-04-11T23:47:16.854775807Z", "2262-04-11T23:47:16.854775808Z", "24:00:00", ":60",
            "\"\\u0069d\":", "[],", "{},", "7,", "null,",
        ].map { Array($0.utf8) }

    static let seeds: [[UInt8]] = [
        """
        /api/v3/historicalTrades?symbol=BTCUSDT&fromId=28457&limit=1000
        [{"id":28457,"price":"4.00000100","qty":"12.00000000","quoteQty":"48.000012","time":1499865549590,"isBuyerMaker":true,"isBestMatch":true},{"id":28458,"price":"61837.63000000","qty":"0.02000000","quoteQty":"1236.75260000","time":1723161255342123,"isBuyerMaker":false,"isBestMatch":true}]
        """,
        """
        /api/v3/trades?symbol=ETHBTC&limit=1000
        [ {"time":1499865549590, "qty":"1", "price":"0.04338200", "id":18446744073709551614} , 7, {"id":5}, [ ] ]
        """,
        """
        /products/BTC-USD/trades?after=1081862676&limit=2
        [{"trade_id":1081862675,"side":"sell","size":"0.00000001","price":"80691.53","time":"2026-08-25T03:35:57.198335Z"},{"trade_id":1081862674,"side":"buy","size":"985","price":"1.5E2","time":"2024-02-29T23:59:59Z"}]
        """,
        """
        /0/public/Trades?pair=XXBTZUSD&since=1790359840000000000&count=1000
        {"error":[],"result":{"XXBTZUSD":[["83744.30000","0.00044780",1790359840.9392912,"b","l","",109116693],["83744.4","1",1790359841,"s","m","",109116694]],"last":"1790359841000000000"}}
        """,
        """
        /0/public/Trades?pair=XXBTZUSD&count=1000
        {"result":{"last":"0","XXBTZUSD":[]},"error":["WQuery:something"]}
        """,
        #"{"error":["EGeneral:Too many requests"]}"#,
        "/api/v3/trades?symbol=A\n{\"code\":-1121,\"msg\":\"Invalid symbol.\"}",
        "/products/A/trades\n{\"message\":\"NotFound\"}", "/products/A/trades\n<html><body>Log in</body></html>",
        "/api/v3/trades?symbol=A\n[" + String(repeating: "7,", count: 1_020) + "{\"id\":1}]",
    ].map { Array($0.utf8) }

    private static func target(_ venue: Venue) -> String {
        switch venue {
        case .binance: "/api/v3/historicalTrades?symbol=BTCUSDT&fromId=1&limit=1000"
        case .coinbase: "/products/BTC-USD/trades?after=7&limit=3"
        case .kraken: "/0/public/Trades?pair=XXBTZUSD&since=1&count=1000"
        }
    }

    static func check(_ input: [UInt8]) throws(FuzzFinding) -> Bool {
        let body = input.firstIndex(of: UInt8(ascii: "\n")).map { Array(input[($0 + 1)...]) } ?? input
        let tree = JSONTree(body)
        var isGood = false
        for venue in Venue.allCases {
            let accepted = try Self.check(body, tree, of: venue)
            if let accepted, !accepted.isEmpty { isGood = true }
            // The frame itself, whose target may be anything: it has the trades of its body or none.
            var symbols = SymbolTable()
            var trades: [Trade] = []
            let content = VenueExchange.read(ByteBuffer(bytes: input), of: venue, symbols: &symbols, into: &trades)
            guard content != .malformed else {
                try FuzzFinding.require(trades.isEmpty, "trades of a malformed frame")
                continue
            }
            let entries = Self.entries(trades)
            try FuzzFinding.require(
                accepted.map { entries.isEmpty || entries == $0 } == true,
                "\(venue): the frame has \(entries), its body \(String(describing: accepted))"
            )
        }
        return isGood
    }

    /// Compares the reading of a body; returns its trades, or `nil` for one that is refused.
    private static func check(
        _ body: [UInt8],
        _ tree: JSONTree?,
        of venue: Venue
    ) throws(FuzzFinding) -> [ReferenceTrades.Entry]? {
        let exchange = VenueExchange(target: self.target(venue), body: ByteBuffer(bytes: body))
        var symbols = SymbolTable()
        var trades: [Trade] = []
        let content = VenueExchange.read(exchange.frame, of: venue, symbols: &symbols, into: &trades)
        let reference = tree.flatMap { ReferenceTrades($0, of: venue) }
        guard case .trades(let skipped) = content else {
            try FuzzFinding.require(content == .malformed && trades.isEmpty, "\(venue): \(content)")
            let isDeep = (tree?.depth ?? 0) > self.maximumDepth
            try FuzzFinding.require(
                reference == nil || isDeep,
                "\(venue): refused, but the reference reads \(String(describing: reference))"
            )
            return nil
        }
        let entries = Self.entries(trades)
        try FuzzFinding.require(
            entries == reference?.entries && skipped == reference?.skipped,
            "\(venue): \(skipped) skipped, \(entries), and the reference reads \(String(describing: reference))"
        )
        try FuzzFinding.require(
            trades.allSatisfy { $0.marks == .filled && symbols.name(of: $0.symbol).hasPrefix("\(venue.prefix)") },
            "\(venue): other marks or symbols: \(trades)"
        )
        try FuzzFinding.require(
            VenueExchange.errorText(in: ByteBuffer(bytes: body), of: venue) == nil,
            "\(venue): both trades and an error"
        )
        return entries
    }

    private static func entries(_ trades: [Trade]) -> [ReferenceTrades.Entry] {
        trades.map {
            ReferenceTrades.Entry(id: $0.id ?? .max, time: $0.exchangeTime, price: $0.price, size: $0.size)
        }
    }
}
