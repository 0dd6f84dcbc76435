import NIOCore
import NIOHTTP1

extension Channel {
    /// Sends a request as soon as the channel allows, and reads its response. Must be called on the loop, before the
    /// event that the request waits for can pass.
    ///
    /// - Returns: a future that fails with `WebSocketUpgradeError`, with the transport's error, or with the error of
    ///   adding the handlers. The channel is closed then.
    func open(
        _ request: () throws(WebSocketUpgradeError) -> OpeningHandler.Request,
        judge: @escaping (HTTPResponseHead, _ rest: ByteBuffer) -> OpeningHandler.Judgement
    ) -> EventLoopFuture<Void> {
        let promise = self.eventLoop.makePromise(of: Void.self)
        do {
            let handler = OpeningHandler(try request(), judge: judge, promise: promise)
            try self.pipeline.syncOperations.addHandler(handler)
        } catch {
            promise.fail(error)
            self.close(promise: nil)
        }
        return promise.futureResult
    }
}

/// A handler that opens a WebSocket or a tunnel in a client's pipeline: it sends the request, reads the response, and
/// removes itself after the next handlers are added.
final class OpeningHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The request and the limits of its response.
    struct Request {
        var bytes: ByteBuffer
        /// The time until the end of the response's head, and of a refusal's body.
        var timeout: TimeAmount
        var maximumHeaderBytes: Int
        var maximumBodyBytes: Int
        /// The inbound user event that starts the request; `nil` sends it as soon as the channel is active.
        var startsOn: (@Sendable (Any) -> Bool)?
    }

    /// The meaning of a response.
    enum Judgement {
        /// Another response follows (RFC 9110, 15.2).
        case informational
        case invalid(String)
        case refused
        /// The peer has agreed; the closure adds the next handlers.
        case accepted((OpeningHandler) throws -> Void)
    }

    /// A limit, because a server could send informational responses for ever.
    private static let maximumInformationalAnswers = 16

    private enum State {
        /// Waits for the channel, or for the event of the request.
        case notAsked
        /// Waits for the head of the response.
        case readingHead
        /// Waits for the body of a refusal.
        case readingRefusal(HTTPResponseHead, RefusalBody)
        /// The peer has agreed, and the next handlers are being added; holds the bytes behind the response. From here
        /// on the next handlers report the end of the connection: a request that they send at once may find the socket
        /// broken.
        case switching(ByteBuffer)
        case done
    }

    private let request: Request
    private let judge: (HTTPResponseHead, _ rest: ByteBuffer) -> Judgement
    private let promise: EventLoopPromise<Void>
    private var reader: HTTPHeadReader
    private var informationalAnswers = 0
    private var state: State = .notAsked
    private var timer: Scheduled<Void>?

    init(
        _ request: Request,
        judge: @escaping (HTTPResponseHead, _ rest: ByteBuffer) -> Judgement,
        promise: EventLoopPromise<Void>
    ) {
        self.request = request
        self.judge = judge
        self.promise = promise
        self.reader = HTTPHeadReader(maximumBytes: request.maximumHeaderBytes)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.timer = context.eventLoop.assumeIsolated().scheduleTask(in: self.request.timeout) {
            self.timeReached(context: context)
        }
        if context.channel.isActive, self.request.startsOn == nil { self.ask(context: context) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        // The caller that adds the handlers completes the promise.
        if case .switching = self.state { return }
        self.finish(.failure(WebSocketUpgradeError.connectionClosed))
    }

    func channelActive(context: ChannelHandlerContext) {
        if self.request.startsOn == nil { self.ask(context: context) }
        context.fireChannelActive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let startsOn = self.request.startsOn, startsOn(event) { self.ask(context: context) }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = Self.unwrapInboundIn(data)
        switch self.state {
        case .notAsked:
            self.fail(.invalidResponse("an answer before the request"), context: context)
        case .readingHead:
            self.progressed(self.reader.append(bytes), context: context)
        case .readingRefusal(let head, let body):
            self.refused(head, body, next: bytes, context: context)
        case .switching(var held):
            // A failed write delivers the bytes that can still be read. They follow the held bytes.
            held.writeImmutableBuffer(bytes)
            self.state = .switching(held)
        case .done:
            // The next handlers are added, and this handler is not removed yet: the bytes belong to the next protocol.
            // Or the channel is being closed, and no handler takes them.
            context.fireChannelRead(data)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        switch self.state {
        case .readingRefusal(let head, let body):
            self.finish(.failure(Self.refusal(head, body)))
        case .notAsked, .readingHead:
            self.finish(.failure(WebSocketUpgradeError.connectionClosed))
        case .switching, .done:
            break
        }
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch self.state {
        case .notAsked, .readingHead, .readingRefusal:
            self.finish(.failure(error))
            context.close(promise: nil)
        case .switching, .done:
            context.fireErrorCaught(error)
        }
    }

    private func ask(context: ChannelHandlerContext) {
        guard case .notAsked = self.state else { return }
        self.state = .readingHead
        context.writeAndFlush(Self.wrapOutboundOut(self.request.bytes), promise: nil)
    }

    private func progressed(_ progress: HTTPHeadReader.Progress, context: ChannelHandlerContext) {
        switch progress {
        case .needsMoreBytes:
            return
        case .tooLarge:
            self.fail(.headersTooLarge, context: context)
        case .complete(let bytes, let rest):
            do {
                self.answered(try HTTPHeadParser.response(bytes), rest: rest, context: context)
            } catch {
                self.fail(.invalidResponse("malformed \(error.what)"), context: context)
            }
        }
    }

    private func answered(_ head: HTTPResponseHead, rest: ByteBuffer, context: ChannelHandlerContext) {
        switch self.judge(head, rest) {
        case .informational:
            self.informationalAnswers += 1
            guard self.informationalAnswers <= Self.maximumInformationalAnswers else {
                self.fail(.invalidResponse("too many informational answers"), context: context)
                return
            }
            self.progressed(self.reader.next(), context: context)
        case .invalid(let why):
            self.fail(.invalidResponse(why), context: context)
        case .refused:
            let body = RefusalBody(of: head, maximumBytes: self.request.maximumBodyBytes)
            self.refused(head, body, next: rest, context: context)
        case .accepted(let addHandlers):
            self.open(addHandlers, rest: rest, context: context)
        }
    }

    private func open(
        _ addHandlers: (OpeningHandler) throws -> Void,
        rest: ByteBuffer,
        context: ChannelHandlerContext
    ) {
        self.state = .switching(rest)
        do {
            try addHandlers(self)
        } catch {
            self.finish(.failure(error))
            context.close(promise: nil)
            return
        }
        var held = rest
        if case .switching(let bytes) = self.state { held = bytes }
        self.finish(.success(()))
        // A connection that has ended meanwhile has reported its end, and no bytes may follow that.
        guard context.channel.isActive else { return }
        if held.readableBytes > 0 { context.fireChannelRead(Self.wrapInboundOut(held)) }
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }

    private func refused(
        _ head: HTTPResponseHead,
        _ body: RefusalBody,
        next bytes: ByteBuffer,
        context: ChannelHandlerContext
    ) {
        var body = body
        if body.append(bytes) {
            self.finish(.failure(Self.refusal(head, body)))
            context.close(promise: nil)
        } else {
            self.state = .readingRefusal(head, body)
        }
    }

    private static func refusal(_ head: HTTPResponseHead, _ body: RefusalBody) -> WebSocketUpgradeError {
        .refused(status: head.status, headers: head.headers, body: body.text)
    }

    private func timeReached(context: ChannelHandlerContext) {
        switch self.state {
        case .readingRefusal(let head, let body):
            // The status matters most; an endless body must not hide it.
            self.finish(.failure(Self.refusal(head, body)))
        case .notAsked, .readingHead:
            self.finish(.failure(self.reader.isEmpty ? WebSocketUpgradeError.timedOut : .unfinished))
        case .switching, .done:
            return
        }
        context.close(promise: nil)
    }

    private func fail(_ error: WebSocketUpgradeError, context: ChannelHandlerContext) {
        self.finish(.failure(error))
        context.close(promise: nil)
    }

    private func finish(_ result: Result<Void, any Error>) {
        if case .done = self.state { return }
        self.state = .done
        self.timer?.cancel()
        self.timer = nil
        self.promise.completeWith(result)
    }
}
