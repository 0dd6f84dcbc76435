package import NIOCore

/// The end of a connection: who ended it, and with which words.
package struct WebSocketClosure: Sendable, Equatable {
    package enum Cause: Sendable, Equatable {
        /// The peer started the closing handshake.
        case peerClosed
        /// This side closed, and the peer answered, or the channel was closed without a handshake by this side.
        case locallyClosed
        /// This side closed, and the peer did not answer within the limit.
        case closeTimedOut
        /// The peer broke the protocol or a limit, and was told so.
        case protocolViolation(WebSocketViolation)
        /// Our ping was not answered within the limit.
        case pongTimeout
        /// The transport ended without a close frame.
        case connectionLost
    }

    /// The code of the peer's close frame, or the one sent to it after a violation; nil when no close frame said one.
    package var code: WebSocketCloseCode?
    package var reason: String
    package var cause: Cause

    package init(code: WebSocketCloseCode?, reason: String, cause: Cause) {
        self.code = code
        self.reason = reason
        self.cause = cause
    }
}

/// An event that `WebSocketHandler` fires up the pipeline beside the messages.
package enum WebSocketEvent: Sendable, Equatable {
    /// The connection is over for messages. Fired exactly once, before `channelInactive`.
    case closed(WebSocketClosure)
    /// A ping came with this in it, and was answered.
    case pingReceived(ByteBuffer)
    /// A pong came with this in it, asked for or not.
    case pongReceived(ByteBuffer)
    /// A ping was sent.
    case pingSent
}

/// An error of a write.
package enum WebSocketWriteError: Error, Sendable, Equatable {
    /// The closing handshake has begun; nothing may follow the close frame.
    case closing
    /// The code must not stand in a close frame.
    case forbiddenCloseCode(WebSocketCloseCode)
}
