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

/// A feed that says what it was asked for, and brings what a test puts onto its tape.
private final class ScriptedFeed: Feed, FeedInputDelegate {
    var log: [String] = []
    private let hasIDs: Bool
    private let context: FeedContext
    private let input: FeedInput
    var status: FeedStatus { self.input.status }
    let end: EventLoopPromise<Void>
    /// Whether it ends as soon as it is stopped or abandoned.
    var endsAtOnce = true
    var stopped: () -> Void = {}
    var finished: EventLoopFuture<Void> { self.end.futureResult }

    /// - Parameter hasIDs: whether its trades have their prices as ids.
    init(_ tape: TapeWriter, _ context: FeedContext, hasIDs: Bool) {
        self.hasIDs = hasIDs
        self.context = context
        self.end = context.loop.makePromise()
        self.input = FeedInput(
            tape,
            FeedInput.Settings(name: "venue", repeats: hasIDs ? .identified : .marked),
            status: FeedStatus(source: .live, phase: .connecting, since: 0),
            logger: context.logger
        )
        self.input.symbols = ["A:B"]
        self.input.delegate = self
    }

    func start() {
        self.log.append("start")
        self.input.symbolChanged(SymbolStatus(symbol: "A:B", state: .asked, since: 0))
    }

    func tradesArrived(_ trades: [Trade], symbols: SymbolTable, now: Moment) -> Bool {
        guard self.status.phase != .live || self.input.isInterrupted else { return false }
        self.input.status.phase = .live
        return true
    }

    func publishChanges() { self.input.statusChanged() }
    func readEnded(hasTrades: Bool, hasChanges: Bool, now: Moment) {}
    func pauseChanged(_ isPaused: Bool, now: Moment) {}

    /// Brings a trade, and is live from then on.
    func trade(_ price: Int64) {
        let now = Int64(self.context.loop.now.uptimeNanoseconds)
        let id = self.hasIDs ? UInt64(price) : nil
        self.input.take(ByteBuffer(string: "\(price)"), of: .tickertape, now: now) { _, symbols, trades in
            guard let symbol = symbols.intern("A:B"), let price = ExactDecimal("\(price)") else { return .malformed }
            trades.append(Trade(price: price, size: .zero, exchangeTime: 1, symbol: symbol, id: id, marks: []))
            return .trades(skipped: 0)
        }
        self.input.endRead(wall: self.context.wallClock())
    }

    func report(_ phase: FeedStatus.Phase) {
        self.input.status.phase = phase
        self.input.statusChanged()
    }

    func stop() {
        self.leave("stop")
        self.stopped()
    }

    func abandon() { self.leave("abandon") }

    private func leave(_ word: String) {
        self.log.append(word)
        if self.endsAtOnce { self.end.succeed() }
    }

    func subscriptionsChanged(_ changes: [SubscriptionChange]) {
        for change in changes {
            switch change {
            case .subscribe(let symbol): self.log.append("+\(symbol)")
            case .unsubscribe(let symbol): self.log.append("-\(symbol)")
            }
        }
    }

    func setReading(_ isReading: Bool) {}
    func renew() -> ConnectionRenewal { .begun }
}

/// A connection of an ingest's feeds.
private final class Connection: GuardedConnection {
    private(set) var isCut = false

    func cut() { self.isCut = true }
}

/// One ingest.
private final class Ingest: ClusterPublication {
    let name: String
    let publisher: ClusterPublisher
    let prices: PricePublisher
    let feed: StandbyFeed
    let store: MemoryLeaseStore.Way
    let link: MemoryLink
    let log = TapeLog()
    let tape: TapeWriter
    private(set) var feeds: [ScriptedFeed] = []
    /// Whether its feeds are made only when a test says so, and those that are being made.
    var makesSlowly = false
    private(set) var making: [EventLoopPromise<[FeedService]>] = []
    /// ns that its clock of the lease is ahead, as after a sleep of the machine.
    let slept: NIOLoopBoundBox<Int64>
    let context: FeedContext

