import Logging
import Market
import NIOCore
import NIOPosix

/// The open connection that a ``ConnectionKeeper`` keeps.
protocol KeptConnection: AnyObject {
    /// Starts the closing handshake.
    func close()
    /// Stops or resumes reading from the socket.
    func setReading(_ isReading: Bool)
}

/// The keeper of one connection: opens it, and opens it again by the ladder until it is told to stop.
///
/// Belongs to one event loop. It waits for exactly one thing at a time: an attempt, a connection's end, or the timer of
/// the next attempt.
final class ConnectionKeeper {
    /// How long a stop waits for the closing handshake; the rest of the program has to stop in time too.
    private static let stopLimit: TimeAmount = .milliseconds(250)

    private enum State {
        case idle
        /// An attempt is under way; it has limits of its own.
        case connecting
        /// Connected; the connection tells of its end through ``connectionEnded(_:tradedFor:)``.
        case connected(any KeptConnection, any Channel)
        /// Waiting for the next attempt.
        case pausing(Scheduled<Void>)
        case finished
    }

    private let connector: UpstreamConnector
    private let loop: any EventLoop
    private let wallClock: @Sendable () -> Int64
    private let chance: @Sendable () -> Double
    private let logger: Logger
    /// Makes and installs the connection's last handler, before any frame is delivered; set before the start.
    var opened: (any Channel) throws -> (any KeptConnection)? = { _ in nil }
    /// Is told what is true now; that trades flow is reported by whoever reads them.
    var report: (FeedStatus.Phase, _ reason: String?) -> Void = { _, _ in }
    /// Leaves out what a reason must not tell: the key, should the service repeat it.
    var redact: (String) -> String = { $0 }
    private var state = State.idle
    /// The channel of the attempt under way, once there is one.
    private var attempt: (any Channel)?
    /// The end of a connection that came while its handler was being installed.
    private var earlyEnd: (failure: UpstreamFailure, tradedFor: Int64)?
    private var ladder: ReconnectLadder
    private var isStopping = false
    private var isReading = true
    /// Why the next attempt is made; `nil` for the first.
    private var reason: String?
    /// Completes when the keeper is done; fails only where a person must act.
    let finished: EventLoopPromise<Void>

    init(
        connector: UpstreamConnector,
        ladder: ReconnectLadder.Settings,
        loop: any EventLoop,
        wallClock: @escaping @Sendable () -> Int64,
        chance: @escaping @Sendable () -> Double,
        logger: Logger
    ) {
        self.connector = connector
        self.ladder = ReconnectLadder(settings: ladder)
        self.loop = loop
        self.wallClock = wallClock
        self.chance = chance
        self.logger = logger
        self.finished = loop.makePromise()
    }

    /// The connection, while there is one.
    var connection: (any KeptConnection)? {
        guard case .connected(let connection, _) = self.state else { return nil }
        return connection
    }

    /// Begins the first attempt.
    func start() {
        guard case .idle = self.state else { return }
        if self.isStopping {
            self.finish(.success(()))
        } else {
            self.connect()
        }
    }

    /// Ends it: a closing handshake where there is a connection, and no further attempt.
    func stop() {
        guard !self.isStopping else { return }
        self.isStopping = true
        switch self.state {
        case .finished:
            break
        case .idle:
            self.finish(.success(()))
        case .connecting:
            self.attempt?.close(promise: nil)
            self.finish(.success(()))
        case .connected(let connection, let channel):
            connection.close()
            // A socket that is held back would never see the peer's answer.
            connection.setReading(true)
            let limit = self.loop.assumeIsolated().scheduleTask(in: Self.stopLimit) { self.finish(.success(())) }
            channel.closeFuture.assumeIsolated().whenComplete { _ in
                limit.cancel()
                self.finish(.success(()))
            }
        case .pausing(let timer):
            timer.cancel()
            self.finish(.success(()))
        }
    }

    /// Holds the peer back, or lets it go on; holds for later connections too.
    func setReading(_ isReading: Bool) {
        guard self.isReading != isReading else { return }
        self.isReading = isReading
        self.connection?.setReading(isReading)
    }

    /// Takes the end of the connection.
    ///
    /// - Parameter tradedFor: for how long it carried trades, in nanoseconds.
    func connectionEnded(_ failure: UpstreamFailure, tradedFor: Int64) {
        switch self.state {
        case .connected: self.attemptEnded(failure, tradedFor: tradedFor)
        // The first write can find the socket broken.
        case .connecting: self.earlyEnd = (failure, tradedFor)
        case .idle, .pausing, .finished: break
        }
    }

    private func connect() {
        self.state = .connecting
        self.report(.connecting, self.reason)
        self.connector.connect(
            on: self.loop,
            reached: { channel in try self.reached(channel) },
            connected: { channel in try self.connected(channel) }
        ).assumeIsolated().whenFailure { error in
            guard case .connecting = self.state else { return }
            self.attemptEnded(UpstreamFailure(error), tradedFor: 0)
        }
    }

    /// Takes the attempt's channel as soon as there is one, so that a stop can end it; throws when it came too late.
    private func reached(_ channel: any Channel) throws {
        guard case .connecting = self.state else { throw ChannelError.ioOnClosedChannel }
        self.attempt = channel
    }

    private func connected(_ channel: any Channel) throws {
        guard case .connecting = self.state, let connection = try self.opened(channel) else {
            // Stopped meanwhile.
            channel.close(promise: nil)
            return
        }
        self.attempt = nil
        if let end = self.earlyEnd {
            self.earlyEnd = nil
            self.attemptEnded(end.failure, tradedFor: end.tradedFor)
            return
        }
        self.state = .connected(connection, channel)
        if !self.isReading { connection.setReading(false) }
    }

    private func attemptEnded(_ failure: UpstreamFailure, tradedFor: Int64) {
        self.attempt = nil
        var failure = failure
        failure.description = self.redact(failure.description)
        if self.isStopping {
            self.finish(.success(()))
            return
        }
        let wait: Int64
        switch failure.disposition {
        case .ended:
            self.report(.ended, failure.description)
            self.finish(.success(()))
            return
        case .keyRejected:
            self.report(.keyRejected(retryAt: nil), failure.description)
            self.finish(.failure(failure))
            return
        case .rateLimited(let retryAfter):
            wait = self.ladder.rateLimited(retryAfter: retryAfter)
            self.report(.rateLimited(until: self.wallClock() + wait), failure.description)
        case .retry:
            wait = self.ladder.connectionEnded(tradedFor: tradedFor, chance: self.chance())
            self.report(
                .reconnecting(attempt: self.ladder.failures, retryAt: self.wallClock() + wait),
                failure.description
            )
        }
        self.reason = failure.description
        self.logger.warning(
            "The connection ended",
            metadata: ["reason": "\(failure.description)", "retry_in_ms": "\(wait / 1_000_000)"]
        )
        let loopBound = NIOLoopBound(self, eventLoop: self.loop)
        self.state = .pausing(self.loop.scheduleTask(in: .nanoseconds(wait)) { loopBound.value.connect() })
    }

    private func finish(_ result: Result<Void, any Error>) {
        if case .finished = self.state { return }
        self.state = .finished
        if self.isStopping { self.report(.stopped, nil) }
        self.finished.completeWith(result)
    }
}
