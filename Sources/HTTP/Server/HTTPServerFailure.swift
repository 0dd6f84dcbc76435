package import WebSocket

/// A failure of a request that a server's connection finds, and its service words.
package enum HTTPServerFailure: Error, Sendable, Equatable {
    /// It came as plain text where TLS is spoken.
    case withoutTLS
    /// The server is stopping.
    case stopping
    /// It did not arrive in time.
    case timedOut
    /// Its first line and headers are larger than ``HTTPServerLimits/maximumHeaderBytes``.
    case headersTooLarge
    /// Its body is larger than ``HTTPServerLimits/maximumBodyBytes``.
    case bodyTooLarge
    /// It expects something other than `100-continue`.
    case expectationFailed
    /// It is no HTTP/1.1.
    case malformed
    /// There is no memory left for its answer.
    case answersTooLarge
    /// The service failed, and has logged why.
    case serviceFailed
    /// It is no correct opening handshake of a WebSocket, at an address that speaks nothing else.
    case handshake(WebSocketServerHandshake.Refusal)
}

/// A refused request: the answer that says why, behind which the connection ends.
package struct HTTPRejection: Error, Sendable {
    /// A stable word, for counters.
    package var type: String
    package var answer: HTTPAnswer

    package init(type: String, answer: HTTPAnswer) {
        self.type = type
        self.answer = answer
    }
}