    init(_ name: String, _ bench: StandbyBench) throws {
        let subjects = try #require(ClusterSubjects("test"))
        let (loop, link) = (bench.loop, bench.broker.link())
        let slept = NIOLoopBoundBox<Int64>(0, eventLoop: loop)
        let boottime = { Int64(loop.now.uptimeNanoseconds) + slept.value }
        self.name = name
        self.link = link
        self.slept = slept
        self.store = MemoryLeaseStore.Way(bench.store)
        let bound = NIOLoopBound(loop, eventLoop: loop)
        let wallClock: @Sendable () -> Int64 = {
            StandbyBench.start + Int64(bound.value.now.uptimeNanoseconds)
        }
        let context = FeedContext(
            loop: loop,
            wallClock: wallClock,
            chance: { 0.5 },
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        )
        self.context = context
        self.tape = TapeWriter(epoch: 1)
        let edge = EdgeFeed(
            EdgeFeed.Settings(subjects, member: name, symbols: ["A:B"]),
            link: link,
            self.tape,
            context
        )
        let lease = LeaseHolder(
            LeaseSet(LeaseSettings(), keys: ["tape.test", "key.x"], name: name, host: "h", instance: name),
            store: self.store,
            on: loop,
            boottime: boottime,
            moment: { LeaseMoment(boottime: boottime(), wall: wallClock(), chance: 1) },
            reported: { _, _ in }
        )
        weak var this: Ingest?
        let tape = self.tape
        self.feed = StandbyFeed(edge, lease: lease, tape, symbols: [["A:B"]], context) {
            let made = loop.makePromise(of: [FeedService].self)
            if let this, this.makesSlowly {
                this.making.append(made)
            } else {
                let feed = ScriptedFeed(tape, context, hasIDs: bench.haveIDs)
                this?.feeds.append(feed)
                made.succeed([FeedService(feed, on: loop)])
            }
            return made.futureResult
        }
        let feed = self.feed
        self.publisher = ClusterPublisher(
            subjects,
            member: name,
            link: link,
            status: feed.status,
            on: loop,
            isAllowed: { feed.isAllowed },
            wallClock: wallClock,
            logger: context.logger
        )
        self.prices = PricePublisher(
            subjects,
            member: name,
            link: link,
            status: feed.status,
            on: loop,
            wallClock: wallClock,
            isPublishing: { [publisher = self.publisher] in publisher.isPublishing }
        )
        self.tape.add([self.publisher, self.prices, self.log])
        this = self
        self.publisher.start()
        self.prices.start()
        feed.publish(with: self)
        feed.start()
    }

    /// Makes the feeds for which it was asked `index` times before.
    func make(_ index: Int) {
        let feed = ScriptedFeed(self.tape, self.context, hasIDs: false)
        self.feeds.append(feed)
        self.making[index].succeed([FeedService(feed, on: self.context.loop)])
    }

    var gaps: [Gap] { self.log.contents.gaps }

    var isLeading: Bool { self.feeds.last.map { $0.log.contains("start") && $0.log.last != "abandon" } ?? false }

    func begin(epoch: UInt64, complete: TapeCompleteness) {
        self.prices.begin(epoch: epoch)
        self.publisher.begin(epoch: epoch, complete: complete)
    }

    func end() -> (position: ClusterPosition, complete: TapeCompleteness, symbols: Set<String>) {
        self.publisher.end()
    }
}

private final class StandbyBench {
    static let start: Int64 = 1_795_000_000_000_000_000
    let loop = EmbeddedEventLoop()
    let broker: MemoryBroker
    let store: MemoryLeaseStore
    /// Whether the feeds' trades have ids.
    var haveIDs = false

    init() {
        self.broker = MemoryBroker(on: self.loop)
        self.store = MemoryLeaseStore(on: self.loop)
    }

    /// ns of all wall clocks.
    var now: Int64 { Self.start + Int64(self.loop.now.uptimeNanoseconds) }

    func pass(_ milliseconds: Int64) { self.loop.advanceTime(by: .milliseconds(milliseconds)) }
}

@Suite("An ingest and its standby")
struct StandbyFeedTests {
    private let bench = StandbyBench()

