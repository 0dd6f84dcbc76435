package import Cluster
package import Ingest
package import Market
package import NIOCore
package import Wire

/// What an ingest publishes to its cluster. All is used on the feed's loop.
package protocol ClusterPublication: AnyObject {
    /// Publishes the tape as this epoch.
    ///
    /// - Parameter complete: up to when nothing is missing on the tape before.
    func begin(epoch: UInt64, complete: TapeCompleteness)
    /// Publishes nothing from now on.
    ///
    /// - Returns: the position of the newest frame, up to when nothing is missing on the tape, and the symbols with a
    ///   state.
    func end() -> (position: ClusterPosition, complete: TapeCompleteness, symbols: Set<String>)
}

/// The feed of an ingest: the services themselves while this program holds the cluster's leases, and the tape of the
/// ingest that holds them otherwise.
///
/// It has the permission to use the services. Belongs to the tape's event loop.
package final class StandbyFeed: Feed {
    private enum State {
        case idle
        case following
        /// Its own feeds are being made.
        case opening
        case leading([any Feed])
        /// Waits for the end of its own feeds.
        case closing
        case finished
    }

    private let edge: EdgeFeed
    private let lease: LeaseHolder
    private let tape: TapeWriter
    private let context: FeedContext
    private let makeFeeds: () -> EventLoopFuture<[FeedService]>
    private var publication: (any ClusterPublication)?
    /// The symbols of each own feed, as the settings have them and as they are now.
    private let initial: [[String]]
    private var symbols: [[String]]
    private var state = State.idle
    /// Numbers the times as the ingest, for answers that come late.
    private var tenure = 0
    private var isReading = true
    private var preferred: String?
    /// The open connections of its own feeds.
    private var connections: [any GuardedConnection] = []
    /// Whether its own feeds have ended, while it waits for the end of their connections.
    private var haveFeedsEnded = false
    /// Up to when nothing was missing on the tape when it became the ingest; `nil` if the tape had nothing.
    private var complete: TapeCompleteness?
    private var failure: (any Error)?
    private let end: EventLoopPromise<Void>

    package var finished: EventLoopFuture<Void> { self.end.futureResult }

    package var status: FeedStatus {
        if case .leading(let feeds) = self.state, let first = feeds.first { first.status } else { self.edge.status }
    }

    /// - Parameters:
    ///   - symbols: the symbols of each own feed, as the tape names them.
    ///   - makeFeeds: makes them anew, each with those symbols, not started.
    package init(
        _ edge: EdgeFeed,
        lease: LeaseHolder,
        _ tape: TapeWriter,
        symbols: [[String]],
        _ context: FeedContext,
        makeFeeds: @escaping () -> EventLoopFuture<[FeedService]>
    ) {
        self.edge = edge
        self.lease = lease
        self.tape = tape
        self.context = context
        self.makeFeeds = makeFeeds
        self.initial = symbols
        self.symbols = symbols
        self.end = context.loop.makePromise()
        self.lease.delegate = self
    }

    /// Takes what it publishes with; before it starts.
    package func publish(with publication: any ClusterPublication) { self.publication = publication }

    // MARK: Feed

    package func start() {
        guard case .idle = self.state else { return }
        self.state = .following
        self.edge.start()
        self.lease.start()
    }

    package func stop() {
        switch self.state {
        case .idle: self.finish()
        case .following, .opening, .leading, .closing: self.lease.stop()
        case .finished: break
        }
    }

    package func abandon() { self.stop() }

    package func subscriptionsChanged(_ changes: [SubscriptionChange]) {
        preconditionFailure("the changes of a standby belong to its shares")
    }

    /// The subscriptions of one of its own feeds, which it also wants as an edge.
    package func share(_ index: Int) -> any SubscribingFeed { Share(feed: self, index: index) }

    private final class Share: SubscribingFeed {
        let feed: NIOLoopBound<StandbyFeed>
        let index: Int

        init(feed: StandbyFeed, index: Int) {
            self.feed = NIOLoopBound(feed, eventLoop: feed.context.loop)
            self.index = index
        }

        func subscriptionsChanged(_ changes: [SubscriptionChange]) {
            self.feed.value.changed(changes, of: self.index)
        }
    }

    private func changed(_ changes: [SubscriptionChange], of index: Int) {
        for change in changes {
            switch change {
            case .subscribe(let symbol):
                if !self.symbols[index].contains(symbol) { self.symbols[index].append(symbol) }
            case .unsubscribe(let symbol): self.symbols[index].removeAll { $0 == symbol }
            }
        }
        self.edge.subscriptionsChanged(changes)
        if case .leading(let feeds) = self.state { feeds[index].subscriptionsChanged(changes) }
    }

    package func setReading(_ isReading: Bool) {
        self.isReading = isReading
        if case .leading(let feeds) = self.state { for feed in feeds { feed.setReading(isReading) } }
    }

    package func renew() -> ConnectionRenewal {
        guard case .leading(let feeds) = self.state else { return self.edge.renew() }
        return feeds.map { $0.renew() }.max { $0.weight < $1.weight } ?? .over
    }

    package func prefer(_ symbol: String?) {
        self.preferred = symbol
        if case .leading(let feeds) = self.state { for feed in feeds { feed.prefer(symbol) } }
    }

    // MARK: Own feeds

    private func opened(_ result: Result<[any Feed], any Error>) {
        switch result {
        case .failure(let error):
            self.failure = error
            self.lease.stop()
        case .success(let feeds):
            self.state = .leading(feeds)
            let tenure = self.tenure
            for (index, feed) in feeds.enumerated() {
                if !self.isReading { feed.setReading(false) }
                let (before, now) = (self.initial[index], self.symbols[index])
                let changes: [SubscriptionChange] =
                    now.filter { !before.contains($0) }.map { .subscribe($0) }
                    + before.filter { !now.contains($0) }.map { .unsubscribe($0) }
                if !changes.isEmpty { feed.subscriptionsChanged(changes) }
                feed.prefer(self.preferred)
            }
            if let complete { self.tape.tookOver(complete, reason: EdgeMachine.Hole.takenOver.words) }
            for feed in feeds {
                feed.finished.assumeIsolated().whenComplete { [weak self] result in
                    // What only a person can correct ends the program, which gives the lease back first.
                    guard let self, self.tenure == tenure, case .failure(let error) = result else { return }
                    self.failure = error
                    self.lease.stop()
                }
                feed.start()
            }
        }
    }

    /// Ends its own feeds, and reports when their connections are closed.
    private func close(_ feeds: [any Feed], cleanly: Bool) {
        self.state = .closing
        self.haveFeedsEnded = false
        if !cleanly { self.cut() }
        for feed in feeds { if cleanly { feed.stop() } else { feed.abandon() } }
        let ends = feeds.map { feed in feed.finished.flatMapErrorThrowing { _ in } }
        EventLoopFuture.andAllSucceed(ends, on: self.context.loop).assumeIsolated().whenComplete { [weak self] _ in
            self?.haveFeedsEnded = true
            // Those of a closing handshake that takes longer than the feed.
            self?.cut()
            self?.lookForEnd()
        }
    }

    private func cut() { for connection in self.connections { connection.cut() } }

    private func lookForEnd() {
        guard case .closing = self.state, self.haveFeedsEnded, self.connections.isEmpty else { return }
        self.state = .following
        self.lease.closed()
    }

    private func finish() {
        if case .finished = self.state { return }
        self.state = .finished
        self.edge.stop()
        if let failure { self.end.fail(failure) } else { self.end.succeed() }
    }
}

