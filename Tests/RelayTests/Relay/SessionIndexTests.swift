import Ingest
import Market
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing
import TickertapeTesting
import WebSocket
import Wire
@testable import Relay

/// A session of an invented protocol that records the relay's reports.
private final class NotedSession: RelayProtocol {
    /// Sends no trades.
    final class NoTrades: TradeFanout {
        var groups = SubscriberGroups<NotedSession>()
        func send(_ batches: ArraySlice<TapeBatch>, of present: SymbolSet) -> Bool { false }
    }

    static let path = "/noted"
    static let name = "noted"
    static let showsPrices = true
    static func makeFanout(for context: RelayContext) -> NoTrades { NoTrades() }

    let output: ClientOutput
    private var notes: [String] = []

    init(request: HTTPRequestHead, context: RelayContext) {
        self.output = context.makeOutput(ClientOutput.Marks(low: 1 << 10, high: 1 << 12))
    }

    /// Returns the notes since the last call.
    func take() -> [String] {
        defer { self.notes = [] }
        return self.notes
    }

    func received(_ text: ByteBuffer) {}

    func obey(_ verdict: Backlog.Verdict) {}

    func closed() { self.notes.append("closed") }

    func priceShown(_ price: inout EncodedPrice, row: Int) {
        self.notes.append("\(price.update.summary.symbol) \(price.update.summary.price)")
    }

    func statusChanged(_ status: FeedStatus, _ message: SharedMessage) { self.notes.append(status.word) }

    func gapFound(_ gap: Gap, _ message: SharedMessage) { self.notes.append("gap \(gap.symbol ?? "of all")") }

    func symbolChanged(_ status: SymbolStatus, _ message: SharedMessage) {
        self.notes.append("\(status.symbol) \(status.word)")
    }
}

