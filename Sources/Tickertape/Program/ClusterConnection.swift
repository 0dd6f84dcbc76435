import Cluster
import Feeds
import Ingest
import Logging
import Market
import NATS
import NIOCore
import Platform
import ServiceLifecycle
import Wire

/// This program's connection to NATS, for an ingest or an edge. Its methods may be called on any thread, unless they say
/// otherwise.
final class ClusterConnection: Sendable {
    /// The limit of the last messages at the end.
    private static let stopLimit = Duration.milliseconds(500)

    /// What belongs to the loop.
    private final class Member: NATSClientDelegate {
        let client: NATSClient
        let logger: Logger
        let state: ClusterStateBox
        var edge: EdgeFeed?
        private var answers: MemberAnswers?
        private var hasConnected = false
        /// The last failure, so that attempts that end alike are logged once.
        private var failure: String?

        init(_ client: NATSClient, state: ClusterStateBox, logger: Logger) {
            self.client = client
            self.state = state
            self.logger = logger
        }

        /// Answers requests for the members of the cluster.
        func answer(_ subjects: ClusterSubjects, on loop: any EventLoop) {
            let answers = MemberAnswers(subjects, link: self.client, on: loop) { [state] in
                state.report(version: tickertapeVersion, now: SystemClock.monotonic())
            }
            answers.start()
            self.answers = answers
        }

        func natsClientReported(_ report: NATSMachine.Report) {
            switch report {
            case .connected(let server, let info):
                self.failure = nil
                self.state.change {
                    $0.server = "\(server)"
                    if self.hasConnected { $0.reconnects += 1 }
                }
                self.hasConnected = true
                self.logger.notice(
                    "Connected to NATS",
                    metadata: ["server": "\(server)", "version": "\(info.version)"]
                )
                self.edge?.linkChanged(nil)
            case .waiting(let ending, let wait): self.lost("\(ending)", retryIn: wait)
            // The end that was asked for is no failure.
            case .stopped(.stopped): break
            case .stopped(let ending): self.lost("\(ending)")
            case .refused(let refusal):
                self.logger.warning("NATS refuses something", metadata: ["reason": "\(refusal)"])
            case .exposed(let server):
                self.logger.warning(
                    "The identity for NATS goes over the network without encryption",
                    metadata: ["server": "\(server)", "hint": "write tls:// in cluster.servers"]
                )
            case .dropped(let subject, let others):
                self.logger.warning(
                    "A NATS message cannot be read",
                    metadata: ["subject": "\(subject)", "others": "\(others)"]
                )
            case .connecting, .servers, .leaving: break
            }
        }

        private func lost(_ reason: String, retryIn wait: TimeAmount? = nil) {
            if reason != self.failure {
                self.logger.warning("NATS is not connected", metadata: ["reason": "\(reason)"])
            }
            self.failure = reason
            self.state.change { $0.server = nil }
            self.edge?.linkChanged(reason, retryIn: wait)
        }
    }

    private let loop: any EventLoop
    private let member: NIOLoopBound<Member>

    /// Makes the connection, which begins with ``part``.
    ///
    /// - Parameter state: the place for what people and programs see of this member.
    init(_ settings: Settings, on loop: any EventLoop, state: ClusterStateBox, logger: Logger) async throws {
        let role = settings.cluster.role == .edge ? ClusterState.Role.edge : .ingest
        let subjects = settings.cluster.subjects
        state.begin(ClusterState(cluster: subjects.name, member: settings.cluster.memberName, role: role))
        var nats = NATSSettings(servers: settings.cluster.servers)
        nats.name = "tickertape \(settings.cluster.memberName)"
        nats.version = tickertapeVersion
        // An ingest's own frames would come back to it.
        nats.echoes = false
        // An edge must not see the answers about the lease, nor give them (config/cluster/nats-server.conf).
        if settings.cluster.role == .ingest { nats.inboxPrefix = "_INBOX.ingest" }
        // The holder of a lease has 10.5 s for its next renewal.
        nats.longestWait = .seconds(1)
        let connector = NATSConnector(
            settings.dial,
            identity: { [identity = settings.cluster.identity] in $0.makeSucceededFuture(identity) },
            wallClock: WallClock.now
        )
        self.loop = loop
        self.member = try await loop.submit { [nats] in
            let client = NATSClient(nats, transport: connector, on: loop)
            let member = Member(client, state: state, logger: logger)
            client.delegate = member
            member.answer(subjects, on: loop)
            return NIOLoopBound(member, eventLoop: loop)
        }.get()
    }

    private static func context(on loop: any EventLoop, logger: Logger) -> FeedContext {
        FeedContext(
            loop: loop,
            wallClock: WallClock.now,
            chance: { Double.random(in: 0...1) },
            logger: logger
        )
    }

