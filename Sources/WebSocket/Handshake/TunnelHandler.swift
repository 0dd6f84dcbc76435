package import NIOCore
import NIOHTTP1

extension Channel {
    /// Asks an HTTP proxy for a tunnel; when it agrees, the channel is one to the host that was asked for.
    ///
    /// The future completes on the loop before any byte of the tunnel is delivered, so the next handlers can be added at
    /// once. swift-nio-extras has a handler for this too; it keeps nothing of a refusal but that there was one, and
    /// needs NIO's decoder, which can drop bytes when it leaves.
    ///
    /// - Returns: a future that fails with `WebSocketUpgradeError`, or with the error that the transport reported. The
    ///   channel is closed then.
    package func openTunnel(_ request: TunnelRequest) -> EventLoopFuture<Void> {
        guard self.eventLoop.inEventLoop else { return self.eventLoop.flatSubmit { self.openTunnel(request) } }
        let promise = self.eventLoop.makePromise(of: Void.self)
        do {
            let bytes = try request.encoded(allocator: self.allocator)
            try self.pipeline.syncOperations.addHandler(TunnelHandler(request, bytes: bytes, promise: promise))
        } catch {
            promise.fail(error)
            self.close(promise: nil)
        }
        return promise.futureResult
    }
}

/// The opening of a tunnel in a client's pipeline: sends the request, reads the answer, and leaves.
final class TunnelHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum State {
        /// Waits for the channel.
        case notAsked
        /// Waits for the head of the answer.
        case readingHead
        /// Waits for the body of a refusal.
        case readingRefusal(HTTPResponseHead, RefusalBody)
        case done
    }

    private let request: TunnelRequest
    private let bytes: ByteBuffer
    private let promise: EventLoopPromise<Void>
    private var reader: HTTPHeadReader
    private var informationalAnswers = 0
    private var state = State.notAsked
    private var timer: Scheduled<Void>?

    init(_ request: TunnelRequest, bytes: ByteBuffer, promise: EventLoopPromise<Void>) {
        self.request = request
        self.bytes = bytes
        self.promise = promise
        self.reader = HTTPHeadReader(maximumBytes: request.maximumHeaderBytes)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.timer = context.eventLoop.assumeIsolated().scheduleTask(in: self.request.timeout) {
            self.timeReached(context: context)
        }
        if context.channel.isActive { self.ask(context: context) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.finish(.failure(WebSocketUpgradeError.connectionClosed))
    }

    func channelActive(context: ChannelHandlerContext) {
        self.ask(context: context)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = Self.unwrapInboundIn(data)
        switch self.state {
        case .notAsked: self.fail(.invalidResponse("an answer before the request"), context: context)
        case .readingHead: self.progressed(self.reader.append(bytes), context: context)
        case .readingRefusal(let head, let body): self.refused(head, body, next: bytes, context: context)
        // Between the promise and the leaving, or on a channel that is being closed.
        case .done: context.fireChannelRead(data)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        switch self.state {
        case .readingRefusal(let head, let body): self.finish(.failure(Self.refusal(head, body)))
        case .notAsked, .readingHead: self.finish(.failure(WebSocketUpgradeError.connectionClosed))
        case .done: break
        }
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch self.state {
        case .notAsked, .readingHead, .readingRefusal:
            self.finish(.failure(error))
            context.close(promise: nil)
        case .done:
            context.fireErrorCaught(error)
        }
    }

    private func ask(context: ChannelHandlerContext) {
        guard case .notAsked = self.state else { return }
        self.state = .readingHead
        context.writeAndFlush(Self.wrapOutboundOut(self.bytes), promise: nil)
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
        switch head.status.code {
        case 100..<200:
            self.informationalAnswers += 1
            guard self.informationalAnswers <= ClientHandshakeHandler.mostInformationalAnswers else {
                self.fail(.invalidResponse("too many informational answers"), context: context)
                return
            }
            self.progressed(self.reader.next(), context: context)
        case 200..<300:
            // The lengths in such a head mean nothing (RFC 9110, 9.3.6). Behind it the other side waits for us to
            // speak TLS, so what is there already is the proxy's own: a web page, mostly.
            guard rest.readableBytes == 0 else {
                self.fail(
                    .invalidResponse("it says \(head.status.code), then sends something of its own"),
                    context: context
                )
                return
            }
            self.finish(.success(()))
            context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
        default:
            let body = RefusalBody(of: head, maximumBytes: self.request.maximumBodyBytes)
            self.refused(head, body, next: rest, context: context)
        }
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
        case .done:
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
