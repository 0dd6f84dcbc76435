import Ingest
import Logging
import Market
import NIOCore

/// The owner of a client's second connection: it follows the decisions of ``ConnectionRotation``.
///
/// Belongs to the tape's event loop.
final class RotationController: SecondConnectionOwner {
    /// How often two open connections are compared while nothing shows that they are ready.
    private static let interval: Int64 = 500_000_000

    private var machine: ConnectionRotation
    private let client: FeedClient
    private let link: ReconnectingConnection
    private let context: FeedContext
    /// The address of the connection that has just opened, for people.
    private let address: () -> String
    /// Called when the second connection has taken the first one's place.
    private let tookOver: () -> Void
    private var timer: (task: Scheduled<Void>, at: Int64)?
    private var isStopped = false
    /// Whether ``look()`` will be called in this turn of the loop.
    private var willLook = false
    private var reason = ConnectionRotation.Reason.age

    init(
        _ settings: ConnectionRotation.Settings,
        _ client: FeedClient,
        _ link: ReconnectingConnection,
        address: @escaping () -> String,
        tookOver: @escaping () -> Void
    ) {
        self.machine = ConnectionRotation(settings)
        self.client = client
        self.link = link
        self.context = client.context
        self.address = address
        self.tookOver = tookOver
        client.rotation = self
    }

    private var now: Int64 { Int64(self.context.loop.now.uptimeNanoseconds) }

    /// Ends all decisions, because the feed stops.
    func stop() {
        self.isStopped = true
        self.timer?.task.cancel()
        self.timer = nil
        // Its closing handshake takes a moment, in which it must bring nothing.
        self.client.second?.handler?.retire("the feed stops")
    }

    // MARK: The first connection

    func connectionOpened() {
        self.machine.connectionOpened(now: self.now, chance: self.context.chance())
        self.arm()
    }

    func connectionEnded() {
        self.machine.connectionEnded()
        self.arm()
    }

    /// Notes that no connection is wanted any more.
    func connectionUnwanted() {
        self.machine.connectionEnded()
        self.arm()
        self.link.endSecond()
    }

    func closingAnnounced() {
        self.machine.closingAnnounced(now: self.now, chance: self.context.chance())
        self.arm()
    }

    /// Takes the condition of the feed.
    func conditionChanged(_ condition: SymbolMonitor.Condition) {
        switch condition {
        case .stale where self.client.isHalted: self.machine.silenceEnded()
        case .stale:
            let silence = self.client.watch.silence(now: self.now)
            self.machine.silenceBegan(after: silence, now: self.now)
        case .live, .noSuchSymbol, .notPermitted: self.machine.silenceEnded()
        case .waiting, .late: break
        }
        self.arm()
    }

    /// Opens a second connection on a person's request, which takes the first one's place as in a planned change.
    ///
    /// - Returns: `nil` if that is not how the connection can be renewed now: it is not open, or a second one waits to
    ///   take over already.
    func renew() -> ConnectionRenewal? {
        guard !self.isStopped else { return nil }
        if self.machine.isOpening { return .underWay }
        guard self.machine.isSingle else { return nil }
        if let refusal = self.link.refusalOfSecond() { return refusal }
        self.machine.renewalAsked(now: self.now)
        self.look()
        return .beside
    }

    // MARK: The second connection

    /// Notes that the two connections may be ready now.
    func overlapAdvanced() {
        guard !self.willLook else { return }
        self.willLook = true
        let bound = NIOLoopBound(self, eventLoop: self.context.loop)
        // Not within a read.
        self.context.loop.execute {
            bound.value.willLook = false
            bound.value.look()
        }
    }

    /// Notes that the venue is about to close the second connection, too.
    func secondClosingAnnounced() {
        let bound = NIOLoopBound(self, eventLoop: self.context.loop)
        self.context.loop.execute { bound.value.giveUp("the venue is about to close this one, too") }
    }

