package import NIOCore

/// A way to an open WebSocket, one connection a call.
package protocol Connecting: Sendable {
    /// Opens one connection.
    ///
    /// - Parameters:
    ///   - reached: called on the loop when there is a channel. An error that it throws ends the attempt before
    ///     anything is sent.
    ///   - connected: called on the loop when the WebSocket is open, before any frame is delivered. `isRelay` says
    ///     whether the server identified itself as the relay of a program like this one.
    func connect(
        on loop: any EventLoop,
        reached: @escaping (any Channel) throws -> Void,
        connected: @escaping (any Channel, _ isRelay: Bool) throws -> Void
    ) -> EventLoopFuture<Void>
}

extension UpstreamConnector: Connecting {}

/// The open connection of a ``ReconnectingConnection``.
package protocol KeptConnection: AnyObject {
    /// Starts the closing handshake.
    func close()
    /// Stops or resumes reading from the socket.
    func setReading(_ isReading: Bool)
    /// The time from the first to the newest trade of the connection, ns.
    var tradedFor: Int64 { get }
}

extension KeptConnection {
    /// 0 by default: only the upstream's own connection is judged by its trades.
    package var tradedFor: Int64 { 0 }
}