@Suite("The sessions of the relay, in any protocol")
struct SessionIndexTests {
    private func session(on bench: HubBench, _ symbols: String..., followsAll: Bool = false) throws -> NotedSession {
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/noted")
        let session = NotedSession(request: head, context: bench.hub.context)
        try bench.join(session)
        for symbol in symbols { #expect(bench.hub.index.subscribe(session, to: symbol) == .accepted) }
        bench.hub.index.setFollowsAll(session, followsAll)
        return session
    }

    @Test("a session that has ended subscribes to nothing")
    func ended() throws {
        let bench = HubBench()
        let session = try self.session(on: bench, "A")
        session.close(.tryAgainLater, reason: "too slow")
        #expect(bench.hub.index.subscribe(session, to: "B") == .invalid)
        #expect(bench.hub.index.subscribers(of: "B").isEmpty && !bench.hub.subscriptions.holds("B"))
        bench.stop()
    }

    @Test("a report about a symbol goes once to its subscribers and to followers of all, and to no others")
    func offers() throws {
        let bench = HubBench()
        let first = try self.session(on: bench, "A")
        let second = try self.session(on: bench, "B")
        let both = try self.session(on: bench, "A", followsAll: true)
        let none = try self.session(on: bench)
        bench.play(Frames.trade("A", "1"), Frames.trade("B", "2"))
        #expect(first.take() == ["A 1"] && second.take() == ["B 2"] && none.take() == [])
        #expect(both.take() == ["A 1", "B 2"])
        bench.hub.take(.symbol(SymbolStatus(symbol: "B", state: .live, since: 1)))
        bench.hub.take(.gap(Gap(from: 1, to: 2, reason: "r", nextSequence: 1, symbol: "A")))
        #expect(first.take() == ["gap A"] && second.take() == ["B live"] && both.take() == ["B live", "gap A"])
        #expect(none.take() == [])
        let trades = TradesClient(context: bench.hub.context)
        try bench.join(trades)
        #expect(bench.hub.index.subscribe(trades, to: "A") == .accepted)
        #expect(bench.hub.index.sessions(of: "A").contains { $0 === trades })
        #expect(bench.hub.index.priceSessions(of: "A").count == 2, "a protocol without prices is offered none")
        bench.hub.index.unsubscribe(first, from: "A")
        bench.hub.index.setFollowsAll(both, false)
        bench.play(Frames.trade("A", "3", time: 1), Frames.trade("B", "4", time: 1))
        #expect(first.take() == [] && second.take() == ["B 4"] && both.take() == ["A 3"])
        bench.stop()
    }

    @Test("a session that ends leaves at once: it gets nothing more, and its symbols are unsubscribed upstream")
    func leaves() throws {
        let bench = HubBench()
        let session = try self.session(on: bench, "A", "B", followsAll: true)
        let other = try self.session(on: bench, "B")
        session.close(.normal, reason: "")
        bench.hub.take(.gap(Gap(from: 1, to: 2, reason: "r", nextSequence: 1, symbol: "A")))
        bench.play(Frames.trade("B", "1"))
        #expect(session.take() == ["closed"] && other.take() == ["B 1"])
        #expect(bench.hub.index.symbols(of: session).isEmpty && bench.hub.index.symbols(of: other) == ["B"])
        bench.loop.advanceTime(by: .seconds(11))
        #expect(bench.calls.all == ["A", "B", "-A"])
        bench.stop()
    }

    @Test("a report about the feed goes to every session, and the end of the relay closes them all")
    func all() throws {
        let bench = HubBench()
        let sessions = try (0..<3).map { _ in try self.session(on: bench) }
        bench.hub.take(.status(FeedStatus(source: .live, phase: .late, since: 1)))
        bench.hub.take(.gap(Gap(from: 1, to: 2, reason: "r", nextSequence: 1)))
        for session in sessions { #expect(session.take() == ["late", "gap of all"]) }
        #expect(bench.hub.clientCount == 3)
        bench.stop()
        for session in sessions { #expect(session.take() == ["closed"]) }
    }

    @Test("a message for many has one number, sent or not, and is encoded once for each protocol")
    func shares() {
        let message = SharedMessage(number: 7)
        var encoded: [UInt64] = []
        func frame(_ text: String) -> (UInt64) -> ByteBuffer {
            { number in
                encoded.append(number)
                return ByteBuffer(string: text)
            }
        }
        #expect(
            message.frame(for: NotedSession.self, encode: frame("x")) == SharedMessage.framed(ByteBuffer(string: "x"))
        )
        #expect(
            message.frame(for: NotedSession.self, encode: frame("y")) == SharedMessage.framed(ByteBuffer(string: "x"))
        )
        #expect(
            message.frame(for: StreamClient.self, encode: frame("z")) == SharedMessage.framed(ByteBuffer(string: "z"))
        )
        #expect(encoded == [7, 7])
    }

    @Test("a price is encoded once for each protocol, kind of price and count of missed trades")
    func sharesPrices() {
        var price = EncodedPrice(PriceUpdate(summary: sampleSummary("A"), skipped: 2), ordinal: 3)
        var encoded: [String] = []
        func frame<Session: RelayProtocol>(
            of session: Session.Type,
            isFirst: Bool = false,
            skipped: UInt64 = 2,
            _ text: String
        ) -> ByteBuffer {
            price.frame(for: session, isFirst: isFirst, skipped: skipped) { summary in
                encoded.append("\(text) \(summary.symbol)")
                return ByteBuffer(string: text)
            }
        }
        let first = frame(of: NotedSession.self, "u")
        #expect(first == SharedMessage.framed(ByteBuffer(string: "u")))
        #expect(frame(of: NotedSession.self, "v") == first)
        #expect(frame(of: StreamClient.self, "w") == SharedMessage.framed(ByteBuffer(string: "w")))
        #expect(frame(of: NotedSession.self, isFirst: true, "x") == SharedMessage.framed(ByteBuffer(string: "x")))
        #expect(frame(of: NotedSession.self, skipped: 0, "y") == SharedMessage.framed(ByteBuffer(string: "y")))
        #expect(frame(of: StreamClient.self, "z") == SharedMessage.framed(ByteBuffer(string: "w")))
        #expect(encoded == ["u A", "w A", "x A", "y A"])
    }
}
