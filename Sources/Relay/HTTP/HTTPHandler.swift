import Logging
import NIOCore
import NIOHTTP1
import TLS
import WebSocket

/// One HTTP connection: its requests one at a time, answered by the router or turned into a WebSocket.
///
/// It stands behind `HTTPRequestDecoder` and `HTTPResponseEncoder`. After an upgrade all three leave the pipeline, so a
/// WebSocket client costs neither a task nor an async channel.
final class HTTPHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// What a connection needs to know of the relay.
    struct Host {
        var settings: RelaySettings
        var gate: RequestGate
        var router: RelayRouter
        /// The memory for the answers of all connections.
        var answers: AnswerMemory
        /// Says why a request is refused for want of the right token, where one is needed.
        var tokenRefusal: (HTTPRequestHead) -> HTTPRefusal? = { _ in nil }
        /// Is told the type of every refusal.
        var refused: (String) -> Void = { _ in }
        /// Is told that a connection has become a WebSocket.
        var upgraded: (any Channel) -> Void = { _ in }
        /// Takes a place for a WebSocket client, or says why there is none.
        var admit: () -> HTTPRefusal?
        /// Makes the handler of a new WebSocket client, or says why the request does not get one.
        var makeClient: (RelayEndpoint, HTTPRequestHead) throws(HTTPRefusal) -> RelayClient
    }

    enum State {
        /// Waits for a request's head.
        case idle
        /// Waits for the rest of a request.
        case receiving(HTTPRequestHead, body: HTTPRequestBody)
        /// Waits for the router's answer.
        case answering
        /// Waits for the answer to leave.
        case sending
        /// Waits for the peer to close, after our last answer, and drops what it sends.
        case lingering
    }

    let host: Host
    /// The memory of the answer under way.
    var room: AnswerMemory.Room?
    var state: State = .idle
    /// The one timer: of a request, of an answer's way out, or of the peer's close.
    var timer: Scheduled<Void>?
    /// Parts of the next requests, which came in the same read as the one that is being answered, or with the end.
    var waiting: CircularBuffer<HTTPServerRequestPart> = []
    /// How far the peer is with the answers of which it has left something unread.
    var progress: AnswerProgress?
    /// Whether nothing is taken behind what waits.
    var isInputOver = false
    var isReadHeld = false
    var mayKeepAlive = true
    var answered = 0
    /// Whether the request asks for an answer without its body.
    var isHead = false
    /// The request's origin, which has passed the gate: its page may read refusals too.
    var origin: String?

    /// Why this connection gets nothing at all, as there are too many.
    private let refusal: HTTPRefusal?

    init(_ host: Host, refusesAllWith refusal: HTTPRefusal? = nil) {
        self.host = host
        self.refusal = refusal
    }

    func handlerAdded(context: ChannelHandlerContext) { self.startTimer(context: context) }

    func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        if let refusal = self.refusal { self.refuse(refusal, context: context) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.stopTimer()
        self.room = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.stopTimer()
        context.fireChannelInactive()
    }

    /// Whether a request waits for its answer, or the answer for the peer to take it.
    var isAnswering: Bool {
        switch self.state {
        case .answering, .sending: true
        case .idle, .receiving, .lingering: false
        }
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = Self.unwrapInboundIn(data)
        if self.isAnswering {
            self.keep(part)
        } else {
            self.take(part, context: context)
        }
    }

    func read(context: ChannelHandlerContext) {
        if self.isAnswering {
            self.isReadHeld = true
        } else {
            context.read()
        }
    }

    func take(_ part: HTTPServerRequestPart, context: ChannelHandlerContext) {
        switch (part, self.state) {
        case (.head(let head), .idle):
            self.receive(head, context: context)
        case (.body(let bytes), .receiving(let head, let body)):
            self.receive(bytes, of: head, body, context: context)
        case (.end, .receiving(let head, let body)):
            self.stopTimer()
            self.answer(head, body, context: context)
        case (_, .lingering):
            break  // late: the last answer is given
        case (.head, _), (.body, _), (.end, _):
            preconditionFailure("the decoder sent \(part) in state \(self.state)")
        }
    }

    /// Answers a request that has passed all checks.
    func answer(_ head: HTTPRequestHead, _ body: HTTPRequestBody, context: ChannelHandlerContext) {
        if let endpoint = RelayEndpoint(path: head.path), !head.asksForPage {
            return self.upgrade(head, to: endpoint, context: context)
        }
        // The decoder parses no further behind a request that asks for another protocol.
        if head.headers.contains(name: "Upgrade") { self.mayKeepAlive = false }
        let router = self.host.router
        guard let room = self.host.answers.take() else {
            return self.refuse(.answersTooLarge, context: context)
        }
        self.state = .answering
        let kept = body.kept
        context.eventLoop.makeFutureWithTask {
            let answer = await router.respond(to: head, body: kept, room: room)
            try room.hold(answer.body.storageCapacity)
            return answer
        }.assumeIsolated().whenComplete { result in
            guard case .answering = self.state, context.channel.isActive else { return }  // late: it has been closed
            switch result {
            case .success(let answer):
                self.room = room
                let head = HTTPResponseHead(version: .http1_1, status: answer.status, headers: answer.headers)
                self.send(head, answer.body, context: context)
            case .failure(let refusal as HTTPRefusal):
                self.refuse(refusal, context: context)
            case .failure(let error):
                router.tell(error)
                self.refuse(.failed, context: context)
            }
        }
    }

    // MARK: The upgrade

    private func upgrade(_ head: HTTPRequestHead, to endpoint: RelayEndpoint, context: ChannelHandlerContext) {
        let accepted: WebSocketServerHandshake.Accepted
        switch WebSocketServerHandshake.check(head) {
        case .success(let success):
            accepted = success
        case .failure(let refusal):
            let isEncrypted = (try? context.pipeline.syncOperations.handler(type: TLSHandler.self)) != nil
            let answer = HTTPRefusal(
                status: refusal.status,
                type: "websocket-refused",
                message: refusal.reason,
                cure: "open a WebSocket of version 13 here, by \(isEncrypted ? "wss" : "ws")://",
                headers: refusal.headers
            )
            return self.refuse(answer, context: context)
        }
        if let refusal = self.host.admit() { return self.refuse(refusal, context: context) }

        let client: RelayClient
        do throws(HTTPRefusal) {
            client = try self.host.makeClient(endpoint, head)
        } catch {
            return self.refuse(error, context: context)
        }
        var headers = accepted.responseHeaders
        if let subprotocol = client.subprotocol { headers.add(name: "Sec-WebSocket-Protocol", value: subprotocol) }
        client.agreement = client.webSocketSettings.compression.flatMap {
            accepted.agreeOnCompression($0, adding: &headers)
        }
        let response = HTTPResponseHead(version: .http1_1, status: .switchingProtocols, headers: headers)
        context.write(Self.wrapOutboundOut(.head(response)), promise: nil)
        context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: nil)
        self.state = .lingering
        let channel = context.channel
        self.host.upgraded(channel)
        let pipeline = context.pipeline.syncOperations
        do {
            let encoder = try pipeline.handler(type: HTTPResponseEncoder.self)
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try pipeline.addWebSocketHandlers(
                client.webSocketSettings,
                agreement: client.agreement,
                wheel: client.hub.deadlines
            )
            _ = pipeline.removeHandler(encoder)
            _ = pipeline.removeHandler(context: context)
            // The client writes at once, so nothing that speaks HTTP may be in its way.
            try pipeline.addHandler(client)
            // Last, for these hand on the bytes that came right behind the request. The decoder does so in a turn of its own,
            // of which it does not tell the end.
            let portions = try? pipeline.handler(type: InputPortions.self)
            portions?.stop()
            let isInputOver = self.isInputOver
            pipeline.removeHandler(decoder).assumeIsolated().whenComplete { _ in
                if channel.isActive { channel.pipeline.fireChannelReadComplete() }
                if let portions { _ = pipeline.removeHandler(portions) }
                // The peer ended its side while a request before this one was answered: half a WebSocket is none. (As an
                // event TLS, which has told it once, would keep it to itself.)
                if isInputOver { channel.close(promise: nil) }
            }
        } catch {
            context.close(promise: nil)
        }
    }

    // MARK: Events and failure

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch (event, self.state) {
        case (is RequestWithoutTLS, .idle):
            self.refuse(.needsTLS, context: context)
        case (is ChannelShouldQuiesceEvent, .idle), (is ChannelShouldQuiesceEvent, .receiving):
            self.answered == 0 ? self.refuse(.stopping, context: context) : context.close(promise: nil)
        case (is ChannelShouldQuiesceEvent, .answering), (is ChannelShouldQuiesceEvent, .sending):
            self.mayKeepAlive = false
        case (ChannelEvent.inputClosed, .answering), (ChannelEvent.inputClosed, .sending):
            self.endInput()
        case (ChannelEvent.inputClosed, .idle), (ChannelEvent.inputClosed, .receiving),
            (ChannelEvent.inputClosed, .lingering):
            context.close(promise: nil)
        case (is InputPortions.Excess, .lingering):
            self.cut(context: context)
        default:
            break
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch (error, self.state) {
        case (is HTTPParserError, .idle), (is HTTPParserError, .receiving):
            // Half a request in a connection that we have closed is no mistake of the peer's.
            guard context.channel.isActive else { return }
            self.refuse(error as? HTTPParserError == .headerOverflow ? .headersTooLarge : .malformed, context: context)
        case (is HTTPParserError, .answering), (is HTTPParserError, .sending):
            self.endInput()  // what follows is no HTTP
        case (is HTTPParserError, .lingering), (is ByteToMessageDecoderError, .lingering):
            break  // late: the last answer is given
        default:
            context.close(promise: nil)
        }
    }
}
