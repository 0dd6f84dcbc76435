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

/// An ingest's publisher and edges on one broker and one virtual clock.
private final class Bench {
    struct Edge {
        let feed: EdgeFeed
        let link: MemoryLink
        let log: TapeLog
    }

    let loop = EmbeddedEventLoop()
    let broker: MemoryBroker
    /// How far the wall clocks of ingests and edges are ahead, ns.
    let ahead: (ingests: NIOLoopBoundBox<Int64>, edges: NIOLoopBoundBox<Int64>)
    let subjects: ClusterSubjects
    private(set) var edges: [Edge] = []
    static let start: Int64 = 1_795_000_000_000_000_000

    init() throws {
        self.broker = MemoryBroker(on: self.loop)
        self.ahead = (NIOLoopBoundBox(0, eventLoop: self.loop), NIOLoopBoundBox(0, eventLoop: self.loop))
        self.subjects = try #require(ClusterSubjects("test"))
    }

    private func wallClock(_ ahead: NIOLoopBoundBox<Int64>) -> @Sendable () -> Int64 {
        let bound = NIOLoopBound(self.loop, eventLoop: self.loop)
        return { Self.start + Int64(bound.value.now.uptimeNanoseconds) + ahead.value }
    }

    /// The time by a clock that is not ahead, ns since 1970.
    var now: Int64 { Self.start + Int64(self.loop.now.uptimeNanoseconds) }

    private static var logger: Logger { Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }) }

    func ingest(
        _ member: String = "host-a",
        epoch: UInt64 = 7,
        phase: FeedStatus.Phase = .live
    ) -> (ClusterPublisher, MemoryLink) {
        let link = self.broker.link()
        let publisher = ClusterPublisher(
            self.subjects,
            member: member,
            link: link,
            status: FeedStatus(source: .live, phase: phase, since: Self.start),
            on: self.loop,
            isAllowed: { true },
            wallClock: self.wallClock(self.ahead.ingests),
            logger: Self.logger
        )
        publisher.start()
        publisher.begin(epoch: epoch, complete: TapeCompleteness(self.now))
        return (publisher, link)
    }

    func edge(
        _ member: String = "edge",
        symbols: [String] = [Frames.btc],
        readers: [any TapeReader] = [],
        isConnected: Bool = true
    ) -> Edge {
        let link = self.broker.link()
        link.isConnected = isConnected
        let log = TapeLog()
        var settings = EdgeFeed.Settings(self.subjects, member: member, symbols: symbols)
        settings.machine.jitter = 0
        let feed = EdgeFeed(
            settings,
            link: link,
            TapeWriter(epoch: 1, readers: [log] + readers),
            FeedContext(
                loop: self.loop,
                wallClock: self.wallClock(self.ahead.edges),
                chance: { 0.5 },
                logger: Self.logger
            )
        )
        feed.start()
        let edge = Edge(feed: feed, link: link, log: log)
        self.edges.append(edge)
        self.loop.run()
        return edge
    }

    func pass(_ milliseconds: Int64) { self.loop.advanceTime(by: .milliseconds(milliseconds)) }

    deinit {
        for edge in self.edges { edge.feed.stop() }
        self.loop.run()
        self.broker.stop()
        try? self.loop.syncShutdownGracefully()
    }
}

extension ClusterPublisher {
    fileprivate func announce(_ symbols: [String], _ state: SymbolStatus.State) {
        for symbol in symbols { self.symbolChanged(SymbolStatus(symbol: symbol, state: state, since: 0)) }
    }

    fileprivate func say(_ phase: FeedStatus.Phase) {
        self.statusChanged(FeedStatus(source: .live, phase: phase, since: 0))
    }
}

@Suite("The way from an ingest to its edges")
struct IngestToEdgeTests {
    private let bench: Bench
    private var source = BatchSource()

    init() throws { self.bench = try Bench() }

    @Test("an edge's tape has the ingest's trades under their numbers, from the moment at which it joined")
    mutating func follows() throws {
        let (ingest, _) = self.bench.ingest()
        ingest.read(self.source.batch([Frames.trade(Frames.btc, "1")]))
        let edge = self.bench.edge()
        ingest.read(self.source.batch([Frames.trade(Frames.btc, "2.50", size: "0.1"), Frames.trade(Frames.eth, "3")]))
        ingest.read(self.source.batch([Frames.trade(Frames.btc, "4")]))
        let contents = edge.log.contents
        #expect(contents.lines == ["\(Frames.btc) 2.5 0.1", "\(Frames.eth) 3 0.02", "\(Frames.btc) 4 0.02"])
        #expect(contents.sequences == [2, 3, 4])
        #expect(contents.gaps.isEmpty)
        #expect(contents.statuses.last?.word == "live")
        #expect(edge.feed.status.via == "host-a")
    }

    @Test("states, gaps and outcomes come in the tape's order")
    mutating func order() throws {
        let (ingest, _) = self.bench.ingest()
        let edge = self.bench.edge()
        ingest.read(self.source.batch([Frames.trade(Frames.btc, "1")]))
        ingest.statusChanged(FeedStatus(source: .live, phase: .stale, since: 0, reason: "quiet"))
        ingest.gapFound(Gap(from: 1_000_000, to: 2_000_000, reason: "lost", nextSequence: 2, epoch: 7, cause: .lost))
        ingest.symbolChanged(SymbolStatus(symbol: Frames.btc, state: .live, since: 0))
        ingest.read(self.source.batch([Frames.trade(Frames.btc, "2")]))
        let contents = edge.log.contents
        #expect(contents.order == ["read 1", "gap", "read 1"])
        #expect(contents.gaps.first?.nextSequence == 2)
        #expect(contents.gaps.first?.epoch == 7)
        #expect(contents.statuses.last?.reason == "quiet")
        #expect(contents.words(of: Frames.btc) == ["live"])
    }

    @Test("an edge that joins later has the state, and the symbols' states")
    mutating func joinsLater() throws {
        let (ingest, _) = self.bench.ingest()
        ingest.statusChanged(FeedStatus(source: .live, phase: .late, since: 0, reason: "slow"))
        ingest.symbolChanged(SymbolStatus(symbol: Frames.eth, state: .quiet, since: 0))
        let edge = self.bench.edge()
        #expect(edge.feed.status.reason == "slow")
        #expect(edge.log.contents.words(of: Frames.eth) == ["quiet"])
    }

    @Test("lost frames are asked for, and nothing is missing or repeated")
    mutating func loses() throws {
        let (ingest, _) = self.bench.ingest()
        let edge = self.bench.edge()
        var count = 0
        self.bench.broker.loses = { subject, _ in
            guard subject.hasSuffix(".tape") else { return false }
            count += 1
            return count % 3 != 0
        }
        for number in 1...100 {
            ingest.read(self.source.batch([Frames.trade(Frames.btc, "\(number)")]))
            if number % 7 == 0 { self.bench.pass(50) }
        }
        self.bench.pass(1_000)
        #expect(edge.log.contents.sequences == Array(1...100))
        #expect(edge.log.contents.gaps.isEmpty)
    }

    @Test("an edge without its ingest says so within 2 s, and is live again with it")
    mutating func silence() throws {
        let (ingest, link) = self.bench.ingest()
        let edge = self.bench.edge()
        #expect(edge.feed.status.word == "live")
        link.isConnected = false
        self.bench.pass(1_750)
        #expect(edge.feed.status.word == "stale")
        #expect(edge.feed.status.reason?.contains("no ingest of the cluster test") == true)
        ingest.read(self.source.batch([Frames.trade(Frames.btc, "1")]))
        link.isConnected = true
        self.bench.pass(500)
        #expect(edge.feed.status.word == "live")
        #expect(edge.log.contents.sequences == [1])
        #expect(edge.log.contents.gaps.isEmpty)
    }