    @Test("the standby takes over when the ingest has stopped, and not before its connections are closed")
    func cleanStop() throws {
        let first = try Ingest("host-a", self.bench)
        self.bench.pass(13_000)
        #expect(first.feeds.map(\.log) == [["start"]])
        let second = try Ingest("host-b", self.bench)
        self.bench.pass(20_000)
        #expect(second.feeds.isEmpty)
        #expect(second.feed.status.via == "host-a")
        let feed = try #require(first.feeds.first)
        feed.endsAtOnce = false
        first.feed.stop()
        self.bench.pass(900)
        #expect(feed.log.last == "stop" && second.feeds.isEmpty)
        feed.end.succeed()
        self.bench.pass(600)
        #expect(second.feeds.map(\.log) == [["start"]])
        // The ingest ended after its release.
        var isFinished = false
        first.feed.finished.assumeIsolated().whenSuccess { isFinished = true }
        #expect(isFinished)
        second.feed.stop()
        self.bench.pass(5_000)
    }

    @Test("an ingest without the store closes its connections after 10.5 s, and follows the one that takes over")
    func cutOff() throws {
        let first = try Ingest("host-a", self.bench)
        self.bench.pass(13_000)
        let second = try Ingest("host-b", self.bench)
        self.bench.pass(1_000)
        let epoch = first.tape.epoch
        first.store.isOpen = false
        self.bench.pass(9_000)
        #expect(first.isLeading && !second.isLeading)
        self.bench.pass(4_100)
        #expect(first.feeds.map(\.log) == [["start", "abandon"]])
        #expect(second.isLeading)
        #expect(second.tape.epoch > epoch)
        first.store.isOpen = true
        self.bench.pass(3_000)
        #expect(first.feed.status.via == "host-b")
        first.feed.stop()
        second.feed.stop()
        self.bench.pass(5_000)
    }

