package import NIOCore
import NIOWebSocket

extension ChannelPipeline.SynchronousOperations {
    /// Adds the frame codec and `WebSocketHandler` at the end of a pipeline whose channel speaks WebSocket from now on.
    ///
    /// The bottom of the pipeline reads and writes bytes. At the top, `WebSocketMessage` is inbound, `WebSocketOutput`
    /// is outbound, and a `WebSocketEvent` reports the end.
    ///
    /// - Parameters:
    ///   - agreement: the parameters of compression that the handshake has agreed on.
    ///   - wheel: the shared timer of this loop's connections; `nil` for a task of the loop.
    package func addWebSocketHandlers(
        _ settings: WebSocketSettings,
        agreement: DeflateAgreement? = nil,
        wheel: DeadlineWheel? = nil
    ) throws {
        try self.addHandlers(webSocketHandlers(settings, agreement, wheel))
    }

    /// Adds the same handlers right behind another one, in the order of inbound bytes.
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
    let framedOutput = FramedOutput()
    let limit = settings.maximumMessageBytes
    let decoder = ValidatingFrameDecoder(
        peer: peer,
        maximumPayloadBytes: agreement == nil ? limit : MessageInflater.maximumCompressedBytes(of: limit),
        allowsCompression: agreement != nil
    )
    let webSocket = WebSocketHandler(settings, agreement: agreement, framedOutput: framedOutput, wheel: wheel)
    let handlers: [any ChannelHandler] = [
        framedOutput, WebSocketFrameEncoder(), ByteToMessageHandler(decoder), webSocket,
    ]
    // The fast path is for unmasked frames, so for a client's input only. A server's clients send little.
    guard peer == .server else { return handlers }
    return [WholeTextReader(decoder: decoder, webSocket: webSocket, maximumPayloadBytes: limit)] + handlers
}
