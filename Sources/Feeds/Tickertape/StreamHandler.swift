import NIOCore
import WebSocket

/// The owner of a ``StreamHandler``. All methods are called on its loop.
protocol StreamHandlerDelegate: AnyObject {
    func textArrived(_ text: ByteBuffer)
    /// Takes the end of the connection.
    ///
    /// - Parameter tradedFor: the time since the first message, ns.
    func ended(_ ending: ConnectionEnding, tradedFor: Int64)
}

/// The last handler of a connection to a relay's `/v1/stream` or to a room: sends the requests and passes every message
/// on.
final class StreamHandler: ChannelInboundHandler, KeptConnection {
    typealias InboundIn = WebSocketMessage
    typealias OutboundOut = WebSocketOutput

    /// The requests to send as soon as the connection is open.
    private let requests: [ByteBuffer]
    private weak var owner: (any StreamHandlerDelegate)?
    private var context: ChannelHandlerContext?
    private var ending: ConnectionEnding?
    private var hasEnded = false
    private var firstMessage: NIODeadline?

    init(_ owner: any StreamHandlerDelegate, requests: [ByteBuffer] = []) {
        self.owner = owner
        self.requests = requests
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        for request in self.requests { context.write(self.wrapOutboundOut(.text(request)), promise: nil) }
        context.flush()
    }

    /// The time since the first message, ns.
    var tradedFor: Int64 {
        guard let context, let firstMessage else { return 0 }
        return (context.eventLoop.now - firstMessage).nanoseconds
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.end()
        self.context = nil
    }

    func close() {
        self.context?.writeAndFlush(self.wrapOutboundOut(.close(.normal, reason: "")), promise: nil)
    }

    /// Sends a further request.
    func send(_ request: ByteBuffer) {
        self.context?.writeAndFlush(self.wrapOutboundOut(.text(request)), promise: nil)
    }

    func setReading(_ isReading: Bool) {
        self.context?.channel.setOption(.autoRead, value: isReading).whenFailure { _ in }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .text(let bytes) = self.unwrapInboundIn(data) else { return }
        self.firstMessage = self.firstMessage ?? context.eventLoop.now
        self.owner?.textArrived(bytes)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .closed(let closure) = event as? WebSocketEvent { self.ending = self.ending ?? .closed(closure) }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.ending = self.ending ?? .failed(error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.end()
        context.fireChannelInactive()
    }

    private func end() {
        guard !self.hasEnded else { return }
        self.hasEnded = true
        self.owner?.ended(self.ending ?? .inactive, tradedFor: self.tradedFor)
    }
}