    @Test("an edge that was without NATS for a while gets what it missed")
    mutating func reconnects() throws {
        let (ingest, _) = self.bench.ingest()
        let edge = self.bench.edge()
        ingest.read(self.source.batch([Frames.trade(Frames.btc, "1")]))
        edge.link.isConnected = false
        edge.feed.linkChanged("the connection is lost")
        #expect(edge.feed.status.word == "reconnecting")
        #expect(edge.feed.status.reason == "NATS: the connection is lost")
        for number in 2...50 { ingest.read(self.source.batch([Frames.trade(Frames.btc, "\(number)")])) }
        self.bench.pass(1_499)
        #expect(edge.feed.status.word == "reconnecting")
        self.bench.pass(1)
        #expect(edge.feed.status.word == "stale")
        #expect(edge.feed.status.reason == "NATS, attempt 1: the connection is lost")
        edge.feed.linkChanged("refused", retryIn: .seconds(2))
        #expect(edge.feed.status.word == "stale" && edge.feed.status.reason == "NATS, attempt 2: refused")
        #expect(edge.feed.status.cause == .lost)
        self.bench.pass(8_500)
        edge.link.isConnected = true
        edge.feed.linkChanged(nil)
        #expect(edge.feed.status.word == "connecting")
        self.bench.pass(100)
        #expect(edge.log.contents.sequences == Array(1...50))
        #expect(edge.log.contents.gaps.isEmpty)
        #expect(edge.feed.status.word == "live")
    }

    @Test("an edge that was away for longer than frames are kept has a gap, and goes on")
    mutating func awayForLong() throws {
        let (ingest, _) = self.bench.ingest()
        let edge = self.bench.edge()
        ingest.read(self.source.batch([Frames.trade(Frames.btc, "1")]))
        edge.link.isConnected = false
        edge.feed.linkChanged("the connection is lost")
        ingest.read(self.source.batch([Frames.trade(Frames.btc, "2")]))
        self.bench.pass(121_000)
        ingest.read(self.source.batch([Frames.trade(Frames.btc, "3")]))
        edge.link.isConnected = true
        edge.feed.linkChanged(nil)
        self.bench.pass(100)
        ingest.read(self.source.batch([Frames.trade(Frames.btc, "4")]))
        #expect(edge.log.contents.sequences == [1, 4])
        #expect(edge.log.contents.order == ["read 1", "gap", "read 1"])
        let gap = try #require(edge.log.contents.gaps.first)
        #expect(gap.nextSequence == 4)
        #expect(gap.length >= 121_000_000_000)
    }

    @Test("another ingest takes over: a new epoch, a gap, and nothing of the old one any more")
    mutating func takesOver() throws {
        let (first, _) = self.bench.ingest("host-a", epoch: 7)
        let edge = self.bench.edge()
        first.read(self.source.batch([Frames.trade(Frames.btc, "1")]))
        let (second, _) = self.bench.ingest("host-b", epoch: 8)
        self.source.beginAnew()
        second.say(.live)
        second.read(self.source.batch([Frames.trade(Frames.btc, "2")]))
        var old = BatchSource()
        _ = old.batch([Frames.trade(Frames.btc, "1")])
        first.read(old.batch([Frames.trade(Frames.btc, "666")]))
        self.bench.pass(1_000)
        #expect(edge.log.contents.lines == ["\(Frames.btc) 1 0.02", "\(Frames.btc) 2 0.02"])
        #expect(edge.log.contents.sequences == [1, 1])
        #expect(edge.log.contents.gaps.map(\.epoch) == [8])
        #expect(edge.log.contents.gaps.map(\.cause) == [.replaced])
        #expect(edge.feed.status.via == "host-b")
    }

    @Test("the gap of a takeover runs from the old ingest's newest trade to the new one's first")
    mutating func namesTakeover() throws {
        let (first, link) = self.bench.ingest("host-a", epoch: 7)
        let edge = self.bench.edge()
        first.read(self.source.batch([Frames.trade(Frames.btc, "1")]))
        self.bench.pass(60_000)
        link.isConnected = false
        self.bench.pass(2_000)
        var wishes = 0
        self.bench.broker.link().subscribe(to: self.bench.subjects.wanted(by: "*")) { _, _, _ in wishes += 1 }
        let (second, _) = self.bench.ingest("host-b", epoch: 8, phase: .connecting)
        self.bench.loop.run()
        #expect(wishes == 1)
        self.bench.pass(3_000)
        self.source.beginAnew()
        second.say(.live)
        second.read(self.source.batch([Frames.trade(Frames.btc, "2")]))
        #expect(edge.log.contents.order == ["read 1", "gap", "read 1"])
        #expect(edge.log.contents.gaps.map(\.length) == [65_000_000_000])
        #expect(edge.feed.status.via == "host-b")
    }

    @Test("a feed that is not live when another ingest takes over makes no gap of the other feeds' symbols")
    mutating func namesOutage() throws {
        let (first, link) = self.bench.ingest("host-a", epoch: 7)
        let edge = self.bench.edge()
        first.announce([Frames.btc, Frames.eth], .live)
        first.read(self.source.batch([Frames.trade(Frames.btc, "1"), Frames.trade(Frames.eth, "2")]))
        let before = self.bench.now
        self.bench.pass(5_000)
        first.say(.reconnecting(attempt: 1, retryAt: 0))
        self.bench.pass(60_000)
        first.read(self.source.batch([Frames.trade(Frames.btc, "3")]))
        let traded = self.bench.now
        self.bench.pass(1_000)
        link.isConnected = false
        self.bench.pass(12_000)
        let (second, _) = self.bench.ingest("host-b", epoch: 8, phase: .connecting)
        self.source.beginAnew()
        second.say(.live)
        second.read(self.source.batch([Frames.trade(Frames.btc, "4")]))
        let gaps = edge.log.contents.gaps
        #expect(gaps.map(\.symbol) == [Frames.eth, nil])
        #expect(gaps.map(\.from) == [before, traded] && gaps.map(\.to) == [traded, self.bench.now])
    }

    @Test("the frames of a new ingest that come before its first heartbeat are not the old one's")
    mutating func namesNewIngest() throws {
        let (first, link) = self.bench.ingest("host-a", epoch: 7)
        let edge = self.bench.edge()
        first.read(self.source.batch([Frames.trade(Frames.btc, "1")]))
        link.isConnected = false
        self.bench.broker.loses = { subject, _ in subject.hasSuffix(".beat") }
        let (second, _) = self.bench.ingest("host-b", epoch: 8)
        second.say(.live)
        #expect(edge.feed.status.word == "live")
        #expect(edge.feed.status.via == nil)
        self.bench.broker.loses = { _, _ in false }
        self.bench.pass(250)
        #expect(edge.feed.status.via == "host-b")
    }

    @Test("an edge that comes back to another ingest gets everything that this one still has")
    mutating func comesBackToAnother() throws {
        let (first, link) = self.bench.ingest("host-a", epoch: 7)
        let edge = self.bench.edge()
        first.read(self.source.batch([Frames.trade(Frames.btc, "1")]))
        edge.link.isConnected = false
        edge.feed.linkChanged("the connection is lost")
        link.isConnected = false
        let (second, _) = self.bench.ingest("host-b", epoch: 8)
        self.source.beginAnew()
        second.read(self.source.batch([Frames.trade(Frames.btc, "2")]))
        self.bench.pass(10_100)
        edge.link.isConnected = true
        edge.feed.linkChanged(nil)
        self.bench.pass(50)
        #expect(edge.log.contents.lines == ["\(Frames.btc) 1 0.02", "\(Frames.btc) 2 0.02"])
        #expect(edge.log.contents.gaps.map(\.cause) == [.replaced])
    }

