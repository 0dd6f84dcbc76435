package import NIOCore

/// The limits and intervals of one connection.
package struct WebSocketSettings: Sendable, Equatable {
    package var role: WebSocketRole
    /// The largest message accepted from the peer, all fragments together, in bytes. Values above
    /// 4,294,967,295 act as that.
    package var maximumMessageBytes: Int
    /// The most fragments of one message. Empty fragments add no payload, so a byte limit alone does not bound them.
    package var maximumFragments = 1_024
    /// The time between pings of this side; `nil` sends none.
    package var pingInterval: TimeAmount? = .seconds(20)
    /// The time within which a pong must follow a ping.
    package var pongTimeout: TimeAmount = .seconds(10)
    /// The time limit of the closing handshake; then the channel is closed.
    package var closeTimeout: TimeAmount = .seconds(1)

    /// The compression offered to a server or accepted from a client (RFC 7692); `nil` for no compression.
    package var compression: DeflatePolicy?

    package init(role: WebSocketRole, maximumMessageBytes: Int = 1 << 20) {
        self.role = role
        self.maximumMessageBytes = maximumMessageBytes
    }
}
