import Market

/// The trades of one symbol in an answer of a venue's REST service, in any order, until they are in the order of their
/// ids.
///
/// It takes the first ``VenueTradesRequest/maximumCount`` elements, so that no answer makes it large.
struct TradeList {
    private let venue: Venue
    private let symbol: JSONString
    private var trades: [Trade] = []
    /// The elements so far, with and without a trade.
    private var count = 0
    /// The elements that are malformed, cannot be held or are too many.
    private(set) var skipped = 0

    init(of venue: Venue, symbol: JSONString) {
        self.venue = venue
        self.symbol = symbol
    }

    /// The trades in the order of their ids, each id once, marked as filled.
    func sorted() -> [Trade] {
        let sorted = self.trades.sorted { ($0.id ?? 0) < ($1.id ?? 0) }
        return sorted.indices.filter { $0 == 0 || sorted[$0].id != sorted[$0 - 1].id }.map { sorted[$0] }
    }

    /// Reads a list.
    ///
    /// - Parameters:
    ///   - kind: the kind of JSON value that a trade is.
    ///   - element: reads one such value into the fields; returns `false` for broken JSON.
    /// - Returns: whether there is a list of valid JSON.
    mutating func read(
        _ reader: inout JSONReader,
        of kind: JSONReader.Kind,
        symbols: inout SymbolTable,
        element: (inout JSONReader, inout VenueTradeFields) -> Bool
    ) -> Bool {
        guard reader.take(UInt8(ascii: "[")) else { return false }
        if reader.take(UInt8(ascii: "]")) { return true }
        repeat {
            self.count += 1
            guard reader.kind() == kind, self.count <= VenueTradesRequest.maximumCount else {
                guard reader.skipValue() else { return false }
                self.skipped += 1
                continue
            }
            var fields = VenueTradeFields()
            fields.symbol = self.symbol
            guard element(&reader, &fields) else { return false }
            // The largest number is no id: a trade holds the id plus one.
            if let trade = fields.trade(of: self.venue, marks: .filled, symbols: &symbols), trade.id != nil {
                self.trades.append(trade)
            } else {
                self.skipped += 1
            }
        } while reader.take(UInt8(ascii: ","))
        return reader.take(UInt8(ascii: "]"))
    }
}
