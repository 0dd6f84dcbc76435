package import NIOCore
import NIOWebSocket

extension ChannelPipeline.SynchronousOperations {
    /// Adds the frame codec and `WebSocketHandler` at the end of a pipeline whose channel speaks WebSocket from now on.
    ///
    /// Bytes come in and go out below; `WebSocketMessage` goes up, `WebSocketOutput` comes down, and `WebSocketEvent` tells
    /// the end.
    ///
    /// - Parameters:
    ///   - agreement: how messages are compressed, where the handshake has agreed on it.
    ///   - wheel: what keeps the time for the connections of this loop; nil for a timer of its own.
    package func addWebSocketHandlers(
        _ settings: WebSocketSettings,
        agreement: DeflateAgreement? = nil,
        wheel: DeadlineWheel? = nil
    ) throws {
        try self.addHandlers(webSocketHandlers(settings, agreement, wheel))
    }

    /// Adds the same handlers right behind another one, in the order in which bytes meet them.
    func addWebSocketHandlers(
        _ settings: WebSocketSettings,
        agreement: DeflateAgreement?,
        after handler: any ChannelHandler
    ) throws {
        try self.addHandlers(webSocketHandlers(settings, agreement, nil), position: .after(handler))
    }
}

private func webSocketHandlers(
    _ settings: WebSocketSettings,
    _ agreement: DeflateAgreement?,
    _ wheel: DeadlineWheel?
) -> [any ChannelHandler] {
    let peer: WebSocketRole = settings.role == .client ? .server : .client
    let door = FramedOutputDoor()
    let limit = settings.maximumMessageBytes
    let decoder = JudgingFrameDecoder(
        peer: peer,
        maximumPayloadBytes: agreement == nil ? limit : MessageInflater.maximumCompressedBytes(of: limit),
        allowsCompression: agreement != nil
    )
    let webSocket = WebSocketHandler(settings, agreement: agreement, door: door, wheel: wheel)
    let handlers: [any ChannelHandler] = [door, WebSocketFrameEncoder(), ByteToMessageHandler(decoder), webSocket]
    // A client's frames are masked, and of a server's many clients none sends much.
    guard peer == .server else { return handlers }
    return [WholeTextReader(decoder: decoder, webSocket: webSocket, maximumPayloadBytes: limit)] + handlers
}
