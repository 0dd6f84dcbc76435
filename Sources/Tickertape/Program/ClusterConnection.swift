import Cluster
import Feeds
import Ingest
import Logging
import Market
import NATS
import NIOCore
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
        var edge: EdgeFeed?
        /// The last failure, so that attempts that end alike are logged once.
        private var failure: String?

        init(_ client: NATSClient, logger: Logger) {
            self.client = client
            self.logger = logger
        }

        func natsClientReported(_ report: NATSMachine.Report) {
            switch report {
            case .connected(let server, let info):
                self.failure = nil
                self.logger.notice(
                    "Connected to NATS",
                    metadata: ["server": "\(server)", "version": "\(info.version)"]
                )
                self.edge?.linkChanged(nil)
            case .waiting(let ending, _), .stopped(let ending): self.lost("\(ending)")
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

        private func lost(_ reason: String) {
            if reason != self.failure {
                self.logger.warning("NATS is not connected", metadata: ["reason": "\(reason)"])
            }
            self.failure = reason
            self.edge?.linkChanged(reason)
        }
    }

    private let loop: any EventLoop
    private let member: NIOLoopBound<Member>

    /// Makes the connection, which begins with ``part``.
    init(_ settings: Settings, on loop: any EventLoop, logger: Logger) async throws {
        var nats = NATSSettings(servers: settings.cluster.servers)
        nats.name = "tickertape \(settings.cluster.memberName)"
        nats.version = tickertapeVersion
        // An ingest's own frames would come back to it.
        nats.echoes = false
        let connector = NATSConnector(
            settings.dial,
            identity: { [identity = settings.cluster.identity] in $0.makeSucceededFuture(identity) },
            wallClock: WallClock.now
        )
        self.loop = loop
        self.member = try await loop.submit { [nats] in
            let client = NATSClient(nats, transport: connector, on: loop)
            let member = Member(client, logger: logger)
            client.delegate = member
            return NIOLoopBound(member, eventLoop: loop)
        }.get()
    }

    /// Makes the feed of an edge.
    func makeEdge(
        _ settings: EdgeFeed.Settings,
        into tape: NIOLoopBound<TapeWriter>,
        logger: Logger
    ) async throws -> FeedService {
        let loop = self.loop
        return try await loop.submit { [member] in
            let context = FeedContext(
                loop: loop,
                wallClock: WallClock.now,
                chance: { Double.random(in: 0...1) },
                logger: logger
            )
            let feed = EdgeFeed(settings, link: member.value.client, tape.value, context)
            member.value.edge = feed
            return FeedService(feed, on: loop)
        }.get()
    }

    /// Makes what an ingest does for its edges.
    func makeIngest(
        _ choice: ClusterChoice,
        subscriptions: Subscriptions,
        status: FeedStatus,
        epoch: UInt64
    ) async throws -> ClusterIngest {
        let loop = self.loop
        return try await loop.submit { [member] in
            ClusterIngest(
                choice,
                link: member.value.client,
                subscriptions: subscriptions,
                status: status,
                epoch: epoch,
                on: loop
            )
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
