import HTTP
import Market
import MockUpstream
import NIOCore
import NIOHTTP1
import Wire

/// The answers of the REST service.
extension VenueService {
    /// What becomes of a request: it is answered after a time, with a failure or with what the service knows then.
    struct Reply {
        var after: Int64
        var failure: ServiceFailure?
        var fault: Fault.REST?
        /// The body, if the mock server has made it.
        var body: ByteBuffer?

        /// Whether the answer's end comes, without which it gives nothing.
        var isWhole: Bool { if case .cutAnswer = self.fault { false } else { true } }
    }

    /// Counts a request against the venue's limits; returns the mock server's answer.
    private func countRequest(_ request: VenueTradesRequest, now: Int64) -> ByteBuffer {
        let breaches = self.mockREST.breaches
        let answer = self.mockREST.answer(target: request.target, now: now).http
        if self.mockREST.breaches > breaches {
            self.fault("too many requests: HTTP \(answer.status.code) to \(request)")
        }
        if now < self.refusedUntil { self.fault("a request within the wait that a refusal asked for: \(request)") }
        if case .ids(_, let count) = request.trades, !(1...VenueTradesRequest.maximumCount).contains(count) {
            self.fault("a request for \(count) trades")
        }
        return answer.body
    }

    /// Takes a request for earlier trades.
    ///
    /// - Parameters:
    ///   - host: the host that is asked: the first one, or the one for market data.
    ///   - wall: the wall clock, ns since 1970.
    func asked(_ request: VenueTradesRequest, host: Int, now: Int64, wall: Int64) -> Reply {
        if host == 0, self.schedule.hosts == .second {
            let failure = ServiceFailure(.notPermitted, "HTTP 451", status: 451)
            return Reply(after: self.jitter(self.schedule.latency), failure: failure)
        }
        var reply = self.answered(request, isFaulty: host == 0 || self.schedule.hosts == .second, now: now, wall: wall)
        if host > 0 {
            self.counts.exercised(Fault.narrowHost)
            if case .ids = request.trades, reply.failure == nil {
                (reply.failure, reply.body) = (ServiceFailure(.unreadableAnswer, "HTTP 404", status: 404), nil)
            }
        }
        return reply
    }

    private func answered(_ request: VenueTradesRequest, isFaulty: Bool, now: Int64, wall: Int64) -> Reply {
        self.counts.requests += 1
        let body = self.countRequest(request, now: now)
        var reply = Reply(after: self.jitter(self.schedule.latency))
        if self.hasMockREST { reply.body = body }
        guard let rest, isFaulty, now < rest.until else { return reply }
        self.counts.exercised(.rest(rest.kind, 0))
        reply.fault = rest.kind
        reply.body = nil
        switch rest.kind {
        case .tooMany(let retryAfter):
            self.refusedUntil = now + retryAfter
            reply.failure = .rateLimited(until: wall + retryAfter, "HTTP 429")
        case .banned(let retryAfter):
            self.refusedUntil = now + retryAfter
            reply.failure = .rateLimited(until: wall + retryAfter, "HTTP 418")
        case .down: reply.failure = ServiceFailure(.unreachable, "HTTP 503", status: 503)
        case .forbidden: reply.failure = self.forbidden(wall: wall)
        case .unreachable: reply.failure = ServiceFailure(.unreachable, "the connection was refused")
        case .silent:
            reply.after = 15_000_000_000
            reply.failure = ServiceFailure(.unreachable, "no answer came within 15 s")
        case .slow(let time): reply.after = time
        case .html, .cutAnswer, .lag, .short: break
        }
        return reply
    }

    /// Kraken's edge answers with 403 to an address that has made too many attempts.
    private func forbidden(wall: Int64) -> ServiceFailure {
        guard self.market.venue == .kraken else { return ServiceFailure(.notPermitted, "HTTP 403", status: 403) }
        return .rateLimited(until: wall + 600_000_000_000, "HTTP 403")
    }

    /// Returns the body of an answer, as the service makes it now.
    func body(for request: VenueTradesRequest, _ fault: Fault.REST?, now: Int64) -> ByteBuffer {
        if case .html = fault { return ByteBuffer(string: "<html><body><h1>Log in to this network</h1></body></html>") }
        guard let symbol = self.market.symbols.firstIndex(of: request.symbol) else {
            return ByteBuffer(string: #"{"code":-1121,"msg":"Invalid symbol."}"#)
        }
        var lag = self.schedule.lag
        if case .lag(let more) = fault { lag = more }
        let visible = self.market.count(of: symbol, at: now - ProgramLife.origin - lag)
        var limit = VenueTradesRequest.maximumCount
        if case .short(let most) = fault { limit = most }
        let text = VenueText.answer(
            self.trades(request.trades, of: symbol, visible: visible, limit: limit),
            of: self.market.venue,
            symbol: request.symbol,
            since: 0
        )
        var body = ByteBuffer(string: text)
        if case .cutAnswer = fault { body = body.getSlice(at: 0, length: body.readableBytes / 2) ?? body }
        return body
    }

    private func trades(
        _ wanted: VenueTradesRequest.Trades,
        of symbol: Int,
        visible: Int,
        limit: Int
    ) -> [MarketTrade] {
        let column = self.market.columns[symbol]
        func trades(_ places: some Sequence<Int>, _ most: Int) -> [MarketTrade] {
            var found: [MarketTrade] = []
            for place in places where found.count < most && !self.isLost(symbol: symbol, place: place) {
                found.append(self.market.trades[Int(column.events[place])])
            }
            return found
        }
        switch wanted {
        case .ids(let first, let count):
            let most = min(count, limit)
            let begin = first > column.first ? Int(min(first - column.first, UInt64(visible))) : 0
            // Coinbase answers with the newest ones below an id, Binance with the oldest ones from an id on.
            guard self.market.venue == .coinbase else { return trades(begin..<max(begin, visible), most) }
            let end = Int(min(first + UInt64(count) - min(column.first, first + UInt64(count)), UInt64(visible)))
            return trades((0..<end).reversed(), most).reversed()
        case .newest(let count):
            return trades((0..<visible).reversed(), min(count, limit)).reversed()
        case .since(let time):
            return trades((0..<visible).lazy.drop { column.times[$0] <= time }, limit)
        }
    }
}
