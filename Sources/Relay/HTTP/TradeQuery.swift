import HTTP
import Market
import NIOCore
import Wire

/// The query of `/v1/trades/SYMBOL`: for the newest trades, or for stored ones.
struct TradeQuery {
    private static let known: Set<String> = ["limit", "before", "from", "to"]

    let limit: Int
    private let before: TapePosition?
    private let from: Int64?
    private let to: Int64?

    init(_ text: String?) throws(HTTPRefusal) {
        let query = try QueryText(text, known: Self.known)
        self.limit = try query.number("limit", in: 1...RelayRouter.maximumTrades, default: RelayRouter.usualTrades)
        self.from = try query.moment("from")
        self.to = try query.moment("to")
        guard let place = query.text("before") else {
            self.before = nil
            return
        }
        guard let before = TapePosition(place) else {
            throw .badQuery("before must be EPOCH:SEQ, two whole numbers")
        }
        self.before = before
    }

    /// Returns the answer to a query for stored trades; `nil` for the newest ones, which the ring has.
    func pastAnswer(
        _ symbol: String,
        live: TradeExcerpt?,
        past: RelayPast?,
        _ reservation: AnswerMemory.Reservation
    ) async throws -> ByteBuffer? {
        guard self.before != nil || self.from != nil || self.to != nil else { return nil }
        guard let past else {
            throw HTTPRefusal(
                status: .notFound,
                type: "no-history",
                message:
                    "no earlier trades are recorded here; recordings of replays and simulated markets are not read",
                hint: "start tickertape with --record; without before, from and to the newest trades are answered"
            )
        }
        let query = PastTradesQuery(before: self.before, from: self.from, to: self.to, limit: self.limit)
        // The number of trades is known only once they are read.
        try reservation.hold(items: self.limit)
        let found = try await past.trades(symbol, query)
        try reservation.hold(items: found.items.count)
        return JSONWriter.line { out in
            out.field("symbol", symbol)
            out.field("epoch", live?.epoch)
            out.field("complete", found.isComplete)
            out.array("trades") { out in
                for item in found.items {
                    out.trade(
                        item.trade,
                        epoch: item.place.epoch,
                        sequence: item.place.sequence,
                        received: item.received
                    )
                }
            }
        }
    }
}
