import NIOCore
import NIOHTTP1

// The way of an answer out of this program: the next request is taken when it has left, and not before, so that a peer that
// does not read has one answer waiting, however many requests it has sent.
extension HTTPServerConnection {
    /// The most parts of requests that wait: more than one read of the socket brings. A request has two or more.
    private static let mostWaiting = 128

    /// Whether the connection ends behind the answer under way.
    private var isLast: Bool { !self.mayKeepAlive || (self.isInputOver && self.waiting.isEmpty) }

    /// Writes an answer, and goes on behind it once it has left.
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
        // An answer behind this one may be on its way already.
        guard case .sending = self.state, self.timer == nil, context.channel.isActive else { return }
        let progress = self.progress(of: context)
        self.progress = progress
        self.watch(progress, context: context)
    }

    /// Answers a request that failed outside of the service, and ends the connection.
    func fail(_ failure: HTTPServerFailure, context: ChannelHandlerContext) {
        self.reject(self.service.rejection(for: failure, of: self.admitted), context: context)
    }

    /// Answers with a rejection and ends the connection: its peer has no business here.
    func reject(_ rejection: HTTPRejection, context: ChannelHandlerContext) {
        self.mayKeepAlive = false
        self.service.noteRejection(rejection.type)
        self.send(rejection.answer, context: context)
    }

    /// The answer has left this program: takes the next request, or ends the connection.
    private func sent(context: ChannelHandlerContext) {
        guard case .sending = self.state, context.channel.isActive else { return }  // late: it has been closed
        self.stopTimer()
        self.room = nil
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

    /// Makes up for a read that was asked for while an answer was under way; also for a WebSocket that has just taken this
    /// handler's place, so it begins at the pipeline's end.
    func readOn(context: ChannelHandlerContext) {
        guard self.isReadHeld else { return }
        self.isReadHeld = false
        context.channel.read()
    }

    // MARK: The end of the input

    /// Keeps a part of a request that comes while another is answered.
    ///
    /// Nothing is read meanwhile, but at the end of its input a socket gives all that it has.
    func keep(_ part: HTTPServerRequestPart) {
        guard !self.isInputOver else { return }
        guard self.waiting.count < Self.mostWaiting else { return self.endInput() }
        self.waiting.append(part)
    }

    /// Takes no more: the connection ends behind the answers to the requests that are here whole.
    func endInput() {
        self.isInputOver = true
        while let part = self.waiting.last {
            if case .end = part { return }
            self.waiting.removeLast()
        }
    }

    // MARK: Time

    func progress(of context: ChannelHandlerContext) -> AnswerProgress {
        AnswerProgress(
            left: UnsentBytes.count(of: context.channel),
            patience: self.service.limits.stallTimeout,
            now: context.eventLoop.now,
            behind: self.progress
        )
    }

    /// Notes that another answer goes out, before it is written: for a peer that has left something of those before unread, it
    /// is more of the same.
    private func countAnswer(of bytes: Int, context: ChannelHandlerContext) {
        guard self.progress != nil else { return }
        if UnsentBytes.count(of: context.channel) == 0 {
            self.progress = nil
        } else {
            self.progress?.answerFollows(bytes: bytes, now: context.eventLoop.now)
        }
    }

    /// Ends the connection when its peer takes nothing of the answer any more.
    private func watch(_ progress: AnswerProgress, context: ChannelHandlerContext) {
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
    /// About as many bytes as it has on the wire.
    fileprivate var approximateBytes: Int {
        self.headers.reduce(32) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
    }
}
