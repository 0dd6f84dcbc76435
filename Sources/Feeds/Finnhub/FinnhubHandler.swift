import Market
import NIOCore
import WebSocket
import Wire

/// The last handler of a Finnhub connection: frames to the tape, wishes to the service, and the one timer.
///
/// Obeys ``FinnhubSession``; the supervisor learns of changes through the closures and of the end through `ended`.
final class FinnhubHandler: ChannelInboundHandler, KeptConnection {
    typealias InboundIn = WebSocketMessage
    typealias OutboundOut = WebSocketOutput

    /// Why a connection ended, before it is put into words.
    enum Ending {
        case closed(WebSocketClosure)
        case failed(any Error)
        case silent(nanoseconds: Int64)
        case inactive
    }

    private(set) var session: FinnhubSession
    private let writer: TapeWriter
    private let wallClock: @Sendable () -> Int64
    private let freshnessChanged: (FinnhubSession.Freshness, _ lastError: String?) -> Void
    private let errorArrived: (_ text: String, _ isNews: Bool) -> Void
    private let ended: (Ending, FinnhubHandler) -> Void
    private var context: ChannelHandlerContext?
    private var timer: Scheduled<Void>?
    private var ending: Ending?
    private var hasEnded = false
    /// Our wall clock when the newest whole frame came, or when the connection opened; ns since 1970.
    private(set) var lastReceived: Int64

    init(
        session: FinnhubSession,
        writer: TapeWriter,
        wallClock: @escaping @Sendable () -> Int64,
        freshnessChanged: @escaping (FinnhubSession.Freshness, _ lastError: String?) -> Void,
        errorArrived: @escaping (_ text: String, _ isNews: Bool) -> Void,
        ended: @escaping (Ending, FinnhubHandler) -> Void
    ) {
        self.session = session
        self.writer = writer
        self.wallClock = wallClock
        self.freshnessChanged = freshnessChanged
        self.errorArrived = errorArrived
        self.ended = ended
        self.lastReceived = wallClock()
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        for symbol in self.session.symbols { self.write(.subscribe(symbol)) }
        context.flush()
        self.armTimer()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.end()
        self.context = nil
    }

    /// Asks for one more symbol on this connection.
    func wish(for symbol: String) {
        guard case .subscribe = self.session.wished(for: symbol) else { return }
        self.write(.subscribe(symbol))
        self.context?.flush()
    }

    /// Asks for a symbol no more.
    func unwish(_ symbol: String) {
        guard self.session.unwished(symbol) else { return }
        self.write(.unsubscribe(symbol))
        self.context?.flush()
    }

    var tradedFor: Int64 { self.session.tradedFor }

    /// Starts the closing handshake.
    func close() {
        self.context?.writeAndFlush(self.wrapOutboundOut(.close(.normal, reason: "")), promise: nil)
    }

    /// Stops or resumes reading from the socket; the service's sends then wait in the kernel.
    func setReading(_ isReading: Bool) {
        guard let context else { return }
        context.channel.setOption(.autoRead, value: isReading).whenFailure { _ in }
        if isReading { context.read() }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // The arrival is read once per read, below; binary messages are no part of the protocol and are left out.
        guard case .text(let bytes) = self.unwrapInboundIn(data) else { return }
        if case .error(let text) = self.writer.take(bytes) {
            let isNews = self.session.errorArrived(text, now: Self.now)
            self.errorArrived(text, isNews)
            if isNews { self.armTimer() }
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // Half a frame is a sign of life, but no trade can be known from it: a gap begins before it.
        if self.writer.hasPendingFrames { self.lastReceived = self.wallClock() }
        // The state first: no reader shall get a trade while it still believes that none flow.
        if let change = self.session.framesArrived(trades: self.writer.pendingTrades, now: Self.now) {
            self.freshnessChanged(change, self.session.lastError)
            self.armTimer()
        }
        self.writer.endRead(received: self.lastReceived)
        context.fireChannelReadComplete()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? WebSocketEvent {
            switch event {
            case .closed(let closure):
                self.ending = self.ending ?? .closed(closure)
            case .pingReceived, .pongReceived:
                self.session.signOfLifeArrived(now: Self.now)
            }
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.ending = self.ending ?? .failed(error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.end()
        context.fireChannelInactive()
    }

    private func end() {
        guard !self.hasEnded else { return }
        self.hasEnded = true
        self.timer?.cancel()
        self.timer = nil
        self.ended(self.ending ?? .inactive, self)
    }

    private func write(_ request: FinnhubRequest) {
        self.context?.write(self.wrapOutboundOut(.text(request.encoded())), promise: nil)
    }

    private static var now: Int64 { Int64(NIODeadline.now().uptimeNanoseconds) }

    private func armTimer() {
        self.timer?.cancel()
        self.timer = nil
        guard !self.hasEnded, let context, let deadline = self.session.deadline else { return }
        let loopBound = NIOLoopBound(self, eventLoop: context.eventLoop)
        self.timer = context.eventLoop.scheduleTask(deadline: .uptimeNanoseconds(UInt64(max(deadline, 0)))) {
            loopBound.value.deadlineReached()
        }
    }

    private func deadlineReached() {
        self.timer = nil
        switch self.session.deadlineReached(now: Self.now) {
        case .none:
            break
        case .report(let freshness):
            self.freshnessChanged(freshness, self.session.lastError)
        case .drop(let nanoseconds):
            self.ending = self.ending ?? .silent(nanoseconds: nanoseconds)
            // No closing handshake: a peer that sends nothing will not answer one.
            self.context?.close(mode: .all, promise: nil)
            return
        }
        self.armTimer()
    }
}
