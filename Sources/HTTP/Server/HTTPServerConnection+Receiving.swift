package import NIOCore
import NIOHTTP1

// A request from its first line to the end of its body: what can be said without the body is said at once.
extension HTTPServerConnection {
    /// Takes a request's head, and answers it at once where its body would change nothing.
    func receive(_ request: HTTPRequestHead, context: ChannelHandlerContext) {
        self.mayKeepAlive = request.isKeepAlive && request.version == .http1_1
        self.isHead = request.method == .HEAD
        let head: HTTPRequestHead
        do throws(HTTPRejection) {
            head = try self.service.admit(request)
        } catch {
            return self.reject(error, context: context)
        }
        self.admitted = head
        let portions = try? context.pipeline.syncOperations.handler(type: InputPortions.self)
        let body = HTTPRequestBody(of: head, isKept: self.service.readsBody(of: head), input: portions)
        self.state = .receiving(head, body: body)
        guard self.hasRoom(for: body, context: context) else { return }
        self.meetExpectation(of: head, body, context: context)
    }

    /// Takes a part of a request's body.
    func receive(
        _ bytes: ByteBuffer,
        of head: HTTPRequestHead,
        _ body: HTTPRequestBody,
        context: ChannelHandlerContext
    ) {
        var body = body
        body.append(bytes)
        self.state = .receiving(head, body: body)
        _ = self.hasRoom(for: body, context: context)
    }

    /// Refuses a body that is too large, and returns whether it is not.
    private func hasRoom(for body: HTTPRequestBody, context: ChannelHandlerContext) -> Bool {
        guard body.bytes > self.service.limits.maximumBodyBytes else { return true }
        self.fail(.bodyTooLarge, context: context)
        return false
    }

    /// A read is over, of which the decoder may have passed on nothing: the lines of chunks are input too.
    package func channelReadComplete(context: ChannelHandlerContext) {
        if case .receiving(_, let body) = self.state { _ = self.hasRoom(for: body, context: context) }
        context.fireChannelReadComplete()
    }

    /// Says whether a client that waits for this is to send its body (RFC 9110, 10.1.1). Where the body would change nothing,
    /// the answer itself says that it is not.
    private func meetExpectation(of head: HTTPRequestHead, _ body: HTTPRequestBody, context: ChannelHandlerContext) {
        let expectations = head.headers[canonicalForm: "Expect"]
        guard !expectations.isEmpty, head.version == .http1_1 else { return }
        guard expectations.allSatisfy({ $0.lowercased() == "100-continue" }) else {
            return self.fail(.expectationFailed, context: context)
        }
        guard body.isAnnounced else { return }
        if body.isKept || head.headers.contains(name: "Upgrade") {
            let go = HTTPResponseHead(version: .http1_1, status: .continue)
            context.writeAndFlush(Self.wrapOutboundOut(.head(go)), promise: nil)
        } else {
            // Whether the body comes all the same cannot be known, so nothing can come behind it.
            self.mayKeepAlive = false
            self.stopTimer()
            self.answer(head, body, context: context)
        }
    }
}
