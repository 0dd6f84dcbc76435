import HTTP
import Market
import NIOCore
import NIOHTTP1
import WebSocket

extension HTTPRefusal {
    /// An unknown path.
    ///
    /// - Parameter paths: the endpoints of the WebSockets.
    static func notFound(webSockets paths: [String]) -> HTTPRefusal {
        HTTPRefusal(
            status: .notFound,
            type: "not-found",
            message: "there is nothing here",
            hint:
                "GET \(RelayRoute.paths.joined(separator: ", ")), or a WebSocket to \(paths.joined(separator: " or "))"
        )
    }
    static let needsTLS = HTTPRefusal(
        status: .badRequest,
        type: "tls-required",
        message: "this port speaks TLS",
        hint: "use https:// or wss://"
    )
    static let tooManyClients = HTTPRefusal(
        status: .serviceUnavailable,
        type: "too-many-clients",
        message: "all places for clients are taken",
        hint: "try again later, or raise relay.max-clients and the limit of open files (ulimit -n)",
        headers: ["Retry-After": "10"]
    )
    static let tooManyFromAddress = HTTPRefusal(
        status: .tooManyRequests,
        type: "too-many-from-address",
        message: "this address has too many connections",
        hint: "close some, or raise relay.max-clients-per-address",
        headers: ["Retry-After": "10"]
    )
    static let tokenMissing = HTTPRefusal(
        status: .unauthorized,
        type: "token-missing",
        message: "this relay requires a token",
        hint: "send the one in its relay.token-file: ?token=, Authorization: Bearer, or the subprotocol bearer.TOKEN",
        headers: ["WWW-Authenticate": "Bearer"]
    )
    static let tokenWrong = HTTPRefusal(
        status: .unauthorized,
        type: "token-wrong",
        message: "this is not the relay's token",
        hint: "send the one in its relay.token-file",
        headers: ["WWW-Authenticate": "Bearer error=\"invalid_token\""]
    )

    /// Too many wrong tokens from one address.
    static func tooManyGuesses(wait: TimeAmount) -> HTTPRefusal {
        HTTPRefusal(
            status: .tooManyRequests,
            type: "too-many-guesses",
            message: "too many wrong tokens came from this address",
            hint: "wait, and correct the client that sends them",
            headers: ["Retry-After": String(wait.nanoseconds / 1_000_000_000 + 1)]
        )
    }
    static let stopping = HTTPRefusal(
        status: .serviceUnavailable,
        type: "stopping",
        message: "the relay is stopping",
        hint: "connect again in a moment",
        headers: ["Retry-After": "1"]
    )
    static let timedOut = HTTPRefusal(
        status: .requestTimeout,
        type: "request-timeout",
        message: "the request did not arrive in time",
        hint: "send the whole request at once"
    )
    static let headersTooLarge = HTTPRefusal(
        status: .requestHeaderFieldsTooLarge,
        type: "headers-too-large",
        message: "the request line and the headers are too large",
        hint: "leave out headers and cookies that are not needed"
    )
    static let bodyTooLarge = HTTPRefusal(
        status: .payloadTooLarge,
        type: "body-too-large",
        message: "the request's body is too large",
        hint: "send a smaller one: only POST /v1/replay takes a body, and a short one"
    )
    static let expectationFailed = HTTPRefusal(
        status: .expectationFailed,
        type: "expectation-failed",
        message: "the only expectation that is supported is 100-continue",
        hint: "leave out the header Expect"
    )
    static let answersTooLarge = HTTPRefusal(
        status: .serviceUnavailable,
        type: "answers-too-large",
        message: "answers that are not read yet take all the memory for answers",
        hint: "try again later, or ask for less with limit",
        headers: ["Retry-After": "5"]
    )
    static let settingsNotShown = HTTPRefusal(
        status: .forbidden,
        type: "settings-not-shown",
        message: "this relay does not show its settings",
        hint: "they are shown where only this machine can reach the relay"
    )
    static let malformed = HTTPRefusal(
        status: .badRequest,
        type: "malformed-request",
        message: "this is not a valid HTTP/1.1 request",
        hint: "use an HTTP client, such as curl"
    )
    static let failed = HTTPRefusal(
        status: .internalServerError,
        type: "internal-error",
        message: "the request failed inside the relay",
        hint: "the relay's log says why; please report it"
    )

    static func methodNotAllowed(_ allowed: [HTTPMethod]) -> HTTPRefusal {
        let allowed = allowed.map(\.rawValue)
        return HTTPRefusal(
            status: .methodNotAllowed,
            type: "method-not-allowed",
            message: "this address takes only \(allowed.joined(separator: " and "))",
            hint: "use one of these methods",
            headers: ["Allow": allowed.joined(separator: ", ")]
        )
    }

    /// A symbol that the relay does not know.
    static func noSuchSymbol(_ symbol: String) -> HTTPRefusal {
        HTTPRefusal(
            status: .notFound,
            type: "no-such-symbol",
            message: "no trade of \(symbol.prefix(SymbolName.longest)) has come yet",
            hint: "/v1/status lists the symbols; a WebSocket client asks for another one by subscribing"
        )
    }

    static func badQuery(
        _ message: String,
        known: Set<String> = [],
        page: String = "docs/http.md"
    ) -> HTTPRefusal {
        HTTPRefusal(
            status: .badRequest,
            type: "bad-query",
            message: message,
            hint: known.isEmpty ? "see \(page)" : "known here: \(known.sorted().joined(separator: ", "))"
        )
    }

    static let badPath = HTTPRefusal(
        status: .badRequest,
        type: "bad-path",
        message: "the symbol in the path cannot be decoded",
        hint: "percent-encode its UTF-8, such as /v1/snapshot/BINANCE%3ABTCUSDT"
    )
}

extension HTTPRefusal {
    /// Describes a failure that the connection found.
    ///
    /// - Parameter isEncrypted: whether the connection speaks TLS.
    init(_ failure: HTTPServerFailure, isEncrypted: Bool) {
        switch failure {
        case .withoutTLS: self = .needsTLS
        case .stopping: self = .stopping
        case .timedOut: self = .timedOut
        case .headersTooLarge: self = .headersTooLarge
        case .bodyTooLarge: self = .bodyTooLarge
        case .expectationFailed: self = .expectationFailed
        case .malformed: self = .malformed
        case .answersTooLarge: self = .answersTooLarge
        case .serviceFailed: self = .failed
        case .handshake(let refusal):
            self = HTTPRefusal(
                status: refusal.status,
                type: "websocket-refused",
                message: refusal.reason,
                hint: "open a WebSocket of version 13 here, by \(isEncrypted ? "wss" : "ws")://",
                headers: refusal.headers
            )
        }
    }

    /// Returns the refusal as an answer.
    ///
    /// - Parameter origin: the origin of the requesting page, if it may read the answer.
    func answer(to origin: String?) -> HTTPAnswer {
        var headers = self.headers
        headers.replaceOrAdd(name: "Content-Type", value: "application/json")
        headers.replaceOrAdd(name: "Cache-Control", value: "no-store")
        var answer = HTTPAnswer(status: self.status, headers: headers, body: self.body)
        if let origin { answer.headers.add(name: "Access-Control-Allow-Origin", value: origin) }
        answer.headers.add(name: "Vary", value: "Origin")
        return answer
    }
}
