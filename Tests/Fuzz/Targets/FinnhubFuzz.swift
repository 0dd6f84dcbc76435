import Market
import NIOCore
import Wire

/// The rules for the reader of the service's frames.
enum FinnhubFuzz {
    /// A trade with its symbol's name, since two tables may number the same symbols differently.
    struct NamedTrade: Equatable {
        var price: ExactDecimal
        var size: ExactDecimal
        var time: Int64
        var symbol: String

        init(_ trade: Trade, _ symbols: SymbolTable) {
            self.price = trade.price
            self.size = trade.size
            self.time = trade.exchangeTime
            self.symbol = symbols.name(of: trade.symbol)
        }
    }

    static func check(_ input: [UInt8]) throws(FuzzFinding) -> Bool {
        // The allocation has the exact size, so that the address sanitizer detects a read beyond its end.
        let exact = UnsafeMutableRawBufferPointer.allocate(byteCount: input.count, alignment: 1)
        defer { exact.deallocate() }
        exact.copyBytes(from: input)
        let bytes = UnsafeRawBufferPointer(exact)

        // Names that require escapes must not match plain bytes.
        var fast = SymbolTable()
        for name in ["BINANCE:BTCUSDT", "AB\"DEFGHIJ", "AB\\uDEFGHIJ", "AB\nDEFGHIJ"] { _ = fast.intern(name) }
        var general = fast
        var parser = FinnhubParser()
        var fastTrades: [Trade] = []
        var generalTrades: [Trade] = []
        let message = parser.parse(bytes, symbols: &fast, into: &fastTrades)
        let other = FinnhubParser.parseGenerally(bytes, symbols: &general, into: &generalTrades)
        let trades = fastTrades.map { NamedTrade($0, fast) }
        try FuzzFinding.require(message == other, "the template says \(message), the general parser \(other)")
        try FuzzFinding.require(trades == generalTrades.map { NamedTrade($0, general) }, "other trades")
        try Self.judge(message, trades)
        guard !trades.isEmpty else { return false }
        try Self.again(fastTrades, trades, fast, &parser)
        return true
    }

    private static func judge(_ message: FinnhubMessage, _ trades: [NamedTrade]) throws(FuzzFinding) {
        switch message {
        case .trade(let count, let skipped):
            try FuzzFinding.require(count == trades.count && skipped >= 0, "\(count) of \(trades.count) trades")
        case .error(let text):
            try FuzzFinding.require(text.utf8.count <= FinnhubMessage.maximumErrorLength, "a long error")
            try FuzzFinding.require(trades.isEmpty, "trades of an error")
        case .ping, .news, .unknown, .malformed:
            try FuzzFinding.require(trades.isEmpty, "trades of no trade message")
        }
        for trade in trades {
            let isSane = TradeBounds.canBePrice(trade.price) && TradeBounds.canBeSize(trade.size) && trade.time > 0
            try FuzzFinding.require(isSane && !trade.symbol.isEmpty, "\(trade)")
        }
    }

    /// Writes the accepted trades in the service's form and reads them again; they must be unchanged.
    private static func again(
        _ trades: [Trade],
        _ named: [NamedTrade],
        _ symbols: SymbolTable,
        _ parser: inout FinnhubParser
    ) throws(FuzzFinding) {
        var frame = ByteBuffer()
        FinnhubEncoder.trade(trades, symbols: symbols, into: &frame)
        var table = SymbolTable()
        var back: [Trade] = []
        let message = parser.parse(frame, symbols: &table, into: &back)
        try FuzzFinding.require(message == .trade(count: trades.count, skipped: 0), "written again it is \(message)")
        try FuzzFinding.require(back.map { NamedTrade($0, table) } == named, "written again it is another trade")
    }
}