    /// Makes the feed of an edge.
    func makeEdge(
        _ settings: EdgeFeed.Settings,
        into tape: NIOLoopBound<TapeWriter>,
        logger: Logger
    ) async throws -> FeedService {
        let loop = self.loop
        return try await loop.submit { [member] in
            let context = Self.context(on: loop, logger: logger)
            let feed = EdgeFeed(settings, link: member.value.client, tape.value, context, state: member.value.state)
            member.value.edge = feed
            return FeedService(feed, on: loop)
        }.get()
    }

    /// Makes the feed of an ingest.
    ///
    /// - Parameters:
    ///   - edge: what it is as a standby.
    ///   - leases: the keys of the leases that it needs, in their order.
    ///   - symbols: those of each of its own feeds.
    ///   - makeFeeds: makes these with the permission to use the services.
    func makeStandby(
        _ edge: EdgeFeed.Settings,
        leases: [String],
        symbols: [[String]],
        into tape: NIOLoopBound<TapeWriter>,
        logger: Logger,
        makeFeeds: @escaping @Sendable (NIOLoopBound<any UpstreamPermission>) async throws -> [FeedService]
    ) async throws -> NIOLoopBound<StandbyFeed> {
        let loop = self.loop
        return try await loop.submit { [member] in
            let context = Self.context(on: loop, logger: logger)
            let client = member.value.client
            let follower = EdgeFeed(edge, link: client, tape.value, context, state: member.value.state)
            member.value.edge = follower
            let permission = LeasePermission()
            let feed = StandbyFeed(
                follower,
                lease: Self.holder(of: leases, edge.member, client, member.value.state, on: loop, logger: logger),
                tape.value,
                symbols: symbols,
                context
            ) {
                let bound = NIOLoopBound<any UpstreamPermission>(permission, eventLoop: loop)
                return loop.makeFutureWithTask { try await makeFeeds(bound) }
            }
            permission.feed = feed
            return NIOLoopBound(feed, eventLoop: loop)
        }.get()
    }

    /// Passes the questions of a feed's connections on, without a cycle of references.
    private final class LeasePermission: UpstreamPermission {
        weak var feed: StandbyFeed?
        var isAllowed: Bool { self.feed?.isAllowed ?? false }
        func opened(_ connection: any GuardedConnection) { self.feed?.opened(connection) }
        func closed(_ connection: any GuardedConnection) { self.feed?.closed(connection) }
    }

    private static func holder(
        of leases: [String],
        _ member: String,
        _ client: NATSClient,
        _ state: ClusterStateBox,
        on loop: any EventLoop,
        logger: Logger
    ) -> LeaseHolder {
        var reports = LeaseReports(keys: leases)
        return LeaseHolder(
            LeaseSet(
                LeaseSettings(),
                keys: leases,
                name: member,
                host: ClusterChoice.hostName,
                instance: NATSClient.randomToken()
            ),
            store: NATSLeaseStore(client, on: loop, wallClock: WallClock.now, logger: logger),
            on: loop,
            boottime: SystemClock.boottime,
            moment: {
                LeaseMoment(
                    boottime: SystemClock.boottime(),
                    wall: WallClock.now(),
                    chance: UInt64.random(in: .min ... .max)
                )
            },
            reported: { key, report in
                logger.notice("The lease has changed", metadata: ["lease": "\(key)", "state": "\(report)"])
                reports.take(report, of: key)
                let lease = reports.state
                state.change { $0.lease = lease }
            }
        )
    }

    /// Makes what an ingest does for its edges, and connects it to its feed.
    func makeIngest(
        _ choice: ClusterChoice,
        of feed: NIOLoopBound<StandbyFeed>,
        subscriptions: Subscriptions,
        status: FeedStatus
    ) async throws -> ClusterIngest {
        let loop = self.loop
        return try await loop.submit { [member] in
            let ingest = ClusterIngest(
                choice,
                link: member.value.client,
                subscriptions: subscriptions,
                status: status,
                isAllowed: { [weak feed = feed.value] in feed?.isAllowed ?? false },
                on: loop,
                logger: member.value.logger,
                state: member.value.state
            )
            feed.value.publish(with: ingest)
            return ingest
        }.get()
    }

    /// The service: connects, and ends after everything that was sent has been processed.
    var part: NamedService {
        NamedService("cluster") {
            self.loop.execute { [member = self.member] in member.value.client.start() }
            try? await gracefulShutdown()
            let drained = self.loop.flatSubmit { [member = self.member] in member.value.client.drain() }
            await withTaskGroup(of: Void.self) { group in
                group.addTask { try? await drained.get() }
                group.addTask { try? await Task.sleep(for: Self.stopLimit) }
                await group.next()
                group.cancelAll()
                self.loop.execute { [member = self.member] in member.value.client.stop() }
                await group.waitForAll()
            }
        }
    }
}
