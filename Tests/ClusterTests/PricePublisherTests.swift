import Cluster
import Market
import NIOCore
import NIOEmbedded
import Testing
import TickertapeTesting
import Wire

/// A publisher of prices on a broker and a virtual clock.
private final class PriceBench {
    struct Frame {
        var subject: String
        var head: String
        var lines: [String]
        var bytes: Int
    }

    let loop = EmbeddedEventLoop()
    let broker: MemoryBroker
    let link: MemoryLink
    let publisher: PricePublisher
    private let gate: Gate
    private let sent = Sent()

    final class Gate { var isOpen = true }
    final class Sent { var frames: [Frame] = [] }

    init() throws {
        self.broker = MemoryBroker(on: self.loop)
        self.link = self.broker.link()
        let subjects = try #require(ClusterSubjects("test"))
        let gate = Gate()
        self.gate = gate
        let bound = NIOLoopBound(self.loop, eventLoop: self.loop)
        self.publisher = PricePublisher(
            subjects,
            member: "host-a",
            link: self.link,
            status: FeedStatus(source: .live, phase: .live, since: 0),
            on: self.loop,
            wallClock: { Int64(bound.value.now.uptimeNanoseconds) },
            isPublishing: { gate.isOpen }
        )
        self.publisher.begin(epoch: 7)
        let reader = self.broker.link()
        for shard in 0..<ClusterShard.count {
            let subject = subjects.prices(shard: shard)
            reader.subscribe(to: subject) { [sent = self.sent] payload, _, _ in
                let lines = String(buffer: payload).split(separator: "\n").map(String.init)
                sent.frames.append(
                    Frame(
                        subject: subject,
                        head: lines[0],
                        lines: Array(lines.dropFirst()),
                        bytes: payload.readableBytes
                    )
                )
            }
        }
        self.publisher.start()
    }

    func open(_ isOpen: Bool) { self.gate.isOpen = isOpen }

    /// Lets time pass, and returns the frames that were sent in it.
    func frames(in milliseconds: Int64) -> [Frame] {
        self.sent.frames = []
        self.loop.advanceTime(by: .milliseconds(milliseconds))
        return self.sent.frames
    }

    deinit { try? self.loop.syncShutdownGracefully() }
}

extension [PriceBench.Frame] {
    fileprivate var lines: [String] {
        var lines: [String] = []
        for frame in self { lines += frame.lines }
        return lines
    }
}

@Suite("PricePublisher")
struct PricePublisherTests {
    private let bench: PriceBench
    private var source = BatchSource()

    init() throws { self.bench = try PriceBench() }

    private static let btc = ClusterShard.of(Frames.btc)

    @Test("a symbol's shard is FNV-1a of 32 bits modulo 8, as the page says")
    func shards() {
        // By the reference code of the draft, in Python.
        #expect(ClusterShard.of("") == 0x811C_9DC5 % 8)
        #expect(ClusterShard.of("a") == 0xE40C_292C % 8)
        #expect(ClusterShard.of("foobar") == 0xBF9C_F968 % 8)
    }

