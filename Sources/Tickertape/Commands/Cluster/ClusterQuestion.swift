import Cluster
import Feeds
import Market
import NATS
import NIOCore
import NIOPosix
import Wire

/// A question to all members of a cluster, over a connection to NATS of its own.
enum ClusterQuestion {
    /// What came within ``patience``.
    struct Answers: Sendable {
        /// The NATS server.
        var server: String
        var texts: [ByteBuffer] = []
        /// What the server refused; `nil` if it refused nothing.
        var refusal: String?
    }

    /// How long answers are awaited.
    static let patience: TimeAmount = .milliseconds(500)
    /// The limit of the connection.
    private static let limit: TimeAmount = .seconds(5)
    /// The most answers that are read.
    private static let maximumAnswers = 1_024

    /// Asks, and returns the answers.
    static func ask(_ settings: Settings, as identity: NATSIdentity?) async throws(OperatorError) -> Answers {
        let cluster = settings.cluster
        let servers = cluster.servers.map(\.description).joined(separator: ", ")
        var nats = NATSSettings(servers: cluster.servers)
        nats.name = "tickertape cluster"
        nats.version = tickertapeVersion
        let connector = NATSConnector(
            settings.dial,
            identity: { $0.makeSucceededFuture(identity) },
            wallClock: WallClock.now
        )
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        do {
            return try await loop.flatSubmit { [nats] in
                let client = NATSClient(nats, transport: connector, on: loop)
                let asker = Asker(client, cluster.subjects, servers: cluster.servers.count, on: loop)
                client.delegate = asker
                asker.start(within: Self.limit)
                // The future keeps the asker, which the client does not.
                return asker.answers.assumeIsolated().always { _ in asker.end() }.nonisolated()
            }.get()
        } catch {
            throw OperatorError(
                "NATS cannot be reached at \(servers) (\(error)): start nats-server there, or correct cluster.servers "
                    + "or cluster.identity-file",
                status: .failure
            )
        }
    }

    private struct Unreachable: Error, CustomStringConvertible {
        var description: String
    }

    /// One question, on the loop.
    private final class Asker: NATSClientDelegate {
        private let client: NATSClient
        private let subjects: ClusterSubjects
        private let loop: any EventLoop
        private let promise: EventLoopPromise<Answers>
        /// The number of servers that have not failed yet.
        private var untried: Int
        private var result: Answers?
        private var reason = "no answer in time"
        private var isOver = false

        var answers: EventLoopFuture<Answers> { self.promise.futureResult }

        init(_ client: NATSClient, _ subjects: ClusterSubjects, servers: Int, on loop: any EventLoop) {
            self.client = client
            self.subjects = subjects
            self.untried = servers
            self.loop = loop
            self.promise = loop.makePromise()
        }

        func start(within limit: TimeAmount) {
            self.loop.assumeIsolated().scheduleTask(in: limit) { self.fail() }
            self.client.start()
        }

        func end() {
            self.isOver = true
            self.client.stop()
        }

        func natsClientReported(_ report: NATSMachine.Report) {
            switch report {
            case .connected(let server, _): self.ask("\(server)")
            case .waiting(let ending, _):
                self.reason = "\(ending)"
                self.untried -= 1
                if self.untried <= 0 { self.fail() }
            case .stopped(let ending):
                self.reason = "\(ending)"
                self.fail()
            case .refused(let refusal): self.result?.refusal = "\(refusal)"
            case .connecting, .exposed, .dropped, .servers, .leaving: break
            }
        }

        private func fail() {
            guard !self.isOver, self.result == nil else { return }
            self.promise.fail(Unreachable(description: self.reason))
        }

        private func ask(_ server: String) {
            guard self.result == nil, let pattern = NATSPattern(MemberAnswers.inbox + NATSClient.randomToken()),
                let inbox = NATSSubject("\(pattern)"), let members = NATSSubject(self.subjects.members)
            else { return }
            self.result = Answers(server: server)
            do {
                try self.client.subscribe(pattern) { [weak self] message in self?.take(message) }
                try self.client.publish(members, reply: inbox, payload: JSONWriter(type: "members").finish())
            } catch {
                self.result?.refusal = "\(error)"
            }
            self.loop.assumeIsolated().scheduleTask(in: ClusterQuestion.patience) { self.succeed() }
        }

        private func take(_ message: NATSMessage) {
            // The server says that there is no member.
            if message.headers.status != nil { return self.succeed() }
            guard let count = self.result?.texts.count, count < ClusterQuestion.maximumAnswers else { return }
            self.result?.texts.append(message.payload)
        }

        private func succeed() {
            guard !self.isOver, let result else { return }
            self.promise.succeed(result)
        }
    }
}
