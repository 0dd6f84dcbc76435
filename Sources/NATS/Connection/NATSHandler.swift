import NIOCore
import NIOTLS
import TLS

/// The events of one connection, for the ``NATSClient`` that owns it.
protocol NATSHandlerOwner: AnyObject {
    func received(_ operation: ServerOperation, by handler: NATSHandler)
    func readCompleted(by handler: NATSHandler)
    func violated(_ violation: NATSViolation, by handler: NATSHandler)
    func secured(_ handler: NATSHandler)
    func ended(_ ending: NATSEnding, by handler: NATSHandler)
}

/// The last handler of a connection to a NATS server: bytes below it, operations above it.
final class NATSHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private weak var owner: (any NATSHandlerOwner)?
    private var parser: ServerOperationParser
    private(set) var channel: (any Channel)?

    init(limits: ServerOperationParser.Limits, owner: any NATSHandlerOwner) {
        self.parser = ServerOperationParser(limits: limits)
        self.owner = owner
    }

    /// Stops all events, before the owner closes the channel.
    func detach() { self.owner = nil }

    func handlerAdded(context: ChannelHandlerContext) { self.channel = context.channel }

    func handlerRemoved(context: ChannelHandlerContext) { self.channel = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.parser.take(self.unwrapInboundIn(data))
        do throws(NATSViolation) {
            while let owner = self.owner, let operation = try self.parser.next() {
                owner.received(operation, by: self)
            }
        } catch {
            self.owner?.violated(error, by: self)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) { self.owner?.readCompleted(by: self) }

    /// Puts TLS below this handler; ``NATSHandlerOwner/secured(_:)`` follows.
    func startTLS(_ context: TLSContext, peer: TLSPeerName) {
        // Bytes behind INFO were sent before TLS. An attacker on the path could have added them.
        guard self.parser.isBetweenOperations else {
            self.owner?.violated(.plainTextBeforeTLS, by: self)
            return
        }
        do {
            try self.channel?.pipeline.syncOperations.addHandler(
                TLSHandler(context: context, peer: peer),
                position: .first
            )
        } catch {
            self.owner?.ended(.insecure("\(error)"), by: self)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted = event as? TLSUserEvent { self.owner?.secured(self) }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case let error as TLSError: self.owner?.ended(.insecure(error.description), by: self)
        default: self.owner?.ended(.lost, by: self)
        }
    }

    func channelInactive(context: ChannelHandlerContext) { self.owner?.ended(.lost, by: self) }
}
