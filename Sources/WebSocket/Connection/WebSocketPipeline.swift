package import NIOCore
import NIOWebSocket

extension ChannelPipeline.SynchronousOperations {
    /// Adds the frame codec and `WebSocketHandler` at the end of a pipeline whose channel speaks WebSocket from now on.
    ///
    /// Bytes come in and go out below; `WebSocketMessage` goes up, `WebSocketOutput` comes down, and `WebSocketEvent` tells
    /// the end.
    package func addWebSocketHandlers(_ settings: WebSocketSettings) throws {
        try self.addHandlers(webSocketHandlers(settings))
    }

    /// Adds the same handlers right behind another one, in the order in which bytes meet them.
    func addWebSocketHandlers(_ settings: WebSocketSettings, after handler: any ChannelHandler) throws {
        try self.addHandlers(webSocketHandlers(settings), position: .after(handler))
    }
}

private func webSocketHandlers(_ settings: WebSocketSettings) -> [any ChannelHandler] {
    let peer: WebSocketRole = settings.role == .client ? .server : .client
    let door = FramedOutputDoor()
    return [
        door,
        WebSocketFrameEncoder(),
        ByteToMessageHandler(JudgingFrameDecoder(peer: peer, maximumPayloadBytes: settings.maximumMessageBytes)),
        WebSocketHandler(settings, door: door),
    ]
}
