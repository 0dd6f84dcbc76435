import Market
import NIOCore
import TLS
import Wire

/// The delegate of a connection to another program's relay. All methods are called on the connection's loop.
protocol StreamConnectionDelegate: AnyObject {
    /// Takes a message of the relay, in order. Messages that tell the reader nothing new are left out.
    func messageArrived(_ message: StreamMessage)
    /// Takes a change of the link to the relay. While the link is open (`waiting`), the relay's own status applies.
    func linkChanged(_ phase: FeedStatus.Phase, reason: String?, cause: FeedStatus.Cause?)
}

/// A client of another program's `/v1/stream`: one connection, opened again until it is stopped.
///
/// On each connection it subscribes again and continues where the last one ended (``StreamReading``). Belongs to one
/// event loop.
final class StreamConnection {
    private let context: FeedContext
    private let link: ReconnectingConnection
    weak var delegate: (any StreamConnectionDelegate)?
    private var reading: StreamReading
    /// The handler of the newest connection.
    private weak var handler: StreamHandler?
    private var questions = SymbolQuestions()
    private var promises: [Int: EventLoopPromise<String?>] = [:]
    private var timer: Scheduled<Void>?

    /// - Parameter secret: the relay's token or key, to remove from what a server repeats.
    init(
        _ reading: StreamReading,
        connector: any Connecting,
        secret: Secret?,
        backoff: ReconnectBackoff.Settings,
        _ context: FeedContext
    ) {
        self.reading = reading
        self.context = context
        var keeping = ReconnectingConnection.Settings(connector: connector, backoff: backoff)
        keeping.secret = secret
        self.link = ReconnectingConnection(keeping, context)
        self.link.delegate = self
    }

    var finished: EventLoopFuture<Void> { self.link.finished.futureResult }

    func start() { self.link.start() }

    func stop() { self.link.stop() }

    /// Replaces the link by a new one, or makes the next attempt now.
    func renew() -> ConnectionRenewal { self.link.renew() }

    // MARK: Symbols

    /// Subscribes to a further symbol, on this connection and on later ones.
    func subscribe(_ symbol: String) { self.send(self.reading.subscribed(symbol)) }

    /// Unsubscribes from a symbol, on this connection and on later ones, even if the reader follows all symbols.
    func unsubscribe(_ symbol: String) { self.send(self.reading.unsubscribed(symbol)) }

    /// Subscribes to a symbol. The answer is the relay's objection, or `nil` if it states none within seconds.
    func retain(_ symbol: String) -> EventLoopFuture<String?> {
        guard let request = self.reading.subscribed(symbol), let handler else {
            return self.context.loop.makeSucceededFuture(nil)
        }
        handler.send(request.encoded())
        handler.send(StreamRequest.ping(id: nil).encoded())
        let promise = self.context.loop.makePromise(of: String?.self)
        self.promises[self.questions.asked(symbol, now: self.now)] = promise
        self.armTimer()
        return promise.futureResult
    }

    private func send(_ request: StreamRequest?) {
        if let request { self.handler?.send(request.encoded()) }
    }

    private func answer(_ change: (inout SymbolQuestions, Int64) -> [SymbolQuestions.Answer]) {
        guard !self.promises.isEmpty else { return }
        for answer in change(&self.questions, self.now) {
            self.promises.removeValue(forKey: answer.number)?.succeed(answer.problem)
        }
        self.armTimer()
    }

    private var now: Int64 { Int64(self.context.loop.now.uptimeNanoseconds) }

    private func armTimer() {
        self.timer?.cancel()
        guard let deadline = self.questions.deadline else { return }
        let at = NIODeadline.uptimeNanoseconds(UInt64(max(deadline, 0)))
        self.timer = self.context.loop.assumeIsolated().scheduleTask(deadline: at) {
            self.answer { $0.waited(now: $1) }
        }
    }
}

extension StreamConnection: StreamHandlerDelegate {
    func textArrived(_ text: ByteBuffer) {
        let message = StreamMessage.parse(text)
        if let news = self.reading.took(message, wall: self.context.wallClock()) { self.delegate?.messageArrived(news) }
        for request in self.reading.takeRequests() { self.send(request) }
        self.answer { $0.received(message, now: $1) }
    }

    func ended(_ ending: ConnectionEnding, tradedFor: Int64) {
        self.answer { questions, _ in questions.lost() }
        self.link.connectionEnded(UpstreamFailure(ending), tradedFor: tradedFor)
    }
}

extension StreamConnection: ReconnectingConnectionDelegate {
    package func connectionOpened(_ channel: any Channel, isRelay: Bool) throws -> any KeptConnection {
        let handler = StreamHandler(self, requests: self.reading.opened().map { $0.encoded() })
        self.delegate?.linkChanged(.waiting, reason: nil, cause: nil)
        try channel.pipeline.syncOperations.addHandler(handler)
        self.handler = handler
        return handler
    }

    package func connectionReported(_ phase: FeedStatus.Phase, reason: String?, cause: FeedStatus.Cause?) {
        self.delegate?.linkChanged(phase, reason: reason, cause: cause)
    }
}

extension ReconnectBackoff.Settings {
    /// The waits of a client of a relay.
    static var ofRelayClient: Self {
        var settings = Self()
        // The relay is near and ours, so waits of a minute are not needed.
        settings.limit = 5_000_000_000
        // With 0 every connection that opens would count as good, and the backoff would not grow.
        settings.settled = 1_000_000_000
        // Brief connections to a relay say nothing about a key.
        settings.briefLimit = .max
        return settings
    }
}
