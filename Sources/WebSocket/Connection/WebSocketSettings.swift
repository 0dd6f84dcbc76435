package import NIOCore

/// The side of a connection; clients mask their frames, servers do not (RFC 6455, 5.1).
package enum WebSocketRole: Sendable, Equatable {
    case client
    case server
}

/// The limits and intervals of one connection.
package struct WebSocketSettings: Sendable, Equatable {
    package var role: WebSocketRole
    /// Largest message taken from the peer, all fragments together, in bytes. At most 2^32 - 1 is used.
    package var maximumMessageBytes: Int
    /// Most fragments of one message; empty ones cost the peer nothing, so bytes alone are no limit.
    package var maximumFragments = 1_024
    /// Time between own pings; nil sends none.
    package var pingInterval: TimeAmount? = .seconds(20)
    /// Time within which a pong must follow an own ping.
    package var pongTimeout: TimeAmount = .seconds(10)
    /// Time for the closing handshake; then the channel is closed.
    package var closeTimeout: TimeAmount = .seconds(1)

    /// What is offered to a server, or accepted from a client, for compressed messages (RFC 7692); nil for none.
    package var compression: DeflatePolicy?

    package init(role: WebSocketRole, maximumMessageBytes: Int = 1 << 20) {
        self.role = role
        self.maximumMessageBytes = maximumMessageBytes
    }
}
