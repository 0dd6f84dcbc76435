import HTTP
import Market
import NIOCore
import NIOHTTP1
import Wire

/// The answers of a venue's REST service to requests for trades, in the venue's own form.
struct RestForm {
    let venue: Venue

    init(_ venue: Venue) { self.venue = venue }

    /// Answers a request.
    ///
    /// - Parameter trades: all trades of the symbol that the service knows, in the order of their ids.
    func answer(_ request: VenueTradesRequest, target: String, from trades: ArraySlice<Trade>) -> HTTPAnswer {
        let parameters = VenueTarget(target)
        switch self.venue {
        case .binance:
            let found =
                switch request.trades {
                case .ids(let first, let count): trades[PlayedTrades.first(from: first, in: trades)...].prefix(count)
                case .newest(let count): trades.suffix(count)
                case .since: ArraySlice<Trade>()
                }
            return .json(.ok, BinanceTradeList.encode(found))
        case .coinbase:
            var found = trades
            // A page below an id, or the newest page above one (exchange/rest-api/pagination).
            if let before = parameters?["before"] {
                guard let id = UInt64(before) else { return self.refusal(.illegal("before")) }
                found = id == .max ? [] : trades[PlayedTrades.first(from: id + 1, in: trades)...]
            }
            switch request.trades {
            case .ids(let first, let count):
                let end = max(PlayedTrades.first(from: first &+ UInt64(count), in: trades), found.startIndex)
                found = found[..<end].suffix(count)
            case .newest(let count): found = found.suffix(count)
            case .since: found = []
            }
            var answer = HTTPAnswer.json(.ok, CoinbaseTradeList.encode(found))
            if let newest = found.last?.id { answer.headers.add(name: "cb-before", value: "\(newest)") }
            if let oldest = found.first?.id { answer.headers.add(name: "cb-after", value: "\(oldest)") }
            return answer
        case .kraken:
            let count = parameters?["count"].flatMap { Int($0) } ?? VenueTradesRequest.maximumCount
            var since: Int64 = 0
            var found = trades.suffix(count)
            if case .since(let time) = request.trades {
                since = time
                // The order of the ids is not always that of the times.
                found = trades.filter { $0.exchangeTime > time }.prefix(count)
            }
            let last = found.map(\.exchangeTime).max() ?? since
            let pair = String(request.symbol.dropFirst("\(Venue.kraken.prefix)".count))
            return .json(.ok, KrakenTradeList.encode(found, pair: pair, last: last))
        }
    }

    /// The answer for a symbol that does not exist.
    var unknown: HTTPAnswer {
        switch self.venue {
        case .binance: .json(.badRequest, BinanceEncoder.error(code: -1_121, "Invalid symbol."))
        case .coinbase: CoinbaseMock().error(.notFound, "NotFound")
        case .kraken: .json(.ok, KrakenTradeList.error("EQuery:Unknown asset pair"))
        }
    }

    /// The answer to a request with a wrong target.
    func refusal(_ fault: VenueTradesRequest.TargetFault) -> HTTPAnswer {
        switch (self.venue, fault) {
        case (.binance, .missing(let name)):
            let text = "Mandatory parameter '\(name)' was not sent, was empty/null, or malformed."
            return .json(.badRequest, BinanceEncoder.error(code: -1_102, text))
        case (.binance, .illegal(let name)):
            let range = name == "symbol" ? "^[\\\\w\\\\-._&&[^a-z]]{1,50}$" : "^[0-9]{1,20}$"
            let text = "Illegal characters found in parameter '\(name)'; legal range is '\(range)'."
            return .json(.badRequest, BinanceEncoder.error(code: -1_100, text))
        case (.binance, .other): return BinanceMock().error(.notFound, "nothing at this path")
        case (.coinbase, .illegal(let name)): return CoinbaseMock().error(.badRequest, "Invalid \(name)")
        case (.coinbase, .other), (.coinbase, .missing): return CoinbaseMock().error(.notFound, "NotFound")
        case (.kraken, .illegal(let name)), (.kraken, .missing(let name)):
            return .json(.ok, KrakenTradeList.error("EGeneral:Invalid arguments:\(name)"))
        case (.kraken, .other): return .json(.notFound, KrakenTradeList.error("EGeneral:Unknown method"))
        }
    }
}