    @Test("an old price is not live again because another ingest has begun: first it must say that it is")
    mutating func takesOverSilently() throws {
        let (first, link) = self.bench.ingest("host-a", epoch: 7)
        let edge = self.bench.edge()
        first.read(self.source.batch([Frames.trade(Frames.btc, "1")]))
        link.isConnected = false
        self.bench.pass(2_000)
        #expect(edge.feed.status.word == "stale")
        let (second, _) = self.bench.ingest("host-b", epoch: 8, phase: .connecting)
        #expect(edge.feed.status.word == "connecting")
        self.bench.pass(500)
        #expect(edge.feed.status.word == "connecting")
        second.say(.live)
        #expect(edge.feed.status.word == "live")
        #expect(edge.log.contents.words.filter { $0 == "live" }.count == 2)
    }

    @Test("a burst is cut into frames of a bounded size")
    mutating func burst() throws {
        let (ingest, _) = self.bench.ingest()
        let edge = self.bench.edge()
        var sizes: [Int] = []
        self.bench.broker.loses = { subject, payload in
            if subject.hasSuffix(".tape") { sizes.append(payload.readableBytes) }
            return false
        }
        ingest.read(self.source.batch((1...5_000).map { Frames.trade(Frames.btc, "\($0)") }))
        #expect(sizes.count > 1)
        #expect(sizes.allSatisfy { $0 < 300_000 })
        #expect(edge.log.contents.sequences == Array(1...5_000))
    }

    @Test("a frame whose trades are fewer than its head says shifts no number, and is a gap")
    mutating func wrongCount() throws {
        let (ingest, link) = self.bench.ingest()
        let edge = self.bench.edge()
        ingest.read(self.source.batch([Frames.trade(Frames.btc, "1")]))
        let frame = ClusterFrame(
            position: ClusterPosition(epoch: 7, frame: 3, sequence: 3),
            trades: 2,
            sent: 0,
            lines: ByteBuffer(string: "{\"type\":\"trade\",\"symbol\":\"X\"}\n")
        )
        _ = link.publish(frame.text(), to: self.bench.subjects.tape)
        #expect(edge.log.contents.sequences == [1])
        #expect(edge.log.contents.gaps.map(\.nextSequence) == [4])
        #expect(edge.log.contents.malformedFrames == 1)
    }

    @Test("the age of a price on an edge counts from its arrival at the ingest, however late it was delivered")
    mutating func countsAgeFromArrival() throws {
        let (ingest, _) = self.bench.ingest()
        let edge = self.bench.edge()
        self.bench.pass(1_000)
        edge.link.isConnected = false
        edge.feed.linkChanged("the connection is lost")
        let arrival = Int64(self.bench.loop.now.uptimeNanoseconds)
        ingest.read(self.source.batch([Frames.trade(Frames.btc, "1")]))
        self.bench.pass(60_000)
        edge.link.isConnected = true
        edge.feed.linkChanged(nil)
        self.bench.pass(100)
        #expect(edge.log.contents.arrivals == [arrival])
    }

    @Test("a status in frames that are lost for good is fetched, and the trades go on behind the gap")
    mutating func losesStatus() throws {
        let (ingest, _) = self.bench.ingest()
        let edge = self.bench.edge()
        #expect(edge.feed.status.word == "live")
        self.bench.broker.loses = { subject, _ in subject.hasSuffix(".tape") || subject.hasSuffix(".history") }
        ingest.statusChanged(FeedStatus(source: .live, phase: .stale, since: 0, reason: "quiet"))
        ingest.symbolChanged(SymbolStatus(symbol: Frames.btc, state: .quiet, since: 0))
        self.bench.broker.loses = { subject, _ in subject.hasSuffix(".history") }
        ingest.read(self.source.batch([Frames.trade(Frames.btc, "1")]))
        self.bench.pass(4_000)
        #expect(edge.feed.status.reason?.contains("host-a does not answer") == true)
        #expect(edge.log.contents.gaps.isEmpty)
        self.bench.pass(120_000)
        #expect(edge.log.contents.sequences == [1])
        #expect(edge.log.contents.gaps.count == 1)
        #expect(edge.feed.status.reason == "quiet")
        #expect(edge.log.contents.words(of: Frames.btc) == ["quiet"])
    }

    @Test("heartbeats alone do not make an old status live: an edge that cannot join says so")
    mutating func cannotJoin() throws {
        let (ingest, _) = self.bench.ingest()
        let edge = self.bench.edge()
        #expect(edge.feed.status.word == "live")
        edge.link.isConnected = false
        edge.feed.linkChanged("the connection is lost")
        ingest.read(self.source.batch([Frames.trade(Frames.btc, "1")]))
        self.bench.pass(121_000)
        ingest.read(self.source.batch([Frames.trade(Frames.btc, "2")]))
        self.bench.broker.loses = { subject, _ in subject.hasSuffix(".snapshot") }
        edge.link.isConnected = true
        edge.feed.linkChanged(nil)
        let count = edge.log.contents.words.count { $0 == "live" }
        self.bench.pass(5_000)
        #expect(edge.log.contents.words.count { $0 == "live" } == count)
        #expect(edge.feed.status.word == "stale")
        #expect(edge.feed.status.reason?.contains("host-a does not answer") == true)
        self.bench.broker.loses = { _, _ in false }
        self.bench.pass(2_000)
        #expect(edge.feed.status.word == "live")
    }

    @Test("a symbol of an ingest that is gone does not stay live")
    mutating func endsSymbolsOfOldIngest() throws {
        let (first, link) = self.bench.ingest("host-a", epoch: 7)
        let edge = self.bench.edge()
        first.symbolChanged(SymbolStatus(symbol: Frames.btc, state: .live, since: 0))
        first.symbolChanged(SymbolStatus(symbol: Frames.eth, state: .live, since: 0))
        link.isConnected = false
        let (second, _) = self.bench.ingest("host-b", epoch: 8)
        second.say(.live)
        self.bench.pass(500)
        #expect(edge.log.contents.unsubscribed == [Frames.eth])
        // This edge wants it, so it is subscribed to again.
        #expect(edge.log.contents.words(of: Frames.btc) == ["live", "asked"])
    }

    @Test("a symbol that was released while the edge was away does not stay live")
    mutating func endsReleasedSymbols() throws {
        let (ingest, _) = self.bench.ingest()
        let edge = self.bench.edge()
        ingest.symbolChanged(SymbolStatus(symbol: Frames.btc, state: .live, since: 0))
        ingest.symbolChanged(SymbolStatus(symbol: Frames.eth, state: .live, since: 0))
        edge.link.isConnected = false
        edge.feed.linkChanged("the connection is lost")
        ingest.symbolUnsubscribed(Frames.eth)
        self.bench.pass(121_000)
        ingest.read(self.source.batch([Frames.trade(Frames.btc, "2")]))
        edge.link.isConnected = true
        edge.feed.linkChanged(nil)
        self.bench.pass(100)
        #expect(edge.log.contents.unsubscribed == [Frames.eth])
    }

    @Test("an edge that comes to another NATS server says within 2 s of the ingest's death that there is none")
    mutating func changesServer() throws {
        let (ingest, link) = self.bench.ingest()
        let edge = self.bench.edge()
        self.bench.pass(1_000)
        link.isConnected = false
        edge.link.isConnected = false
        edge.feed.linkChanged("lost")
        self.bench.pass(1_200)
        #expect(edge.feed.status.word == "reconnecting")
        edge.link.isConnected = true
        edge.feed.linkChanged(nil)
        self.bench.pass(499)
        #expect(edge.feed.status.word == "connecting")
        self.bench.pass(1)
        #expect(edge.feed.status.word == "stale")
        _ = ingest.end()
    }

