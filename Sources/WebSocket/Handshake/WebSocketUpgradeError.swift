package import NIOHTTP1

/// The reason why the opening of a WebSocket or a tunnel failed.
package enum WebSocketUpgradeError: Error, Sendable, Equatable {
    /// The server answered with another status than 101, or the proxy with a status outside 2xx. The body is cut to the
    /// request's limit.
    case refused(status: HTTPResponseStatus, headers: HTTPHeaders, body: String)
    /// No response arrived within the time limit.
    case timedOut
    /// A response began, and was not complete within the time limit.
    case unfinished
    /// The response is invalid; the text says why.
    case invalidResponse(String)
    /// The head of the response is larger than the limit.
    case headersTooLarge
    /// The connection ended before the response.
    case connectionClosed
    /// The request cannot be written as HTTP; the text names the part, not its value.
    case invalidRequest(String)
}
