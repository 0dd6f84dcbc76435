import HTTP
import Market
import NIOCore
import Wire
@testable import MockUpstream

/// Trades with ids for tests of REST services.
enum PlayedSamples {
    static let second: Int64 = 1_000_000_000
    /// The time of the trade with the id 0, ns since 1970.
    static let start: Int64 = 1_787_628_957_000_000_000

    /// A trade of each id, a millisecond apart by its id.
    static func trades(_ ids: some Sequence<UInt64>, size: Int64 = 2) -> [Trade] {
        ids.map { id in
            Trade(
                price: ExactDecimal(normalisedSignificand: 9, exponent: 2),
                size: ExactDecimal(normalisedSignificand: size, exponent: 0),
                exchangeTime: Self.start + Int64(id) * 1_000_000,
                symbol: SymbolID(index: 0),
                id: id
            )
        }
    }

    static func table(_ symbol: String) -> SymbolTable {
        var table = SymbolTable()
        _ = table.intern(symbol)
        return table
    }

    static func symbol(_ venue: Venue) -> String {
        switch venue {
        case .binance: "BINANCE:BTCUSDT"
        case .coinbase: "COINBASE:BTC-USD"
        case .kraken: "KRAKEN:XXBTZUSD"
        }
    }

    /// Returns the service of a venue that has played the trades 1 to 3,000, one a millisecond from the time 1 s on.
    static func service(
        _ venue: Venue,
        faults: String...,
        seed: UInt64 = 1,
        attempts: AttemptCount? = nil
    ) throws -> VenueRestService {
        let played = PlayedTrades()
        let service = VenueRestService(
            of: venue,
            trades: played,
            known: ["BINANCE:NEWUSDT"],
            faults: try FaultPlan(parsing: faults, seed: seed),
            attempts: attempts,
            start: Self.second
        )
        let table = Self.table(Self.symbol(venue))
        for trade in Self.trades(1...3_000) {
            let now = Self.second + Int64(trade.id ?? 0) * 1_000_000
            played.take([trade], symbols: table, now: now)
        }
        return service
    }

    /// Returns the ids of the trades in an answer, read as a recorded exchange; `nil` if there are none to read.
    static func ids(_ answer: MockAnswer, _ request: VenueTradesRequest) -> [UInt64]? {
        Self.ids(answer.http.body, target: request.target, of: request.venue)
    }

    static func ids(_ body: ByteBuffer, target: String, of venue: Venue) -> [UInt64]? {
        var symbols = SymbolTable()
        var trades: [Trade] = []
        let frame = VenueExchange(target: target, body: body).frame
        guard VenueExchange.read(frame, of: venue, symbols: &symbols, into: &trades) == .trades(skipped: 0) else {
            return nil
        }
        return trades.compactMap(\.id)
    }
}
