package import NIOCore
package import NIOHTTP1
package import WebSocket

/// The application of a server, which handles the requests of an ``HTTPServerConnection``.
///
/// Belongs to the connection's loop.
package protocol HTTPService {
    var limits: HTTPServerLimits { get }
    /// The memory for the responses on all connections of the server.
    var answers: AnswerMemory { get }
    /// Returns the request for all further calls, for example without the token that it contained.
    ///
    /// - Throws: the reason to refuse the request before its body is read.
    func admit(_ head: HTTPRequestHead) throws(HTTPRejection) -> HTTPRequestHead
    /// Whether the address reads a body; other bodies are counted and discarded.
    func readsBody(of head: HTTPRequestHead) -> Bool
    /// Whether the request is for an address that opens a WebSocket.
    func isForWebSocket(_ head: HTTPRequestHead) -> Bool
    /// Returns the WebSocket for a request with a valid handshake.
    func openWebSocket(for head: HTTPRequestHead) throws(HTTPRejection) -> WebSocketOpening
    /// Responds to an admitted request.
    ///
    /// - Parameter memory: the reservation for the response, which grows with it.
    func respond(
        to head: HTTPRequestHead,
        body: ByteBuffer,
        memory: AnswerMemory.Reservation,
        on loop: any EventLoop
    ) -> EventLoopFuture<HTTPAnswer>
    /// Returns the response to a failure outside of the service.
    ///
    /// - Parameter head: the request, if it was admitted.
    func rejection(for failure: HTTPServerFailure, of head: HTTPRequestHead?) -> HTTPRejection
    /// Counts a rejected request or an abandoned response by its stable identifier.
    func noteRejection(_ type: String)
}

/// The limits of one connection of a server.
package struct HTTPServerLimits: Sendable {
    /// The time limit from the start of a connection, or from the end of a response, to the last byte of the next
    /// request.
    package var requestTimeout: TimeAmount = .seconds(10)
    /// The longest time in which a peer may read nothing of a response.
    package var stallTimeout: TimeAmount = .seconds(10)
    package var maximumHeaderBytes = 8 << 10
    package var maximumBodyBytes = 64 << 10

    package init() {}
}

/// The settings and handlers of a WebSocket that replaces HTTP on a connection.
package struct WebSocketOpening {
    package var settings: WebSocketSettings
    /// Headers of the 101 besides those of the handshake, such as the chosen subprotocol.
    package var headers: HTTPHeaders
    /// The shared timer of this loop's connections; `nil` for a timer per connection.
    package var wheel: DeadlineWheel?
    /// Adds the application's handlers behind those of the open WebSocket; they may write at once.
    package var addHandlers: (any Channel, DeflateAgreement?) throws -> Void

    package init(
        settings: WebSocketSettings,
        headers: HTTPHeaders = [:],
        wheel: DeadlineWheel? = nil,
        addHandlers: @escaping (any Channel, DeflateAgreement?) throws -> Void
    ) {
        self.settings = settings
        self.headers = headers
        self.wheel = wheel
        self.addHandlers = addHandlers
    }
}