    @Test("an edge whose NATS has never answered says so within 2 s, and so does one that fails at once")
    func neverConnected() {
        let edge = self.bench.edge(isConnected: false)
        #expect(edge.feed.status.word == "connecting")
        self.bench.pass(1_500)
        #expect(edge.feed.status.word == "stale" && edge.feed.status.reason == "NATS, attempt 1: no answer yet")
        let other = self.bench.edge(isConnected: false)
        self.bench.pass(100)
        other.feed.linkChanged("refused", retryIn: .milliseconds(500))
        #expect(other.feed.status.word == "reconnecting")
        self.bench.pass(1_400)
        #expect(other.feed.status.word == "stale" && other.feed.status.reason == "NATS, attempt 1: refused")
    }

    @Test("an edge that has never heard an ingest says so within 2 s")
    mutating func neverHeard() throws {
        let edge = self.bench.edge()
        #expect(edge.feed.status.word == "connecting")
        self.bench.pass(2_000)
        #expect(edge.feed.status.word == "stale")
        #expect(edge.feed.status.reason?.contains("no ingest of the cluster test") == true)
    }

    @Test("behind an unreadable trade no other one gets its number")
    mutating func keepsNumbers() throws {
        let (ingest, link) = self.bench.ingest()
        let edge = self.bench.edge()
        let batch = self.source.batch((1...5).map { Frames.trade(Frames.btc, "\($0)") })
        var first = batch
        first.trades.removeSubrange(1...)
        ingest.read(first)
        func line(_ number: UInt64) -> String {
            var line = ByteBuffer()
            var texts = SymbolTexts()
            StreamEncoder.trade(
                batch.trades[Int(number) - 1],
                symbol: texts.text(of: batch.trades[0].symbol, in: batch.symbols),
                sequence: number,
                received: 0,
                number: nil,
                into: &line
            )
            return String(buffer: line) + "\n"
        }
        func send(_ lines: String, frame: UInt64, sequence: UInt64, trades: Int) {
            let position = ClusterPosition(epoch: 7, frame: frame, sequence: sequence)
            let frame = ClusterFrame(position: position, trades: trades, sent: 0, lines: ByteBuffer(string: lines))
            _ = link.publish(frame.text(), to: self.bench.subjects.tape)
        }
        send(line(2) + "{\"type\":\"trade\",\"seq\":3}\n" + line(4), frame: 3, sequence: 4, trades: 3)
        #expect(edge.log.contents.sequences == [1, 2])
        #expect(edge.log.contents.lines.last == "\(Frames.btc) 2 0.02")
        // The head says that a trade before this one is missing.
        send(line(5), frame: 4, sequence: 5, trades: 1)
        #expect(edge.log.contents.sequences == [1, 2, 5])
        #expect(edge.log.contents.gaps.map(\.nextSequence) == [5])
    }

    @Test("a trade of an impossible name is left out, and is a gap")
    mutating func impossibleName() throws {
        let (ingest, _) = self.bench.ingest()
        let edge = self.bench.edge()
        ingest.read(self.source.batch([Frames.trade(Frames.btc, "1"), Frames.trade(" A", "2")]))
        ingest.read(self.source.batch([Frames.trade(Frames.btc, "3")]))
        #expect(edge.log.contents.lines == ["\(Frames.btc) 1 0.02", "\(Frames.btc) 3 0.02"])
        #expect(edge.log.contents.gaps.map(\.nextSequence) == [3])
    }

    @Test("frames whose request had no answer are asked for again, and its late failure concerns no later request")
    mutating func asksAgain() throws {
        let (ingest, _) = self.bench.ingest()
        let edge = self.bench.edge()
        var frames = 0
        var requests = 0
        self.bench.broker.loses = { subject, _ in
            if subject.hasSuffix(".tape") { frames += 1 }
            if subject.hasSuffix(".history") { requests += 1 }
            if subject.hasSuffix(".history"), requests == 1 { return true }
            return subject.hasSuffix(".tape") && [2, 4, 5].contains(frames)
        }
        for number in 1...6 { ingest.read(self.source.batch([Frames.trade(Frames.btc, "\(number)")])) }
        self.bench.pass(1_600)
        #expect(edge.log.contents.sequences == Array(1...6))
        #expect(edge.log.contents.gaps.isEmpty)
        #expect(edge.feed.status.word == "live")
    }

    @Test("an ingest answers to no subject but an inbox")
    mutating func answersOnlyToInboxes() throws {
        let (ingest, _) = self.bench.ingest()
        ingest.read(self.source.batch([Frames.trade(Frames.btc, "1")]))
        var answers = 0
        let reader = self.bench.broker.link()
        for subject in ["$KV.leases.test", "tickertape.test.tape", "_INBOX.a"] {
            reader.subscribe(to: subject) { _, _, _ in answers += 1 }
        }
        let request = ClusterHistoryRequest(after: ClusterPosition(epoch: 7, frame: 0, sequence: 0)).text()
        for reply in ["$KV.leases.test", "tickertape.test.tape"] {
            self.bench.broker.publish(request, to: self.bench.subjects.history, reply: reply)
            let state = ClusterSnapshotRequest(epoch: 0).text()
            self.bench.broker.publish(state, to: self.bench.subjects.snapshot, reply: reply)
        }
        self.bench.pass(100)
        #expect(answers == 0)
        self.bench.broker.publish(request, to: self.bench.subjects.history, reply: "_INBOX.a")
        #expect(answers == 1)
    }

    @Test("answers to many edges at once leave room for the tape, and all of them come")
    mutating func boundsAnswers() throws {
        let (ingest, _) = self.bench.ingest()
        ingest.read(self.source.batch((1...8_000).map { Frames.trade(Frames.btc, "\($0)") }))
        var answers = 0
        var bytes = 0
        let reader = self.bench.broker.link()
        reader.subscribe(to: "_INBOX.*") { payload, _, _ in
            answers += 1
            bytes += payload.readableBytes
        }
        let request = ClusterHistoryRequest(after: ClusterPosition(epoch: 7, frame: 0, sequence: 0)).text()
        for number in 1...20 {
            self.bench.broker.publish(request, to: self.bench.subjects.history, reply: "_INBOX.\(number)")
        }
        #expect(answers > 0)
        #expect(bytes < 3 << 20)
        self.bench.pass(500)
        #expect(answers == 20)
    }

    @Test("where only an ingest with a lower epoch is heard, the status names it")
    mutating func namesLowerEpoch() throws {
        let (first, link) = self.bench.ingest("host-a", epoch: 9)
        let edge = self.bench.edge()
        first.read(self.source.batch([Frames.trade(Frames.btc, "1")]))
        link.isConnected = false
        let (second, _) = self.bench.ingest("host-b", epoch: 7)
        self.bench.pass(2_000)
        _ = second.end()
        #expect(edge.feed.status.word == "stale")
        #expect(edge.feed.status.reason?.contains("host-b sends epoch 7") == true)
    }

    @Test("an ingest that begins its numbers anew is the same ingest: no gap, and its status stays")
    mutating func renews() throws {
        let (ingest, _) = self.bench.ingest()
        let edge = self.bench.edge()
        ingest.read(self.source.batch([Frames.trade(Frames.btc, "1")]))
        self.source.beginAnew()
        let batch = self.source.batch([Frames.trade(Frames.btc, "2")])
        ingest.epochBegan(8, first: 1, symbols: batch.symbols)
        ingest.read(batch)
        #expect(edge.log.contents.sequences == [1, 1])
        #expect(edge.log.contents.gaps.isEmpty)
        #expect(edge.log.contents.words.last == "live")
        #expect(edge.log.contents.words.count { $0 == "live" } == 1)
    }

    @Test("frames that were lost before an ingest began its numbers anew are still there")
    mutating func renewsBehindHole() throws {
        let (ingest, _) = self.bench.ingest()
        let edge = self.bench.edge()
        self.bench.broker.loses = { subject, _ in subject.hasSuffix(".tape") }
        ingest.read(self.source.batch([Frames.trade(Frames.btc, "1")]))
        self.bench.broker.loses = { _, _ in false }
        self.source.beginAnew()
        let batch = self.source.batch([Frames.trade(Frames.btc, "2")])
        ingest.epochBegan(8, first: 1, symbols: batch.symbols)
        ingest.read(batch)
        self.bench.pass(100)
        #expect(edge.log.contents.lines == ["\(Frames.btc) 1 0.02", "\(Frames.btc) 2 0.02"])
        #expect(edge.log.contents.gaps.isEmpty)
    }

