package import Market
package import NIOCore

/// What happens on a feed's connection beside its messages: for whoever keeps a record of all of it.
package enum ConnectionEvent: Sendable, Equatable {
    /// Which way something went.
    package enum Direction: String, Sendable { case incoming = "in", outgoing = "out" }

    /// A WebSocket is open at an address, which is without a key.
    case connected(address: String)
    /// A request was sent: what it asks, and its text.
    case requested(FinnhubRequest, text: ByteBuffer)
    /// A WebSocket ping or pong, and what was in it.
    case ping(Direction, payload: ByteBuffer = ByteBuffer())
    case pong(Direction, payload: ByteBuffer = ByteBuffer())
    /// The connection is over: with the code of the close frame if there was one, and why; never with a key.
    ///
    /// `goodbye` is the reason in the service's own close frame, where the service ended it with one.
    case disconnected(code: UInt16?, reason: String, cause: FeedStatus.Cause, goodbye: String? = nil)
}
