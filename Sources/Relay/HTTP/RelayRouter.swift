import HTTPTypes
import Hummingbird
import Logging
import Market
import Measurements
import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1

/// The HTTP that stands beside the WebSockets, by Hummingbird's router.
struct RelayRouter: Sendable {
    /// What the routes show.
    struct Sources: Sendable {
        var reading: @Sendable () async throws -> RelayReading
        /// The status and the newest of all symbols, as JSON.
        var snapshot: @Sendable (AnswerMemory.Room) async throws -> ByteBuffer
        /// The newest of one symbol; `nil` when it has not traded.
        var symbolSnapshot: @Sendable (String) async throws -> ByteBuffer?
        /// The newest trades of one symbol, as many as the limit at most.
        var trades: @Sendable (String, Int, AnswerMemory.Room) async throws -> TradeExcerpt?
        /// The bars of one symbol; `nil` when it has none.
        var bars: @Sendable (String, BarQuery, AnswerMemory.Room) async throws -> BarExcerpt?
        /// What earlier runs have recorded.
        var past: RelayPast?
        var instruments: Instruments
        var version: String
        /// The replay behind the feed; `nil` where there is none.
        var replay: ReplayDoor?
    }

    /// The trades of one answer, at most and by default.
    static let mostTrades = 10_000
    static let usualTrades = 100
    static let methods = ["GET", "HEAD"]

    private let responder: RouterResponder<AnswerContext>
    private let paths: KnownPaths
    private let logger: Logger
    private let refusals: RefusalCounts

    init(sources: Sources, logger: Logger) {
        self.logger = logger
        self.refusals = sources.instruments.refusals
        let router = Router(context: AnswerContext.self, options: .autoGenerateHeadEndpoints)
        var paths = KnownPaths()
        func get(_ path: String, _ answer: @escaping @Sendable (Request, AnswerContext) async throws -> Response) {
            paths.add(path)
            router.get(RouterPath(path)) { request, context in try await answer(request, context) }
        }
        for page in PageAnswer.all { get(page.path) { request, _ in page.response(to: request) } }
        // For a supervisor: says only that the program runs, whatever the feed does.
        get("/livez") { _, _ in .fresh("text/plain; charset=utf-8", ByteBuffer(string: "ok\n")) }
        get("/readyz") { _, _ in
            let (isReady, body) = StatusAnswers.readiness(try await sources.reading())
            return .fresh(status: isReady ? .ok : .serviceUnavailable, "application/json", body)
        }
        get("/metrics") { _, _ in
            let reading = try await sources.reading()
            let text = MetricsAnswer.text(reading, instruments: sources.instruments, version: sources.version)
            return .fresh(PrometheusText.contentType, text)
        }
        get("/v1/status") { _, _ in
            let reading = try await sources.reading()
            let body = StatusAnswers.status(reading, instruments: sources.instruments, version: sources.version)
            return .fresh("application/json", body)
        }
        get("/v1/snapshot") { request, context in
            .tagged(try await sources.snapshot(context.room), for: request)
        }
        get("/v1/snapshot/:symbol") { request, context in
            let symbol = try context.symbol()
            guard let body = try await sources.symbolSnapshot(symbol) else { throw HTTPRefusal.noSuchSymbol(symbol) }
            return .tagged(body, for: request)
        }
        get("/v1/trades/:symbol") { request, context in
            let symbol = try context.symbol()
            let query = try TradeQuery(request.uri.query)
            let trades = try await sources.trades(symbol, query.limit, context.room)
            if let answer = try await query.pastAnswer(symbol, live: trades, past: sources.past, context.room) {
                return .fresh("application/json", answer)
            }
            guard let trades else { throw HTTPRefusal.noSuchSymbol(symbol) }
            return .fresh("application/json", StatusAnswers.trades(trades))
        }
        get("/v1/bars/:symbol") { request, context in
            let symbol = try context.symbol()
            let query = try BarQuery(request.uri.query)
            guard let excerpt = try await sources.bars(symbol, query, context.room) else {
                throw HTTPRefusal.noSuchSymbol(symbol)
            }
            return .tagged(excerpt.body(symbol, query), for: request)
        }
        let replay = sources.replay
        get(ReplayDoor.path) { _, _ in
            .fresh("application/json", try ReplayDoor.position(replay))
        }
        paths.addPosted(ReplayDoor.path)
        router.post(RouterPath(ReplayDoor.path)) { request, _ -> Response in
            let body = try await request.body.collect(upTo: HTTPRequestBody.limit)
            return .fresh("application/json", try await ReplayDoor.take(body, replay))
        }
        self.paths = paths
        router.add(middleware: RefusalMiddleware(paths: paths))
        self.responder = router.buildResponder()
    }

    /// Answers one request; never throws, every failure is an answer too. The request has passed the gate, so whatever
    /// origin it names is an allowed one.
    ///
    /// - Parameter room: the memory that the answer may take; it grows with the answer.
    func respond(
        to head: HTTPRequestHead,
        body: ByteBuffer = ByteBuffer(),
        room: AnswerMemory.Room
    ) async -> Response {
        var response = await self.answer(to: head, body, room)
        if let origin = head.headers.first(name: "Origin") {
            response.headers[.accessControlAllowOrigin] = origin
            response.headers[.accessControlExposeHeaders] = "ETag"
        }
        // A cache must not give one page's answer to another.
        response.headers[.vary] = "Origin"
        return response
    }

