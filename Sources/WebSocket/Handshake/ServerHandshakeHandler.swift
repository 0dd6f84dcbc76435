import NIOCore
import NIOHTTP1

/// The opening handshake in a server's pipeline: reads one request, answers it, and makes place for the WebSocket.
final class ServerHandshakeHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum State {
        /// Waits for the request's head.
        case reading
        /// The refusal is written; waits for the peer to see it and go.
        case refused
        case done
    }

    private let settings: WebSocketSettings
    private let limits: WebSocketServerLimits
    private let decide: @Sendable (HTTPRequestHead) -> WebSocketServerDecision
    private let upgraded: @Sendable (any Channel, HTTPRequestHead) throws -> Void
    private let otherwise: (@Sendable (any Channel) throws -> Void)?
    private var reader: HTTPHeadReader
    private var state: State = .reading
    private var timer: Scheduled<Void>?

    init(
        settings: WebSocketSettings,
        limits: WebSocketServerLimits,
        decide: @escaping @Sendable (HTTPRequestHead) -> WebSocketServerDecision,
        upgraded: @escaping @Sendable (any Channel, HTTPRequestHead) throws -> Void,
        otherwise: (@Sendable (any Channel) throws -> Void)?
    ) {
        self.settings = settings
        self.limits = limits
        self.decide = decide
        self.upgraded = upgraded
        self.otherwise = otherwise
        self.reader = HTTPHeadReader(maximumBytes: limits.maximumHeaderBytes)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.setTimer(self.limits.handshakeTimeout, context: context)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.timer?.cancel()
        self.timer = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch self.state {
        case .reading:
            switch self.reader.append(Self.unwrapInboundIn(data)) {
            case .needsMoreBytes:
                break
            case .tooLarge:
                self.refuse(.requestHeaderFieldsTooLarge, [:], "the request's headers are too large", context: context)
            case .complete(let head, let rest):
                self.requested(head, rest: rest, context: context)
            }
        case .refused:
            break  // what follows a refused request is not read
        case .done:
            context.fireChannelRead(data)
        }
    }

    private func requested(_ bytes: ByteBuffer, rest: ByteBuffer, context: ChannelHandlerContext) {
        let head: HTTPRequestHead
        do {
            head = try HTTPHeadParser.request(bytes)
        } catch {
            self.refuse(.badRequest, [:], "malformed \(error.what)", context: context)
            return
        }
        if let otherwise = self.otherwise, !WebSocketServerHandshake.wantsWebSocket(head) {
            self.handOver(bytes, rest: rest, to: otherwise, context: context)
            return
        }
        switch WebSocketServerHandshake.check(head) {
        case .failure(let refusal):
            self.refuse(refusal.status, refusal.headers, refusal.reason, context: context)
        case .success(let accepted):
            switch self.decide(head) {
            case .refuse(let status, let headers, let body):
                self.refuse(status, headers, body, context: context)
            case .accept(let further):
                var headers = accepted.responseHeaders
                headers.add(contentsOf: further)
                let agreement = self.settings.compression.flatMap { accepted.agreeOnCompression($0, adding: &headers) }
                self.switchProtocols(head, headers: headers, agreement: agreement, rest: rest, context: context)
            }
        }
    }

    private func switchProtocols(
        _ request: HTTPRequestHead,
        headers: HTTPHeaders,
        agreement: DeflateAgreement?,
        rest: ByteBuffer,
        context: ChannelHandlerContext
    ) {
        self.state = .done
        let response = Self.encoded(.switchingProtocols, headers, body: "", allocator: context.channel.allocator)
        context.writeAndFlush(Self.wrapOutboundOut(response), promise: nil)
        do {
            let pipeline = context.pipeline.syncOperations
            try pipeline.addWebSocketHandlers(self.settings, agreement: agreement, after: self)
            try self.upgraded(context.channel, request)
        } catch {
            context.fireErrorCaught(error)
            context.close(promise: nil)
            return
        }
        self.leave(giving: rest, context: context)
    }

    private func handOver(
        _ head: ByteBuffer,
        rest: ByteBuffer,
        to otherwise: @Sendable (any Channel) throws -> Void,
        context: ChannelHandlerContext
    ) {
        self.state = .done
        do {
            try otherwise(context.channel)
        } catch {
            context.fireErrorCaught(error)
            context.close(promise: nil)
            return
        }
        var all = head
        all.writeString("\r\n")
        all.writeImmutableBuffer(rest)
        self.leave(giving: all, context: context)
    }

    private func leave(giving bytes: ByteBuffer, context: ChannelHandlerContext) {
        if bytes.readableBytes > 0 { context.fireChannelRead(Self.wrapInboundOut(bytes)) }
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }

    private func refuse(
        _ status: HTTPResponseStatus,
        _ headers: HTTPHeaders,
        _ body: String,
        context: ChannelHandlerContext
    ) {
        self.state = .refused
        self.setTimer(self.settings.closeTimeout, context: context)
        var headers = headers
        if !headers.contains(name: "Content-Type") {
            headers.add(name: "Content-Type", value: "text/plain; charset=utf-8")
        }
        if !headers.contains(name: "Connection") { headers.add(name: "Connection", value: "close") }
        headers.replaceOrAdd(name: "Content-Length", value: String(body.utf8.count))
        let response = Self.encoded(status, headers, body: body, allocator: context.channel.allocator)
        // Only the sending side ends: closing a socket with input unread resets it, and the reset can overtake the answer.
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenComplete { _ in
            let halfClosed = context.eventLoop.makePromise(of: Void.self)
            halfClosed.futureResult.assumeIsolated().whenFailure { _ in context.close(promise: nil) }
            context.close(mode: .output, promise: halfClosed)
        }
        context.writeAndFlush(Self.wrapOutboundOut(response), promise: written)
    }

    private func setTimer(_ delay: TimeAmount, context: ChannelHandlerContext) {
        self.timer?.cancel()
        self.timer = context.eventLoop.assumeIsolated().scheduleTask(in: delay) {
            self.timer = nil
            switch self.state {
            case .reading where !self.reader.isEmpty:
                self.refuse(.requestTimeout, [:], "the request did not come in time", context: context)
            case .reading, .refused:
                context.close(promise: nil)
            case .done:
                break
            }
        }
    }

    private static func encoded(
        _ status: HTTPResponseStatus,
        _ headers: HTTPHeaders,
        body: String,
        allocator: ByteBufferAllocator
    ) -> ByteBuffer {
        var response = allocator.buffer(capacity: 256 + body.utf8.count)
        response.writeString("HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\n")
        // A header that could end a line early, perhaps made from the request, is left out.
        for (name, value) in headers where HTTPHeadParser.isToken(name.utf8) && HTTPHeadParser.isFieldValue(value.utf8)
        {
            response.writeString("\(name): \(value)\r\n")
        }
        response.writeString("\r\n\(body)")
        return response
    }
}
