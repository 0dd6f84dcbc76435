import NIOCore
import Relay
import WebSocket

/// Sends back every message in its own type, by the relay's way out: whole frames, compressed as they are for many
/// clients, and past the channel where nothing encrypts.
final class FramedEchoHandler: ChannelInboundHandler {
    typealias InboundIn = WebSocketMessage

    private struct NotASocket: Error {}

    private let isEncrypted: Bool
    private let compressor: FrameCompressor?
    private var webSocket: WebSocketHandler?

    init(isEncrypted: Bool, agreement: DeflateAgreement?) {
        self.isEncrypted = isEncrypted
        self.compressor = agreement.map { FrameCompressor(windowBits: $0.fromServer.windowBits) }
    }

    func handlerAdded(context: ChannelHandlerContext) {
        do {
            let webSocket = try context.pipeline.syncOperations.handler(type: WebSocketHandler.self)
            if let transport = SocketTransport(context.pipeline) {
                webSocket.sendDirectly(through: transport)
            } else if !self.isEncrypted {
                // Every case would pass without it, too, and say nothing of the direct way.
                throw NotASocket()
            }
            self.webSocket = webSocket
        } catch {
            context.close(promise: nil)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) { self.webSocket = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var frame = ByteBuffer()
        switch Self.unwrapInboundIn(data) {
        case .text(let text): WebSocketFraming.serverText(text, into: &frame)
        case .binary(let bytes):
            WebSocketFraming.serverText(bytes, into: &frame)
            // A binary frame differs in its opcode only (RFC 6455, 5.2).
            frame.setInteger(UInt8(0x82), at: frame.readerIndex)
        }
        self.webSocket?.writeFramed(self.compressor?.compress(frame) ?? frame)
    }

    func channelReadComplete(context: ChannelHandlerContext) { _ = self.webSocket?.flushFramed() }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
