import Cluster
import Feeds
import Ingest
import Logging
import Market
import NIOCore
import Wire

/// What an ingest does for its edges: its tape on NATS, and their symbols in its subscriptions. A standby only
/// notes the symbols.
final class ClusterIngest: Sendable, ClusterPublication {
    let publisher: ClusterPublisher
    let prices: PricePublisher
    private let wishes: NIOLoopBound<Wishes>

    /// The edges' symbols, on the loop.
    private final class Wishes {
        private let subscriptions: Subscriptions
        private let loop: any EventLoop
        private let state: ClusterStateBox
        private let subjects: ClusterSubjects
        private let link: any ClusterLink
        private let logger: Logger
        private var allowance = LogAllowance(most: 1)
        private var table = WishTable()
        private var isActive = false
        private var timer: Scheduled<Void>?

        init(
            _ subscriptions: Subscriptions,
            _ subjects: ClusterSubjects,
            link: any ClusterLink,
            loop: any EventLoop,
            logger: Logger,
            state: ClusterStateBox
        ) {
            self.subscriptions = subscriptions
            self.subjects = subjects
            self.link = link
            self.loop = loop
            self.state = state
            self.logger = logger
        }

        /// Takes a message with an edge's wishes, and answers it.
        func take(_ payload: ByteBuffer, _ subject: String, _ reply: String?) {
            guard let member = self.subjects.edge(of: subject), let wish = ClusterWish.parse(payload) else {
                return self.warn("An edge's symbols cannot be read", subject)
            }
            let edge = WishTable.Edge(member, instance: wish.instance)
            for change in self.table.take(wish, of: member, now: self.loop.now) { self.make(change, of: edge) }
            if self.table.isShared(member) {
                self.warn("Two edges of the cluster have one name; set cluster.member of one of them", member)
            }
            if self.isActive, let reply, ClusterPublisher.isInbox(reply) {
                _ = self.link.publish(self.table.answer(to: edge).text(), to: reply)
            }
            self.arm()
        }

        /// Subscribes to the symbols, or unsubscribes from them.
        func activate(_ isActive: Bool) {
            self.isActive = true
            for (edge, symbol) in self.table.all {
                self.make(isActive ? .subscribe(symbol) : .unsubscribe(symbol), of: edge)
            }
            self.isActive = isActive
            self.arm()
        }

        private func warn(_ message: Logger.Message, _ edge: String) {
            guard let others = self.allowance.wanted(now: Int64(self.loop.now.uptimeNanoseconds)) else { return }
            self.logger.warning(message, metadata: ["edge": "\(edge)", "others": "\(others)"])
        }

        /// Makes a change, and notes if it was not accepted.
        private func make(_ change: WishTable.Change, of edge: WishTable.Edge) {
            guard let refusal = self.make(change), case .subscribe(let symbol) = change else { return }
            self.table.refused(symbol, of: edge, refusal)
        }

        /// Makes a change; returns why it was not accepted. A standby only notes what is wanted.
        @discardableResult
        private func make(_ change: WishTable.Change) -> WishTable.Refusal? {
            guard self.isActive else { return nil }
            switch change {
            case .subscribe(let symbol):
                switch self.subscriptions.subscribe(symbol) {
                case .accepted: return nil
                case .full: return .full
                case .invalid: return .invalid
                }
            case .unsubscribe(let symbol):
                self.subscriptions.unsubscribe(symbol)
                return nil
            }
        }

        private func arm() {
            self.state.change { $0.edges = self.isActive ? self.table.members.count : 0 }
            self.timer?.cancel()
            self.timer = self.table.deadline.map { deadline in
                self.loop.assumeIsolated().scheduleTask(deadline: deadline) { [weak self] in
                    guard let self else { return }
                    for change in self.table.timePassed(now: self.loop.now) { self.make(change) }
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
        isAllowed: @escaping () -> Bool,
        on loop: any EventLoop,
        logger: Logger,
        state: ClusterStateBox
    ) {
        let subjects = choice.subjects
        self.publisher = ClusterPublisher(
            subjects,
            member: choice.memberName,
            link: link,
            status: status,
            on: loop,
            isAllowed: isAllowed,
            wallClock: WallClock.now,
            logger: logger,
            figures: state
        )
        self.prices = PricePublisher(
            subjects,
            member: choice.memberName,
            link: link,
            status: status,
            on: loop,
            wallClock: WallClock.now,
            isPublishing: { [weak publisher = self.publisher] in publisher?.isPublishing ?? false }
        )
        let wishes = Wishes(subscriptions, subjects, link: link, loop: loop, logger: logger, state: state)
        self.wishes = NIOLoopBound(wishes, eventLoop: loop)
        link.subscribe(to: subjects.wanted(by: "*")) { [weak wishes] payload, subject, reply in
            wishes?.take(payload, subject, reply)
        }
        self.publisher.start()
        self.prices.start()
    }

    // MARK: Publication, on the loop

    func begin(epoch: UInt64, complete: TapeCompleteness) {
        self.wishes.value.activate(true)
        self.prices.begin(epoch: epoch)
        self.publisher.begin(epoch: epoch, complete: complete)
    }

    func end() -> (position: ClusterPosition, complete: TapeCompleteness, symbols: Set<String>) {
        self.wishes.value.activate(false)
        return self.publisher.end()
    }
}
