import NIOCore

/// Whether this program may use an upstream now. All is used on the feed's loop.
///
/// It is asked before each connection, and before any byte of one is looked at: a program that was stopped goes on with
/// what has come meanwhile.
package protocol UpstreamPermission: AnyObject {
    /// Whether the upstream may be read. If not, what must end has ended when this returns.
    var isAllowed: Bool { get }
    /// A connection has opened; it is closed by ``GuardedConnection/cut()``.
    func opened(_ connection: any GuardedConnection)
    func closed(_ connection: any GuardedConnection)
}

/// A connection that a permission may end.
package protocol GuardedConnection: AnyObject {
    /// Closes it at once, without a word to the peer.
    func cut()
}

/// The way to a service that only a program with a permission goes.
struct GuardedConnector: Connecting {
    let connector: any Connecting
    let permission: NIOLoopBound<any UpstreamPermission>

    /// Returns the way to a service, which is the same one without a permission.
    static func way(_ connector: any Connecting, _ permission: NIOLoopBound<any UpstreamPermission>?) -> any Connecting
    {
        permission.map { GuardedConnector(connector: connector, permission: $0) } ?? connector
    }

    func connect(
        on loop: any EventLoop,
        reached: @escaping (any Channel) throws -> Void,
        connected: @escaping (any Channel, _ isRelay: Bool) throws -> Void
    ) -> EventLoopFuture<Void> {
        let permission = self.permission.value
        guard permission.isAllowed else { return loop.makeFailedFuture(Self.forbidden) }
        return self.connector.connect(on: loop) { channel in
            guard permission.isAllowed else { throw Self.forbidden }
            try channel.pipeline.syncOperations.addHandler(GuardHandler(permission), position: .first)
            try reached(channel)
        } connected: { channel, isRelay in
            guard permission.isAllowed else { throw Self.forbidden }
            try connected(channel, isRelay)
        }
    }

    private static let forbidden = UpstreamFailure("this program does not hold the lease of the cluster")
}

/// Reads nothing that has come while the upstream must not be read, and closes it. It is nearer to the network than
/// TLS, which would wait for the peer.
final class GuardHandler: ChannelInboundHandler, GuardedConnection {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let permission: any UpstreamPermission
    private var context: ChannelHandlerContext?

    init(_ permission: any UpstreamPermission) { self.permission = permission }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        self.permission.opened(self)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        self.permission.closed(self)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if self.permission.isAllowed { context.fireChannelRead(data) } else { self.cut() }
    }

    func cut() { self.context?.close(mode: .all, promise: nil) }
}
