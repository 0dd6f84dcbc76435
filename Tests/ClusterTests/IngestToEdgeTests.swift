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
    let subjects: ClusterSubjects
    private(set) var edges: [Edge] = []
    private static let start: Int64 = 1_795_000_000_000_000_000

    init() throws {
        self.broker = MemoryBroker(on: self.loop)
        self.subjects = try #require(ClusterSubjects("test"))
    }

    private var wallClock: @Sendable () -> Int64 {
        let bound = NIOLoopBound(self.loop, eventLoop: self.loop)
        return { Self.start + Int64(bound.value.now.uptimeNanoseconds) }
    }

    func ingest(_ member: String = "host-a", epoch: UInt64 = 7) -> (ClusterPublisher, MemoryLink) {
        let link = self.broker.link()
        let publisher = ClusterPublisher(
            self.subjects,
            member: member,
            link: link,
            status: FeedStatus(source: .live, phase: .live, since: Self.start),
            epoch: epoch,
            on: self.loop,
            wallClock: self.wallClock
        )
        publisher.start()
        return (publisher, link)
    }

    func edge(_ member: String = "edge") -> Edge {
        let link = self.broker.link()
        let log = TapeLog()
        let feed = EdgeFeed(
            EdgeFeed.Settings(self.subjects, member: member, symbols: [Frames.btc]),
            link: link,
            TapeWriter(epoch: 1, readers: [log]),
            FeedContext(
                loop: self.loop,
                wallClock: self.wallClock,
                chance: { 0.5 },
                logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
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
        try? self.loop.syncShutdownGracefully()
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
        self.bench.pass(10_000)
        edge.link.isConnected = true
        edge.feed.linkChanged(nil)
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
        second.statusChanged(FeedStatus(source: .live, phase: .live, since: 0))
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

    @Test("the gap of a takeover begins where the tape is complete, and ends with the new ingest's first trade")
    mutating func namesTakeover() throws {
        let (first, link) = self.bench.ingest("host-a", epoch: 7)
        let edge = self.bench.edge()
        first.read(self.source.batch([Frames.trade(Frames.btc, "1")]))
        self.bench.pass(60_000)
        link.isConnected = false
        self.bench.pass(2_000)
        var wishes = 0
        self.bench.broker.link().subscribe(to: self.bench.subjects.wanted(by: "*")) { _, _ in wishes += 1 }
        let (second, _) = self.bench.ingest("host-b", epoch: 8)
        #expect(wishes == 1)
        self.bench.pass(3_000)
        self.source.beginAnew()
        second.read(self.source.batch([Frames.trade(Frames.btc, "2")]))
        second.statusChanged(FeedStatus(source: .live, phase: .live, since: 0))
        #expect(edge.log.contents.order == ["read 1", "gap", "read 1"])
        #expect(edge.log.contents.gaps.map(\.length) == [5_000_000_000])
        #expect(edge.feed.status.via == "host-b")
    }

    @Test("the frames of a new ingest that come before its first heartbeat are not the old one's")
    mutating func namesNewIngest() throws {
        let (first, link) = self.bench.ingest("host-a", epoch: 7)
        let edge = self.bench.edge()
        first.read(self.source.batch([Frames.trade(Frames.btc, "1")]))
        link.isConnected = false
        self.bench.broker.loses = { subject, _ in subject.hasSuffix(".beat") }
        let (second, _) = self.bench.ingest("host-b", epoch: 8)
        second.statusChanged(FeedStatus(source: .live, phase: .live, since: 0))
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
        let (second, _) = self.bench.ingest("host-b", epoch: 8)
        #expect(edge.feed.status.word == "connecting")
        self.bench.pass(500)
        #expect(edge.feed.status.word == "connecting")
        second.statusChanged(FeedStatus(source: .live, phase: .live, since: 0))
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
            position: ClusterPosition(epoch: 7, frame: 2, sequence: 3),
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
        self.bench.pass(1_100)
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
        second.statusChanged(FeedStatus(source: .live, phase: .live, since: 0))
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
        send(line(2) + "{\"type\":\"trade\",\"seq\":3}\n" + line(4), frame: 2, sequence: 4, trades: 3)
        #expect(edge.log.contents.sequences == [1, 2])
        #expect(edge.log.contents.lines.last == "\(Frames.btc) 2 0.02")
        // The head says that a trade before this one is missing.
        send(line(5), frame: 3, sequence: 5, trades: 1)
        #expect(edge.log.contents.sequences == [1, 2, 5])
        #expect(edge.log.contents.gaps.map(\.nextSequence) == [5])
    }

    @Test("a failure of a request that is over concerns no later one")
    mutating func lateFailure() throws {
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
        self.bench.pass(1_500)
        #expect(edge.log.contents.sequences == [1, 3, 4, 5, 6])
        #expect(edge.log.contents.gaps.count == 1)
    }

    @Test("an ingest answers to no subject but an inbox")
    mutating func answersOnlyToInboxes() throws {
        let (ingest, _) = self.bench.ingest()
        ingest.read(self.source.batch([Frames.trade(Frames.btc, "1")]))
        var answers = 0
        let reader = self.bench.broker.link()
        for subject in ["$KV.leases.test", "tickertape.test.tape", "_INBOX.a"] {
            reader.subscribe(to: subject) { _, _ in answers += 1 }
        }
        let request = ClusterHistoryRequest(after: ClusterPosition(epoch: 7, frame: 0, sequence: 0)).text()
        for reply in ["$KV.leases.test", "tickertape.test.tape"] {
            self.bench.broker.publish(request, to: self.bench.subjects.history, reply: reply)
            let state = ClusterSnapshot.request(epoch: 0)
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
        reader.subscribe(to: "_INBOX.*") { payload, _ in
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
        second.stop()
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
        ingest.epochBegan(8, symbols: batch.symbols)
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
        ingest.epochBegan(8, symbols: batch.symbols)
        ingest.read(batch)
        self.bench.pass(100)
        #expect(edge.log.contents.lines == ["\(Frames.btc) 1 0.02", "\(Frames.btc) 2 0.02"])
        #expect(edge.log.contents.gaps.isEmpty)
    }

    @Test("an edge says what it wants: at once, after each change, and every 5 s")
    mutating func wishes() throws {
        var wishes: [ClusterWish] = []
        let reader = self.bench.broker.link()
        reader.subscribe(to: self.bench.subjects.wanted(by: "*")) { payload, _ in
            if let wish = ClusterWish.parse(payload) { wishes.append(wish) }
        }
        let edge = self.bench.edge("edge-1")
        #expect(wishes == [ClusterWish(member: "edge-1", symbols: [Frames.btc])])
        edge.feed.subscriptionsChanged([.subscribe(Frames.eth), .unsubscribe(Frames.btc)])
        #expect(wishes.last == ClusterWish(member: "edge-1", symbols: [Frames.eth]))
        self.bench.pass(5_000)
        #expect(wishes.count == 3)
        edge.feed.stop()
        #expect(wishes.last == ClusterWish(member: "edge-1", symbols: []))
    }
}