extension StandbyFeed: LeaseHolderDelegate {
    package func leaseGranted(epoch: UInt64) {
        self.tenure += 1
        let tenure = self.tenure
        self.state = .opening
        self.complete = self.edge.suspend()
        self.tape.begin(epoch: epoch)
        let complete = self.complete ?? TapeCompleteness(self.context.wallClock())
        self.publication?.begin(epoch: epoch, complete: complete)
        // The program can have stood still meanwhile.
        guard self.tenure == tenure else { return }
        self.makeFeeds().assumeIsolated().whenComplete { [weak self] result in
            let feeds = result.map { $0.map(\.value) }
            guard let self, self.tenure == tenure, self.lease.isAllowed, case .opening = self.state else {
                // They come too late, and have an end as all feeds.
                if case .success(let feeds) = feeds { for feed in feeds { feed.abandon() } }
                return
            }
            self.opened(feeds)
        }
    }

    package func leaseFenced(_ reason: LeaseFence) {
        self.tenure += 1
        let isStopping = reason == .stopping
        switch self.state {
        case .leading(let feeds): self.close(feeds, cleanly: isStopping)
        case .opening: self.close([], cleanly: false)
        // A clean end has taken too long.
        case .closing: return self.cut()
        case .idle, .following, .finished: return self.lease.closed()
        }
        guard let (position, complete, symbols) = self.publication?.end(), !isStopping else { return }
        self.tape.leave()
        self.context.logger.warning(
            "This program is no longer the ingest of its cluster",
            metadata: ["reason": "\(reason)"]
        )
        self.edge.resume(after: position, complete: complete, symbols: symbols)
    }

    package func leaseEnded() { self.finish() }
}

extension StandbyFeed: UpstreamPermission {
    package var isAllowed: Bool { self.lease.isAllowed }

    package func opened(_ connection: any GuardedConnection) { self.connections.append(connection) }

    package func closed(_ connection: any GuardedConnection) {
        self.connections.removeAll { $0 === connection }
        self.lookForEnd()
    }
}
