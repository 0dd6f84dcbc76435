import Ingest
import Logging
package import Market
package import NIOCore
package import Wire

/// The feed for a key that other programs of this user may share. While this program holds the key's lock, it connects
/// to the service itself (``FinnhubFeed``); otherwise it connects to the relay of the program that does
/// (``RelayFeed``).
///
/// It checks the owner of the key twice a second. Belongs to the tape's event loop.
package final class SharedKeyFeed: Feed {
    /// The interval between two checks of the key's owner. A takeover may take 2 s in all.
    private static let patrolInterval: TimeAmount = .milliseconds(500)

    private enum State {
        case idle
        /// Waits for the first answer of the lock.
        case looking
        case service(FinnhubFeed)
        case relay(RelayFeed)
        /// Waits for another program that holds the key and has announced no relay; the text is the reported reason.
        case waiting(String)
        /// Waits for the end of the running feed; the claim then decides the next one.
        case changing(KeyClaim)
        case finished
    }

    private let client: FinnhubClient
    private var claims: KeyClaims
    private var access: KeyAccess
    private let relayConnector: RelayFeed.Connector
    private var state = State.idle
    /// The feed whose end is awaited.
    private var current: (any Feed)?
    /// The lock of the key before, until its connection has ended.
    private var formerClaims: KeyClaims?
    /// The change of the key that is under way.
    private var change: Change?
    /// The end of a connection that a change has closed.
    private var retiring: EventLoopFuture<Void>?
    private var patrolTimer: Scheduled<Void>?
    /// The process that held the key at the last attempt to attach to its relay.
    private var formerOwner: Int32?
    private var isReading = true
    private var isStopping = false
    private let promise: EventLoopPromise<Void>

    /// A change of the key that is under way.
    private final class Change {
        let access: KeyAccess
        let claims: KeyClaims
        let ended: (KeyChange) -> Void
        /// The connection with the new key beside the present one; `nil` until its lock has answered.
        var trial: KeyTrial?

        init(_ access: KeyAccess, _ claims: KeyClaims, ended: @escaping (KeyChange) -> Void) {
            self.access = access
            self.claims = claims
            self.ended = ended
        }
    }

    /// - Parameters:
    ///   - access: the key, with its lock.
    ///   - relayConnector: makes the way to the relay of another program that holds the key.
    package init(_ client: FinnhubClient, _ access: KeyAccess, relayConnector: @escaping RelayFeed.Connector) {
        self.client = client
        self.claims = KeyClaims(access.holding, loop: client.context.loop)
        self.access = access
        self.relayConnector = relayConnector
        self.promise = client.context.loop.makePromise()
    }

    package var status: FeedStatus { self.client.status }

    package var finished: EventLoopFuture<Void> { self.promise.futureResult }

    private var running: (any Feed)? {
        switch self.state {
        case .service(let feed): feed
        case .relay(let feed): feed
        case .idle, .looking, .waiting, .changing, .finished: nil
        }
    }

    package func start() {
        guard case .idle = self.state else { return }
        self.state = .looking
        self.client.publishChanges()
        self.patrol()
    }

    package func stop() { self.end { $0.stop() } }

    package func abandon() { self.end { $0.abandon() } }

    private func end(_ end: (any Feed) -> Void) {
        guard !self.isStopping else { return }
        self.isStopping = true
        self.keep("the program stops")
        switch self.state {
        // The end of the inner feed ends this one.
        case .service(let feed): end(feed)
        case .relay(let feed): end(feed)
        case .changing, .finished: break
        case .idle, .looking, .waiting:
            self.client.report(.stopped, reason: nil)
            self.finish(.success(()))
        }
    }

    package func setReading(_ isReading: Bool) {
        self.isReading = isReading
        self.running?.setReading(isReading)
    }

    package func renew() -> ConnectionRenewal {
        if let running { return running.renew() }
        guard !self.isStopping else { return .over }
        switch self.state {
        case .idle, .finished: return .over
        // A wait for another program's relay ends by the check twice a second anyway.
        case .looking, .waiting, .changing, .service, .relay: return .underWay
        }
    }

    package func subscriptionsChanged(_ changes: [SubscriptionChange]) { self.client.subscriptionsChanged(changes) }

    // MARK: Owner of the key

    /// Checks the owner of the key, now and twice a second from now on.
    private func patrol() {
        // A loop does not cancel a timer that is due in the same turn.
        if case .finished = self.state { return }
        let loopBound = NIOLoopBound(self, eventLoop: self.client.context.loop)
        self.patrolTimer = self.client.context.loop.scheduleTask(in: Self.patrolInterval) { loopBound.value.patrol() }
        // One question at a time, since the disk may be slow.
        guard !self.claims.isClaiming else { return }
        let claims = self.claims
        claims.claim { [weak self] claim in
            // The answer may be about the key before.
            if self?.claims === claims { self?.take(claim) }
        }
    }

    /// Takes the owner of the key. The state may have changed since the question was asked.
    private func take(_ claim: KeyClaim) {
        guard !self.isStopping else { return }
        switch (claim, self.state) {
        case (_, .idle), (_, .finished), (.mine, .service): return
        case (_, .changing): self.state = .changing(claim)
        case (.others(let owner), .relay(let feed)) where feed.isConnected || feed.owner == owner: return
        case (_, .service(let feed as any Feed)), (_, .relay(let feed as any Feed)):
            self.state = .changing(claim)
            feed.abandon()
        case (.mine, .looking), (.mine, .waiting): self.useService()
        case (.others(let owner), .looking), (.others(let owner), .waiting): self.attach(to: owner)
        }
    }

    /// Takes the end of a feed.
    private func ended(_ feed: any Feed, _ result: Result<Void, any Error>) {
        guard self.current === feed else { return }
        self.current = nil
        self.releaseFormer()
        // A new key is the cure of a rejected one.
        if case .failure = result, let change, change.trial != nil, !self.isStopping {
            change.trial?.cancel()
            self.use(change)
            self.state = .changing(.mine)
        }
        guard case .changing(let claim) = self.state, !self.isStopping else { return self.finish(result) }
        self.state = .looking
        self.take(claim)
    }

    private func finish(_ result: Result<Void, any Error>) {
        if case .finished = self.state { return }
        self.state = .finished
        self.patrolTimer?.cancel()
        // The key is released only after our own connection has ended, so that a waiting program never connects beside
        // it.
        let retiring = self.retiring ?? self.client.context.loop.makeSucceededVoidFuture()
        retiring.assumeIsolated().whenComplete { _ in
            self.claims.release { self.promise.completeWith(result) }
        }
    }

    // MARK: Another key

    package func change(to access: KeyAccess, ended: @escaping (KeyChange) -> Void) {
        if case .finished = self.state { return ended(.kept("the feed has ended")) }
        guard !self.isStopping else { return ended(.kept("the program stops")) }
        self.keep("another key has come meanwhile")
        let change = Change(access, KeyClaims(access.holding, loop: self.client.context.loop), ended: ended)
        self.change = change
        change.claims.claim { [weak self] claim in
            guard let self, self.change === change else { return change.claims.release {} }
            switch claim {
            case .mine: self.begin(change)
            case .others(let owner):
                let who = owner.map { " (pid \($0.pid))" } ?? ""
                self.keep("another tickertape\(who) holds the new key: restart this one to get its trades from there")
            }
        }
    }

    package func keepKey() { self.keep("the settings name the present key again") }

    private func begin(_ change: Change) {
        guard case .service(let feed) = self.state, feed.link.connection != nil else {
            // Without an open connection nothing is lost by a new one.
            self.use(change)
            switch self.state {
            case .service(let feed as any Feed), .relay(let feed as any Feed):
                self.state = .changing(.mine)
                feed.abandon()
            case .changing: self.state = .changing(.mine)
            case .looking, .waiting:
                self.releaseFormer()
                self.take(.mine)
            case .idle, .finished: break
            }
            return
        }
        let trial = KeyTrial(self.client, change.access) { [weak self] reason in
            guard let self, self.change === change else { return }
            if let reason { self.keep(reason) } else { self.switchOver(change) }
        }
        change.trial = trial
        trial.start()
    }

    /// Uses the new key from the next connection on; the lock of the one before is released after the present feed.
    private func use(_ change: Change, isProven: Bool = false) {
        self.change = nil
        self.releaseFormer()
        self.formerClaims = self.claims
        self.claims = change.claims
        self.access = change.access
        self.formerOwner = nil
        self.client.keyChanged(to: change.access.key)
        change.ended(.changed(isProven: isProven))
    }

    /// Makes the connection with the new key the present one.
    private func switchOver(_ change: Change) {
        guard let trial = change.trial else { return }
        let former = self.current
        self.use(change, isProven: trial.isProven)
        let formerClaims = self.formerClaims
        self.formerClaims = nil
        let feed = FinnhubFeed(self.client, taking: trial.link)
        self.state = .service(feed)
        self.run(feed)
        // The key before is released only after its connection has ended.
        self.retiring = former?.finished
        former?.finished.assumeIsolated().whenComplete { _ in formerClaims?.release {} }
        if let former = former as? FinnhubFeed { former.yield() } else { former?.abandon() }
    }

    private func releaseFormer() {
        self.formerClaims?.release {}
        self.formerClaims = nil
    }

    /// Keeps the present key, and ends a change that is under way.
    private func keep(_ reason: String) {
        guard let change else { return }
        self.change = nil
        if let trial = change.trial {
            trial.cancel()
            self.retiring = trial.link.finished.futureResult
            self.retiring?.assumeIsolated().whenComplete { _ in change.claims.release {} }
        } else {
            change.claims.release {}
        }
        change.ended(.kept(reason))
    }

    // MARK: Inner feeds

    private func run(_ feed: any Feed) {
        self.current = feed
        if !self.isReading { feed.setReading(false) }
        feed.finished.assumeIsolated().whenComplete { self.ended(feed, $0) }
        feed.start()
    }

    private func useService() {
        let takeover = self.formerOwner.map { "the tickertape that held the key (pid \($0)) has gone" }
        self.formerOwner = nil
        let feed = FinnhubFeed(self.client, self.access, takeover: takeover)
        self.state = .service(feed)
        self.run(feed)
    }

    private func attach(to owner: KeyOwner?) {
        self.formerOwner = owner?.pid ?? self.formerOwner
        guard let owner, case .at(let relay) = owner.relay else { return self.wait(for: owner) }
        self.client.context.logger.notice(
            "The key is held by another tickertape",
            metadata: ["pid": "\(owner.pid)"]
        )
        let feed = RelayFeed(self.client, owner: owner, relay: relay, connector: self.relayConnector) {
            [weak self] retry in self?.relayLost(retry)
        }
        self.state = .relay(feed)
        self.run(feed)
    }

    /// Checks at once whether the program whose relay was lost has ended. If not, `retry` tries its relay again.
    private func relayLost(_ retry: @escaping () -> Void) {
        let claims = self.claims
        claims.claim { [weak self] claim in
            if claim == .mine, self?.claims === claims { self?.take(claim) } else { retry() }
        }
    }

    /// Reports that the other program has announced no relay. The check twice a second ends the wait.
    private func wait(for owner: KeyOwner?) {
        let who = owner.map { " (pid \($0.pid))" } ?? ""
        let words: String
        if owner?.relay == .off {
            words = "another tickertape\(who) holds this key and has no relay: stop it, or start it with --relay"
        } else {
            words = "waiting for the other tickertape\(who) to open its relay"
        }
        if case .waiting(words) = self.state { return }
        self.state = .waiting(words)
        if owner?.relay == .off {
            self.client.connectionReported(.keyInUse(retryAt: nil), reason: words, cause: .keyInUse)
        } else {
            self.client.connectionReported(.connecting, reason: words, cause: nil)
        }
    }
}
