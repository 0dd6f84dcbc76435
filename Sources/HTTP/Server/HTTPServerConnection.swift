package import NIOCore
package import NIOHTTP1
import TLS
import WebSocket

/// One HTTP connection of a server, whose requests are handled one at a time, by a response of the service or by an
/// upgrade to a WebSocket.
///
/// It stands behind `HTTPRequestDecoder` and `HTTPResponseEncoder`. After an upgrade all three leave the pipeline, so a
/// WebSocket client needs neither a task nor an async channel.
package final class HTTPServerConnection: ChannelDuplexHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPServerRequestPart
    package typealias OutboundIn = HTTPServerResponsePart
    package typealias OutboundOut = HTTPServerResponsePart

    enum State {
        /// Waits for a request's head.
        case idle
        /// Waits for the rest of a request.
        case receiving(HTTPRequestHead, body: HTTPRequestBody)
        /// Waits for the service's response.
        case answering
        /// Waits for the response to leave the program.
        case sending
        /// Waits for the peer to close after the last response, and discards its input.
        case lingering
    }

    let service: any HTTPService
    /// The memory of the present response.
    var reservation: AnswerMemory.Reservation?
    var state: State = .idle
    /// The only timer: of a request, of a response, or of the peer's close.
    var timer: Scheduled<Void>?
    /// Parts of further requests, which arrived in the same read as the present one or at the end of the input.
    var waiting: CircularBuffer<HTTPServerRequestPart> = []
    /// The peer's progress with responses that it has not read completely.
    var progress: ReadProgress?
    /// Whether input after the waiting parts is ignored.
    var isInputOver = false
    var isReadHeld = false
    var mayKeepAlive = true
    var answered = 0
    /// Whether the request is a HEAD request, whose response has no body.
    var isHead = false
    /// The present request, once it is admitted.
    var admitted: HTTPRequestHead?

    /// The response to everything on this connection, if it is above the limit of connections.
    private let rejection: HTTPRejection?

    package init(_ service: any HTTPService, rejectsAllWith rejection: HTTPRejection? = nil) {
        self.service = service
        self.rejection = rejection
    }

    /// The size of a socket read in bytes. Each connection keeps the buffer of its last read, and most requests fit.
    package static let readBufferBytes = InputPortions.groupBytes

    /// Adds the handlers of a server's connection at the end of a pipeline.
    ///
    /// - Parameter rejection: the only response of the connection, if it must not be served.
    package static func addHandlers(
        to pipeline: ChannelPipeline.SynchronousOperations,
        _ service: any HTTPService,
        rejectsAllWith rejection: HTTPRejection? = nil
    ) throws {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = service.limits.maximumHeaderBytes
        limits.maxHeaderListSize = service.limits.maximumHeaderBytes
        limits.maxHeaderFieldCount = 100
        let decoder = HTTPRequestDecoder(leftOverBytesStrategy: .forwardBytes, limitConfiguration: limits)
        try pipeline.addHandlers([
            InputPortions(),
            ByteToMessageHandler(decoder),
            HTTPResponseEncoder(),
            HTTPServerConnection(service, rejectsAllWith: rejection),
        ])
    }

    package func handlerAdded(context: ChannelHandlerContext) { self.startTimer(context: context) }

    package func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        if let rejection { self.reject(rejection, context: context) }
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
        self.stopTimer()
        self.reservation = nil
    }

    package func channelInactive(context: ChannelHandlerContext) {
        self.stopTimer()
        context.fireChannelInactive()
    }

    /// Whether a request waits for its response, or the response waits for the peer.
    var isAnswering: Bool {
        switch self.state {
        case .answering, .sending: true
        case .idle, .receiving, .lingering: false
        }
    }

    // MARK: Requests

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = Self.unwrapInboundIn(data)
        if self.isAnswering {
            self.keep(part)
        } else {
            self.take(part, context: context)
        }
    }

    package func read(context: ChannelHandlerContext) {
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
            break  // late: the last response is sent
        case (.head, _), (.body, _), (.end, _):
            preconditionFailure("the decoder sent \(part) in state \(self.state)")
        }
    }

    /// Responds to a request that has passed all checks.
    func answer(_ head: HTTPRequestHead, _ body: HTTPRequestBody, context: ChannelHandlerContext) {
        if self.service.isForWebSocket(head) { return self.upgrade(head, context: context) }
        // The decoder stops after a request with an `Upgrade` header.
        if head.headers.contains(name: "Upgrade") { self.mayKeepAlive = false }
        guard let reservation = self.service.answers.take() else {
            return self.fail(.answersTooLarge, context: context)
        }
        self.state = .answering
        let answer = self.service.respond(to: head, body: body.kept, memory: reservation, on: context.eventLoop)
        answer.assumeIsolated().whenComplete { result in
            guard case .answering = self.state, context.channel.isActive else { return }  // late: the channel is closed
            do {
                let answer = try result.get()
                try reservation.hold(answer.body.storageCapacity)
                self.reservation = reservation
                self.send(answer, context: context)
            } catch {
                self.fail(error as? HTTPServerFailure ?? .serviceFailed, context: context)
            }
        }
    }

    // MARK: Upgrade

    private func upgrade(_ head: HTTPRequestHead, context: ChannelHandlerContext) {
        let accepted: WebSocketServerHandshake.Accepted
        switch WebSocketServerHandshake.check(head) {
        case .success(let success):
            accepted = success
        case .failure(let refusal):
            return self.fail(.handshake(refusal), context: context)
        }
        let opening: WebSocketOpening
        do throws(HTTPRejection) {
            opening = try self.service.openWebSocket(for: head)
        } catch {
            return self.reject(error, context: context)
        }
        var headers = accepted.responseHeaders
        headers.add(contentsOf: opening.headers)
        let agreement = opening.settings.compression.flatMap { accepted.agreeOnCompression($0, adding: &headers) }
        let response = HTTPResponseHead(version: .http1_1, status: .switchingProtocols, headers: headers)
        context.write(Self.wrapOutboundOut(.head(response)), promise: nil)
        context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: nil)
        self.state = .lingering
        let channel = context.channel
        let pipeline = context.pipeline.syncOperations
        do {
            let encoder = try pipeline.handler(type: HTTPResponseEncoder.self)
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try pipeline.addWebSocketHandlers(opening.settings, agreement: agreement, wheel: opening.wheel)
            _ = pipeline.removeHandler(encoder)
            _ = pipeline.removeHandler(context: context)
            // The handlers may write at once, so no HTTP handler may be left in their way.
            try opening.addHandlers(channel, agreement)
            // Last, because the decoder and the portions pass on the bytes right behind the request. The decoder does
            // so in a later turn of the loop, and does not fire `channelReadComplete` after it.
            let portions = try? pipeline.handler(type: InputPortions.self)
            portions?.stop()
            let isInputOver = self.isInputOver
            pipeline.removeHandler(decoder).assumeIsolated().whenComplete { _ in
                if channel.isActive { channel.pipeline.fireChannelReadComplete() }
                if let portions { _ = pipeline.removeHandler(portions) }
                // The peer has ended its side while an earlier request was being answered, and a WebSocket has no
                // half-closed state. TLS has fired that event already and would not fire it again.
                if isInputOver { channel.close(promise: nil) }
            }
        } catch {
            context.close(promise: nil)
        }
    }

    // MARK: Events and errors

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch (event, self.state) {
        case (is RequestWithoutTLS, .idle):
            self.fail(.withoutTLS, context: context)
        case (is ChannelShouldQuiesceEvent, .idle), (is ChannelShouldQuiesceEvent, .receiving):
            self.answered == 0 ? self.fail(.stopping, context: context) : context.close(promise: nil)
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

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch (error, self.state) {
        case (is HTTPParserError, .idle), (is HTTPParserError, .receiving):
            // An incomplete request on a connection that this side has closed is not an error of the peer.
            guard context.channel.isActive else { return }
            self.fail(error as? HTTPParserError == .headerOverflow ? .headersTooLarge : .malformed, context: context)
        case (is HTTPParserError, .answering), (is HTTPParserError, .sending):
            self.endInput()  // the rest is not HTTP
        case (is HTTPParserError, .lingering), (is ByteToMessageDecoderError, .lingering):
            break  // late: the last response is sent
        default:
            context.close(promise: nil)
        }
    }
}

/// An event for ``HTTPServerConnection``: a connection to a TLS port began with plain HTTP. The connection responds
/// with that.
package struct RequestWithoutTLS: Sendable {
    package init() {}
}
