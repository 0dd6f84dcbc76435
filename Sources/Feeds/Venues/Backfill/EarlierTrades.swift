import Market
import NIOCore
import Wire

/// The ids and times of the trades in one answer of a venue's REST service, in the order of their ids.
struct EarlierTrades: Equatable {
    /// The id of a trade and the exchange's time, ns since 1970.
    struct Entry: Equatable {
        var id: UInt64
        var time: Int64
    }

    var entries: [Entry]
    /// The number of its elements, with those that are no trades.
    private(set) var count: Int
    /// Whether the answer has as many trades as one can have, so that more may follow.
    var isFull: Bool { self.count >= VenueTradesRequest.maximumCount }

    /// Reads the frame of an exchange; `nil` if the answer is no list of trades.
    init?(_ frame: ByteBuffer, of venue: Venue) {
        var symbols = SymbolTable()
        var trades: [Trade] = []
        let content = VenueExchange.read(frame, of: venue, symbols: &symbols, into: &trades)
        guard case .trades(let skipped) = content else { return nil }
        self.entries = trades.compactMap { trade in trade.id.map { Entry(id: $0, time: trade.exchangeTime) } }
        self.count = trades.count + skipped
    }

    var first: Entry? { self.entries.first }
    var last: Entry? { self.entries.last }

    /// Returns the newest trade before an id.
    func last(before id: UInt64) -> Entry? { self.entries.last { $0.id < id } }
}
