import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOHTTPTypesHTTP1
import NIOHTTP1

/// The HTTP that stands beside the WebSockets, by Hummingbird's router.
struct RelayRouter: Sendable {
    /// What the routes show.
    struct Sources: Sendable {
        /// The status and the newest of all symbols, as JSON.
        var snapshot: @Sendable () async throws -> ByteBuffer
    }

    private let responder: RouterResponder<BasicRequestContext>
    private let logger: Logger

    init(sources: Sources, logger: Logger) {
        self.logger = logger
        let router = Router(context: BasicRequestContext.self, options: .autoGenerateHeadEndpoints)
        var paths: Set<String> = []
        func get(_ path: String, _ answer: @escaping @Sendable () async throws -> Response) {
            paths.insert(path)
            router.get(RouterPath(path)) { _, _ in try await answer() }
        }
        // For a supervisor: says only that the program runs, whatever the feed does.
        get("/livez") {
            Response(
                status: .ok,
                headers: [.contentType: "text/plain; charset=utf-8", .cacheControl: "no-store"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: "ok\n"))
            )
        }
        get("/v1/snapshot") {
            Response(
                status: .ok,
                headers: [.contentType: "application/json", .cacheControl: "no-store"],
                body: ResponseBody(byteBuffer: try await sources.snapshot())
            )
        }
        router.add(middleware: RefusalMiddleware(paths: paths))
        self.responder = router.buildResponder()
    }

    /// Answers one request; never throws, every failure is an answer too.
    func respond(to head: HTTPRequestHead, on channel: any Channel) async -> Response {
        do {
            let request = Request(
                head: HTTPRequest(
                    method: try HTTPRequest.Method(head.method),
                    scheme: "http",
                    authority: head.headers.first(name: "Host"),
                    path: head.uri,
                    headerFields: HTTPFields(head.headers, splitCookie: false)
                ),
                body: RequestBody(buffer: ByteBuffer())
            )
            let context = BasicRequestContext(
                source: ApplicationRequestContextSource(channel: channel, logger: self.logger)
            )
            return try await self.responder.respond(to: request, context: context)
        } catch let refusal as HTTPRefusal {
            return Response(refusal)
        } catch {
            self.logger.warning("an HTTP request failed", metadata: ["error": "\(error)"])
            return Response(.failed)
        }
    }
}

/// The turning of the router's bare "not found" into answers that say what is there: 404, or 405 with the methods.
private struct RefusalMiddleware<Context: RequestContext>: RouterMiddleware {
    let paths: Set<String>

    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as HTTPError where error.status == .notFound {
            throw self.paths.contains(request.uri.path) ? HTTPRefusal.methodNotAllowed(["GET", "HEAD"]) : .notFound
        }
    }
}

extension Response {
    init(_ refusal: HTTPRefusal) {
        var headers = HTTPFields(refusal.headers, splitCookie: false)
        headers[.contentType] = "application/json"
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