    @Test("a tick sends the newest value of each changed symbol in a frame of its shard, and nothing without a change")
    mutating func changes() {
        #expect(self.bench.frames(in: 1_000).isEmpty)
        self.bench.publisher.read(
            self.source.batch(
                [
                    Frames.trade(Frames.btc, "1"), Frames.trade(Frames.btc, "2"),
                    Frames.trade(Frames.btc, "2.50", size: "3"),
                ],
                received: 5_000_000
            )
        )
        let frames = self.bench.frames(in: 100)
        #expect(frames.map(\.subject) == ["tickertape.test.prices.\(Self.btc)"])
        #expect(
            frames.first?.head
                == #"{"type":"prices","epoch":7,"seq":3,"shard":\#(Self.btc),"state":"live","sent":1100000,"member":"host-a"}"#
        )
        #expect(frames.first?.lines.count == 1)
        let line = frames.first?.lines.first ?? ""
        #expect(
            line.hasPrefix(
                #"{"type":"price","symbol":"\#(Frames.btc)","price":"2.5","size":"3","time":1723161255342,"received":5000,"seq":3,"#
            ),
            "\(line)"
        )
        #expect(line.contains(#""skipped":1,"#), "\(line)")
        #expect(self.bench.frames(in: 1_000).isEmpty)
    }

    @Test("an unchanged price is sent anew within 5 s, and one of a symbol without a subscription is not")
    mutating func refreshes() {
        self.bench.publisher.read(self.source.batch([Frames.trade(Frames.btc, "1"), Frames.trade(Frames.eth, "2")]))
        #expect(self.bench.frames(in: 100).lines.count == 2)
        #expect(self.bench.frames(in: 4_800).isEmpty)
        #expect(self.bench.frames(in: 200).lines.count == 2)
        self.bench.publisher.symbolUnsubscribed(Frames.eth)
        let frames = self.bench.frames(in: 5_000)
        #expect(frames.lines.allSatisfy { $0.contains(Frames.btc) } && frames.count == 1)
        self.bench.publisher.read(self.source.batch([Frames.trade(Frames.eth, "3")]))
        #expect(self.bench.frames(in: 100).lines.contains { $0.contains(Frames.eth) })
    }

    @Test("an ingest that may not publish sends nothing, and then every price with its first tick")
    mutating func waits() {
        self.bench.publisher.read(self.source.batch([Frames.trade(Frames.btc, "1"), Frames.trade(Frames.eth, "2")]))
        self.bench.open(false)
        #expect(self.bench.frames(in: 10_000).isEmpty)
        self.bench.open(true)
        #expect(self.bench.frames(in: 100).lines.count == 2)
        // The same after an interruption of NATS.
        self.bench.link.isConnected = false
        #expect(self.bench.frames(in: 1_000).isEmpty)
        self.bench.link.isConnected = true
        #expect(self.bench.frames(in: 100).lines.count == 2)
    }

    @Test("a change of the feed's state reaches readers with the next tick")
    mutating func states() {
        self.bench.publisher.read(self.source.batch([Frames.trade(Frames.btc, "1")]))
        _ = self.bench.frames(in: 100)
        self.bench.publisher.statusChanged(FeedStatus(source: .live, phase: .stale, since: 0))
        #expect(self.bench.frames(in: 100).first?.head.contains(#""state":"stale""#) == true)
        self.bench.publisher.statusChanged(FeedStatus(source: .live, phase: .stale, since: 0, reason: "quiet"))
        #expect(self.bench.frames(in: 100).isEmpty)
    }

    @Test("a new epoch begins without prices")
    mutating func epochs() {
        let reader: any TapeReader = self.bench.publisher
        reader.epochBegan(7, first: 1, symbols: SymbolTable())
        self.bench.publisher.read(self.source.batch([Frames.trade(Frames.btc, "1"), Frames.trade(Frames.eth, "2")]))
        _ = self.bench.frames(in: 100)
        self.source.beginAnew()
        reader.epochBegan(8, first: 1, symbols: SymbolTable())
        self.bench.publisher.read(self.source.batch([Frames.trade(Frames.eth, "3")]))
        let frames = self.bench.frames(in: 6_000)
        #expect(frames.allSatisfy { $0.head.contains(#""epoch":8,"seq":1,"#) })
        #expect(frames.lines.allSatisfy { $0.contains(#""price":"3""#) })
    }

    @Test("a frame has at most 32 KiB, and all symbols come", arguments: [1 << 20, 8_192])
    mutating func splits(limit: Int) {
        self.bench.broker.maximumPayload = limit
        let symbols = (0..<2_000).map { "X:\($0)" }
        self.bench.publisher.read(self.source.batch(symbols.map { Frames.trade($0, "1") }))
        let frames = self.bench.frames(in: 100)
        #expect(frames.count > ClusterShard.count)
        #expect(frames.allSatisfy { $0.bytes <= min(limit, 32_768) })
        let sent = frames.lines.map { String($0.split(separator: "\"")[7]) }
        #expect(Set(sent) == Set(symbols) && sent.count == symbols.count)
        for frame in frames {
            let shard = frame.subject.split(separator: ".").last.flatMap { Int($0) }
            #expect(
                frame.lines.allSatisfy { line in
                    let name = line.split(separator: "\"")[7]
                    return ClusterShard.of(String(name)) == shard
                }
            )
        }
    }
}
