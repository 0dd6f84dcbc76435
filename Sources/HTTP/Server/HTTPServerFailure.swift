package import WebSocket

/// A failure of a request that the connection detects, and for which the service makes the response.
package enum HTTPServerFailure: Error, Sendable, Equatable {
    /// The request is plain text on a TLS port.
    case withoutTLS
    /// The server is stopping.
    case stopping
    /// The request did not arrive in time.
    case timedOut
    /// The first line and the headers are larger than ``HTTPServerLimits/maximumHeaderBytes``.
    case headersTooLarge
    /// The body is larger than ``HTTPServerLimits/maximumBodyBytes``.
    case bodyTooLarge
    /// The request expects something other than `100-continue`.
    case expectationFailed
    /// The request is not HTTP/1.1.
    case malformed
    /// There is no memory for the response.
    case answersTooLarge
    /// The service failed, and has logged the reason.
    case serviceFailed
    /// The request is not a valid opening handshake, and its address serves only WebSocket.
    case handshake(WebSocketServerHandshake.Refusal)
}

/// A refused request: the response with the reason, after which the connection ends.
package struct HTTPRejection: Error, Sendable {
    /// A stable identifier for counters.
    package var type: String
    package var answer: HTTPAnswer

    package init(type: String, answer: HTTPAnswer) {
        self.type = type
        self.answer = answer
    }
}
