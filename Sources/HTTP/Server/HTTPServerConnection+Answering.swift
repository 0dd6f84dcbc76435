import NIOCore
import NIOHTTP1

// The sending of responses. The next request is handled only after a response has left this program, so a peer that
// does not read has at most one response waiting, however many requests it has sent.
extension HTTPServerConnection {
    /// The limit of waiting request parts, larger than one read of the socket produces. A request has at least two
    /// parts.
    private static let maximumWaiting = 128

    /// Whether the connection ends after the present response.
    private var isLast: Bool { !self.mayKeepAlive || (self.isInputOver && self.waiting.isEmpty) }

    /// Writes a response, and continues with the next request after it has left.
    func send(_ answer: HTTPAnswer, context: ChannelHandlerContext) {
        var head = HTTPResponseHead(version: .http1_1, status: answer.status, headers: answer.headers)
        let body = self.isHead ? ByteBuffer() : answer.body
        if self.isLast, !head.headers.contains(name: "Connection") {
            head.headers.add(name: "Connection", value: "close")
        }
        self.stopTimer()
        self.state = .sending
        self.countAnswer(of: head.approximateBytes + body.readableBytes, context: context)
        context.write(Self.wrapOutboundOut(.head(head)), promise: nil)
        if body.readableBytes > 0 {
            context.write(Self.wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        }
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenComplete { result in
            switch result {
            case .success: self.sent(context: context)
            case .failure: context.close(promise: nil)
            }
        }
        context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: written)
        // The next response may be under way already.
        guard case .sending = self.state, self.timer == nil, context.channel.isActive else { return }
        let progress = self.progress(of: context)
        self.progress = progress
        self.watch(progress, context: context)
    }

    /// Responds to a request that failed outside of the service, and ends the connection.
    func fail(_ failure: HTTPServerFailure, context: ChannelHandlerContext) {
        self.reject(self.service.rejection(for: failure, of: self.admitted), context: context)
    }

    /// Responds with a rejection, and ends the connection.
    func reject(_ rejection: HTTPRejection, context: ChannelHandlerContext) {
        self.mayKeepAlive = false
        self.service.noteRejection(rejection.type)
        self.send(rejection.answer, context: context)
    }

    /// Handles the next request or ends the connection, after a response has left this program.
    private func sent(context: ChannelHandlerContext) {
        guard case .sending = self.state, context.channel.isActive else { return }  // late: the channel is closed
        self.stopTimer()
        self.reservation = nil
        self.progress?.answerLeft(now: context.eventLoop.now)
        guard !self.isLast else { return self.linger(context: context) }
        self.state = .idle
        self.isHead = false
        self.admitted = nil
        self.answered += 1
        self.startTimer(context: context)
        while !self.isAnswering, let part = self.waiting.popFirst() { self.take(part, context: context) }
        switch self.state {
        case .answering, .sending: break
        case .idle, .receiving: self.isInputOver ? self.linger(context: context) : self.readOn(context: context)
        case .lingering: self.readOn(context: context)
        }
    }

    /// Performs a read that was requested while a response was under way. After an upgrade it serves the WebSocket
    /// handlers, so it begins at the end of the pipeline.
    func readOn(context: ChannelHandlerContext) {
        guard self.isReadHeld else { return }
        self.isReadHeld = false
        context.channel.read()
    }

    // MARK: End of the input

    /// Stores a part of a request that arrives while another request is being handled.
    ///
    /// No reads happen meanwhile, but at the end of its input a socket delivers all that it has.
    func keep(_ part: HTTPServerRequestPart) {
        guard !self.isInputOver else { return }
        guard self.waiting.count < Self.maximumWaiting else { return self.endInput() }
        self.waiting.append(part)
    }

    /// Ends the input: the connection closes after the responses to the complete requests.
    func endInput() {
        self.isInputOver = true
        while let part = self.waiting.last {
            if case .end = part { return }
            self.waiting.removeLast()
        }
    }

    // MARK: Timer

    func progress(of context: ChannelHandlerContext) -> ReadProgress {
        ReadProgress(
            left: UnsentBytes.count(of: context.channel),
            patience: self.service.limits.stallTimeout,
            now: context.eventLoop.now,
            behind: self.progress
        )
    }

    /// Accounts for another response before it is written. A peer that has not read all previous responses gets no
    /// fresh time limit.
    private func countAnswer(of bytes: Int, context: ChannelHandlerContext) {
        guard self.progress != nil else { return }
        if UnsentBytes.count(of: context.channel) == 0 {
            self.progress = nil
        } else {
            self.progress?.answerFollows(bytes: bytes, now: context.eventLoop.now)
        }
    }

    /// Closes the connection when its peer stops reading the response.
    private func watch(_ progress: ReadProgress, context: ChannelHandlerContext) {
        let pause = TimeAmount.nanoseconds(self.service.limits.stallTimeout.nanoseconds / 4)
        self.timer = context.eventLoop.assumeIsolated().scheduleTask(in: pause) {
            guard case .sending = self.state else { return }
            var progress = progress
            guard progress.isStuck(left: UnsentBytes.count(of: context.channel), now: context.eventLoop.now) else {
                return self.watch(progress, context: context)
            }
            self.service.noteRejection("answer-unread")
            context.close(promise: nil)
        }
    }

    func startTimer(context: ChannelHandlerContext) {
        self.timer = context.eventLoop.assumeIsolated().scheduleTask(in: self.service.limits.requestTimeout) {
            if self.answered > 0, case .idle = self.state {
                context.close(promise: nil)
            } else {
                self.fail(.timedOut, context: context)
            }
        }
    }

    func stopTimer() {
        self.timer?.cancel()
        self.timer = nil
    }
}

extension HTTPResponseHead {
    /// The approximate size of the head in bytes.
    fileprivate var approximateBytes: Int {
        self.headers.reduce(32) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
    }
}
