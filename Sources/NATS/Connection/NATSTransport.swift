package import NIOCore
package import TLS

/// The way to a server: name, TCP and trust. The module itself opens no socket and reads no file.
package protocol NATSTransport: Sendable {
    /// Returns the identity for the next attempt, whose files may have to be read anew; `nil` for servers that need
    /// none. The future fails with an error whose description is one line for people, without any secret.
    func identity(on loop: any EventLoop) -> EventLoopFuture<NATSIdentity?>
    /// Connects by TCP, and gives up after the limit, when the client needs the connection no longer. The future fails
    /// with an error whose description is one line for people.
    func connect(
        to address: ServerAddress,
        within limit: TimeAmount,
        on loop: any EventLoop
    ) -> EventLoopFuture<any Channel>
    /// Returns the context of the next TLS connection, whose files may have to be read.
    func tlsContext(on loop: any EventLoop) -> EventLoopFuture<TLSContext>
}

/// The owner of a ``NATSClient``; it is called on the client's loop.
package protocol NATSClientDelegate: AnyObject {
    func natsClientReported(_ report: NATSMachine.Report)
}
