package import NIOCore
package import NIOHTTP1

extension Channel {
    /// Requests a WebSocket from the peer, and adds the WebSocket handlers at the present end of the pipeline when the
    /// peer agrees.
    ///
    /// `upgraded` is called on the loop after the handlers are added and before any byte behind the 101 is delivered,
    /// so the application can add its own handlers. May be called before the channel is active; see
    /// `WebSocketClientRequest.startsOn` for TLS.
    ///
    /// - Parameter nonce: sixteen bytes that no earlier request has used (RFC 6455, 4.1), random by default.
    /// - Returns: a future that fails with `WebSocketUpgradeError`, with the transport's error, or with the error that
    ///   `upgraded` threw. The channel is closed then.
    package func upgradeToWebSocket(
        _ request: WebSocketClientRequest,
        settings: WebSocketSettings,
        nonce: (UInt64, UInt64) = (.random(in: 0...UInt64.max), .random(in: 0...UInt64.max)),
        upgraded: @escaping @Sendable (any Channel, HTTPResponseHead) throws -> Void
    ) -> EventLoopFuture<Void> {
        guard self.eventLoop.inEventLoop else {
            return self.eventLoop.flatSubmit {
                self.upgradeToWebSocket(request, settings: settings, nonce: nonce, upgraded: upgraded)
            }
        }
        let handshake = ClientHandshake(request, compression: settings.compression, nonce: nonce)
        return self.open { () throws(WebSocketUpgradeError) in
            OpeningHandler.Request(
                bytes: try handshake.encoded(allocator: self.allocator),
                timeout: request.timeout,
                maximumHeaderBytes: request.maximumHeaderBytes,
                maximumBodyBytes: request.maximumBodyBytes,
                startsOn: request.startsOn
            )
        } judge: { head, _ in
            if head.status.code < 200, head.status.code != 101 { return .informational }
            switch handshake.check(head) {
            case .invalid(let why): return .invalid(why)
            case .refused: return .refused
            case .accepted(let agreement):
                return .accepted { handler in
                    let pipeline = self.pipeline.syncOperations
                    try pipeline.addWebSocketHandlers(settings, agreement: agreement, after: handler)
                    try upgraded(self, head)
                }
            }
        }
    }
}
