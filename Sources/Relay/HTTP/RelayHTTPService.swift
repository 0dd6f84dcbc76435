import HTTP
import NIOCore
import NIOHTTP1
import WebSocket
import Wire

/// The HTTP service of one connection: the checks of its requests, the answers, and the WebSockets.
struct RelayHTTPService: HTTPService {
    let limits: HTTPServerLimits
    let answers: AnswerMemory
    /// Returns the check of hosts and origins in force.
    let gate: () -> RequestGate
    let router: RelayRouter
    let protocols: RelayProtocols
    /// Whether the connection speaks TLS.
    var isEncrypted = false
    /// Returns why a request is refused for lack of the right token, or `nil`.
    var tokenRefusal: (HTTPRequestHead) -> HTTPRefusal? = { _ in nil }
    /// Counts a refusal by its type.
    var refused: (String) -> Void = { _ in }
    /// Returns why a WebSocket client is not admitted, or `nil`.
    let admitClient: () -> HTTPRefusal?
    /// Makes the session of a new WebSocket client.
    let makeSession: (any RelayProtocol.Type, HTTPRequestHead) throws(HTTPRefusal) -> any RelayProtocol
    /// Returns the check whether a client that was admitted by this request may stay (``ClientOutput/objection``).
    var makeObjection: (HTTPRequestHead) -> (() -> String?)? = { _ in nil }
    /// Notes that the connection has become a WebSocket.
    var upgraded: (any Channel) -> Void = { _ in }

    func admit(_ head: HTTPRequestHead) throws(HTTPRejection) -> HTTPRequestHead {
        // A page of a disallowed origin cannot read the reason.
        if let refusal = self.gate().refusal(of: head) { throw self.rejection(refusal, origin: nil) }
        var head = head
        head.uri = RequestTarget(of: head).path
        // The page itself holds no data, and it asks the user for the token.
        if !head.asksForPage, let refusal = self.tokenRefusal(head) { throw self.rejection(refusal, of: head) }
        return TokenPlaces.withoutToken(head)
    }

    func readsBody(of head: HTTPRequestHead) -> Bool {
        head.method == .POST && RelayRoute(head.path)?.methods.contains(.POST) == true
    }

    func isForWebSocket(_ head: HTTPRequestHead) -> Bool {
        self.protocols.at(head.path) != nil && !head.asksForPage
    }

    func openWebSocket(for head: HTTPRequestHead) throws(HTTPRejection) -> WebSocketOpening {
        if let refusal = self.admitClient() { throw self.rejection(refusal, of: head) }
        guard let spoken = self.protocols.at(head.path) else {
            throw self.rejection(.notFound(webSockets: self.protocols.paths), of: head)
        }
        let session: any RelayProtocol
        do throws(HTTPRefusal) {
            session = try self.makeSession(spoken, head)
        } catch {
            throw self.rejection(error, of: head)
        }
        let client = session.output
        client.objection = self.makeObjection(head)
        var headers: HTTPHeaders = ["Server": StreamHello.serverName]
        if let subprotocol = client.subprotocol { headers.add(name: "Sec-WebSocket-Protocol", value: subprotocol) }
        let upgraded = self.upgraded
        return WebSocketOpening(
            settings: client.webSocketSettings,
            headers: headers,
            wheel: client.relay.deadlines
        ) { channel, agreement in
            upgraded(channel)
            client.agreement = agreement
            try session.join(channel.pipeline.syncOperations)
        }
    }

    func respond(
        to head: HTTPRequestHead,
        body: ByteBuffer,
        memory: AnswerMemory.Reservation,
        on loop: any EventLoop
    ) -> EventLoopFuture<HTTPAnswer> {
        let router = self.router
        return loop.makeFutureWithTask { await router.respond(to: head, body: body, reservation: memory) }
    }

    func rejection(for failure: HTTPServerFailure, of head: HTTPRequestHead?) -> HTTPRejection {
        self.rejection(HTTPRefusal(failure, isEncrypted: self.isEncrypted), of: head)
    }

    func noteRejection(_ type: String) { self.refused(type) }

    private func rejection(_ refusal: HTTPRefusal, of head: HTTPRequestHead?) -> HTTPRejection {
        self.rejection(refusal, origin: head?.headers.first(name: "Origin"))
    }

    private func rejection(_ refusal: HTTPRefusal, origin: String?) -> HTTPRejection {
        HTTPRejection(type: refusal.type, answer: refusal.answer(to: origin))
    }
}