    /// Takes the end of the open second connection.
    func secondEnded(_ failure: UpstreamFailure) {
        guard !self.isStopped, self.machine.isDouble else { return }
        let wait = self.link.secondFailed(failure)
        self.failed(failure.description, wait: wait)
    }

    /// Lets the second connection take the place of the first one, which has ended.
    func firstEnded(_ failure: UpstreamFailure, complete: Int64) -> Bool {
        guard !self.isStopped, self.machine.isDouble, self.client.second != nil else { return false }
        self.change(ended: failure)
        return true
    }

    private func failed(_ reason: String, wait: Int64) {
        self.machine.secondFailed(wait: wait, now: self.now)
        self.context.logger.info("A second connection failed; the first one goes on", metadata: ["reason": "\(reason)"])
        self.arm()
    }

    private func giveUp(_ reason: String) {
        guard !self.isStopped, self.machine.isDouble else { return }
        self.failed(reason, wait: 0)
        self.link.endSecond()
    }

    // MARK: Time

    private func look() {
        guard !self.isStopped else { return }
        let now = self.now
        let action: ConnectionRotation.Action =
            if let second = self.client.second {
                self.machine.overlapChanged(second.overlap(now: now), now: now)
            } else {
                self.machine.timePassed(now: now)
            }
        switch action {
        case .none: break
        case .open(let reason): self.open(reason)
        case .change: self.change(ended: nil)
        case .giveUp: self.giveUp("it did not bring what the first one brought")
        }
        self.arm()
    }

    private func open(_ reason: ConnectionRotation.Reason) {
        self.reason = reason
        self.link.openSecond { channel in
            let handler = try self.client.secondOpened(channel, address: self.address())
            // It may have ended while it was being installed.
            guard self.client.second != nil else { throw ChannelError.eof }
            self.machine.secondOpened(now: self.now)
            self.arm()
            return handler
        } failed: { failure, wait in
            self.failed(failure.description, wait: wait)
        }
    }

    /// - Parameter ended: why the first connection has ended, if it has.
    private func change(ended: UpstreamFailure?) {
        guard let second = self.client.second else { return }
        let isProven = second.proof.isComplete
        let words = self.words(second.proof, ended: ended)
        if !isProven { self.client.interrupted(because: ended, self.words) }
        self.client.secondTakesOver(second, words: words)
        self.link.secondTakesOver()
        self.machine.changed(now: self.now, chance: self.context.chance())
        self.tookOver()
        self.context.logger.info("A second connection has taken over", metadata: ["reason": "\(words)"])
        self.arm()
    }

    private var words: String {
        let name = self.client.input.name
        return switch self.reason {
        case .age: "\(name) ends each connection after 24 hours"
        case .announced: "\(name) announced an end"
        case .asked: "a new connection was asked for"
        case .silent: "every symbol was silent for far longer than usual"
        }
    }

    /// Says in one line what has happened.
    private func words(_ proof: OverlapProof, ended: UpstreamFailure?) -> String {
        let end = ended.map { "; \($0.description)" } ?? ""
        let symbols = proof.count == 1 ? "the symbol" : "the \(proof.count) symbols"
        let overlap =
            proof.isComplete
            ? "the ids of \(symbols) prove that nothing is missing"
            : "\(proof.provenCount) of \(proof.count) symbols overlap by their ids, and the next ids of the others show "
                + "whether trades are missing"
        return "a second connection took over (\(self.words)\(end)): \(overlap)"
    }

    private func arm() {
        guard !self.isStopped, let deadline = self.deadline else { return }
        if let timer, timer.at <= deadline { return }
        self.timer?.task.cancel()
        let bound = NIOLoopBound(self, eventLoop: self.context.loop)
        let due = NIODeadline.uptimeNanoseconds(UInt64(max(deadline, 0)))
        let task = self.context.loop.scheduleTask(deadline: due) {
            bound.value.timer = nil
            bound.value.look()
        }
        self.timer = (task, deadline)
    }

    private var deadline: Int64? {
        guard let deadline = self.machine.deadline else { return nil }
        return self.machine.isDouble ? min(deadline, self.now + Self.interval) : deadline
    }
}