    @Test("an edge says what it wants: at once, after each change, and about every 5 s")
    mutating func wishes() throws {
        let wishes = self.bench.wishes()
        let edge = self.bench.edge("edge-1")
        #expect(wishes.all.map(\.symbols) == [[Frames.btc]])
        #expect(wishes.members == ["edge-1"])
        edge.feed.subscriptionsChanged([.subscribe(Frames.eth), .unsubscribe(Frames.btc)])
        self.bench.loop.run()
        #expect(wishes.all.last?.symbols == [Frames.eth])
        self.bench.pass(5_000)
        #expect(wishes.all.count == 3)
        edge.feed.stop()
        self.bench.loop.run()
        #expect(wishes.all.last?.symbols == [])
        #expect(Set(wishes.all.map(\.instance)).count == 1)
    }

    @Test("a client of an edge learns that the ingest does not subscribe to a symbol, and that it does later")
    mutating func namesRefusal() throws {
        let (ingest, _) = self.bench.ingest()
        let wishes = self.bench.wishes()
        wishes.answer = ClusterWishAnswer(full: [Frames.btc], invalid: ["X"])
        let edge = self.bench.edge(symbols: [Frames.btc, Frames.eth, "X"])
        #expect(edge.log.contents.words(of: Frames.btc) == ["over-limit"])
        #expect(edge.log.contents.words(of: "X") == ["no-such-symbol"])
        #expect(edge.log.contents.symbolStates.first?.reason?.contains("upstream.max-symbols") == true)
        // Once, although each wish has this answer.
        self.bench.pass(10_100)
        #expect(wishes.all.count == 3 && edge.log.contents.symbolStates.count == 2)
        wishes.answer = ClusterWishAnswer(invalid: ["X"])
        ingest.symbolChanged(SymbolStatus(symbol: Frames.btc, state: .asked, since: Bench.start))
        self.bench.pass(5_000)
        #expect(edge.log.contents.words(of: Frames.btc) == ["over-limit", "asked"])
        edge.feed.subscriptionsChanged([.unsubscribe("X")])
        #expect(edge.log.contents.unsubscribed == ["X"])
        // The ingest says when this one ends.
        edge.feed.subscriptionsChanged([.unsubscribe(Frames.btc)])
        #expect(edge.log.contents.unsubscribed == ["X"])
    }

    @Test("of more symbols than an edge may have the last ones are refused, and the others are asked for")
    mutating func cutsWish() throws {
        let (ingest, _) = self.bench.ingest()
        let wishes = self.bench.wishes()
        let edge = self.bench.edge(symbols: (1...1_026).map { "S\($0)" })
        #expect(wishes.all.first?.symbols.count == 1_024)
        #expect(edge.log.contents.words(of: "S1025") == ["over-limit"] && edge.log.contents.words(of: "S1024") == [])
        // One that another edge wants is there.
        ingest.symbolChanged(SymbolStatus(symbol: "S1026", state: .live, since: 0))
        self.bench.pass(5_100)
        #expect(edge.log.contents.words(of: "S1026") == ["over-limit", "live"])
        #expect(edge.log.contents.words(of: "S1025") == ["over-limit"])
        edge.feed.subscriptionsChanged([.unsubscribe("S1")])
        self.bench.loop.run()
        #expect(wishes.all.last?.symbols.last == "S1025")
        _ = ingest.end()
    }

    @Test("a symbol that the ingest has dropped is asked for by an edge that wants it, and its clients learn it")
    mutating func asksForReleased() throws {
        let (ingest, _) = self.bench.ingest()
        let edge = self.bench.edge()
        ingest.announce([Frames.btc, Frames.eth], .live)
        let wishes = self.bench.wishes()
        for symbol in [Frames.btc, Frames.eth] { ingest.symbolUnsubscribed(symbol) }
        self.bench.loop.run()
        #expect(edge.log.contents.words(of: Frames.btc) == ["live", "asked"])
        #expect(edge.log.contents.symbolStates.last?.reason == "the ingest has dropped it")
        #expect(edge.log.contents.unsubscribed == [Frames.eth])
        #expect(wishes.all.map(\.symbols) == [[Frames.btc]])
        // The ingest knows nothing of it any more, so the edge ends it by itself.
        edge.feed.subscriptionsChanged([.unsubscribe(Frames.btc)])
        #expect(edge.log.contents.unsubscribed == [Frames.eth, Frames.btc])
    }

    @Test("an edge joins an ingest with more state than one payload holds, and has all of it")
    mutating func joinsLargeIngest() throws {
        self.bench.broker.maximumPayload = 32 << 10
        let (ingest, _) = self.bench.ingest()
        let symbols = (1...3_000).map { "BINANCE:S\($0)" }
        for symbol in symbols {
            ingest.symbolChanged(SymbolStatus(symbol: symbol, state: .quiet, since: 0, reason: "no trade for a minute"))
        }
        var parts = 0
        let reader = self.bench.broker.link()
        reader.subscribe(to: self.bench.subjects.snapshot) { _, _, _ in parts += 1 }
        let edge = self.bench.edge()
        self.bench.pass(500)
        #expect(edge.feed.status.word == "live" && parts > 5)
        #expect(edge.log.contents.symbolStates.map(\.symbol) == symbols.sorted())
        // A state that changes while the parts come is the newest one at last.
        ingest.symbolChanged(SymbolStatus(symbol: symbols[0], state: .live, since: 0))
        ingest.read(self.source.batch([Frames.trade(Frames.btc, "1")]))
        #expect(edge.log.contents.words(of: symbols[0]) == ["quiet", "live"])
        #expect(edge.log.contents.sequences == [1])
    }

    @Test("a state that changes while a snapshot comes in parts is the newest one at the end")
    mutating func changesWhileJoining() throws {
        self.bench.broker.maximumPayload = 4 << 10
        let (ingest, _) = self.bench.ingest()
        func change(_ symbol: String, _ state: SymbolStatus.State) {
            ingest.symbolChanged(SymbolStatus(symbol: symbol, state: state, since: 0))
        }
        let symbols = (100...200).map { "S\($0)" }
        for symbol in symbols { change(symbol, .quiet) }
        var isFirst = true
        self.bench.broker.loses = { subject, _ in
            guard isFirst, subject.hasPrefix("_INBOX.") else { return false }
            isFirst = false
            // The first part has been made.
            change("S100", .live)
            change("S200", .live)
            change("S200", .quiet)
            ingest.symbolUnsubscribed("S150")
            return false
        }
        let edge = self.bench.edge(symbols: [])
        self.bench.pass(200)
        #expect(edge.feed.status.word == "live")
        #expect(edge.log.contents.words(of: "S100").last == "live")
        #expect(edge.log.contents.words(of: "S200").last == "quiet")
        #expect(edge.log.contents.unsubscribed == ["S150"])
    }

