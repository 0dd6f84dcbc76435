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
    /// Completes when all keys that are not used any more are released.
    private var retiring: EventLoopFuture<Void>
    /// Why the present key cannot be used, while the lock of a new one is awaited.
    private var failure: (any Error)?
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
        self.retiring = client.context.loop.makeSucceededVoidFuture()
    }

    package var status: FeedStatus { self.client.status }

    package var finished: EventLoopFuture<Void> { self.promise.futureResult }

    private var loop: any EventLoop { self.client.context.loop }

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
        let loopBound = NIOLoopBound(self, eventLoop: self.loop)
        self.patrolTimer = self.loop.scheduleTask(in: Self.patrolInterval) { loopBound.value.patrol() }
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
        if case .failure(let failure) = result, let change, !self.isStopping {
            if let trial = change.trial {
                trial.handOver()
                self.switchOver(change)
            } else {
                self.failure = failure
                self.state = .changing(.mine)
            }
            return
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
        self.keep("the feed has ended")
        self.retiring.assumeIsolated().whenComplete { _ in
            self.claims.release { self.promise.completeWith(result) }
        }
    }

    // MARK: Another key

    package func change(to access: KeyAccess, ended: @escaping (KeyChange) -> Void) {
        if case .finished = self.state { return ended(.kept("the feed has ended")) }
        guard !self.isStopping else { return ended(.kept("the program stops")) }
        self.keep("another key has come meanwhile")
        guard access.key != self.access.key else { return ended(.kept("it is in use already")) }
        let change = Change(access, KeyClaims(access.holding, loop: self.loop), ended: ended)
        self.change = change
        // A key that was tried a moment ago is released when its connection has ended.
        self.retiring.assumeIsolated().whenComplete { [weak self] _ in
            guard self?.change === change else { return }
            change.claims.claim(unknown: .others(nil)) { claim in
                guard let self, self.change === change else { return change.claims.release {} }
                self.take(claim, of: change)
            }
        }
    }

    package func keepKey() { self.keep("the settings name the present key again") }

    private func take(_ claim: KeyClaim, of change: Change) {
        if case .others(let owner) = claim {
            let who = owner.map { " (pid \($0.pid))" } ?? ""
            return self.keep(
                "another tickertape\(who) holds the new key: restart this one to get its trades from there"
            )
        }
        switch self.state {
        case .service, .relay:
            let trial = KeyTrial(self.client, change.access) { [weak self, weak change] reason in
                guard let self, let change, self.change === change else { return }
                if let reason { self.keep(reason) } else { self.switchOver(change) }
            }
            change.trial = trial
            trial.start()
        // There is no connection beside which another one could be tried.
        case .changing where self.current != nil:
            self.use(change)
            self.state = .changing(.mine)
        case .idle, .looking, .waiting, .changing:
            self.use(change)
            self.releaseFormer()
            if case .idle = self.state { return }
            self.state = .looking
            self.take(.mine)
        case .finished: self.keep("the feed has ended")
        }
    }

    /// Uses the new key from the next connection on. The key before is released when the present feed has ended.
    private func use(_ change: Change, isProven: Bool = false) {
        self.change = nil
        self.failure = nil
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
        let feed = FinnhubFeed(self.client, taking: trial.link)
        self.state = .service(feed)
        if let formerClaims = self.formerClaims {
            self.formerClaims = nil
            self.retire(formerClaims, after: former?.finished)
        }
        self.run(feed)
        if let former = former as? FinnhubFeed { return former.yield() }
        former?.abandon()
        self.client.relayLeft()
    }

    private func releaseFormer() {
        if let formerClaims { self.retire(formerClaims, after: nil) }
        self.formerClaims = nil
    }

    /// Releases a key that is not used any more, when its connection has ended.
    private func retire(_ claims: KeyClaims, after end: EventLoopFuture<Void>?) {
        let released = self.loop.makePromise(of: Void.self)
        (end ?? self.loop.makeSucceededVoidFuture()).assumeIsolated().whenComplete { _ in
            claims.release { released.succeed() }
        }
        self.retiring = self.retiring.and(released.futureResult).map { _ in }
    }

    /// Keeps the present key, and ends a change that is under way.
    private func keep(_ reason: String) {
        guard let change else { return }
        self.change = nil
        change.trial?.cancel()
        self.retire(change.claims, after: change.trial?.link.finished.futureResult)
        change.ended(.kept(reason))
        guard let failure else { return }
        self.failure = nil
        self.finish(.failure(failure))
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
        // An ingest would read its own trades from the relay of an edge.
        guard let owner, case .at(let relay) = owner.relay, self.client.settings.permission == nil else {
            return self.wait(for: owner)
        }
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
        if self.client.settings.permission != nil {
            words = "another tickertape\(who) on this machine holds this key: stop it"
        } else if owner?.relay == .off {
            words = "another tickertape\(who) holds this key and has no relay: stop it, or start it with --relay"
        } else {
            words = "waiting for the other tickertape\(who) to open its relay"
        }
        if case .waiting(words) = self.state { return }
        self.state = .waiting(words)
        if owner?.relay == .off || self.client.settings.permission != nil {
            self.client.connectionReported(.keyInUse(retryAt: nil), reason: words, cause: .keyInUse)
        } else {
            self.client.connectionReported(.connecting, reason: words, cause: nil)
        }
    }
}
