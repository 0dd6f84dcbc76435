package import HTTP
package import NIOCore
package import NIOHTTP1
package import WebSocket

/// The HTTP service of a mock server's connection: it opens WebSockets and answers other requests.
package struct MockService: HTTPService {
    package let limits = HTTPServerLimits()
    package let answers = AnswerMemory()
    /// The settings of its WebSockets.
    private let webSocket: WebSocketSettings
    /// Changes the settings for a request.
    private let adjust: (HTTPRequestHead, inout WebSocketSettings) -> Void
    private let wheel: DeadlineWheel?
    /// Answers requests for something other than a WebSocket; without it they are answered with 426.
    private let answer: ((HTTPRequestHead) -> MockAnswer)?
    /// Ends the connection.
    private let cut: () -> Void
    /// Returns the refusal of a correct handshake, or `nil`.
    private let refusal: (HTTPRequestHead) -> HTTPAnswer?
    /// Adds the application's handlers to an open WebSocket.
    private let opened: (any Channel, HTTPRequestHead, DeflateAgreement?) throws -> Void

    package init(
        webSocket: WebSocketSettings = WebSocketSettings(role: .server),
        adjust: @escaping (HTTPRequestHead, inout WebSocketSettings) -> Void = { _, _ in },
        wheel: DeadlineWheel? = nil,
        answer: ((HTTPRequestHead) -> MockAnswer)? = nil,
        cut: @escaping () -> Void = {},
        refusal: @escaping (HTTPRequestHead) -> HTTPAnswer? = { _ in nil },
        opened: @escaping (any Channel, HTTPRequestHead, DeflateAgreement?) throws -> Void
    ) {
        self.webSocket = webSocket
        self.adjust = adjust
        self.wheel = wheel
        self.answer = answer
        self.cut = cut
        self.refusal = refusal
        self.opened = opened
    }

    package func admit(_ head: HTTPRequestHead) throws(HTTPRejection) -> HTTPRequestHead { head }

    package func readsBody(of head: HTTPRequestHead) -> Bool { false }

    package func isForWebSocket(_ head: HTTPRequestHead) -> Bool {
        self.answer == nil || WebSocketServerHandshake.wantsWebSocket(head)
    }

    package func openWebSocket(for head: HTTPRequestHead) throws(HTTPRejection) -> WebSocketOpening {
        if let answer = self.refusal(head) { throw HTTPRejection(type: "refused", answer: answer) }
        var settings = self.webSocket
        self.adjust(head, &settings)
        return WebSocketOpening(settings: settings, wheel: self.wheel) { channel, agreement in
            try self.opened(channel, head, agreement)
        }
    }

    package func respond(
        to head: HTTPRequestHead,
        body: ByteBuffer,
        memory: AnswerMemory.Reservation,
        on loop: any EventLoop
    ) -> EventLoopFuture<HTTPAnswer> {
        guard let answer = self.answer else { return loop.makeFailedFuture(HTTPServerFailure.serviceFailed) }
        let made = answer(head)
        var http = made.http
        if made.isCut {
            http.body = http.body.getSlice(at: http.body.readerIndex, length: http.body.readableBytes / 2) ?? http.body
        }
        let answered =
            made.delay > 0
            ? loop.scheduleTask(in: .nanoseconds(made.delay)) { [http] in http }.futureResult
            : loop.makeSucceededFuture(http)
        if made.isCut {
            let cut = NIOLoopBound(self.cut, eventLoop: loop)
            // After the answer has been written, which is done in the turn of the answer.
            answered.whenComplete { _ in loop.execute { cut.value() } }
        }
        return answered
    }

    package func rejection(for failure: HTTPServerFailure, of head: HTTPRequestHead?) -> HTTPRejection {
        let (status, reason): (HTTPResponseStatus, String) =
            switch failure {
            case .withoutTLS: (.badRequest, "this port speaks TLS")
            case .stopping, .answersTooLarge: (.serviceUnavailable, "try again later")
            case .timedOut: (.requestTimeout, "the request did not come in time")
            case .headersTooLarge: (.requestHeaderFieldsTooLarge, "the request's headers are too large")
            case .bodyTooLarge: (.payloadTooLarge, "the request's body is too large")
            case .expectationFailed: (.expectationFailed, "only 100-continue can be expected")
            case .malformed: (.badRequest, "malformed request")
            case .serviceFailed: (.internalServerError, "the request failed")
            case .handshake(let refusal): (refusal.status, refusal.reason)
            }
        var answer = HTTPAnswer.text(status, reason)
        if case .handshake(let refusal) = failure { answer.headers.add(contentsOf: refusal.headers) }
        return HTTPRejection(type: "\(status.code)", answer: answer)
    }

    package func noteRejection(_ type: String) {}
}

extension HTTPAnswer {
    /// Makes an answer with text for people.
    package static func text(_ status: HTTPResponseStatus, _ text: String, headers: HTTPHeaders = [:]) -> HTTPAnswer {
        var headers = headers
        if !headers.contains(name: "Content-Type") {
            headers.add(name: "Content-Type", value: "text/plain; charset=utf-8")
        }
        return HTTPAnswer(status: status, headers: headers, body: ByteBuffer(string: text))
    }
}
