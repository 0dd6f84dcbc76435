import Cluster
import Feeds
import Ingest
import Logging
import Market
import NIOCore
import NIOEmbedded
import Testing
import TickertapeTesting
import Wire

/// Members on one broker and one virtual clock, each with its state. The clocks of the ingests are ahead of the edge's.
private final class StateBench {
    static let start: Int64 = 1_795_000_000_000_000_000
    static let ahead: Int64 = 1_500_000_000

    let loop = EmbeddedEventLoop()
    let broker: MemoryBroker
    let subjects: ClusterSubjects
    let edgeState = ClusterStateBox()
    private(set) var edge: EdgeFeed?

    init() throws {
        self.broker = MemoryBroker(on: self.loop)
        self.subjects = try #require(ClusterSubjects("test"))
    }

    var now: Int64 { Int64(self.loop.now.uptimeNanoseconds) }

    private func wallClock(ahead: Int64) -> @Sendable () -> Int64 {
        let bound = NIOLoopBound(self.loop, eventLoop: self.loop)
        return { Self.start + ahead + Int64(bound.value.now.uptimeNanoseconds) }
    }

    func ingest(_ member: String = "host-a", epoch: UInt64 = 7) -> (ClusterPublisher, ClusterStateBox) {
        let state = ClusterStateBox()
        state.begin(ClusterState(cluster: "test", member: member, role: .ingest))
        let publisher = ClusterPublisher(
            self.subjects,
            member: member,
            link: self.broker.link(),
            status: FeedStatus(source: .live, phase: .live, since: Self.start),
            on: self.loop,
            isAllowed: { true },
            wallClock: self.wallClock(ahead: Self.ahead),
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }),
            figures: state
        )
        publisher.start()
        publisher.begin(epoch: epoch, complete: TapeCompleteness(Self.start))
        return (publisher, state)
    }

    func startEdge() {
        self.edgeState.begin(ClusterState(cluster: "test", member: "edge", role: .edge))
        let feed = EdgeFeed(
            EdgeFeed.Settings(self.subjects, member: "edge", symbols: [Frames.btc]),
            link: self.broker.link(),
            TapeWriter(epoch: 1, readers: [TapeLog()]),
            FeedContext(
                loop: self.loop,
                wallClock: self.wallClock(ahead: 0),
                chance: { 0.5 },
                logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
            ),
            state: self.edgeState
        )
        feed.start()
        self.edge = feed
        self.loop.run()
    }

    func pass(_ milliseconds: Int64) { self.loop.advanceTime(by: .milliseconds(milliseconds)) }

    deinit {
        self.edge?.stop()
        try? self.loop.syncShutdownGracefully()
    }
}

@Suite("What people and programs see of a cluster")
struct ClusterStateTests {
    private let bench: StateBench
    private var source = BatchSource()

    init() throws { self.bench = try StateBench() }

    @Test("an edge knows its ingest, the hops, the newest frame, the clocks' offset and its lag")
    mutating func follows() throws {
        let (ingest, ingestState) = self.bench.ingest()
        self.bench.startEdge()
        ingest.read(self.source.batch([Frames.trade(Frames.btc, "1"), Frames.trade(Frames.btc, "2")]))
        self.bench.pass(1_000)
        let state = try #require(self.bench.edgeState.value)
        #expect(state.followed == "host-a" && state.hops == 1 && !state.isPublishing)
        #expect(state.position == ClusterPosition(epoch: 7, frame: 2, sequence: 2))
        #expect(state.clockOffset == StateBench.ahead)
        #expect(state.lag(now: self.bench.now) == 0)
        #expect(state.lag(now: self.bench.now + 300_000_000) == 300_000_000)
        #expect(state.losses == ClusterState.Losses() && state.edges == nil)
        let own = try #require(ingestState.value)
        #expect(own.isPublishing && own.hops == 0 && own.position == state.position && own.complete == nil)
        _ = ingest.end()
        #expect(ingestState.value?.isPublishing == false && ingestState.value?.hops == nil)
    }

