package import NIOCore
package import NIOHTTP1

/// What a server does with a request that is a correct opening handshake.
package enum WebSocketServerDecision: Sendable {
    /// Opens the WebSocket; the headers, such as a chosen subprotocol, are added to the 101.
    case accept(HTTPHeaders)
    case refuse(HTTPResponseStatus, headers: HTTPHeaders, body: String)
}

/// What a server asks of connections that have not opened their WebSocket yet.
package struct WebSocketServerLimits: Sendable, Equatable {
    /// Time for the whole request to come; then 408.
    package var handshakeTimeout: TimeAmount = .seconds(10)
    /// Largest head of a request, in bytes; beyond it 431.
    package var maximumHeaderBytes = 8 << 10

    package init() {}

    package init(handshakeTimeout: TimeAmount) {
        self.handshakeTimeout = handshakeTimeout
    }
}

extension Channel {
    /// Makes the channel a WebSocket server: reads one request, asks `decide` about it when it is a correct handshake, and
    /// answers. Wrong requests are answered with 400, 405, 408, 426 or 431 and one line of text.
    ///
    /// `upgraded` is called on the loop after the 101 was written and the WebSocket handlers were added, before any byte of
    /// the client's frames is delivered.
    ///
    /// - Parameter otherwise: takes over connections whose first request does not ask for WebSocket, by adding its own
    ///   handlers at the end of the pipeline; all bytes read so far are then given to them. Without it such requests get 426.
    /// - Returns: a future that succeeds when the channel is configured, which is before the upgrade.
    package func configureWebSocketServer(
        settings: WebSocketSettings = WebSocketSettings(role: .server),
        limits: WebSocketServerLimits = WebSocketServerLimits(),
        decide: @escaping @Sendable (HTTPRequestHead) -> WebSocketServerDecision,
        upgraded: @escaping @Sendable (any Channel, HTTPRequestHead) throws -> Void,
        otherwise: (@Sendable (any Channel) throws -> Void)? = nil
    ) -> EventLoopFuture<Void> {
        let configure: @Sendable () throws -> Void = {
            try self.pipeline.syncOperations.addHandler(
                ServerHandshakeHandler(
                    settings: settings,
                    limits: limits,
                    decide: decide,
                    upgraded: upgraded,
                    otherwise: otherwise
                )
            )
        }
        return self.eventLoop.inEventLoop
            ? self.eventLoop.makeCompletedFuture(withResultOf: configure)
            : self.eventLoop.submit(configure)
    }

    /// The same with the handshake's time limit alone.
    package func configureWebSocketServer(
        settings: WebSocketSettings,
        handshakeTimeout: TimeAmount,
        decide: @escaping @Sendable (HTTPRequestHead) -> WebSocketServerDecision,
        upgraded: @escaping @Sendable (any Channel, HTTPRequestHead) throws -> Void
    ) -> EventLoopFuture<Void> {
        self.configureWebSocketServer(
            settings: settings,
            limits: WebSocketServerLimits(handshakeTimeout: handshakeTimeout),
            decide: decide,
            upgraded: upgraded
        )
    }
}
