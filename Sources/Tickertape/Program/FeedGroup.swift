import Feeds
import Ingest
import NIOConcurrencyHelpers
import NIOCore
import ServiceLifecycle
import TLS
import Wire

/// The feeds of a program, which run and end together. Its methods may be called on any thread.
final class FeedGroup: Sendable, FlowControl {
    private let feeds: [FeedService]
    /// The run that ``begin()`` has started.
    private let begun = NIOLockedValueBox<Task<Void, any Error>?>(nil)
    /// The comparison of Finnhub's trades with others; Finnhub's feed is the first then.
    let audit: FinnhubAudit?

    /// The settings of Finnhub's feed, which is the first; `nil` if there is none.
    private let finnhub: FinnhubSettings?
    /// Take the subscriptions in place of the feeds; empty for the feeds themselves.
    private let shares: [any SubscribingFeed]

    init(
        _ feeds: [FeedService],
        shares: [any SubscribingFeed] = [],
        finnhub: FinnhubSettings? = nil,
        audit: FinnhubAudit? = nil
    ) {
        self.feeds = feeds
        self.shares = shares
        self.finnhub = finnhub
        self.audit = audit
    }

    /// Connects each feed to its share of the subscriptions.
    func connect(to subscriptions: Subscriptions) {
        for (index, share) in self.shares.enumerated() { subscriptions.connect(share, at: index) }
        guard self.shares.isEmpty else { return }
        for (index, feed) in self.feeds.enumerated() {
            subscriptions.connect(index == 0 ? self.audit?.following(feed) ?? feed : feed, at: index)
        }
    }

    /// Starts the feeds before a program runs them; ``run()`` then waits for their end.
    func begin() {
        self.begun.withLockedValue { begun in
            if begun == nil { begun = Task { try await self.runAll() } }
        }
    }

    /// Runs until every feed has ended. The first failure ends all.
    func run() async throws {
        guard let begun = self.begun.withLockedValue({ $0 }) else { return try await self.runAll() }
        try await withTaskCancellationHandler {
            try await withGracefulShutdownHandler {
                try await begun.value
            } onGracefulShutdown: {
                self.stop()
            }
        } onCancel: {
            self.stop()
        }
    }

    private func runAll() async throws {
        async let _: Void? = self.audit?.run()
        defer { self.audit?.stop() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for feed in self.feeds { group.addTask { try await feed.run() } }
            try await group.waitForAll()
        }
    }

    func stop() {
        self.audit?.stop()
        for feed in self.feeds { feed.stop() }
    }

    /// Replaces every connection by a new one. Returns the answer that says most: a feed without a symbol only says that
    /// an attempt is under way.
    func reconnect() async -> ConnectionRenewal {
        var best = ConnectionRenewal.over
        for feed in self.feeds {
            let answer = await feed.reconnect()
            if answer.weight > best.weight { best = answer }
        }
        return best
    }

    /// Returns Finnhub's way with another key. Reads the trust roots.
    func access(with key: Secret, _ storage: KeyStorage) throws -> KeyAccess {
        guard var settings = self.finnhub else { throw UpstreamFailure("there is no feed with a key") }
        settings.key = key
        settings.holding = storage.holding
        return try KeyAccess(settings, wallClock: WallClock.now)
    }

    /// Changes Finnhub's key.
    ///
    /// - Parameter ended: called once, on the feed's loop, when the key before or the new one is settled.
    func change(to access: KeyAccess, ended: @escaping @Sendable (KeyChange) -> Void) {
        guard let feed = self.feeds.first else { return ended(.kept("there is no feed with a key")) }
        feed.change(to: access, ended: ended)
    }

    /// Ends a change of the key that is under way.
    func keepKey() { self.feeds.first?.keepKey() }

    /// Notes the symbol whose missing trades matter most, the one on a screen.
    func prefer(_ symbol: String) { for feed in self.feeds { feed.prefer(symbol) } }

    func pause() { for feed in self.feeds { feed.pause() } }

    func resume() { for feed in self.feeds { feed.resume() } }
}
