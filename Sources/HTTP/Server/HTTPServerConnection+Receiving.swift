package import NIOCore
import NIOHTTP1

// The receiving of a request. What does not depend on the body is answered before it arrives.
extension HTTPServerConnection {
    /// Handles a request's head, and responds at once if the body does not matter.
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

    /// Handles a part of a request's body.
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

    /// Rejects a body that is too large; returns whether it is within the limit.
    private func hasRoom(for body: HTTPRequestBody, context: ChannelHandlerContext) -> Bool {
        guard body.bytes > self.service.limits.maximumBodyBytes else { return true }
        self.fail(.bodyTooLarge, context: context)
        return false
    }

    /// Checks the size of a body after each read: the lines of chunks count, although the decoder does not pass them
    /// on.
    package func channelReadComplete(context: ChannelHandlerContext) {
        if case .receiving(_, let body) = self.state { _ = self.hasRoom(for: body, context: context) }
        context.fireChannelReadComplete()
    }

    /// Sends 100 (Continue) to a client that waits for it (RFC 9110, 10.1.1). Where the body does not matter, the
    /// response itself refuses the body.
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
            // The client may send the body anyway, so the connection cannot carry another request.
            self.mayKeepAlive = false
            self.stopTimer()
            self.answer(head, body, context: context)
        }
    }
}
