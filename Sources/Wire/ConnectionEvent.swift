package import Market
package import NIOCore

/// An event of a feed's connection other than a message, for readers that record all of them.
package enum ConnectionEvent: Sendable, Equatable {
    /// The direction of a ping or pong.
    package enum Direction: String, Sendable { case incoming = "in", outgoing = "out" }

    /// A WebSocket is open at an address, which contains no key.
    case connected(address: String)
    /// A request was sent: the change of the subscriptions, or `nil` if it changes none, and its text.
    case requested(SubscriptionChange?, text: ByteBuffer)
    /// A WebSocket ping or pong, with its payload.
    case ping(Direction, payload: ByteBuffer = ByteBuffer())
    case pong(Direction, payload: ByteBuffer = ByteBuffer())
    /// The connection ended: the code of the close frame, if there was one, and the reason, which never contains a key.
    ///
    /// `goodbye` is the reason in the service's own close frame, if it sent one.
    case disconnected(code: UInt16?, reason: String, cause: FeedStatus.Cause, goodbye: String? = nil)
}
