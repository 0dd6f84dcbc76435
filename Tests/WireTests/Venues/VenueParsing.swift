import Market
import NIOCore
import Wire

/// One venue's parser with its table of symbols.
struct VenueParsing {
    var parser: VenueParser
    var symbols = SymbolTable()

    init(_ venue: Venue) { self.parser = VenueParser(venue) }

    /// Parses one frame and returns the message with its trades, each as `symbol id price size ns`, and `filled`.
    mutating func parse(_ text: String) -> (VenueMessage, [String]) {
        var trades: [Trade] = []
        let message = self.parser.parse(ByteBuffer(string: text), symbols: &self.symbols, into: &trades)
        let lines = trades.map { trade in
            "\(self.symbols.name(of: trade.symbol)) \(trade.id.map(String.init) ?? "-") \(trade.price) \(trade.size) "
                + "\(trade.exchangeTime)\(trade.marks == .filled ? " filled" : "")"
        }
        return (message, lines)
    }

    /// Parses one frame with a new parser and a new table.
    static func parse(_ text: String, _ venue: Venue) -> (VenueMessage, [String]) {
        var parsing = VenueParsing(venue)
        return parsing.parse(text)
    }
}
