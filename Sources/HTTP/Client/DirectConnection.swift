package import NIOCore
import NIOPosix
package import TLS

/// A direct connection for an exchange, without a proxy: TCP or a Unix socket, and TLS if configured.
package struct DirectConnection: Sendable {
    package enum Place: Sendable {
        /// A name to resolve, or an address as text.
        case host(String, port: Int)
        case address(SocketAddress)
    }

    private let place: Place
    private let tls: (context: TLSContext, peer: TLSPeerName?)?
    /// The time limit of connecting.
    private let timeout: TimeAmount

    package init(_ place: Place, tls: (context: TLSContext, peer: TLSPeerName?)? = nil, timeout: TimeAmount) {
        self.place = place
        self.tls = tls
        self.timeout = timeout
    }

    /// Opens a connection; see ``OutgoingExchange/Opening``.
    package func open(
        on loop: any EventLoop,
        reached: @escaping (any Channel) throws -> Void,
        ready: @escaping @Sendable (any Channel) -> EventLoopFuture<OutgoingExchange.Outcome>
    ) -> EventLoopFuture<OutgoingExchange.Outcome> {
        let bootstrap = ClientBootstrap(group: loop).connectTimeout(self.timeout)
        let connecting =
            switch self.place {
            case .host(let host, let port): bootstrap.connect(host: host, port: port)
            case .address(let address): bootstrap.connect(to: address)
            }
        let reached = NIOLoopBound(reached, eventLoop: loop)
        let tls = self.tls
        return connecting.flatMap { channel in
            loop.makeCompletedFuture { try reached.value(channel) }.flatMap {
                guard let tls else { return loop.makeSucceededVoidFuture() }
                return channel.startTLS(TLSHandler(context: tls.context, peer: tls.peer))
            }.flatMap {
                ready(channel)
            }.flatMapErrorThrowing { error in
                channel.close(promise: nil)
                throw error
            }
        }
    }
}