    @Test("times are by the edge's clock, whatever the ingest's says", arguments: [-8_000, 0, 8_000] as [Int64])
    mutating func correctsTimes(ahead milliseconds: Int64) throws {
        self.bench.ahead.ingests.value = milliseconds * 1_000_000
        let (ingest, _) = self.bench.ingest()
        let edge = self.bench.edge()
        self.bench.pass(10_000)
        let now = self.bench.now
        let ahead = milliseconds * 1_000_000
        ingest.read(self.source.batch([Frames.trade(Frames.btc, "1")]))
        ingest.gapFound(
            Gap(from: now + ahead - 3_000_000_000, to: now + ahead - 1_000_000_000, reason: "lost", nextSequence: 2)
        )
        let refused = SymbolStatus.State.refused(.overLimit, retryAt: now + ahead + 5_000_000_000)
        ingest.symbolChanged(SymbolStatus(symbol: Frames.btc, state: refused, since: now + ahead - 1_000_000_000))
        ingest.statusChanged(
            FeedStatus(source: .live, phase: .rateLimited(until: now + ahead + 7_000_000_000), since: now + ahead)
        )
        let contents = edge.log.contents
        #expect(contents.arrivals == [Int64(self.bench.loop.now.uptimeNanoseconds)])
        #expect(contents.gaps.map(\.from) == [now - 3_000_000_000] && contents.gaps.map(\.to) == [now - 1_000_000_000])
        #expect(contents.symbolStates.last?.since == now - 1_000_000_000)
        #expect(contents.symbolStates.last?.state == .refused(.overLimit, retryAt: now + 5_000_000_000))
        #expect(edge.feed.status.phase == .rateLimited(until: now + 7_000_000_000))
    }

    @Test("a clock that was set counts within two minutes, and that of another ingest at once")
    mutating func followsClocks() throws {
        let (first, link) = self.bench.ingest()
        let edge = self.bench.edge()
        self.bench.pass(10_000)
        self.bench.ahead.ingests.value = -10_000_000_000
        self.bench.pass(121_000)
        first.read(self.source.batch([Frames.trade(Frames.btc, "1")]))
        #expect(edge.log.contents.arrivals.last == Int64(self.bench.loop.now.uptimeNanoseconds))
        link.isConnected = false
        self.bench.pass(20_000)
        self.bench.ahead.ingests.value = -20_000_000_000
        let (second, _) = self.bench.ingest("host-b", epoch: 8)
        self.source.beginAnew()
        second.read(self.source.batch([Frames.trade(Frames.btc, "2")]))
        #expect(edge.log.contents.arrivals.last == Int64(self.bench.loop.now.uptimeNanoseconds))
    }

    @Test("an ingest with an epoch of more than a day ahead is not followed, and the status names it")
    mutating func refusesFarEpoch() throws {
        let (first, link) = self.bench.ingest("host-a", epoch: UInt64(Bench.start / 1_000_000))
        let edge = self.bench.edge()
        #expect(edge.feed.status.via == "host-a")
        let (far, _) = self.bench.ingest("host-b", epoch: 1 << 53 - 1)
        self.bench.pass(1_000)
        #expect(edge.feed.status.word == "live" && edge.feed.status.via == "host-a")
        link.isConnected = false
        self.bench.pass(2_000)
        #expect(edge.feed.status.word == "stale")
        let reason = try #require(edge.feed.status.reason)
        #expect(reason.hasPrefix("host-b sends epoch 9007199254740991, which is more than a day ahead"))
        _ = far.end()
        link.isConnected = true
        first.read(self.source.batch([Frames.trade(Frames.btc, "1")]))
        self.bench.pass(500)
        #expect(edge.feed.status.word == "live" && edge.log.contents.sequences == [1])
    }

    @Test("the gap that a new ingest names itself reaches back to the edge's newest trade, and is one")
    mutating func extendsGap() throws {
        let (first, link) = self.bench.ingest("host-a", epoch: 7)
        let edge = self.bench.edge()
        first.read(self.source.batch([Frames.trade(Frames.btc, "1")]))
        let traded = self.bench.now
        self.bench.pass(10_000)
        link.isConnected = false
        self.bench.pass(4_000)
        let (second, _) = self.bench.ingest("host-b", epoch: 8, phase: .connecting)
        self.source.beginAnew()
        let now = self.bench.now
        second.gapFound(
            Gap(from: now - 1_000_000_000, to: now, reason: "taken over", nextSequence: 1, epoch: 8, cause: .replaced)
        )
        second.read(self.source.batch([Frames.trade(Frames.btc, "2")]))
        #expect(edge.log.contents.order == ["read 1", "gap", "read 1"])
        #expect(edge.log.contents.gaps.map(\.from) == [traded] && edge.log.contents.gaps.map(\.to) == [now])
        // Later ones of the ingest are its own.
        second.gapFound(
            Gap(from: now, to: now + 1_000_000_000, reason: "again", nextSequence: 2, epoch: 8, cause: .replaced)
        )
        #expect(edge.log.contents.gaps.map(\.from) == [traded, now])
    }

    @Test("the gap of a takeover ends with the new ingest's first trade, and a feed that comes later has its own")
    mutating func slowFeed() throws {
        let (first, link) = self.bench.ingest("host-a", epoch: 7)
        let edge = self.bench.edge()
        first.announce([Frames.btc, Frames.eth], .live)
        first.read(self.source.batch([Frames.trade(Frames.btc, "1"), Frames.trade(Frames.eth, "2")]))
        link.isConnected = false
        let died = self.bench.now
        self.bench.pass(12_000)
        let (second, _) = self.bench.ingest("host-b", epoch: 8, phase: .connecting)
        second.announce([Frames.btc, Frames.eth], .asked)
        self.source.beginAnew()
        second.read(self.source.batch([Frames.trade(Frames.btc, "3")]))
        let traded = self.bench.now
        #expect(edge.log.contents.gaps.map(\.from) == [died] && edge.log.contents.gaps.map(\.to) == [traded])
        self.bench.pass(3_000)
        second.read(self.source.batch([Frames.trade(Frames.btc, "4")]))
        second.say(.live)
        second.read(self.source.batch([Frames.trade(Frames.eth, "5")]))
        self.bench.pass(500)
        let gaps = edge.log.contents.gaps.dropFirst()
        #expect(gaps.map(\.symbol) == [Frames.eth] && gaps.map(\.cause) == [.replaced])
        #expect(gaps.map(\.from) == [traded] && gaps.map(\.length) == [3_000_000_000])
        #expect(edge.log.contents.order == ["read 2", "gap", "read 1", "read 1", "gap", "read 1"])
        // Once.
        second.say(.late)
        second.say(.live)
        #expect(edge.log.contents.gaps.count == 2)
    }

    @Test("where no trade follows, a takeover's gap ends with the new ingest's connection", arguments: [true, false])
    mutating func quietTakeover(isLate: Bool) throws {
        let (first, link) = self.bench.ingest("host-a", epoch: 7)
        let edge = self.bench.edge()
        first.read(self.source.batch([Frames.trade(Frames.btc, "1")]))
        link.isConnected = false
        let (second, _) = self.bench.ingest("host-b", epoch: 8, phase: .connecting)
        second.symbolChanged(SymbolStatus(symbol: Frames.btc, state: .asked, since: 0))
        self.bench.pass(3_000)
        second.say(.waiting)
        self.bench.pass(5_000)
        // The ingest may name its own gap yet.
        #expect(edge.log.contents.gaps.isEmpty)
        second.say(isLate ? .late : .live)
        self.bench.pass(500)
        #expect(edge.log.contents.gaps.map(\.length) == [3_000_000_000])
    }

    @Test("where the first connection of a feed is lost at once, the gap ends with the next one")
    mutating func brieflyConnected() throws {
        let (first, link) = self.bench.ingest("host-a", epoch: 7)
        let edge = self.bench.edge()
        first.read(self.source.batch([Frames.trade(Frames.btc, "1")]))
        link.isConnected = false
        let (second, _) = self.bench.ingest("host-b", epoch: 8, phase: .connecting)
        second.symbolChanged(SymbolStatus(symbol: Frames.btc, state: .asked, since: 0))
        for phase in [FeedStatus.Phase.waiting, .reconnecting(attempt: 1, retryAt: 0), .waiting, .late] {
            self.bench.pass(2_000)
            second.say(phase)
        }
        self.bench.pass(500)
        #expect(edge.log.contents.gaps.map(\.length) == [6_000_000_000])
    }

