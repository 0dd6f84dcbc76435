import NIOCore
import WebSocket

/// Sends back every message in its own type.
final class EchoHandler: ChannelInboundHandler {
    typealias InboundIn = WebSocketMessage
    typealias OutboundOut = WebSocketOutput

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch Self.unwrapInboundIn(data) {
        case .text(let text): context.write(Self.wrapOutboundOut(.text(text)), promise: nil)
        case .binary(let bytes): context.write(Self.wrapOutboundOut(.binary(bytes)), promise: nil)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.flush()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}

/// The limits that the suite's largest cases need.
func suiteSettings(_ role: WebSocketRole) -> WebSocketSettings {
    var settings = WebSocketSettings(role: role)
    settings.maximumMessageBytes = 16 << 20
    // Case 9.3.1 sends 4 MiB in pieces of 64 bytes, and an empty last one.
    settings.maximumFragments = 65_537
    settings.pingInterval = nil
    settings.compression = DeflatePolicy()
    return settings
}
