import Ingest
import Market
import NIOCore
import NIOEmbedded
import Testing
import Wire
@testable import Feeds

@Suite("The input of a backfill that also fills another feed's gaps")
struct SharedBackfillInputTests {
    private let own: PlayedTape
    private let other: PlayedTape
    private let shared: SharedBackfillInput

    init() {
        let loop = EmbeddedEventLoop()
        (self.own, self.other) = (PlayedTape(.binance, loop: loop), PlayedTape(.binance, loop: loop))
        self.shared = SharedBackfillInput(self.own, self.other, of: .binance)
    }

    private var missing: [String] {
        self.shared.missing.map { missing in
            "\(missing.symbol) \(missing.ids.map { "\($0.lowerBound)-\($0.upperBound)" }.joined(separator: ", "))"
        }
    }

    @Test("lacks what either lacks, of its own venue, in ascending order and each id once")
    func union() {
        self.own.open("BINANCE:A", .init(ids: 10...20, after: 1))
        self.own.open("BINANCE:A", .init(ids: 40...50))
        self.other.open("BINANCE:A", .init(ids: 1...5))
        self.other.open("BINANCE:A", .init(ids: 15...30))
        self.other.open("BINANCE:B", .init(ids: 7...7))
        self.other.open("COINBASE:BTC-USD", .init(ids: 7...7))
        #expect(self.missing == ["BINANCE:A 1-5, 10-30, 40-50", "BINANCE:B 7-7"])
        #expect(self.shared.missing.first?.holes.map(\.after) == [nil, 1, nil])
    }

    @Test("hands answers to those that lack something, and losses to both")
    func shares() {
        let target = "/api/v3/historicalTrades?symbol=A&fromId=1&limit=2"
        let body =
            #"[{"id":7,"price":"4.5","qty":"1","quoteQty":"4.5","time":7,"isBuyerMaker":true,"isBestMatch":true}]"#
        let frame = VenueExchange(target: target, body: ByteBuffer(string: body)).frame
        let now = Moment(monotonic: 1, wall: 1)
        self.other.open("BINANCE:A", .init(ids: 7...8))
        self.shared.take(answer: frame, of: .binanceREST, now: now)
        #expect(self.own.frames.isEmpty && self.other.frames == [frame])
        #expect(self.missing == ["BINANCE:A 8-8"])
        self.own.open("BINANCE:A", .init(ids: 8...8))
        self.shared.giveUp(8...8, of: "BINANCE:A", reason: "gone", now: now)
        #expect(self.missing.isEmpty && self.own.lines.count == 1 && self.other.lines.count == 1)
    }
}