    @Test("a clean end that takes longer than the lease is proven is cut, at once if the program stood still meanwhile")
    func slowStop() throws {
        for isPaused in [false, true] {
            let bench = StandbyBench()
            let first = try Ingest("host-a", bench)
            bench.pass(13_000)
            let (feed, connection) = (try #require(first.feeds.first), Connection())
            first.feed.opened(connection)
            feed.endsAtOnce = false
            first.store.isOpen = false
            if isPaused { feed.stopped = { first.slept.value = 20_000_000_000 } }
            first.feed.stop()
            #expect(feed.log == ["start", "stop"] && connection.isCut == isPaused)
            bench.pass(9_000)
            #expect(connection.isCut == isPaused)
            bench.pass(1_600)
            #expect(connection.isCut)
            feed.end.succeed()
            first.feed.closed(connection)
            bench.pass(10_000)
        }
    }

    @Test("a program that stood still closes its connections before it publishes or reads anything")
    func stoodStill() throws {
        let first = try Ingest("host-a", self.bench)
        self.bench.pass(13_000)
        var published: [String] = []
        self.bench.broker.loses = { subject, _ in
            published.append(subject)
            return false
        }
        first.slept.value = 20_000_000_000
        // The first thing that it does on waking.
        first.publisher.statusChanged(first.feed.status)
        #expect(published.allSatisfy { !$0.hasSuffix(".tape") && !$0.hasSuffix(".beat") })
        #expect(first.feeds.map(\.log) == [["start", "abandon"]])
        #expect(!first.feed.isAllowed)
        first.feed.stop()
        self.bench.pass(5_000)
    }

    @Test("an ingest publishes no price of the time before its takeover")
    func oldPrices() throws {
        let first = try Ingest("host-a", self.bench)
        self.bench.pass(13_000)
        let second = try Ingest("host-b", self.bench)
        self.bench.pass(1_000)
        var frames: [String] = []
        let reader = self.bench.broker.link()
        let subjects = try #require(ClusterSubjects("test"))
        for shard in 0..<ClusterShard.count {
            let subject = subjects.prices(shard: shard)
            reader.subscribe(to: subject) { payload, _, _ in frames.append(String(buffer: payload)) }
        }
        first.feeds.first?.trade(1)
        self.bench.pass(1_000)
        #expect(frames.count == 1 && frames[0].contains(#""price":"1""#) && second.log.contents.lines == ["A:B 1 0"])
        first.feed.stop()
        self.bench.pass(1_000)
        #expect(second.isLeading)
        frames = []
        // A price is sent anew within 5 s.
        self.bench.pass(6_000)
        #expect(frames.isEmpty)
        second.feeds.first?.trade(2)
        self.bench.pass(1_000)
        #expect(frames.count == 1 && frames[0].contains(#""price":"2""#))
        #expect(frames[0].contains(#""epoch":\#(second.tape.epoch),"seq":1,"#) && frames[0].contains("host-b"))
        second.feed.stop()
        self.bench.pass(5_000)
    }

    @Test("its own feeds get the symbols of the moment, and later changes")
    func symbols() throws {
        let first = try Ingest("host-a", self.bench)
        let share = first.feed.share(0)
        share.subscriptionsChanged([.subscribe("C:D"), .unsubscribe("A:B")])
        self.bench.pass(13_000)
        #expect(first.feeds.first?.log == ["+C:D", "-A:B", "start"])
        share.subscriptionsChanged([.subscribe("E:F")])
        #expect(first.feeds.first?.log.last == "+E:F")
        first.feed.stop()
        self.bench.pass(5_000)
    }

    @Test("a failure that only a person can correct ends the program, and another one can take over at once")
    func fails() throws {
        let first = try Ingest("host-a", self.bench)
        self.bench.pass(13_000)
        let second = try Ingest("host-b", self.bench)
        self.bench.pass(1_000)
        var failure: (any Error)?
        first.feed.finished.assumeIsolated().whenFailure { failure = $0 }
        first.feeds.first?.end.fail(UpstreamFailure("the key is rejected"))
        self.bench.pass(1_000)
        #expect("\(failure.map { "\($0)" } ?? "")" == "the key is rejected")
        #expect(second.isLeading)
        second.feed.stop()
        self.bench.pass(5_000)
    }

    @Test("an ingest that was fenced follows its successor, and its second time has a higher epoch and its own gap")
    func secondTenure() throws {
        let first = try Ingest("host-a", self.bench)
        self.bench.pass(13_000)
        let second = try Ingest("host-b", self.bench)
        self.bench.pass(1_000)
        let own = try #require(first.feeds.first)
        own.trade(1)
        var epochs = [first.tape.epoch]
        first.store.isOpen = false
        let cut = self.bench.now
        self.bench.pass(14_000)
        #expect(first.feeds.map(\.log) == [["start", "abandon"]])
        // What the feeds of its first time bring now is not of its tape.
        own.trade(9)
        let successor = try #require(second.feeds.first)
        successor.trade(2)
        let traded = self.bench.now
        epochs.append(first.tape.epoch)
        #expect(first.tape.epoch == second.tape.epoch && second.log.contents.lines == first.log.contents.lines)
        #expect(first.log.contents.lines == ["A:B 1 0", "A:B 2 0"])
        // Whether the first one was cut off from its upstream, too, is not known.
        #expect(first.gaps.map(\.to) == [self.bench.now] && second.gaps.map(\.to) == [self.bench.now])
        #expect(first.gaps.first?.from == second.gaps.first?.from)
        #expect(first.gaps.allSatisfy { $0.from > cut - 300_000_000 && $0.from <= cut })
        first.store.isOpen = true
        self.bench.pass(13_000)
        #expect(first.feeds.count == 1)
        second.feed.stop()
        self.bench.pass(600)
        #expect(first.feeds.map(\.log) == [["start", "abandon"], ["start"]])
        epochs.append(first.tape.epoch)
        #expect(epochs[0] < epochs[1] && epochs[1] < epochs[2])
        first.feeds.last?.trade(3)
        #expect(first.log.contents.lines == ["A:B 1 0", "A:B 2 0", "A:B 3 0"])
        let gap = try #require(first.gaps.last)
        #expect(first.gaps.count == 2 && gap.epoch == epochs[2] && gap.nextSequence == 1 && gap.to == self.bench.now)
        #expect(gap.from <= traded && gap.from > traded - 300_000_000)
        first.feed.stop()
        self.bench.pass(5_000)
    }

    @Test("the gap runs from the newest trade, although the upstream of an ingest in between was never live")
    func neverLive() throws {
        let first = try Ingest("host-a", self.bench)
        self.bench.pass(13_000)
        let second = try Ingest("host-b", self.bench)
        self.bench.pass(13_000)
        first.feeds.first?.trade(1)
        let traded = self.bench.now
        self.bench.pass(1_000)
        first.feed.stop()
        self.bench.pass(1_000)
        #expect(second.feeds.map(\.log) == [["start"]])
        let third = try Ingest("host-c", self.bench)
        self.bench.pass(1_000)
        // Its upstream does not answer.
        second.store.isOpen = false
        self.bench.pass(14_000)
        #expect(second.feeds.map(\.log) == [["start", "abandon"]] && third.isLeading)
        third.feeds.first?.trade(2)
        #expect(second.log.contents.lines == ["A:B 1 0", "A:B 2 0"])
        #expect(second.gaps.count == 1)
        let gap = try #require(second.gaps.last)
        #expect(gap.from <= traded && gap.from > traded - 300_000_000 && gap.to == self.bench.now)
        second.feed.stop()
        third.feed.stop()
        self.bench.pass(7_000)
    }

    @Test(
        "the gap runs from the newest trade if the upstream was lost before the ingest ended",
        arguments: [[], [FeedStatus.Phase.late], [.late, .reconnecting(attempt: 1, retryAt: 0)], [.connecting]]
    )
    func lostBefore(phases: [FeedStatus.Phase]) throws {
        let first = try Ingest("host-a", self.bench)
        self.bench.pass(13_000)
        let second = try Ingest("host-b", self.bench)
        self.bench.pass(13_000)
        first.feeds.first?.trade(1)
        let traded = self.bench.now
        // The feed does not notice for 5 s that its connection is cut.
        self.bench.pass(5_000)
        for phase in phases {
            first.feeds.first?.report(phase)
            self.bench.pass(10_000)
        }
        first.feed.stop()
        self.bench.pass(1_000)
        second.feeds.first?.trade(2)
        #expect(second.gaps.count == 1)
        let gap = try #require(second.gaps.last)
        #expect(gap.from <= traded && gap.from > traded - 300_000_000 && gap.to == self.bench.now)
        second.feed.stop()
        self.bench.pass(5_000)
    }

    @Test("two takeovers without a live upstream in between are one gap of the ingest that has one")
    func twoTakeovers() throws {
        let ingests = try ["host-a", "host-b", "host-c"].map { name in
            let ingest = try Ingest(name, self.bench)
            self.bench.pass(13_000)
            return ingest
        }
        ingests[0].feeds.first?.trade(1)
        let traded = self.bench.now
        self.bench.pass(1_000)
        ingests[0].feed.stop()
        self.bench.pass(3_000)
        let between = try #require(ingests.dropFirst().first { $0.isLeading })
        let last = try #require(ingests.dropFirst().first { $0 !== between })
        between.feed.stop()
        self.bench.pass(3_000)
        #expect(last.isLeading)
        last.feeds.first?.trade(2)
        #expect(last.gaps.count == 1)
        let gap = try #require(last.gaps.last)
        #expect(gap.from <= traded && gap.from > traded - 300_000_000 && gap.to == self.bench.now)
        last.feed.stop()
        self.bench.pass(5_000)
    }

    @Test("a successor knows which ids are missing and which trades repeat, also one that was the ingest before")
    func continuesIDs() throws {
        self.bench.haveIDs = true
        let first = try Ingest("host-a", self.bench)
        self.bench.pass(13_000)
        let second = try Ingest("host-b", self.bench)
        self.bench.pass(13_000)
        first.feeds.first?.trade(5)
        first.store.isOpen = false
        self.bench.pass(14_000)
        for price: Int64 in [5, 9] { second.feeds.first?.trade(price) }
        first.store.isOpen = true
        self.bench.pass(13_000)
        second.feed.stop()
        self.bench.pass(1_000)
        first.feeds.last?.trade(12)
        #expect(first.log.contents.lines == ["A:B 5 0", "A:B 9 0", "A:B 12 0"])
        #expect(first.gaps.compactMap(\.missing) == [6...8, 10...11] && second.gaps.compactMap(\.missing) == [6...8])
        #expect(first.gaps.allSatisfy { $0.cause == .replaced })
        first.feed.stop()
        self.bench.pass(5_000)
    }

    @Test("ids behind frames that the standby has lost show nothing, since others may have their trades")
    func forgetsIDs() throws {
        self.bench.haveIDs = true
        let first = try Ingest("host-a", self.bench)
        self.bench.pass(13_000)
        let second = try Ingest("host-b", self.bench)
        self.bench.pass(13_000)
        first.feeds.first?.trade(5)
        self.bench.broker.loses = { subject, _ in subject.hasSuffix(".tape") || subject.hasSuffix(".history") }
        first.feeds.first?.trade(6)
        self.bench.pass(200)
        self.bench.broker.loses = { subject, _ in subject.hasSuffix(".history") }
        self.bench.pass(130_000)
        #expect(second.gaps.map(\.cause) == [.lost])
        first.feed.stop()
        self.bench.pass(1_000)
        second.feeds.first?.trade(9)
        #expect(second.log.contents.lines == ["A:B 5 0", "A:B 9 0"])
        #expect(second.gaps.allSatisfy { $0.missing == nil } && second.gaps.last?.cause == .replaced)
        second.feed.stop()
        self.bench.pass(5_000)
    }

    @Test("feeds that are made after the fence are abandoned, and it can lead again")
    func fencedAmidMaking() throws {
        let first = try Ingest("host-a", self.bench)
        first.makesSlowly = true
        self.bench.pass(13_000)
        #expect(first.making.count == 1 && first.feed.isAllowed)
        first.store.isOpen = false
        self.bench.pass(11_000)
        #expect(!first.feed.isAllowed)
        first.store.isOpen = true
        self.bench.pass(26_000)
        #expect(first.making.count == 2 && first.feed.isAllowed)
        // Those of the first time come in the second one.
        first.make(0)
        #expect(first.feeds.map(\.log) == [["abandon"]])
        first.make(1)
        #expect(first.feeds.map(\.log) == [["abandon"], ["start"]])
        first.feed.stop()
        self.bench.pass(5_000)
    }

    @Test("feeds that cannot be made end the program, after the release; a failure after the fence does not")
    func makingFails() throws {
        let first = try Ingest("host-a", self.bench)
        first.makesSlowly = true
        var failure: (any Error)?
        first.feed.finished.assumeIsolated().whenFailure { failure = $0 }
        self.bench.pass(13_000)
        first.store.isOpen = false
        self.bench.pass(11_000)
        first.making.first?.fail(UpstreamFailure("too late"))
        first.store.isOpen = true
        self.bench.pass(26_000)
        #expect(first.making.count == 2 && first.feed.isAllowed && failure == nil)
        let second = try Ingest("host-b", self.bench)
        self.bench.pass(1_000)
        first.making.last?.fail(UpstreamFailure("the key is rejected"))
        #expect(!first.feed.isAllowed && failure == nil)
        self.bench.pass(1_000)
        #expect("\(failure.map { "\($0)" } ?? "")" == "the key is rejected")
        #expect(second.isLeading)
        second.feed.stop()
        self.bench.pass(5_000)
    }

    @Test("a stop without the store ends within 6 s, of an ingest and of a standby")
    func stopsWithoutStore() throws {
        let first = try Ingest("host-a", self.bench)
        self.bench.pass(13_000)
        let second = try Ingest("host-b", self.bench)
        self.bench.pass(1_000)
        var ended: [String] = []
        for ingest in [first, second] {
            ingest.feed.finished.assumeIsolated().whenSuccess { ended.append(ingest.name) }
            ingest.store.isOpen = false
        }
        self.bench.pass(3_000)
        first.feed.stop()
        second.feed.stop()
        #expect(first.feeds.map(\.log) == [["start", "stop"]] && !first.feed.isAllowed)
        #expect(ended == ["host-b"])
        self.bench.pass(6_000)
        #expect(ended == ["host-b", "host-a"])
    }
}
