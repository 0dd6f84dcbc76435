import Market
import NIOCore
import NIOEmbedded
import Wire
@testable import Feeds

/// A venue's REST service of symbols with made-up trades.
///
/// Unchecked, because only the test's thread uses it.
final class PlayedTradesService: VenueTradesSource, @unchecked Sendable {
    let venue: Venue
    let addresses: [String]
    private let loop: EmbeddedEventLoop
    /// The ids of the trades that exist, by symbol.
    var known: [String: ClosedRange<UInt64>] = [:]
    /// The ids that no answer has.
    var withheld: Set<UInt64> = []
    /// The next answers, before those of the venue.
    var answers: [VenueTradesAnswer] = []
    /// The answer of an address that refuses everything.
    var refusals: [Int: VenueTradesAnswer] = [:]
    /// The answer of an address to all requests by id.
    var withoutIDs: [Int: VenueTradesAnswer] = [:]
    /// The most trades of an answer.
    var most = VenueTradesRequest.maximumCount
    /// The ids whose trades have the time of the first of them.
    var sharesTime: ClosedRange<UInt64>?
    /// How long an answer takes, ns.
    var delay: Int64 = 0
    private(set) var times: [Int64] = []
    var lines: [(at: Int64, text: String)] = []

    init(_ venue: Venue, _ addresses: [String], loop: EmbeddedEventLoop) {
        (self.venue, self.addresses, self.loop) = (venue, addresses, loop)
    }

    /// The time of a trade, ns since 1970.
    static func time(of id: UInt64) -> Int64 { 1_700_000_000_000_000_000 + Int64(id % 1_000_000_000) * 1_000_000 }

    private func time(of id: UInt64) -> Int64 {
        guard let shared = self.sharesTime, shared.contains(id) else { return Self.time(of: id) }
        return Self.time(of: shared.lowerBound)
    }

    func ask(
        _ request: VenueTradesRequest,
        at address: Int,
        on loop: any EventLoop,
        then: @escaping (VenueTradesAnswer) -> Void
    ) {
        let now = Int64(self.loop.now.uptimeNanoseconds)
        self.times.append(now)
        let trades =
            switch request.trades {
            case .ids(let first, let count): "ids \(first)+\(count)"
            case .newest: "newest"
            case .since(let time): "since \((time - Self.time(of: 0)) / 1_000) us"
            }
        let place = address == 0 ? "" : " at \(self.addresses[address])"
        self.lines.append((now / 1_000_000, "\(request.symbol) \(trades)\(place)"))
        let answer = self.answer(to: request, at: address)
        guard self.delay > 0 else { return then(answer) }
        let bound = NIOLoopBound(then, eventLoop: self.loop)
        self.loop.scheduleTask(in: .nanoseconds(self.delay)) { bound.value(answer) }
    }

    private func answer(to request: VenueTradesRequest, at address: Int) -> VenueTradesAnswer {
        if !self.answers.isEmpty { return self.answers.removeFirst() }
        if let refusal = self.refusals[address] { return refusal }
        if case .ids = request.trades, let refusal = self.withoutIDs[address] { return refusal }
        guard let known = self.known[request.symbol] else { return self.list([], request) }
        /// The ids that an answer may have, near the requested ones.
        func ids(from first: UInt64, to last: UInt64) -> [UInt64] {
            let (low, high) = (max(first, known.lowerBound), min(last, known.upperBound))
            return low <= high ? (low...high).filter { !self.withheld.contains($0) } : []
        }
        let reach: UInt64 = 2_000
        func before(_ last: UInt64, _ count: Int) -> ArraySlice<UInt64> {
            let end = min(last, known.upperBound)
            return ids(from: end < reach ? 0 : end - reach, to: end).suffix(count)
        }
        switch (request.trades, self.venue) {
        case (.ids(let first, let count), .binance):
            let from = max(first, known.lowerBound)
            return self.list(Array(ids(from: from, to: from + reach).prefix(count)), request)
        case (.ids(let first, let count), _):
            return self.list(Array(before(first + UInt64(count) - 1, min(count, self.most))), request)
        case (.newest(let count), _): return self.list(Array(before(known.upperBound, count)), request)
        case (.since(let time), _) where self.sharesTime != nil:
            let found = ids(from: 0, to: known.upperBound).filter { self.time(of: $0) > time }
            return self.list(Array(found.prefix(self.most)), request)
        case (.since(let time), _):
            let first = UInt64(max(0, (time - Self.time(of: 0)) / 1_000_000)) + 1
            let from = Self.time(of: first - 1) > time ? first - 1 : first
            return self.list(Array(ids(from: from, to: from + reach).prefix(self.most)), request)
        }
    }

    /// Makes an answer with the trades of these ids.
    func list(_ ids: [UInt64], _ request: VenueTradesRequest) -> VenueTradesAnswer {
        var symbols = SymbolTable()
        guard let one = ExactDecimal("1"), let symbol = symbols.intern(request.symbol) else {
            preconditionFailure("\(request.symbol) cannot be a symbol")
        }
        let trades = ids.map { Trade(price: one, size: one, exchangeTime: self.time(of: $0), symbol: symbol, id: $0) }
        let body =
            switch self.venue {
            case .binance: BinanceTradeList.encode(trades)
            case .coinbase: CoinbaseTradeList.encode(trades)
            case .kraken: KrakenTradeList.encode(trades, pair: "X", last: trades.last?.exchangeTime ?? 0)
            }
        return VenueTradesAnswer(.success(body))
    }
}
