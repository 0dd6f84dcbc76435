package import NIOCore
package import TLS

/// The way to a server: name, TCP and trust. The module itself opens no socket and reads no file.
package protocol NATSTransport: Sendable {
    /// Connects by TCP. The future fails with an error whose description is one line for people.
    func connect(to address: ServerAddress, on loop: any EventLoop) -> EventLoopFuture<any Channel>
    /// Returns the context of the next TLS connection, whose files may have to be read.
    func tlsContext(on loop: any EventLoop) -> EventLoopFuture<TLSContext>
}

/// The owner of a ``NATSClient``; it is called on the client's loop.
package protocol NATSClientDelegate: AnyObject {
    func natsClientReported(_ report: NATSMachine.Report)
}
