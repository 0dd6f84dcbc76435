package import NIOCore

/// The end of a connection: its cause, its code and its reason.
package struct WebSocketClosure: Sendable, Equatable {
    package enum Cause: Sendable, Equatable {
        /// The peer started the closing handshake.
        case peerClosed
        /// This side closed and the peer replied, or this side closed the channel without a handshake.
        case locallyClosed
        /// This side closed, and the peer did not reply within the limit.
        case closeTimedOut
        /// The peer violated the protocol or a limit, and received a close frame that says so.
        case protocolViolation(WebSocketViolation)
        /// The peer did not answer a ping within the limit.
        case pongTimeout
        /// The transport ended without a close frame.
        case connectionLost
    }

    /// The code of the peer's close frame, or the code sent to it after a violation; `nil` without either.
    package var code: WebSocketCloseCode?
    package var reason: String
    package var cause: Cause

    package init(code: WebSocketCloseCode?, reason: String, cause: Cause) {
        self.code = code
        self.reason = reason
        self.cause = cause
    }
}

/// An event that `WebSocketHandler` fires up the pipeline besides the messages.
package enum WebSocketEvent: Sendable, Equatable {
    /// No further messages will arrive. Fired exactly once, before `channelInactive`.
    case closed(WebSocketClosure)
    /// A ping arrived with this payload. Its pong is written already, or waits until the peer reads again.
    case pingReceived(ByteBuffer)
    /// A pong arrived with this payload, solicited or not.
    case pongReceived(ByteBuffer)
    /// A ping was sent.
    case pingSent
}

/// An error of a write.
package enum WebSocketWriteError: Error, Sendable, Equatable {
    /// The closing handshake has begun; no frame may follow the close frame.
    case closing
    /// The code is not allowed in a close frame.
    case forbiddenCloseCode(WebSocketCloseCode)
}
