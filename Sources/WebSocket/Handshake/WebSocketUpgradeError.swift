package import NIOHTTP1

/// The reason why no WebSocket came of a connection.
package enum WebSocketUpgradeError: Error, Sendable, Equatable {
    /// The server answered with another status than 101. The body is cut to the request's limit.
    case refused(status: HTTPResponseStatus, headers: HTTPHeaders, body: String)
    /// No answer within the time limit.
    case timedOut
    /// An answer that had begun, and was not whole within the time limit.
    case unfinished
    /// The answer is no valid 101; the text says why.
    case invalidResponse(String)
    /// The head of the answer is larger than the limit.
    case headersTooLarge
    /// The connection ended before the answer.
    case connectionClosed
    /// The request can not be written as HTTP; the text names the part, not its value.
    case invalidRequest(String)
}
