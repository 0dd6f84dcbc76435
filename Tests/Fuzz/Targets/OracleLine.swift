import Market
import Wire

/// A frame and its parsed contents, as a line for a JSON reader in another language (`Tests/Fuzz/oracle.py`): the frame
/// in hexadecimal, the kind of message, the skipped parts, and the trades.
package struct OracleLine: CustomStringConvertible {
    package let description: String

    package init(_ frame: [UInt8]) {
        var symbols = SymbolTable()
        var trades: [Trade] = []
        var parser = FinnhubParser()
        let message = frame.withUnsafeBytes { parser.parse($0, symbols: &symbols, into: &trades) }
        let kind: String
        var detail = "-"
        switch message {
        case .trade(_, let skipped):
            kind = "trade"
            detail = "\(skipped)"
        case .ping: kind = "ping"
        case .error(let text):
            kind = "error"
            detail = Self.hexadecimal(text.utf8)
        case .news: kind = "news"
        case .unknown(let type):
            kind = "unknown"
            detail = Self.hexadecimal(type.utf8)
        case .malformed(let reason):
            kind = "malformed"
            detail = Self.hexadecimal(reason.utf8)
        }
        // The time is in nanoseconds, as in the oracle's trades.
        let fields = trades.map { trade in
            "\(trade.price.significand)e\(trade.price.exponent),\(trade.size.significand)e\(trade.size.exponent),"
                + "\(trade.exchangeTime),\(Self.hexadecimal(symbols.name(of: trade.symbol).utf8))"
        }
        self.description = ([Self.hexadecimal(frame), kind, detail] + fields).joined(separator: " ")
    }

    private static func hexadecimal(_ bytes: some Collection<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        // An empty field would be lost between the blanks.
        if bytes.isEmpty { return "." }
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
