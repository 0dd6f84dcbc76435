import Cluster
import Ingest
import Market
import NIOCore
import Wire

/// What an ingest does for its edges: its tape on NATS, and their symbols in its subscriptions.
final class ClusterIngest: Sendable {
    let publisher: ClusterPublisher
    private let wishes: NIOLoopBound<Wishes>

    /// The edges' symbols, on the loop.
    private final class Wishes {
        private let subscriptions: Subscriptions
        private let loop: any EventLoop
        private var table = WishTable()
        private var timer: Scheduled<Void>?

        init(_ subscriptions: Subscriptions, loop: any EventLoop) {
            self.subscriptions = subscriptions
            self.loop = loop
        }

        func take(_ wish: ClusterWish) {
            for change in self.table.take(wish, now: self.loop.now) {
                guard !self.make(change), case .subscribe(let symbol) = change else { continue }
                self.table.refused(symbol, of: wish.member)
            }
            self.arm()
        }

        /// Makes a change; returns whether it was accepted.
        private func make(_ change: WishTable.Change) -> Bool {
            switch change {
            case .subscribe(let symbol): return self.subscriptions.subscribe(symbol) == .accepted
            case .unsubscribe(let symbol):
                self.subscriptions.unsubscribe(symbol)
                return true
            }
        }

        private func arm() {
            self.timer?.cancel()
            self.timer = self.table.deadline.map { deadline in
                self.loop.assumeIsolated().scheduleTask(deadline: deadline) { [weak self] in
                    guard let self else { return }
                    for change in self.table.timePassed(now: self.loop.now) { _ = self.make(change) }
                    self.arm()
                }
            }
        }
    }

    /// Makes the parts on the loop of the feed.
    init(
        _ choice: ClusterChoice,
        link: any ClusterLink,
        subscriptions: Subscriptions,
        status: FeedStatus,
        epoch: UInt64,
        on loop: any EventLoop
    ) {
        guard let subjects = ClusterSubjects(choice.name) else {
            preconditionFailure("\(choice.name) was accepted as a name")
        }
        self.publisher = ClusterPublisher(
            subjects,
            member: choice.memberName,
            link: link,
            status: status,
            epoch: epoch,
            on: loop,
            wallClock: WallClock.now
        )
        let wishes = Wishes(subscriptions, loop: loop)
        self.wishes = NIOLoopBound(wishes, eventLoop: loop)
        link.subscribe(to: subjects.wanted(by: "*")) { [weak wishes] payload, _ in
            if let wish = ClusterWish.parse(payload) { wishes?.take(wish) }
        }
        self.publisher.start()
    }
}
