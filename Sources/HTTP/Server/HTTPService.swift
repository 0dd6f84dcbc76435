package import NIOCore
package import NIOHTTP1
package import WebSocket

/// What a server does with the requests of a connection: the part of it that ``HTTPServerConnection`` asks.
///
/// Belongs to the connection's loop.
package protocol HTTPService {
    var limits: HTTPServerLimits { get }
    /// The memory for the answers of all connections of the server.
    var answers: AnswerMemory { get }
    /// Returns the request as all further calls get it, such as without a token that it has shown.
    ///
    /// - Throws: why the request is refused before its body is read.
    func admit(_ head: HTTPRequestHead) throws(HTTPRejection) -> HTTPRequestHead
    /// Whether the address reads a body; others are counted and thrown away.
    func readsBody(of head: HTTPRequestHead) -> Bool
    /// Whether the request is for an address that opens a WebSocket.
    func isForWebSocket(_ head: HTTPRequestHead) -> Bool
    /// Returns the WebSocket of a request whose handshake is correct.
    func openWebSocket(for head: HTTPRequestHead) throws(HTTPRejection) -> WebSocketOpening
    /// Answers an admitted request.
    ///
    /// - Parameter memory: the memory that the answer may take; it grows with the answer.
    func respond(
        to head: HTTPRequestHead,
        body: ByteBuffer,
        memory: AnswerMemory.Room,
        on loop: any EventLoop
    ) -> EventLoopFuture<HTTPAnswer>
    /// Returns the answer to a failure outside of the service.
    ///
    /// - Parameter head: the request, where it has been admitted.
    func rejection(for failure: HTTPServerFailure, of head: HTTPRequestHead?) -> HTTPRejection
    /// Counts a request or an answer that came to nothing, by its stable word.
    func noteRejection(_ type: String)
}

/// The limits of one connection of a server.
package struct HTTPServerLimits: Sendable {
    /// How long a request may take, and a connection may rest between two.
    package var requestTimeout: TimeAmount = .seconds(10)
    /// How long a peer may take nothing of an answer.
    package var stallTimeout: TimeAmount = .seconds(10)
    package var maximumHeaderBytes = 8 << 10
    package var maximumBodyBytes = 64 << 10

    package init() {}
}

/// A WebSocket that takes the place of HTTP on a connection.
package struct WebSocketOpening {
    package var settings: WebSocketSettings
    /// Headers of the 101 beside those of the handshake, such as the chosen subprotocol.
    package var headers: HTTPHeaders
    /// Keeps the time for the connections of this loop; `nil` for a timer per connection.
    package var wheel: DeadlineWheel?
    /// Adds the application's handlers behind those of the WebSocket, which is open then; they may write at once.
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
