import NIOCore
import NIOHTTP1

/// What the service answered.
struct ServiceAnswer: Sendable {
    var status: HTTPResponseStatus
    var headers: HTTPHeaders
    var body: ByteBuffer
}

/// The last handler of a connection to the REST service: sends one request, takes one answer, and closes.
final class ServiceRequestHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private let request: HTTPRequestHead
    private let maximumBytes: Int
    private let begun: () -> Void
    /// Succeeds with what the service did; fails with what befell the connection.
    private let answer: EventLoopPromise<Result<ServiceAnswer, ServiceFailure>>
    private var head: HTTPResponseHead?
    private var body = ByteBuffer()
    private var isOver = false

    /// - Parameters:
    ///   - maximumBytes: the largest body taken.
    ///   - begun: is called when the head of the answer has come.
    init(
        request: HTTPRequestHead,
        maximumBytes: Int,
        begun: @escaping () -> Void,
        answer: EventLoopPromise<Result<ServiceAnswer, ServiceFailure>>
    ) {
        self.request = request
        self.maximumBytes = maximumBytes
        self.begun = begun
        self.answer = answer
    }

    /// Puts the handlers into a channel that is ready for a request, and sends it. On the channel's loop.
    func join(_ channel: any Channel) throws {
        // Nothing would ever happen on a channel that is gone.
        guard channel.isActive else { throw ChannelError.eof }
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(HTTPRequestEncoder())
        try pipeline.addHandler(ByteToMessageHandler(HTTPResponseDecoder(leftOverBytesStrategy: .dropBytes)))
        try pipeline.addHandler(self)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        context.write(self.wrapOutboundOut(.head(self.request)), promise: nil)
        context.writeAndFlush(self.wrapOutboundOut(.end(nil)), promise: nil)
    }

    func handlerRemoved(context: ChannelHandlerContext) { self.finish(.failure(Self.cut), context: nil) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch self.unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            self.begun()
            if let length = head.headers.first(name: "Content-Length").flatMap({ Int($0) }), length > self.maximumBytes
            {
                self.finish(.failure(self.tooLarge), context: context)
            } else if let coding = head.headers.first(name: "Content-Encoding"), coding.lowercased() != "identity" {
                self.finish(
                    .failure(
                        ServiceFailure(
                            .unexpected,
                            "the answer is compressed though nobody asked for that: check service.url"
                        )
                    ),
                    context: context
                )
            }
        case .body(var bytes):
            guard !self.isOver else { return }
            guard self.body.readableBytes + bytes.readableBytes <= self.maximumBytes else {
                return self.finish(.failure(self.tooLarge), context: context)
            }
            self.body.writeBuffer(&bytes)
        case .end:
            guard let head else { return }
            self.finish(
                .success(ServiceAnswer(status: head.status, headers: head.headers, body: self.body)),
                context: context
            )
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case HTTPParserError.invalidEOFState: self.finish(.failure(Self.cut), context: context)
        case is HTTPParserError:
            self.finish(
                .failure(
                    ServiceFailure(.unexpected, "the answer is not HTTP as it should be (\(error)): check service.url")
                ),
                context: context
            )
        default: self.finish(.failure(error), context: context)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.finish(.failure(Self.cut), context: context)
        context.fireChannelInactive()
    }

    private static var cut: ServiceFailure {
        ServiceFailure(.network, "the connection was lost before the answer was whole: try again")
    }

    private var tooLarge: ServiceFailure {
        ServiceFailure(
            .unexpected,
            "the answer has more than \(self.maximumBytes >> 20) MiB, which no list has: check service.url"
        )
    }

    private func finish(_ result: Result<ServiceAnswer, any Error>, context: ChannelHandlerContext?) {
        guard !self.isOver else { return }
        self.isOver = true
        switch result {
        case .success(let answer): self.answer.succeed(.success(answer))
        case .failure(let failure as ServiceFailure): self.answer.succeed(.failure(failure))
        case .failure(let error): self.answer.fail(error)
        }
        context?.close(promise: nil)
    }
}
