import NIOCore
import NIOHTTP1

extension Channel {
    /// Sends a request as soon as that may be, and reads its answer. On the loop, and at once: a turn later, the event that the
    /// request waits for may have passed.
    ///
    /// - Returns: a future that fails with `WebSocketUpgradeError`, with the error that the transport reported, or with what
    ///   the adding of the handlers threw. The channel is closed then.
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

/// The opening of a WebSocket or of a tunnel in a client's pipeline: sends the request, reads the answer, and makes place for
/// what was opened.
final class OpeningHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// What is asked, and the limits of the answer.
    struct Request {
        var bytes: ByteBuffer
        /// The time until the end of the answer's head, and of a refusal's body.
        var timeout: TimeAmount
        var maximumHeaderBytes: Int
        var maximumBodyBytes: Int
        /// The inbound user event that lets the request go out; nil sends it as soon as the channel is active.
        var startsOn: (@Sendable (Any) -> Bool)?
    }

    /// What an answer means.
    enum Judgement {
        /// Another one follows (RFC 9110, 15.2).
        case informational
        case invalid(String)
        case refused
        /// The peer has agreed; the closure adds the handlers of what is open now.
        case accepted((OpeningHandler) throws -> Void)
    }

    /// More of them mean nothing, and could go on for ever.
    private static let mostInformationalAnswers = 16

    private enum State {
        /// Waits for the channel, or for the event that the request names.
        case notAsked
        /// Waits for the head of the answer.
        case readingHead
        /// Waits for the body of a refusal.
        case readingRefusal(HTTPResponseHead, RefusalBody)
        /// The peer has agreed, and the next handlers are being added; what came behind the answer. From here
        /// on an end of the connection is theirs to tell: a request that they send at once may find the socket broken.
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
        // Whoever adds the handlers is told what came of that.
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
            // A write that fails brings what can still be read, and that is later than what is held.
            held.writeImmutableBuffer(bytes)
            self.state = .switching(held)
        case .done:
            // After the handlers were added but before this one has left: bytes of what is open, or of a channel that
            // is being closed, where nobody is left to take them.
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
            guard self.informationalAnswers <= Self.mostInformationalAnswers else {
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
        // A connection that has ended meanwhile has told so; nothing may come behind its end.
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
            // The status is what matters; a body that never ends must not hide it.
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