    private func answer(to head: HTTPRequestHead, _ body: ByteBuffer, _ room: AnswerMemory.Room) async -> Response {
        do {
            if head.method == .OPTIONS { return try self.options(for: head) }
            let request = Request(
                head: HTTPRequest(
                    method: try HTTPRequest.Method(head.method),
                    scheme: "http",
                    authority: head.headers.first(name: "Host"),
                    path: head.uri,
                    headerFields: HTTPFields(head.headers, splitCookie: false)
                ),
                body: RequestBody(buffer: body)
            )
            let context = AnswerContext(source: AnswerContext.Source(logger: self.logger, room: room))
            return try await self.responder.respond(to: request, context: context)
        } catch let refusal as HTTPRefusal {
            self.refusals.add(refusal.type)
            return Response(refusal)
        } catch {
            self.tell(error)
            self.refusals.add(HTTPRefusal.failed.type)
            return Response(.failed)
        }
    }

    /// Logs why an answer is ``HTTPRefusal/failed``, whose cure names the log.
    func tell(_ error: any Error) {
        self.logger.error("an HTTP request failed", metadata: ["error": "\(error)"])
    }

    /// What may be done with an address, for a page that asks before it does (Fetch standard, CORS preflight).
    private func options(for head: HTTPRequestHead) throws(HTTPRefusal) -> Response {
        guard self.paths.contain(head.uri) else { throw .notFound }
        let methods = self.paths.methods(of: head.uri)
        var headers: HTTPFields = [.allow: (methods + ["OPTIONS"]).joined(separator: ", ")]
        if head.headers.contains(name: "Origin"), head.headers.contains(name: "Access-Control-Request-Method") {
            headers[.accessControlAllowMethods] = methods.joined(separator: ", ")
            headers[.accessControlAllowHeaders] =
                "If-None-Match, Authorization, X-Tickertape-Token, X-Finnhub-Token"
                + (methods.contains("POST") ? ", Content-Type" : "")
            headers[.accessControlMaxAge] = "600"
        }
        return Response(status: .noContent, headers: headers)
    }
}

/// The turning of the router's bare "not found" into answers that say what is there: 404, or 405 with the methods.
private struct RefusalMiddleware<Context: RequestContext>: RouterMiddleware {
    let paths: KnownPaths

    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as HTTPError where error.status == .notFound {
            guard self.paths.contain(request.uri.path) else { throw HTTPRefusal.notFound }
            throw HTTPRefusal.methodNotAllowed(self.paths.methods(of: request.uri.path))
        }
    }
}

/// The paths that are there, to tell a wrong method from a wrong path.
private struct KnownPaths: Sendable {
    private var whole: Set<String> = []
    /// What stands before a parameter, which is one segment and no empty one.
    private var beginnings: [String] = []
    /// Those that take a POST as well.
    private var posted: Set<String> = []

    mutating func addPosted(_ path: String) { self.posted.insert(path) }

    func methods(of uri: String) -> [String] {
        RelayRouter.methods + (self.posted.contains(String(uri.prefix { $0 != "?" })) ? ["POST"] : [])
    }

    mutating func add(_ path: String) {
        guard let colon = path.firstIndex(of: ":") else {
            self.whole.insert(path)
            return
        }
        self.beginnings.append(String(path[..<colon]))
    }

    func contain(_ uri: String) -> Bool {
        let path = uri.prefix { $0 != "?" }
        if self.whole.contains(String(path)) { return true }
        return self.beginnings.contains {
            path.hasPrefix($0) && path.count > $0.count && !path.dropFirst($0.count).contains("/")
        }
    }
}

/// What the routes know of a request beside its head.
struct AnswerContext: RequestContext {
    struct Source: RequestContextSource {
        let logger: Logger
        let room: AnswerMemory.Room
    }

    var coreContext: CoreRequestContextStorage
    /// The memory that the answer takes.
    let room: AnswerMemory.Room

    init(source: Source) {
        self.coreContext = CoreRequestContextStorage(source: source)
        self.room = source.room
    }

    /// The symbol in the path, decoded: `BINANCE%3ABTCUSDT` is `BINANCE:BTCUSDT`.
    fileprivate func symbol() throws(HTTPRefusal) -> String {
        guard let text = self.parameters.get("symbol"), let symbol = PercentText.decoded(text),
            SymbolName.isValid(symbol)
        else { throw .badPath }
        return symbol
    }
}

extension Response {
    /// An answer that is true at this moment only.
    fileprivate static func fresh(
        status: HTTPResponse.Status = .ok,
        _ type: String,
        _ body: ByteBuffer
    ) -> Response {
        Response(
            status: status,
            headers: [.contentType: type, .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: body)
        )
    }

    /// JSON with a tag; only the tag where the asker has the same already.
    fileprivate static func tagged(_ body: ByteBuffer, for request: Request) -> Response {
        let tag = EntityTag(of: body)
        let headers: HTTPFields = [.eTag: tag.text, .cacheControl: "no-cache"]
        if let condition = request.headers[.ifNoneMatch], tag.isNamed(in: condition) {
            return Response(status: .notModified, headers: headers)
        }
        var response = Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: body))
        response.headers[.contentType] = "application/json"
        return response
    }

    init(_ refusal: HTTPRefusal) {
        var headers = HTTPFields(refusal.headers, splitCookie: false)
        headers[.contentType] = "application/json"
        headers[.cacheControl] = "no-store"
        self.init(
            status: HTTPResponse.Status(
                code: Int(refusal.status.code),
                reasonPhrase: refusal.status.reasonPhrase
            ),
            headers: headers,
            body: ResponseBody(byteBuffer: refusal.body)
        )
    }
}
