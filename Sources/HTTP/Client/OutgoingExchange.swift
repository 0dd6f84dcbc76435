package import NIOCore
package import NIOHTTP1

/// One HTTP/1.1 request to a server and its response, on a connection that serves this exchange alone.
package struct OutgoingExchange: Sendable {
    package struct Answer: Sendable {
        package var head: HTTPResponseHead
        package var body: ByteBuffer
    }

    /// The reason for a missing response, where the connection itself did not fail.
    package enum Failure: Error, Equatable {
        /// The time limit has passed.
        case late(hasBegun: Bool)
        /// The connection ended before the response did.
        case cut
        case notHTTP(HTTPParserError)
        /// The body has more than ``OutgoingExchange/maximumBytes``.
        case tooLarge
        /// The body is compressed, which the request did not allow.
        case compressed
    }

    package typealias Outcome = Result<Answer, Failure>

    /// A function that opens the connection of an exchange on a loop.
    ///
    /// It calls the first closure as soon as there is a channel, and closes the channel if that closure throws. It
    /// calls the second closure when the request can be sent, and returns its outcome. If the connection fails, the
    /// future fails with the connection's own error.
    package typealias Opening =
        @Sendable (
            _ loop: any EventLoop,
            _ reached: @escaping (any Channel) throws -> Void,
            _ ready: @escaping @Sendable (any Channel) -> EventLoopFuture<Outcome>
        ) -> EventLoopFuture<Outcome>

    package var head: HTTPRequestHead
    package var body: ByteBuffer?
    /// The time limit of the whole exchange, from the opening to the last byte of the response.
    package var timeout: TimeAmount
    /// The largest accepted body, in bytes.
    package var maximumBytes: Int
    /// Whether a response whose head has arrived counts even if its body fails, except after the time limit.
    package var takesPartialBody: Bool

    package init(
        _ head: HTTPRequestHead,
        body: ByteBuffer? = nil,
        timeout: TimeAmount,
        maximumBytes: Int,
        takesPartialBody: Bool = false
    ) {
        self.head = head
        self.body = body
        self.timeout = timeout
        self.maximumBytes = maximumBytes
        self.takesPartialBody = takesPartialBody
    }

    /// Opens a connection, sends the request once, and closes the connection.
    ///
    /// - Returns: a future that fails with the error of the connection.
    package func run(on loop: any EventLoop, opening: @escaping Opening) -> EventLoopFuture<Outcome> {
        loop.flatSubmit {
            let outcome = loop.makePromise(of: Outcome.self)
            let handler = ExchangeHandler(self)
            let bound = NIOLoopBound(handler, eventLoop: loop)
            let timer = loop.scheduleTask(in: self.timeout) { outcome.succeed(.failure(bound.value.expire())) }
            outcome.futureResult.whenComplete { _ in timer.cancel() }
            opening(loop, handler.reached) { channel in bound.value.join(channel) }.cascade(to: outcome)
            return outcome.futureResult
        }
    }
}

/// The last handler of an exchange's connection: it sends the request, reads the response, and closes.
private final class ExchangeHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private let exchange: OutgoingExchange
    private var channel: (any Channel)?
    /// Fails with the error of the connection; `nil` before the request.
    private var outcome: EventLoopPromise<OutgoingExchange.Outcome>?
    private var head: HTTPResponseHead?
    private var body = ByteBuffer()
    private var isOver = false

    init(_ exchange: OutgoingExchange) { self.exchange = exchange }

    // MARK: Request

    /// Records the channel; throws if the time limit has passed already.
    func reached(_ channel: any Channel) throws {
        guard !self.isOver else { throw ChannelError.ioOnClosedChannel }
        self.channel = channel
    }

    /// Adds the handlers to a channel that is ready for a request, and sends the request.
    func join(_ channel: any Channel) -> EventLoopFuture<OutgoingExchange.Outcome> {
        // A closed channel fires no further events.
        guard channel.isActive, !self.isOver else { return channel.eventLoop.makeFailedFuture(ChannelError.eof) }
        let outcome = channel.eventLoop.makePromise(of: OutgoingExchange.Outcome.self)
        self.outcome = outcome
        do {
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(HTTPRequestEncoder())
            try pipeline.addHandler(ByteToMessageHandler(HTTPResponseDecoder(leftOverBytesStrategy: .dropBytes)))
            try pipeline.addHandler(self)
        } catch {
            self.fail(error)
        }
        return outcome.futureResult
    }

    func handlerAdded(context: ChannelHandlerContext) {
        context.write(Self.wrapOutboundOut(.head(self.exchange.head)), promise: nil)
        if let body = self.exchange.body { context.write(Self.wrapOutboundOut(.body(.byteBuffer(body))), promise: nil) }
        context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: nil)
    }

    func handlerRemoved(context: ChannelHandlerContext) { self.fail(OutgoingExchange.Failure.cut) }

    // MARK: Response

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch Self.unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            let length = head.headers.first(name: "Content-Length").flatMap { Int($0) } ?? 0
            let coding = head.headers.first(name: "Content-Encoding")?.lowercased() ?? "identity"
            if length > self.exchange.maximumBytes {
                self.fail(OutgoingExchange.Failure.tooLarge)
            } else if coding != "identity" {
                self.fail(OutgoingExchange.Failure.compressed)
            }
        case .body(var bytes):
            guard !self.isOver else { return }
            guard self.body.readableBytes + bytes.readableBytes <= self.exchange.maximumBytes else {
                return self.fail(OutgoingExchange.Failure.tooLarge)
            }
            self.body.writeBuffer(&bytes)
        case .end:
            guard let head else { return }
            self.end(.success(.success(OutgoingExchange.Answer(head: head, body: self.body))))
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.fail(OutgoingExchange.Failure.cut)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case HTTPParserError.invalidEOFState: self.fail(OutgoingExchange.Failure.cut)
        case let error as HTTPParserError: self.fail(OutgoingExchange.Failure.notHTTP(error))
        default: self.fail(error)
        }
    }

    // MARK: End

    /// Ends the exchange at its time limit.
    func expire() -> OutgoingExchange.Failure {
        let late = OutgoingExchange.Failure.late(hasBegun: self.head != nil)
        self.end(.success(.failure(late)))
        return late
    }

    private func fail(_ error: any Error) {
        if self.exchange.takesPartialBody, let head {
            self.end(.success(.success(OutgoingExchange.Answer(head: head, body: self.body))))
        } else if let failure = error as? OutgoingExchange.Failure {
            self.end(.success(.failure(failure)))
        } else {
            self.end(.failure(error))
        }
    }

    private func end(_ result: Result<OutgoingExchange.Outcome, any Error>) {
        guard !self.isOver else { return }
        self.isOver = true
        self.outcome?.completeWith(result)
        self.channel?.close(promise: nil)
    }
}
