package import TLS
package import Market
package import NIOCore

/// The delegate of a ``ReconnectingConnection``. All methods are called on its loop.
package protocol ReconnectingConnectionDelegate: AnyObject {
    /// Creates and installs the connection's last handler, before any frame is delivered.
    ///
    /// - Parameter isRelay: whether the peer identified itself as the relay of a program like this one.
    func connectionOpened(_ channel: any Channel, isRelay: Bool) throws -> any KeptConnection
    /// Takes a new phase. That trades flow is reported by the reader of the trades instead.
    func connectionReported(_ phase: FeedStatus.Phase, reason: String?, cause: FeedStatus.Cause?)
    /// Takes the end of a connection or an attempt, before the next one.
    ///
    /// - Parameter retry: continues, with this failure as the reason. Without a call only
    ///   ``ReconnectingConnection/stop()`` ends the wait.
    func connectionLost(_ failure: UpstreamFailure, retry: @escaping (UpstreamFailure) -> Void)
}

extension ReconnectingConnectionDelegate {
    /// Continues at once.
    package func connectionLost(_ failure: UpstreamFailure, retry: @escaping (UpstreamFailure) -> Void) {
        retry(failure)
    }
}

/// A connection that is opened again, with the waits of its backoff, until it is stopped.
///
/// Belongs to one event loop, whose clock is its only monotonic one. It waits for exactly one thing at a time: an
/// attempt, the connection's end, the timer of the next attempt, or an answer of the disk or the delegate.
package final class ReconnectingConnection {
    /// The limit for the closing handshake at a stop; the rest of the program has to stop in time, too.
    private static let stopLimit: TimeAmount = .milliseconds(250)

    enum State {
        case idle
        /// Waits for the delegate, or for the disk: to load the saved state, or to save the next attempt.
        case looking
        /// An attempt is under way; its steps have limits of their own.
        case connecting
        /// Connected. ``connectionEnded(_:tradedFor:)`` reports the end.
        case connected(any KeptConnection, any Channel)
        /// Waits for the timer of the next attempt.
        case pausing(Scheduled<Void>)
        case finished
    }

    /// The settings of the connection.
    package struct Settings {
        /// The way to the service.
        package var connector: any Connecting
        package var backoff: ReconnectBackoff.Settings
        /// The secret to remove from a reason, in case the service repeats it.
        package var secret: Secret?
        /// The state that is kept across a restart.
        package var holding = KeyHolding.none
        /// The reason why the first attempt replaces another program's connection; `nil` if it does not.
        package var takeover: String?

        package init(connector: any Connecting, backoff: ReconnectBackoff.Settings) {
            self.connector = connector
            self.backoff = backoff
        }
    }

    private let settings: Settings
    var connector: any Connecting { self.settings.connector }
    package weak var delegate: (any ReconnectingConnectionDelegate)?
    let context: FeedContext
    let backoff: PersistentBackoff

    var state = State.idle
    /// Numbers the attempts, so that a late answer to an old one is recognised.
    private var attemptNumber = 0
    /// Numbers the questions to the disk and the delegate, for the same purpose.
    private var lookNumber = 0
    var pauseNumber = 0
    /// The second connection beside the open one, and the number of its attempt.
    var second = Second.none
    var secondNumber = 0
    /// The end of the time for which the service wants no attempt after that one, by the loop's clock, which is never
    /// set.
    var ban: (until: NIODeadline, reason: String)?
    /// The channel of the attempt under way, once there is one.
    private var attempt: (any Channel)?
    /// The end of a connection, if it came while the handler was being installed.
    private var earlyEnd: (failure: UpstreamFailure, tradedFor: Int64)?
    /// When the connection opened, by the loop's clock.
    private var openedAt: NIODeadline?
    /// The timer of the check whether the connection has proved good.
    private var proof: Scheduled<Void>?
    private(set) var isStopping = false
    /// Whether it ends without a status, because another connection takes its place.
    private var isAbandoned = false
    /// Whether the present connection is being closed for a new one. `renewedAt` is the time of the newest granted
    /// request.
    var isRenewing = false
    var renewedAt: NIODeadline?
    /// The end of a pause that the service asked for (wall clock, ns since 1970), and its reason; `nil` outside such a
    /// pause.
    var leftAlone: (until: Int64, reason: String)?
    /// When the present wait began, by the loop's clock.
    var pausedAt = NIODeadline.uptimeNanoseconds(0)
    private(set) var isReading = true
    /// The reason of the next attempt; `nil` for the first.
    var reason: String?
    var cause: FeedStatus.Cause?
    /// Completes when there will be no further attempt; fails only if a person must act.
    package let finished: EventLoopPromise<Void>

    package init(_ settings: Settings, _ context: FeedContext) {
        self.settings = settings
        self.context = context
        self.backoff = PersistentBackoff(settings.backoff, settings.holding, loop: context.loop)
        self.finished = context.loop.makePromise()
    }

    var loop: any EventLoop { self.context.loop }

    func report(_ phase: FeedStatus.Phase, _ reason: String?, _ cause: FeedStatus.Cause?) {
        self.delegate?.connectionReported(phase, reason: reason, cause: cause)
    }

    func redact(_ text: String) -> String { self.settings.secret?.redacted(text) ?? text }

    /// The open connection, if there is one.
    package var connection: (any KeptConnection)? {
        guard case .connected(let connection, _) = self.state else { return nil }
        return connection
    }

    /// Begins the first attempt.
    package func start() {
        guard case .idle = self.state else { return }
        if self.isStopping {
            self.finish(.success(()))
        } else {
            self.begin()
        }
    }

    /// Ends the connection with a closing handshake, if there is one; no further attempt follows.
    package func stop() {
        guard !self.isStopping else { return }
        self.isStopping = true
        self.endSecond()
        switch self.state {
        case .finished:
            break
        case .idle, .looking:
            self.finish(.success(()))
        case .connecting:
            self.attempt?.close(promise: nil)
            self.finish(.success(()))
        case .connected(let connection, let channel):
            self.backoff.handOver(tradedFor: connection.tradedFor, livedFor: self.livedFor)
            connection.close()
            // If reading is paused, the peer's answer would never be seen.
            connection.setReading(true)
            let limit = self.loop.assumeIsolated().scheduleTask(in: Self.stopLimit) {
                // Our connection ends before the key is released, so that a waiting program never connects beside it.
                channel.close(mode: .all, promise: nil)
                self.finish(.success(()))
            }
            channel.closeFuture.assumeIsolated().whenComplete { _ in
                limit.cancel()
                self.finish(.success(()))
            }
        case .pausing(let timer):
            timer.cancel()
            self.finish(.success(()))
        }
    }

    /// Ends the connection at once and without a status, because another one takes its place. The peer may be gone, so
    /// there is no closing handshake.
    package func abandon() {
        guard !self.isStopping else { return }
        self.isAbandoned = true
        self.endSecond()
        guard case .connected(_, let channel) = self.state else { return self.stop() }
        self.isStopping = true
        channel.close(mode: .all, promise: nil)
        channel.closeFuture.assumeIsolated().whenComplete { _ in self.finish(.success(())) }
    }

    /// Ends the attempts for good. Only the first call counts.
    private func finish(_ result: Result<Void, any Error>) {
        if case .finished = self.state { return }
        self.state = .finished
        self.proof?.cancel()
        // The next program with the key must find the saved state.
        self.backoff.close {
            if self.isStopping, !self.isAbandoned { self.report(.stopped, nil, nil) }
            self.finished.completeWith(result)
        }
    }

    /// Stops or resumes reading from the peer, on later connections, too.
    package func setReading(_ isReading: Bool) {
        guard self.isReading != isReading else { return }
        self.isReading = isReading
        self.connection?.setReading(isReading)
        if case .connected(let second, _, _) = self.second { second.setReading(isReading) }
    }

    /// Takes the end of the connection.
    ///
    /// - Parameter tradedFor: the time from its first to its newest trade, ns.
    package func connectionEnded(_ failure: UpstreamFailure, tradedFor: Int64) {
        switch self.state {
        case .connected: self.attemptEnded(failure, tradedFor: tradedFor)
        // The first write can already find the socket broken.
        case .connecting: self.earlyEnd = (failure, tradedFor)
        case .idle, .looking, .pausing, .finished: break
        }
    }

    // MARK: Attempts

    /// Asks the disk or the delegate. Meanwhile only a stop can end the wait.
    private func look<Answer>(_ ask: (@escaping (Answer) -> Void) -> Void, then: @escaping (Answer) -> Void) {
        self.state = .looking
        self.lookNumber += 1
        let number = self.lookNumber
        ask { answer in
            guard case .looking = self.state, number == self.lookNumber else { return }
            then(answer)
        }
    }

    /// Begins the first attempt, after the rest of a saved wait.
    private func begin() {
        if let takeover = self.settings.takeover {
            self.reason = takeover
            self.cause = .relay
        }
        guard self.backoff.isPersistent else { return self.next() }
        self.look { answer in
            self.backoff.load(
                isTakeover: self.settings.takeover != nil,
                now: self.context.wallClock,
                redact: self.redact,
                then: answer
            )
        } then: { (before: PersistentBackoff.Remainder?) in
            guard let before else { return self.next() }
            let until = self.context.wallClock() + before.wait
            self.report(self.phase(of: before.kind, until: until), before.reason, before.cause)
            // The saved reason is incomplete, so the wait counts as one that the service asked for.
            self.leaveAlone(for: before.wait, before.reason)
            self.retry(in: before.wait)
        }
    }

    /// Begins the next attempt.
    func next() {
        let wait = self.backoff.budgetWait(at: self.context.wallClock())
        guard wait == 0 else { return self.waitForBudget(wait) }
        if self.waitsForBan() { return }
        self.report(.connecting, self.reason, self.cause)
        self.look { answer in
            self.backoff.attempted(at: self.context.wallClock()) { answer(()) }
        } then: { (_: Void) in
            self.connect()
        }
    }

    private func connect() {
        self.state = .connecting
        self.leftAlone = nil
        self.earlyEnd = nil
        self.openedAt = nil
        self.attemptNumber += 1
        let number = self.attemptNumber
        self.settings.connector.connect(
            on: self.loop,
            reached: { channel in try self.reached(channel, attempt: number) },
            connected: { channel, isRelay in try self.connected(channel, isRelay: isRelay, attempt: number) }
        ).assumeIsolated().whenFailure { error in
            guard self.isUnderWay(number) else { return }
            // The end of the connection says more than the error of a later operation on it.
            let end = self.earlyEnd
            self.earlyEnd = nil
            self.attemptEnded(end?.failure ?? UpstreamFailure(error), tradedFor: end?.tradedFor ?? 0)
        }
    }

    private func isUnderWay(_ number: Int) -> Bool {
        guard case .connecting = self.state else { return false }
        return number == self.attemptNumber
    }

    /// Takes the attempt's channel as soon as it exists, so that a stop can close it. Throws if the attempt is over.
    private func reached(_ channel: any Channel, attempt number: Int) throws {
        guard self.isUnderWay(number) else { throw ChannelError.ioOnClosedChannel }
        self.attempt = channel
    }

    private func connected(_ channel: any Channel, isRelay: Bool, attempt number: Int) throws {
        guard self.isUnderWay(number), let connection = try self.delegate?.connectionOpened(channel, isRelay: isRelay)
        else {
            // The attempt was stopped meanwhile.
            channel.close(promise: nil)
            return
        }
        // The connection, and with it the attempt, may have ended while its handler was being added.
        guard self.isUnderWay(number) else {
            channel.close(promise: nil)
            return
        }
        self.attempt = nil
        self.openedAt = self.loop.now
        if let end = self.earlyEnd {
            self.earlyEnd = nil
            channel.close(promise: nil)
            self.attemptEnded(end.failure, tradedFor: end.tradedFor)
            return
        }
        self.state = .connected(connection, channel)
        if !self.isReading { connection.setReading(false) }
        self.backoff.connectionOpened()
        if self.backoff.isPersistent { self.armProof() }
    }

    /// Checks at intervals whether the connection has been good for long enough to forget earlier failures.
    private func armProof() {
        let interval = max(self.backoff.settings.brief, 100_000_000)
        let loopBound = NIOLoopBound(self, eventLoop: self.loop)
        self.proof = self.loop.scheduleTask(in: .nanoseconds(interval)) {
            let link = loopBound.value
            guard let connection = link.connection,
                !link.backoff.judge(tradedFor: connection.tradedFor, livedFor: link.livedFor)
            else { return }
            link.armProof()
        }
    }

    /// How long the connection has been open, ns.
    var livedFor: Int64? { self.openedAt.map { (self.loop.now - $0).nanoseconds } }

    /// Notes that another connection, which opened then, is the present one.
    func replaced(openedAt: NIODeadline) {
        self.openedAt = openedAt
        self.proof?.cancel()
        self.proof = nil
        if self.backoff.isPersistent { self.armProof() }
    }

    private func attemptEnded(_ failure: UpstreamFailure, tradedFor: Int64) {
        self.attempt = nil
        self.endSecond()
        self.proof?.cancel()
        self.proof = nil
        let livedFor = self.livedFor
        self.openedAt = nil
        if self.isStopping { return self.finish(.success(())) }
        let isRenewal = self.isRenewing
        self.isRenewing = false
        let failure = isRenewal ? Self.renewed : failure
        self.look { answer in
            guard let delegate = self.delegate else { return answer(failure) }
            delegate.connectionLost(failure, retry: answer)
        } then: { failure in
            self.waits(after: failure, tradedFor: tradedFor, livedFor: livedFor, isRenewal: isRenewal)
        }
    }

    private func waits(after failure: UpstreamFailure, tradedFor: Int64, livedFor: Int64?, isRenewal: Bool) {
        var failure = failure
        failure.description = self.redact(failure.description)
        self.reason = failure.description
        self.cause = failure.cause
        switch failure.disposition {
        case .ended:
            self.report(.ended, failure.description, nil)
            self.finish(.success(()))
        case .keyRejected:
            guard let wait = self.backoff.keyRejected() else {
                self.report(.keyRejected(retryAt: nil), failure.description, failure.cause)
                self.finish(.failure(failure))
                return
            }
            let until = self.context.wallClock() + wait
            self.report(.keyRejected(retryAt: until), failure.description, failure.cause)
            self.leaveAlone(for: wait, failure.description)
            self.pause(for: wait)
        case .rateLimited(let retryAfter):
            self.pause(self.backoff.rateLimited(retryAfter: retryAfter), reason: failure.description)
        case .retry:
            var pause = self.backoff.connectionEnded(
                tradedFor: tradedFor,
                // A connection that this program ended says nothing about other users of the key.
                livedFor: isRenewal || failure.isOurEnd ? nil : livedFor,
                retryAfter: failure.retryAfter,
                chance: isRenewal ? 0 : self.context.chance()
            )
            if isRenewal { pause.wait = min(pause.wait, self.backoff.settings.floor) }
            self.pause(pause, reason: failure.description)
            if failure.retryAfter != nil { self.leaveAlone(for: pause.wait, failure.description) }
        }
    }
}
