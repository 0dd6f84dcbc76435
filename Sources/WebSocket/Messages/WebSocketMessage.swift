package import NIOCore

/// A complete message from the peer, unmasked and joined from its fragments; text is valid UTF-8.
package enum WebSocketMessage: Sendable, Equatable {
    case text(ByteBuffer)
    case binary(ByteBuffer)
}

/// An outbound value of the application for `WebSocketHandler`.
///
/// The indirect case keeps the value within the 24 bytes that NIO passes without an allocation.
package enum WebSocketOutput: Sendable, Equatable {
    /// A text message in one frame. The bytes must be UTF-8; they are not checked again.
    case text(ByteBuffer)
    /// A binary message in one frame.
    case binary(ByteBuffer)
    /// Bytes that are complete frames of this side's role. They are sent unchanged, so one buffer can serve a thousand
    /// connections.
    case framed(ByteBuffer)
    /// Starts the closing handshake. Later writes fail. The reason is cut to 123 bytes of UTF-8.
    indirect case close(WebSocketCloseCode, reason: String)
}

/// A receiver of a `WebSocketHandler`'s messages by plain calls, on the loop and in order. A pipeline event costs more
/// per message than the work of most receivers. Everything else goes up the pipeline.
package protocol WebSocketReceiver: AnyObject {
    func messageArrived(_ message: WebSocketMessage)
}