    @Test("the gap of a takeover by an ingest without symbols ends with its connection")
    mutating func withoutSymbols() throws {
        let (first, link) = self.bench.ingest("host-a", epoch: 7)
        let edge = self.bench.edge(symbols: [])
        first.read(self.source.batch([Frames.trade(Frames.btc, "1")]))
        link.isConnected = false
        let (second, _) = self.bench.ingest("host-b", epoch: 8, phase: .connecting)
        self.bench.pass(2_000)
        second.say(.waiting)
        self.bench.pass(500)
        #expect(edge.log.contents.gaps.map(\.length) == [2_000_000_000])
    }

    @Test("while some feeds have no connection, each symbol's first trade ends a gap of its own")
    mutating func threeFeeds() throws {
        let (first, link) = self.bench.ingest("host-a", epoch: 7)
        let edge = self.bench.edge()
        let symbols = ["A", "B", "C"]
        first.announce(symbols, .live)
        first.read(self.source.batch(symbols.map { Frames.trade($0, "1") }))
        link.isConnected = false
        let (second, _) = self.bench.ingest("host-b", epoch: 8, phase: .connecting)
        self.source.beginAnew()
        second.announce(symbols, .asked)
        for symbol in ["A", "A", "B", "A", "B"] {
            self.bench.pass(2_000)
            second.read(self.source.batch([Frames.trade(symbol, "2")]))
        }
        self.bench.pass(1_000)
        second.say(.waiting)
        let gaps = edge.log.contents.gaps
        #expect(gaps.map(\.symbol) == [nil, "B", "C"])
        #expect(gaps.map { $0.length / 1_000_000_000 } == [2, 4, 9])
        let reads = edge.log.contents.order.split(separator: "gap").map(\.count)
        #expect(reads == [1, 2, 3] && edge.log.contents.order.last == "gap")
    }

    @Test("a state that a person asks for keeps what is in doubt")
    mutating func keepsDoubts() throws {
        let (first, link) = self.bench.ingest("host-a", epoch: 7)
        let edge = self.bench.edge()
        first.announce([Frames.btc, Frames.eth], .live)
        first.read(self.source.batch([Frames.trade(Frames.btc, "1"), Frames.trade(Frames.eth, "2")]))
        let traded = self.bench.now
        self.bench.pass(1_000)
        for phase in [FeedStatus.Phase.reconnecting(attempt: 1, retryAt: 0), .live] {
            first.say(phase)
            self.bench.pass(2_000)
        }
        first.read(self.source.batch([Frames.trade(Frames.btc, "3")]))
        #expect(edge.feed.renew() == .begun)
        self.bench.pass(500)
        link.isConnected = false
        let (second, _) = self.bench.ingest("host-b", epoch: 8)
        let gap = try #require(edge.log.contents.gaps.first)
        #expect(gap.symbol == Frames.eth && gap.from == traded && gap.length == 3_000_000_000)
        _ = second.end()
    }

    @Test("filled trades do not end the gap of a takeover, and those that the edge had are marked as repeats")
    mutating func fillsTakeover() throws {
        let (first, link) = self.bench.ingest("host-a", epoch: 7)
        let edge = self.bench.edge()
        func batch(_ source: inout BatchSource, _ ids: ClosedRange<UInt64>, marks: TradeMarks) -> TapeBatch {
            var batch = source.batch(ids.map { Frames.trade(Frames.btc, "\($0)") })
            for (index, id) in ids.enumerated() { (batch.trades[index].id, batch.trades[index].marks) = (id, marks) }
            return batch
        }
        first.symbolChanged(SymbolStatus(symbol: Frames.btc, state: .live, since: 0))
        first.read(batch(&self.source, 1...5, marks: []))
        let traded = self.bench.now
        link.isConnected = false
        self.bench.pass(3_000)
        let (second, _) = self.bench.ingest("host-b", epoch: 8, phase: .connecting)
        self.source.beginAnew()
        second.say(.live)
        // The successor had no more than trade 3.
        second.read(batch(&self.source, 4...7, marks: .filled))
        #expect(edge.log.contents.gaps.isEmpty)
        second.read(batch(&self.source, 8...8, marks: []))
        let gaps = edge.log.contents.gaps
        #expect(gaps.map(\.from) == [traded] && gaps.map(\.to) == [self.bench.now])
        let marks = edge.log.contents.trades.suffix(5).map(\.marks)
        let repeated: TradeMarks = [.filled, .possibleRepeat]
        #expect(marks == [repeated, repeated, .filled, .filled, []])
    }

    @Test("each gap that a new ingest names of its feeds reaches back to the edge's newest trade")
    mutating func extendsGapOfFeeds() throws {
        let (first, link) = self.bench.ingest("host-a", epoch: 7)
        let edge = self.bench.edge()
        first.read(self.source.batch([Frames.trade(Frames.btc, "1"), Frames.trade(Frames.eth, "2")]))
        let traded = self.bench.now
        self.bench.pass(1_000)
        link.isConnected = false
        self.bench.pass(12_000)
        let (second, _) = self.bench.ingest("host-b", epoch: 8, phase: .connecting)
        self.source.beginAnew()
        // The standby had another second of the tape, and of one feed less.
        for (symbol, from) in [(Frames.btc, traded + 1_000_000_000), (Frames.eth, traded - 5_000_000_000)] {
            second.gapFound(
                Gap(
                    from: from,
                    to: self.bench.now,
                    reason: "x",
                    nextSequence: 1,
                    epoch: 8,
                    cause: .replaced,
                    symbol: symbol
                )
            )
            second.read(self.source.batch([Frames.trade(symbol, "3")]))
            self.bench.pass(1_000)
        }
        second.say(.live)
        self.bench.pass(500)
        let gaps = edge.log.contents.gaps
        #expect(gaps.map(\.symbol) == [Frames.btc, Frames.eth])
        #expect(gaps.map(\.from) == [traded, traded - 5_000_000_000])
    }

    @Test("a feed that was cut before the ingest died has gaps from its newest trades on, before the notice")
    mutating func namesNotice() throws {
        let (first, link) = self.bench.ingest("host-a", epoch: 7)
        let edge = self.bench.edge()
        first.announce([Frames.btc, Frames.eth], .live)
        first.read(self.source.batch([Frames.trade(Frames.btc, "1"), Frames.trade(Frames.eth, "2")]))
        let before = self.bench.now
        // The exchange of one is cut, which the ingest notices after 5 s.
        for _ in 1...5 {
            self.bench.pass(1_000)
            first.read(self.source.batch([Frames.trade(Frames.btc, "3")]))
        }
        first.say(.late)
        self.bench.pass(1_000)
        first.read(self.source.batch([Frames.trade(Frames.btc, "4")]))
        let traded = self.bench.now
        link.isConnected = false
        self.bench.pass(12_000)
        let (second, _) = self.bench.ingest("host-b", epoch: 8, phase: .connecting)
        self.source.beginAnew()
        second.say(.live)
        second.read(self.source.batch([Frames.trade(Frames.btc, "5")]))
        let gaps = edge.log.contents.gaps
        #expect(gaps.map(\.symbol) == [Frames.eth, nil])
        #expect(gaps.map(\.from) == [before, traded] && gaps.map(\.to) == [traded, self.bench.now])
    }

    @Test("readers learn of a new epoch before the gap in it, with its first number")
    mutating func beginsEpochBeforeGap() throws {
        let (first, link) = self.bench.ingest("host-a", epoch: 7)
        for number in 1...4 { first.read(self.source.batch([Frames.trade(Frames.btc, "\(number)")])) }
        let order = EpochLog()
        let edge = self.bench.edge(readers: [order])
        #expect(order.lines == ["epoch 7 from 5"])
        first.read(self.source.batch([Frames.trade(Frames.btc, "5")]))
        link.isConnected = false
        let (second, _) = self.bench.ingest("host-b", epoch: 8, phase: .connecting)
        self.source.beginAnew()
        second.say(.live)
        second.read(self.source.batch([Frames.trade(Frames.btc, "6")]))
        #expect(order.lines == ["epoch 7 from 5", "read 5", "epoch 8 from 1", "gap 8 1", "read 1"])
        edge.feed.stop()
    }

