import HTTP
import Logging
import Market
import Measurements
import NIOCore
import NIOHTTP1
import Platform

/// The HTTP API beside the WebSockets: the answer of each ``RelayRoute``.
struct RelayRouter: Sendable {
    /// The sources of the answers.
    struct Sources: Sendable {
        var reading: @Sendable () async throws -> RelayReading
        /// Returns the status and the newest prices of all symbols, as JSON.
        var snapshot: @Sendable (AnswerMemory.Reservation) async throws -> ByteBuffer
        /// Returns the newest price of one symbol; `nil` if it has not traded.
        var symbolSnapshot: @Sendable (String) async throws -> ByteBuffer?
        /// Returns the newest trades of one symbol, up to a limit.
        var trades: @Sendable (String, Int, AnswerMemory.Reservation) async throws -> TradeExcerpt?
        /// Returns the bars of one symbol; `nil` if it has none.
        var bars: @Sendable (String, BarQuery, AnswerMemory.Reservation) async throws -> BarExcerpt?
        /// The stored data of earlier runs and of this one.
        var past: RelayPast?
        /// Finnhub's headlines and symbols; `nil` if they cannot be asked for.
        var directory: RelayDirectory?
        /// The body of `/v1/holdings`.
        var holdings: ByteBuffer
        /// Returns the body of `/v1/settings`; `nil` if they are not shown.
        var settings: (@Sendable () -> ByteBuffer)?
        var instruments: Instruments
        var version: String
        /// The control endpoint of the replay behind the feed; `nil` without a replay.
        var replay: ReplayEndpoint?
        /// The endpoints of the WebSockets.
        var webSocketPaths: [String]
    }

    /// The number of trades in one answer: the most, and the default.
    static let maximumTrades = 10_000
    static let usualTrades = 100

    let sources: Sources
    let logger: Logger

    /// Answers one request. It never throws, since every failure is an answer too. The request has passed the gate, so
    /// its origin is an allowed one.
    ///
    /// - Parameter reservation: the reservation of the answer's memory, which grows with the answer.
    func respond(
        to head: HTTPRequestHead,
        body: ByteBuffer = ByteBuffer(),
        reservation: AnswerMemory.Reservation
    ) async -> HTTPAnswer {
        var answer = await self.answer(to: head, body, reservation)
        if let origin = head.headers.first(name: "Origin") {
            answer.headers.replaceOrAdd(name: "Access-Control-Allow-Origin", value: origin)
            answer.headers.add(name: "Access-Control-Expose-Headers", value: "ETag")
        }
        // A cache must not give one page's answer to another.
        answer.headers.replaceOrAdd(name: "Vary", value: "Origin")
        return answer
    }

    private func answer(
        to head: HTTPRequestHead,
        _ body: ByteBuffer,
        _ reservation: AnswerMemory.Reservation
    ) async -> HTTPAnswer {
        do {
            guard let route = RelayRoute(head.path) else {
                throw HTTPRefusal.notFound(webSockets: self.sources.webSocketPaths)
            }
            if head.method == .OPTIONS { return Self.options(of: route, for: head) }
            guard route.methods.contains(head.method) else { throw HTTPRefusal.methodNotAllowed(route.methods) }
            return try await self.answer(to: head, at: route, body, reservation)
        } catch let refusal as HTTPRefusal {
            return self.answer(refusal)
        } catch is HTTPServerFailure {
            // ``HTTPServerFailure/answersTooLarge`` is the only failure that a route can meet.
            return self.answer(.answersTooLarge)
        } catch {
            // The refusal's hint refers to the log.
            self.logger.error("An HTTP request failed", metadata: ["error": "\(error)"])
            return self.answer(.failed)
        }
    }

    private func answer(_ refusal: HTTPRefusal) -> HTTPAnswer {
        self.sources.instruments.refusals.add(refusal.type)
        return refusal.answer(to: nil)
    }

