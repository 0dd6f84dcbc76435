import NIOCore
import NIOHTTP1
import Wire

/// A refused request: a status and one line that says why.
struct HTTPRefusal: Error, Equatable {
    var status: HTTPResponseStatus
    /// A stable word for programs.
    var type: String
    /// One line for people.
    var message: String
    /// Headers beside those of every answer.
    var headers: HTTPHeaders = [:]

    /// The body: one line of JSON.
    var body: ByteBuffer {
        var buffer = ByteBuffer()
        buffer.writeStaticString(#"{"type":"#)
        JSONText.escape(self.type, into: &buffer)
        buffer.writeStaticString(#","message":"#)
        JSONText.escape(self.message, into: &buffer)
        buffer.writeStaticString("}\n")
        return buffer
    }
}

extension HTTPRefusal {
    static let notFound = HTTPRefusal(
        status: .notFound,
        type: "not-found",
        message: "there is nothing here; try /livez, /v1/snapshot, or a WebSocket to / or /v1/stream"
    )
    static let tooManyClients = HTTPRefusal(
        status: .serviceUnavailable,
        type: "too-many-clients",
        message: "all places for clients are taken; try again later",
        headers: ["Retry-After": "10"]
    )
    static let stopping = HTTPRefusal(
        status: .serviceUnavailable,
        type: "stopping",
        message: "the relay is stopping",
        headers: ["Retry-After": "1"]
    )
    static let timedOut = HTTPRefusal(
        status: .requestTimeout,
        type: "request-timeout",
        message: "the request did not arrive in time"
    )
    static let headersTooLarge = HTTPRefusal(
        status: .requestHeaderFieldsTooLarge,
        type: "headers-too-large",
        message: "the request line and the headers are too large"
    )
    static let bodyTooLarge = HTTPRefusal(
        status: .payloadTooLarge,
        type: "body-too-large",
        message: "requests need no body here"
    )
    static let malformed = HTTPRefusal(
        status: .badRequest,
        type: "malformed-request",
        message: "this is no valid HTTP/1.1 request"
    )
    static let failed = HTTPRefusal(
        status: .internalServerError,
        type: "internal-error",
        message: "the request failed inside the relay"
    )

    static func methodNotAllowed(_ allowed: [String]) -> HTTPRefusal {
        HTTPRefusal(
            status: .methodNotAllowed,
            type: "method-not-allowed",
            message: "this address takes only \(allowed.joined(separator: " and "))",
            headers: ["Allow": allowed.joined(separator: ", ")]
        )
    }
}