    @Test("no more symbols have a state than have numbers, and no impossible ones")
    mutating func boundsSymbols() throws {
        let (ingest, _) = self.bench.ingest()
        let edge = self.bench.edge()
        for number in 1...5_000 {
            ingest.symbolChanged(SymbolStatus(symbol: "S\(number)", state: .live, since: 0))
        }
        ingest.announce(["", "a\u{7}", String(repeating: "x", count: 100)], .live)
        #expect(edge.log.contents.symbolStates.count == 4_096)
        ingest.symbolUnsubscribed("S1")
        ingest.symbolChanged(SymbolStatus(symbol: "a\u{7}", state: .live, since: 0))
        ingest.symbolChanged(SymbolStatus(symbol: "S5001", state: .live, since: 0))
        #expect(edge.log.contents.symbolStates.last?.symbol == "S5001")
        #expect(edge.log.contents.symbolStates.count == 4_097)
    }

    @Test("the epoch of an ingest begins with its state, so that an edge which takes over from its first frame has it")
    mutating func beginsWithState() throws {
        let (first, link) = self.bench.ingest("host-a", epoch: 7)
        let edge = self.bench.edge()
        link.isConnected = false
        self.bench.broker.loses = { subject, _ in subject.hasSuffix(".snapshot") }
        let (second, _) = self.bench.ingest("host-b", epoch: 8, phase: .keyInUse(retryAt: nil))
        #expect(edge.feed.status.word == "key-in-use")
        for ingest in [first, second] { _ = ingest.end() }
    }

    @Test("an ingest whose first frame of a new epoch is lost is the same ingest: no gap, and its status stays")
    mutating func renewsBehindLoss() throws {
        let (ingest, _) = self.bench.ingest()
        let edge = self.bench.edge()
        ingest.read(self.source.batch([Frames.trade(Frames.btc, "1")]))
        self.source.beginAnew()
        let batch = self.source.batch([Frames.trade(Frames.btc, "2")])
        self.bench.broker.loses = { subject, _ in subject.hasSuffix(".tape") }
        ingest.epochBegan(8, first: 1, symbols: batch.symbols)
        self.bench.broker.loses = { _, _ in false }
        ingest.read(batch)
        self.bench.pass(100)
        // The same with a heartbeat.
        self.source.beginAnew()
        let next = self.source.batch([Frames.trade(Frames.btc, "3")])
        self.bench.broker.loses = { subject, _ in subject.hasSuffix(".tape") }
        ingest.epochBegan(9, first: 1, symbols: next.symbols)
        ingest.read(next)
        self.bench.broker.loses = { _, _ in false }
        self.bench.pass(300)
        #expect(edge.log.contents.lines.suffix(2) == ["\(Frames.btc) 2 0.02", "\(Frames.btc) 3 0.02"])
        #expect(edge.log.contents.gaps.isEmpty)
        #expect(edge.log.contents.words.count { $0 == "live" } == 1)
    }

    @Test("frames that were made without a connection fit into a server's payloads")
    mutating func fitsPayload() throws {
        self.bench.broker.maximumPayload = 16 << 10
        let (ingest, link) = self.bench.ingest()
        let edge = self.bench.edge()
        link.isConnected = false
        ingest.read(self.source.batch((1...2_000).map { Frames.trade(Frames.btc, "\($0)") }))
        link.isConnected = true
        self.bench.pass(5_000)
        #expect(edge.log.contents.sequences == Array(1...2_000))
        #expect(edge.log.contents.gaps.isEmpty)
    }

    @Test("while this program is the ingest itself, its edge puts nothing onto the tape, whatever comes")
    mutating func suspended() throws {
        let (ingest, _) = self.bench.ingest()
        let wishes = self.bench.wishes()
        let edge = self.bench.edge()
        ingest.read(self.source.batch([Frames.trade(Frames.btc, "1")]))
        // The answers to all three requests come after the change: the state, the missing frame and the last wish.
        #expect(edge.feed.renew() == .begun)
        self.bench.broker.loses = { subject, _ in subject.hasSuffix(".tape") }
        ingest.read(self.source.batch([Frames.trade(Frames.btc, "2")]))
        self.bench.broker.loses = { _, _ in false }
        ingest.read(self.source.batch([Frames.trade(Frames.btc, "3")]))
        wishes.answer = ClusterWishAnswer(full: [Frames.btc])
        #expect(edge.feed.suspend() != nil)
        #expect(edge.feed.status.word == "connecting" && edge.feed.status.via == nil)
        let before = edge.log.contents
        self.bench.loop.run()
        let asked = wishes.all.count
        edge.feed.subscriptionsChanged([.subscribe("X:Y"), .unsubscribe("X:Y"), .unsubscribe(Frames.btc)])
        edge.feed.linkChanged("the connection is lost")
        edge.feed.linkChanged(nil)
        self.bench.pass(10_000)
        let after = edge.log.contents
        #expect(after.sequences == [1] && after.gaps.isEmpty && after.unsubscribed.isEmpty)
        #expect(after.statuses == before.statuses)
        #expect(after.symbolStates == before.symbolStates)
        #expect(wishes.all.count == asked && wishes.all.last?.symbols == [])
        #expect(edge.feed.status.via == nil)
    }

    @Test("an edge asks for the state when its user wants it, and counts its attempts to connect")
    mutating func renewsByHand() throws {
        let (ingest, _) = self.bench.ingest()
        let edge = self.bench.edge()
        var requests = 0
        let reader = self.bench.broker.link()
        reader.subscribe(to: self.bench.subjects.snapshot) { _, _, _ in requests += 1 }
        #expect(edge.feed.renew() == .begun)
        #expect(edge.feed.renew() == .underWay)
        self.bench.loop.run()
        #expect(requests == 1 && edge.feed.renew() == .begun)
        edge.link.isConnected = false
        edge.feed.linkChanged("refused", retryIn: .seconds(1))
        edge.feed.linkChanged("refused", retryIn: .seconds(2))
        let retryAt = self.bench.now + 2_000_000_000
        #expect(edge.feed.status.phase == .reconnecting(attempt: 2, retryAt: retryAt))
        edge.feed.stop()
        #expect(edge.feed.renew() == .over)
        _ = ingest.end()
    }
}

/// The wishes of all edges, and the answer to them.
private final class WishLog {
    var all: [ClusterWish] = []
    var members: Set<String> = []
    /// `nil` for none.
    var answer: ClusterWishAnswer?
}

extension Bench {
    fileprivate func wishes() -> WishLog {
        let log = WishLog()
        let link = self.broker.link()
        link.subscribe(to: self.subjects.wanted(by: "*")) { [subjects] payload, subject, reply in
            guard let wish = ClusterWish.parse(payload), let member = subjects.edge(of: subject) else { return }
            log.all.append(wish)
            log.members.insert(member)
            if let reply, let answer = log.answer { _ = link.publish(answer.text(), to: reply) }
        }
        return log
    }
}

/// A reader that keeps the order of epochs, gaps and trades. Unchecked, because only the test's thread uses it.
private final class EpochLog: TapeReader, @unchecked Sendable {
    var lines: [String] = []

    func epochBegan(_ epoch: UInt64, first: UInt64, symbols: SymbolTable) {
        self.lines.append("epoch \(epoch) from \(first)")
    }

    func read(_ batch: TapeBatch) { self.lines.append("read \(batch.firstSequence)") }
    func statusChanged(_ status: FeedStatus) {}
    func gapFound(_ gap: Gap) { self.lines.append("gap \(gap.epoch) \(gap.nextSequence)") }
}