    @Test("an edge without an ingest follows none, and its lag grows")
    mutating func silence() throws {
        let (ingest, _) = self.bench.ingest()
        self.bench.startEdge()
        self.bench.pass(1_000)
        _ = ingest.end()
        self.bench.pass(2_000)
        let state = try #require(self.bench.edgeState.value)
        #expect(state.followed == nil && state.hops == nil)
        #expect(try #require(state.lag(now: self.bench.now)) >= 1_900_000_000)
    }

    @Test("frames that are asked for again, lost and refused are counted")
    mutating func losses() throws {
        let (ingest, _) = self.bench.ingest()
        self.bench.startEdge()
        ingest.read(self.source.batch([Frames.trade(Frames.btc, "1")]))
        let tape = self.bench.subjects.tape
        self.bench.broker.loses = { subject, _ in subject == tape }
        ingest.read(self.source.batch([Frames.trade(Frames.btc, "2")]))
        self.bench.broker.loses = { _, _ in false }
        self.bench.pass(1_000)
        #expect(self.bench.edgeState.value?.losses.requests == 1)
        #expect(self.bench.edgeState.value?.losses.frames == 0)

        // Now the requests are lost, too.
        let history = self.bench.subjects.history
        self.bench.broker.loses = { subject, _ in subject == tape || subject == history }
        ingest.read(self.source.batch([Frames.trade(Frames.btc, "3")]))
        ingest.read(self.source.batch([Frames.trade(Frames.btc, "4")]))
        self.bench.broker.loses = { subject, _ in subject == history }
        ingest.read(self.source.batch([Frames.trade(Frames.btc, "5")]))
        self.bench.pass(130_000)
        let losses = try #require(self.bench.edgeState.value?.losses)
        #expect(losses.requests >= 2 && losses.frames == 2 && losses.gaps == 1, "\(losses)")

        let (old, _) = self.bench.ingest("host-b", epoch: 6)
        old.read(self.source.batch([Frames.trade(Frames.btc, "6")]))
        self.bench.pass(100)
        #expect(self.bench.edgeState.value?.losses.refused == 2)
        #expect(self.bench.edgeState.value?.followed == "host-a")
    }

    @Test("a member answers in inboxes for that only, at most 64 times a second, and not before it has begun")
    func answers() throws {
        let box = ClusterStateBox()
        let members = MemberAnswers(self.bench.subjects, link: self.bench.broker.link(), on: self.bench.loop) {
            box.report(version: "1.2.3", now: 2_000_000_000)
        }
        members.start()
        let asker = self.bench.broker.link()
        var texts: [String] = []
        asker.subscribe(to: "_INBOX.members.x") { payload, _, _ in texts.append(String(buffer: payload)) }
        asker.subscribe(to: "_INBOX.x") { payload, _, _ in texts.append(String(buffer: payload)) }
        let question = ByteBuffer(string: #"{"type":"members"}"#)
        func ask(_ reply: String) {
            self.bench.broker.publish(question, to: self.bench.subjects.members, reply: reply)
        }
        ask("_INBOX.members.x")
        #expect(texts.isEmpty)

        var state = ClusterState(cluster: "test", member: "edge-1", role: .edge)
        state.followed = "host-a"
        state.position = ClusterPosition(epoch: 7, frame: 17, sequence: 12)
        state.clockOffset = -1_240_000
        state.complete = 1_750_000_000
        state.server = "nats://127.0.0.1:4222"
        state.reconnects = 1
        state.losses.requests = 2
        box.begin(state)
        box.clients { 3 }
        ask("_INBOX.x")
        #expect(texts.isEmpty)
        ask("_INBOX.members.x")
        #expect(
            texts == [
                #"{"type":"member","cluster":"test","member":"edge-1","role":"edge","publishing":false,"#
                    + #""ingest":"host-a","hops":1,"epoch":7,"lag":0.250,"clockOffset":-1240,"lease":null,"frame":17,"#
                    + #""seq":12,"losses":{"requests":2,"frames":0,"gaps":0,"refused":0},"edges":null,"clients":3,"#
                    + #""server":"nats://127.0.0.1:4222","reconnects":1,"version":"1.2.3"}"#
            ]
        )
        for _ in 0..<100 { ask("_INBOX.members.x") }
        #expect(texts.count == MemberAnswers.maximumAnswers)
        self.bench.pass(1_000)
        ask("_INBOX.members.x")
        #expect(texts.count == MemberAnswers.maximumAnswers + 1)
    }
}
