import HTTP
import Market
import NIOCore
import NIOHTTP1
package import Wire

/// The REST service of a mock venue: it answers requests for trades and for the last 24 hours from the trades that were
/// played, keeps the venue's limits, and has faults on request.
///
/// A state machine with time as an argument, monotonic ns: it has neither a socket nor a clock. It belongs to one loop.
package final class VenueRestService {
    package let venue: Venue
    private let trades: PlayedTrades
    private let known: Set<String>
    private var limit: RestLimit
    private var faults: RestFaults
    private let upstream: any MockProtocol
    /// How many requests were refused because the client broke a limit.
    package private(set) var breaches = 0

    /// - Parameters:
    ///   - known: symbols that exist besides those with trades, as the tape names them.
    ///   - faults: of these, the service's own.
    ///   - attempts: the count of attempts that the service shares with the venue's connections (Kraken).
    ///   - start: the time from which the faults' times count.
    package init(
        of venue: Venue,
        trades: PlayedTrades,
        known: Set<String> = [],
        faults: FaultPlan = FaultPlan(),
        attempts: AttemptCount? = nil,
        start: Int64
    ) {
        guard let upstream = MockProtocols.of(venue.dialect) else {
            preconditionFailure("no mock server speaks \(venue.name)'s protocol")
        }
        self.venue = venue
        self.trades = trades
        self.known = known
        self.limit = RestLimit(of: venue, attempts: attempts)
        self.faults = RestFaults(faults, start: start)
        self.upstream = upstream
        if self.faults.longestLag > 0 { trades.keepTimes(for: self.faults.longestLag) }
    }

    /// Answers a request over HTTP.
    ///
    /// - Parameter list: makes the answer to a request for something other than trades and the last 24 hours.
    func answer(_ head: HTTPRequestHead, now: Int64, list: () -> HTTPAnswer) -> MockAnswer {
        if let objection = self.upstream.objection(to: head) { return MockAnswer(objection) }
        do throws(VenueTradesRequest.TargetFault) {
            _ = try VenueTradesRequest(target: head.uri, of: self.venue)
        } catch .other {
            let days = VenueDayRequest(target: head.uri, of: self.venue)
            // The weights of exchangeInfo and of ticker/24hr for up to 20 symbols (rest-api.md).
            let weight = self.venue == .binance ? (days == nil ? 20 : 2) : 1
            if let refusal = self.refusal(weight: weight, isForTrades: false, now: now) { return MockAnswer(refusal) }
            return MockAnswer(self.marked(days.map(self.answer) ?? list()))
        } catch {
            // The request is for trades, and what is wrong with it is answered like the rest.
        }
        return self.answer(target: head.uri, now: now)
    }

    /// Answers a request for trades.
    ///
    /// - Parameter target: its path and query (``VenueTradesRequest/target``).
    package func answer(target: String, now: Int64) -> MockAnswer {
        let weight = VenueTradesRequest.weight(of: self.venue)
        if let refusal = self.refusal(weight: weight, isForTrades: true, now: now) { return MockAnswer(refusal) }
        let faults = self.faults.requested(now: now)
        var answer = MockAnswer(self.marked(self.answer(target, faults, now)))
        answer.faults = faults.map(\.description)
        for fault in faults {
            switch fault {
            case .slow(let time): answer.delay = max(answer.delay, time)
            case .cut: answer.isCut = true
            case .status, .lag, .behind, .empty, .narrow: break
            }
        }
        return answer
    }

    // MARK: Limits

    private func refusal(weight: Int, isForTrades: Bool, now: Int64) -> HTTPAnswer? {
        guard let refusal = self.limit.requested(weight: weight, isForTrades: isForTrades, now: now) else { return nil }
        self.breaches += 1
        guard refusal.status != 200 else {
            return .json(.ok, KrakenTradeList.error("EGeneral:Too many requests"))
        }
        let headers = refusal.retryAfter.map { [Fault.Refusal.Header(name: "Retry-After", value: "\($0)")] } ?? []
        return self.marked(HTTPAnswer(Fault.Refusal(status: refusal.status, headers: headers), of: self.upstream))
    }

    /// Adds the header with the weight that was used, which Binance's answers have.
    private func marked(_ answer: HTTPAnswer) -> HTTPAnswer {
        guard self.venue == .binance else { return answer }
        var answer = answer
        answer.headers.add(name: "X-MBX-USED-WEIGHT-1M", value: "\(self.limit.used)")
        return answer
    }

    // MARK: The last 24 hours

    private func answer(_ request: VenueDayRequest) -> HTTPAnswer {
        let symbols = self.venue == .kraken ? request.symbols.map(KrakenMock.symbol(anyName:)) : request.symbols
        let form = RestForm(self.venue)
        guard !symbols.isEmpty, symbols.allSatisfy(self.exists) else { return form.unknown }
        return form.answer(symbols.map { ($0, PlayedDay(self.trades.trades(of: $0))) })
    }

    // MARK: Trades

    private func exists(_ symbol: String) -> Bool { self.known.contains(symbol) || self.trades.has(symbol) }

    private func answer(_ target: String, _ faults: [RestFault], _ now: Int64) -> HTTPAnswer {
        for fault in faults {
            switch fault {
            case .status(let refusal):
                let seconds = refusal.headers.first { $0.name == "Retry-After" }.flatMap { Int64($0.value) }
                if refusal.status == 429, let seconds { self.limit.refuse(for: seconds, now: now) }
                return HTTPAnswer(refusal, of: self.upstream)
            case .narrow where VenueTarget(target)?.path.last == "historicalTrades":
                return self.upstream.error(.notFound, "this host has market data only")
            case .narrow, .lag, .behind, .cut, .empty, .slow: break
            }
        }
        let form = RestForm(self.venue)
        do throws(VenueTradesRequest.TargetFault) {
            var request = try VenueTradesRequest(target: target, of: self.venue)
            if self.venue == .kraken { request.symbol = KrakenMock.symbol(anyName: request.symbol) }
            guard self.exists(request.symbol) else { return form.unknown }
            return form.answer(request, target: target, from: self.visible(request.symbol, faults, now))
        } catch {
            return form.refusal(error)
        }
    }

    /// Returns the trades of a symbol that the service knows, with its faults.
    private func visible(_ symbol: String, _ faults: [RestFault], _ now: Int64) -> ArraySlice<Trade> {
        var trades = self.trades.trades(of: symbol)
        for fault in faults {
            switch fault {
            case .lag(let time):
                let known = self.trades.trades(of: symbol, playedBefore: now.subtractingCapped(time))
                trades = trades.prefix(known.count)
            case .behind(let count): trades = trades.dropLast(count)
            case .empty: trades = []
            case .status, .cut, .slow, .narrow: break
            }
        }
        return trades
    }
}
