package import TLS
package import Logging
package import Market
package import NIOCore
import NIOPosix

/// Who a ``ConnectionKeeper`` keeps a connection for; everything is called on its loop.
package protocol ConnectionKeeperDelegate: AnyObject {
    /// Makes and installs the connection's last handler, before any frame is delivered.
    ///
    /// - Parameter isRelay: whether the peer says that it is the relay of a program like this one.
    func connectionOpened(_ channel: any Channel, isRelay: Bool) throws -> any KeptConnection
    /// Takes what is true now; that trades flow is reported by whoever reads them.
    func connectionReported(_ phase: FeedStatus.Phase, reason: String?, cause: FeedStatus.Cause?)
    /// Notes through whose relay the trades come from here on; `nil` for the service itself.
    func attachmentChanged(_ attachment: Attachment?)
}

extension ConnectionKeeperDelegate {
    /// Without a key there is nobody to share it with.
    package func attachmentChanged(_ attachment: Attachment?) {}
}

/// The keeper of one connection: opens it, and opens it again by the ladder until it is told to stop.
///
/// Belongs to one event loop, whose clock is its only one. It waits for exactly one thing at a time: an attempt, a
/// connection's end, or the timer of the next attempt. Beside that, one that holds a key looks twice a second whether the
/// key is still its own (``patrol()``).
package final class ConnectionKeeper {
    /// How long a stop waits for the closing handshake; the rest of the program has to stop in time too.
    private static let stopLimit: TimeAmount = .milliseconds(250)

    enum State {
        case idle
        /// Waiting for the disk: whose the key is, or that the next attempt is written down.
        case looking
        /// An attempt is under way; it has limits of its own.
        case connecting
        /// Connected; the connection tells of its end through ``connectionEnded(_:tradedFor:)``.
        case connected(any KeptConnection, any Channel)
        /// Waiting for the next attempt.
        case pausing(Scheduled<Void>)
        case finished
    }

    /// What is kept, and how.
    package struct Settings {
        /// The way to the service.
        package var connector: any Connecting
        package var ladder: ReconnectLadder.Settings
        /// What a reason must not hold, should the service repeat it.
        package var secret: Secret?
        /// Who else may hold the key, and what is remembered over a restart.
        package var holding = KeyHolding.none
        /// Makes the way to another program's relay.
        package var relays: RelayConnector?

        package init(connector: any Connecting, ladder: ReconnectLadder.Settings) {
            self.connector = connector
            self.ladder = ladder
        }
    }

    /// Makes the way to a path of another program's relay.
    package typealias RelayConnector = (_ relay: UpstreamAddress, _ path: String) throws -> any Connecting

    private let settings: Settings
    package weak var delegate: (any ConnectionKeeperDelegate)?
    let loop: any EventLoop
    let wallClock: @Sendable () -> Int64
    private let chance: @Sendable () -> Double
    let logger: Logger
    /// Whose the key is, and what was before.
    let files: KeyFiles

    var state = State.idle
    /// Counts the attempts, so that a late answer to an old one is known.
    private var attemptNumber = 0
    /// Counts the questions to the disk, likewise.
    private var lookNumber = 0
    var pauseNumber = 0
    /// The channel of the attempt under way, once there is one.
    private var attempt: (any Channel)?
    /// The end of a connection that came while its handler was being installed.
    private var earlyEnd: (failure: UpstreamFailure, tradedFor: Int64)?
    var ladder: ReconnectLadder
    /// When the connection opened.
    var openedAt: NIODeadline?
    /// When the service itself was asked for a connection last, wall clock, ns since 1970.
    var attemptedAt: Int64 = 0
    /// Looks whether the connection has proved to be good.
    var proof: Scheduled<Void>?
    private(set) var isStopping = false
    /// Whether the connection that stands is being given up for a new one, and when one was asked for last.
    var isRenewing = false
    var renewedAt: NIODeadline?
    /// Until when the service wants to be left alone (wall clock, ns since 1970), and why, while that is waited for.
    var leftAlone: (until: Int64, reason: String)?
    /// When the present wait began.
    var pausedAt = NIODeadline.uptimeNanoseconds(0)
    private var isReading = true
    /// Why the next attempt is made; `nil` for the first.
    var reason: String?
    var cause: FeedStatus.Cause?
    /// Whether the key is this program's, as far as it knows.
    var isOwner = false
    /// The other program that held the key when it was last asked for.
    var formerOwner: Int32?
    /// Whose relay the trades come through, or shall.
    var attachment: Attachment?
    var patrolTimer: Scheduled<Void>?
    /// How often in a row the other program's relay could not be reached.
    var relayFailures = 0
    /// Completes when the keeper is done; fails only where a person must act.
    package let finished: EventLoopPromise<Void>

    package init(
        _ settings: Settings,
        loop: any EventLoop,
        wallClock: @escaping @Sendable () -> Int64,
        chance: @escaping @Sendable () -> Double,
        logger: Logger
    ) {
        self.settings = settings
        self.ladder = ReconnectLadder(settings: settings.ladder)
        self.loop = loop
        self.wallClock = wallClock
        self.chance = chance
        self.logger = logger
        self.files = KeyFiles(settings.holding, loop: loop)
        self.finished = loop.makePromise()
    }

    func report(_ phase: FeedStatus.Phase, _ reason: String?, _ cause: FeedStatus.Cause?) {
        self.delegate?.connectionReported(phase, reason: reason, cause: cause)
    }

    func redact(_ text: String) -> String { self.settings.secret?.redacted(text) ?? text }

    /// The way to the trades at another program's relay.
    func connector(to relay: UpstreamAddress) throws -> any Connecting {
        guard let relays = self.settings.relays else { throw ChannelError.operationUnsupported }
        return try relays(relay, "/")
    }

    /// The connection, while there is one.
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
            self.patrol()
            self.next()
        }
    }

    /// Ends it: a closing handshake where there is a connection, and no further attempt.
    package func stop() {
        guard !self.isStopping else { return }
        self.isStopping = true
        switch self.state {
        case .finished:
            break
        case .idle, .looking:
            self.finish(.success(()))
        case .connecting:
            self.attempt?.close(promise: nil)
            self.finish(.success(()))
        case .connected(let connection, let channel):
            if self.attachment == nil { self.handOver(connection) }
            connection.close()
            // A socket that is held back would never see the peer's answer.
            connection.setReading(true)
            let limit = self.loop.assumeIsolated().scheduleTask(in: Self.stopLimit) {
                // Before the key is free: whoever waits for it must not meet our connection at the service.
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

    /// Holds the peer back, or lets it go on; holds for later connections too.
    package func setReading(_ isReading: Bool) {
        guard self.isReading != isReading else { return }
        self.isReading = isReading
        self.connection?.setReading(isReading)
    }

    /// Takes the end of the connection.
    ///
    /// - Parameter tradedFor: for how long it carried trades, in nanoseconds.
    package func connectionEnded(_ failure: UpstreamFailure, tradedFor: Int64) {
        switch self.state {
        case .connected: self.attemptEnded(failure, tradedFor: tradedFor)
        // The first write can find the socket broken.
        case .connecting: self.earlyEnd = (failure, tradedFor)
        case .idle, .looking, .pausing, .finished: break
        }
    }

    // MARK: Attempts

    /// Asks the disk, and waits for nothing else meanwhile but a stop.
    func look<Answer>(_ ask: (@escaping (Answer) -> Void) -> Void, then: @escaping (Answer) -> Void) {
        self.state = .looking
        self.lookNumber += 1
        let number = self.lookNumber
        ask { answer in
            guard case .looking = self.state, number == self.lookNumber else { return }
            then(answer)
        }
    }

    /// Connects to the service itself.
    func connectToService() {
        let now = self.wallClock()
        self.attemptedAt = now
        self.ladder.attempted(at: now)
        let memory = self.ladder.memory(ofAttemptAt: now)
        self.report(.connecting, self.reason, self.cause)
        // Before the attempt: who is killed during it can write nothing afterwards.
        self.look { answer in
            self.files.save(memory) { answer(()) }
        } then: { (_: Void) in
            self.connect(with: self.settings.connector)
        }
    }

    /// Begins an attempt.
    func connect(with connector: any Connecting) {
        self.state = .connecting
        self.leftAlone = nil
        self.earlyEnd = nil
        self.openedAt = nil
        self.attemptNumber += 1
        let number = self.attemptNumber
        connector.connect(
            on: self.loop,
            reached: { channel in try self.reached(channel, attempt: number) },
            connected: { channel, isRelay in try self.connected(channel, isRelay: isRelay, attempt: number) }
        ).assumeIsolated().whenFailure { error in
            guard self.isUnderWay(number) else { return }
            // What ended the connection says more than what could not be done with it afterwards.
            let end = self.earlyEnd
            self.earlyEnd = nil
            self.attemptEnded(end?.failure ?? UpstreamFailure(error), tradedFor: end?.tradedFor ?? 0)
        }
    }

    /// Leaves the attempt under way; whatever becomes of it belongs to nobody.
    func abandonAttempt() {
        self.attemptNumber += 1
        self.attempt?.close(promise: nil)
        self.attempt = nil
    }

    private func isUnderWay(_ number: Int) -> Bool {
        guard case .connecting = self.state else { return false }
        return number == self.attemptNumber
    }

    /// Takes the attempt's channel as soon as there is one, so that a stop can end it; throws when it came too late.
    private func reached(_ channel: any Channel, attempt number: Int) throws {
        guard self.isUnderWay(number) else { throw ChannelError.ioOnClosedChannel }
        self.attempt = channel
    }

    private func connected(_ channel: any Channel, isRelay: Bool, attempt number: Int) throws {
        guard self.isUnderWay(number), let connection = try self.delegate?.connectionOpened(channel, isRelay: isRelay)
        else {
            // Stopped meanwhile.
            channel.close(promise: nil)
            return
        }
        // It may have ended, and the attempt with it, while its handler was being added.
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
        if self.attachment != nil {
            self.attached()
        } else if self.files.hasLedger {
            self.armProof()
        }
    }

    private func attemptEnded(_ failure: UpstreamFailure, tradedFor: Int64) {
        self.attempt = nil
        self.proof?.cancel()
        self.proof = nil
        let livedFor = self.openedAt.map { (self.loop.now - $0).nanoseconds }
        self.openedAt = nil
        var failure = failure
        let isRenewal = self.isRenewing
        self.isRenewing = false
        if isRenewal { failure = Self.renewed }
        failure.description = self.redact(failure.description)
        self.reason = failure.description
        self.cause = failure.cause
        if self.isStopping {
            self.finish(.success(()))
            return
        }
        // Another program's relay was left or lost, or the key was while the service itself was connected.
        guard self.attachment == nil, self.isOwner || !self.files.hasLock else {
            self.detached(failure)
            return
        }
        switch failure.disposition {
        case .ended:
            self.report(.ended, failure.description, nil)
            self.finish(.success(()))
        case .keyRejected:
            guard let wait = self.ladder.keyRejected() else {
                self.report(.keyRejected(retryAt: nil), failure.description, failure.cause)
                self.finish(.failure(failure))
                return
            }
            self.report(.keyRejected(retryAt: self.wallClock() + wait), failure.description, failure.cause)
            self.leaveAlone(for: wait, failure.description)
            self.pause(for: wait)
        case .rateLimited(let retryAfter):
            self.pause(self.ladder.rateLimited(retryAfter: retryAfter), reason: failure.description)
        case .retry:
            var pause = self.ladder.connectionEnded(
                tradedFor: tradedFor,
                // One that this program ended says nothing about who else uses the key.
                livedFor: isRenewal || failure.isOurEnd ? nil : livedFor,
                retryAfter: failure.retryAfter,
                chance: isRenewal ? 0 : self.chance()
            )
            if isRenewal { pause.wait = min(pause.wait, self.ladder.settings.floor) }
            self.pause(pause, reason: failure.description)
            if failure.retryAfter != nil { self.leaveAlone(for: pause.wait, failure.description) }
        }
    }
}
