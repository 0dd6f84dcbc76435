package import NIOCore

/// A way to an open WebSocket, one connection a call.
package protocol Connecting: Sendable {
    /// Opens one connection.
    ///
    /// - Parameters:
    ///   - reached: is called on the loop when there is a channel; what it throws ends the attempt before anything is
    ///     sent.
    ///   - connected: is called on the loop when the WebSocket is open, before any frame is delivered; with whether who
    ///     opened it says that it is the relay of a program like this one.
    func connect(
        on loop: any EventLoop,
        reached: @escaping (any Channel) throws -> Void,
        connected: @escaping (any Channel, _ isRelay: Bool) throws -> Void
    ) -> EventLoopFuture<Void>
}

extension UpstreamConnector: Connecting {}

/// The open connection that a ``ReconnectingConnection`` keeps.
package protocol KeptConnection: AnyObject {
    /// Starts the closing handshake.
    func close()
    /// Stops or resumes reading from the socket.
    func setReading(_ isReading: Bool)
    /// For how long it has carried trades, in nanoseconds from the first to the newest.
    var tradedFor: Int64 { get }
}

extension KeptConnection {
    /// Nothing but the upstream's own connection is judged by it.
    package var tradedFor: Int64 { 0 }
}
