import Feeds
import Ingest
import Logging
import Market
import Measurements
import NIOCore
import Wire

/// The comparison of Finnhub's trades with those of their venues while a program runs (`finnhub.audit`), which also says
/// what Finnhub's gaps lack (`finnhub.fill`).
///
/// The venues' feeds write to a tape that only the audit reads.
final class FinnhubAudit: Sendable {
    /// The program's tape has it among its readers.
    let tapeAudit: TapeAudit
    private let feeds: [(venue: Venue, feed: FeedService)]
    private let filler: NIOLoopBound<GapFiller>?
    private let loop: any EventLoop
    /// How long after the end of a gap its trades may still come from Finnhub, ns.
    private static let gapWait: Int64 = 10_000_000_000
    /// How often gaps are looked for.
    private static let interval = TimeAmount.seconds(1)

    private init(
        _ audit: TapeAudit,
        _ feeds: [(venue: Venue, feed: FeedService)],
        _ filler: NIOLoopBound<GapFiller>?,
        _ loop: any EventLoop
    ) {
        self.tapeAudit = audit
        self.feeds = feeds
        self.filler = filler
        self.loop = loop
    }

    /// Makes the feeds, which have not started.
    ///
    /// - Parameter filler: fills Finnhub's gaps; `nil` if they stay.
    static func make(
        _ venues: [VenueSettings],
        filler: NIOLoopBound<GapFiller>?,
        on loop: any EventLoop,
        logger: Logger
    ) async throws -> FinnhubAudit {
        var limits = AuditLimits()
        if filler != nil { limits.gapWait = Self.gapWait }
        let audit = TapeAudit(AuditMachine(limits: limits))
        let tape = try await loop.submit {
            NIOLoopBound(TapeWriter(epoch: 1, readers: [audit.reader(.venue)]), eventLoop: loop)
        }.get()
        var feeds: [(venue: Venue, feed: FeedService)] = []
        for settings in venues {
            let feed = try await VenueFeed.make(
                settings,
                into: tape,
                // Without requests of its own, another feed of the venue makes them.
                filler: settings.backfill ? filler : nil,
                loop: loop,
                logger: logger,
                wallClock: WallClock.now
            )
            feeds.append((settings.venue, feed))
        }
        return FinnhubAudit(audit, feeds, filler, loop)
    }

    /// Runs until the task is cancelled or shut down. A venue that cannot be had ends nothing else.
    func run() async {
        let search = self.filler.map { filler in
            self.loop.scheduleRepeatedTask(initialDelay: Self.interval, delay: Self.interval) { [tapeAudit, loop] _ in
                let now = Moment(monotonic: Int64(loop.now.uptimeNanoseconds), wall: WallClock.now())
                for gap in tapeAudit.takeIdentifiedGaps(now: now.monotonic) { filler.value.fill(gap, now: now) }
            }
        }
        defer { search?.cancel() }
        await withTaskGroup(of: Void.self) { group in
            for (_, feed) in self.feeds { group.addTask { try? await feed.run() } }
        }
    }

    func stop() { for (_, feed) in self.feeds { feed.stop() } }

    /// Returns a feed whose subscriptions the audit's feeds follow.
    func following(_ feed: any SubscribingFeed) -> any SubscribingFeed { FollowedFeed(feed: feed, audit: self) }

    /// Passes on the changes of the symbols of each venue.
    fileprivate func follow(_ changes: [SubscriptionChange]) {
        for (venue, feed) in self.feeds {
            let own = changes.filter { venue == Venue(of: $0.symbol) && venue.tapeName(of: $0.symbol) == $0.symbol }
            if !own.isEmpty { feed.subscriptionsChanged(own) }
        }
    }
}

/// Finnhub's feed together with those that its trades are compared with.
private final class FollowedFeed: SubscribingFeed {
    private let feed: any SubscribingFeed
    private let audit: FinnhubAudit

    init(feed: any SubscribingFeed, audit: FinnhubAudit) {
        self.feed = feed
        self.audit = audit
    }

    func subscriptionsChanged(_ changes: [SubscriptionChange]) {
        self.feed.subscriptionsChanged(changes)
        self.audit.follow(changes)
    }
}