    private func answer(
        to head: HTTPRequestHead,
        at route: RelayRoute,
        _ body: ByteBuffer,
        _ reservation: AnswerMemory.Reservation
    ) async throws -> HTTPAnswer {
        let sources = self.sources
        switch route {
        case .page(let page):
            return page.answer(to: head)
        case .liveness:
            return .fresh("text/plain; charset=utf-8", ByteBuffer(string: "ok\n"))
        case .readiness:
            let (isReady, body) = StatusAnswers.readiness(
                try await sources.reading(),
                cluster: sources.instruments.cluster.report(version: sources.version, now: SystemClock.monotonic())
            )
            return .fresh(status: isReady ? .ok : .serviceUnavailable, "application/json", body)
        case .metrics:
            let reading = try await sources.reading()
            let text = MetricsAnswer.text(reading, instruments: sources.instruments, version: sources.version)
            return .fresh(PrometheusText.contentType, text)
        case .status:
            let reading = try await sources.reading()
            let body = StatusAnswers.status(reading, instruments: sources.instruments, version: sources.version)
            return .fresh("application/json", body)
        case .uptime:
            return .fresh("application/json", try await UptimeAnswer.body(head.query, sources.past, reservation))
        case .completeness:
            let query = try QueryText(head.query, known: ["symbol"])
            let body = try CompletenessAnswer.body(query.text("symbol"), sources.instruments.completeness, reservation)
            return .fresh("application/json", body)
        case .snapshot:
            return .tagged(try await sources.snapshot(reservation), for: head)
        case .symbolSnapshot(let text):
            let symbol = try Self.symbol(text)
            guard let body = try await sources.symbolSnapshot(symbol) else { throw HTTPRefusal.noSuchSymbol(symbol) }
            return .tagged(body, for: head)
        case .trades(let text):
            let symbol = try Self.symbol(text)
            let query = try TradeQuery(head.query)
            let trades = try await sources.trades(symbol, query.limit, reservation)
            if let answer = try await query.pastAnswer(symbol, live: trades, past: sources.past, reservation) {
                return .fresh("application/json", answer)
            }
            guard let trades else { throw HTTPRefusal.noSuchSymbol(symbol) }
            return .fresh("application/json", StatusAnswers.trades(trades))
        case .bars(let text):
            let symbol = try Self.symbol(text)
            let query = try BarQuery(head.query)
            guard let excerpt = try await sources.bars(symbol, query, reservation) else {
                throw HTTPRefusal.noSuchSymbol(symbol)
            }
            return .tagged(excerpt.body(symbol, query), for: head)
        case .news:
            return .tagged(try await DirectoryAnswers.news(head.query, sources.directory, reservation), for: head)
        case .symbols:
            return .tagged(try await DirectoryAnswers.symbols(head.query, sources.directory, reservation), for: head)
        case .replay:
            let position =
                head.method == .POST
                ? try await ReplayEndpoint.take(body, sources.replay) : try ReplayEndpoint.position(sources.replay)
            return .fresh("application/json", position)
        case .holdings:
            return .fresh("application/json", sources.holdings)
        case .settings:
            guard let settings = sources.settings else { throw HTTPRefusal.settingsNotShown }
            return .fresh("application/json", settings())
        case .audit:
            return .fresh("application/json", StatusAnswers.audit(sources.instruments.latency.auditReport))
        }
    }

    /// Decodes the symbol of a path: `BINANCE%3ABTCUSDT` is `BINANCE:BTCUSDT`.
    private static func symbol(_ text: Substring) throws(HTTPRefusal) -> String {
        guard let symbol = PercentText.decoded(text), SymbolName.isValid(symbol) else { throw .badPath }
        return symbol
    }

    /// Answers a page's preflight request with the allowed methods and headers (Fetch standard, CORS preflight).
    private static func options(of route: RelayRoute, for head: HTTPRequestHead) -> HTTPAnswer {
        let methods = route.methods.map(\.rawValue).joined(separator: ", ")
        var headers: HTTPHeaders = ["Allow": "\(methods), OPTIONS"]
        if head.headers.contains(name: "Origin"), head.headers.contains(name: "Access-Control-Request-Method") {
            headers.add(name: "Access-Control-Allow-Methods", value: methods)
            let names = "If-None-Match, Authorization, X-Tickertape-Token, X-Finnhub-Token"
            headers.add(
                name: "Access-Control-Allow-Headers",
                value: route.methods.contains(.POST) ? "\(names), Content-Type" : names
            )
            headers.add(name: "Access-Control-Max-Age", value: "600")
        }
        return HTTPAnswer(status: .noContent, headers: headers)
    }
}
