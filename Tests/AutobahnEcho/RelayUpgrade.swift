import NIOCore
import NIOHTTP1
import WebSocket

/// Opens a WebSocket behind an HTTP server's handlers and puts its own in their place, in the relay's order, with one wheel
/// for the deadlines of a loop.
final class RelayUpgrade: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let isEncrypted: Bool
    private let deadlines: DeadlineWheel
    private var accepted: WebSocketServerHandshake.Accepted?

    init(isEncrypted: Bool, deadlines: DeadlineWheel) {
        self.isEncrypted = isEncrypted
        self.deadlines = deadlines
    }

    /// Adds an HTTP server's handlers and this one.
    static func configure(_ channel: any Channel, isEncrypted: Bool, deadlines: DeadlineWheel) throws {
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandlers(
            HTTPResponseEncoder(),
            ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .forwardBytes)),
            RelayUpgrade(isEncrypted: isEncrypted, deadlines: deadlines)
        )
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch Self.unwrapInboundIn(data) {
        case .head(let head):
            guard case .success(let accepted) = WebSocketServerHandshake.check(head) else {
                return context.close(promise: nil)
            }
            self.accepted = accepted
        case .body:
            break
        case .end:
            guard let accepted = self.accepted else { return }
            do {
                try self.upgrade(accepted, context: context)
            } catch {
                context.close(promise: nil)
            }
        }
    }

    private func upgrade(_ accepted: WebSocketServerHandshake.Accepted, context: ChannelHandlerContext) throws {
        var settings = suiteSettings(.server)
        settings.compression = .shared
        var headers = accepted.responseHeaders
        let agreement = settings.compression.flatMap { accepted.agreeOnCompression($0, adding: &headers) }
        let response = HTTPResponseHead(version: .http1_1, status: .switchingProtocols, headers: headers)
        context.write(Self.wrapOutboundOut(.head(response)), promise: nil)
        context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: nil)

        let channel = context.channel
        let pipeline = context.pipeline.syncOperations
        let encoder = try pipeline.handler(type: HTTPResponseEncoder.self)
        let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
        try pipeline.addWebSocketHandlers(settings, agreement: agreement, wheel: self.deadlines)
        _ = pipeline.removeHandler(encoder)
        _ = pipeline.removeHandler(context: context)
        try pipeline.addHandler(FramedEchoHandler(isEncrypted: self.isEncrypted, agreement: agreement))
        pipeline.removeHandler(decoder).assumeIsolated().whenComplete { _ in
            if channel.isActive { channel.pipeline.fireChannelReadComplete() }
        }
    }
}
