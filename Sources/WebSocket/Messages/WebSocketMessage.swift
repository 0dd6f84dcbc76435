package import NIOCore

/// A whole message from the peer, unmasked, its fragments joined; text is valid UTF-8.
package enum WebSocketMessage: Sendable, Equatable {
    case text(ByteBuffer)
    case binary(ByteBuffer)
}

/// What an application writes to `WebSocketHandler`.
///
/// The value fits the 24 bytes that NIO carries without an allocation, hence the indirect case.
package enum WebSocketOutput: Sendable, Equatable {
    /// A text message in one frame. The bytes must be UTF-8; they are not checked again.
    case text(ByteBuffer)
    /// A binary message in one frame.
    case binary(ByteBuffer)
    /// Bytes that already are whole frames of this side's role. They go out as they are, so one buffer can serve a
    /// thousand connections.
    case framed(ByteBuffer)
    /// Starts the closing handshake. Later writes fail. The reason is cut to 123 bytes of UTF-8.
    indirect case close(WebSocketCloseCode, reason: String)
}

/// Somebody who takes the messages of a `WebSocketHandler` by a plain call, on the loop and in order: a pipeline's event
/// costs a message more than most readers' work does. All else comes up the pipeline.
package protocol WebSocketReceiver: AnyObject {
    func messageArrived(_ message: WebSocketMessage)
}
