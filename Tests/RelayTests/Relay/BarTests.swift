import Market
import Measurements
import NIOCore
import Testing
import TickertapeTesting
import Wire
@testable import HTTP
@testable import Relay

@Suite("Bars of the relay", .timeLimit(.minutes(1 * Patience.factor)))
struct BarTests {
    /// The start of the minute in which the frames' times begin, ms.
    private static let minute = 1_723_161_240_000

    private func get(_ path: String, _ fixture: RelayFixture, headers: String = "") async throws -> (String, String) {
        let client = try await RawClient.connect(to: fixture.address)
        let request = "GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\(headers)\r\n"
        let head = try await client.request(request)
        return (head, try await client.rest())
    }

    @Test("by HTTP, with an ETag: the bars of the trades so far, including the current one")
    func http() async throws {
        try await RelayFixture.run { fixture in
            fixture.feed(
                Frames.trade(Frames.btc, "100", size: "2"),
                Frames.trade(Frames.btc, "101.5", size: "1", time: 1_000),
                Frames.trade(Frames.btc, "99", size: "0", time: 2_000),
                Frames.trade(Frames.btc, "98", size: "1", time: 60_000)
            )
            let (head, body) = try await self.get("/v1/bars/BINANCE%3ABTCUSDT?width=1m", fixture)
            let first =
                #"{"start":1723161240000,"open":"100","high":"101.5","low":"99","close":"99","volume":"3","vwap":"100.5","trades":2,"closed":true,"incomplete":true}"#
            let second =
                #"{"start":1723161300000,"open":"98","high":"98","low":"98","close":"98","volume":"1","vwap":"98","trades":1,"closed":false,"incomplete":false}"#
            #expect(
                body == #"{"symbol":"BINANCE:BTCUSDT","width":"1m","bars":[\#(first),\#(second)]}"# + "\n"
            )
            let tag = try #require(
                head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("etag: ") }?.dropFirst("etag: ".count)
            )
            let again = try await self.get(
                "/v1/bars/BINANCE:BTCUSDT?width=1m",
                fixture,
                headers: "If-None-Match: \(tag)\r\n"
            )
            #expect(again.0.hasPrefix("HTTP/1.1 304") && again.1.isEmpty)
            let one = try await self.get("/v1/bars/BINANCE:BTCUSDT?width=1m&from=1723161240001&limit=1", fixture)
            #expect(one.1 == #"{"symbol":"BINANCE:BTCUSDT","width":"1m","bars":[\#(second)]}"# + "\n")
            let none = try await self.get("/v1/bars/BINANCE:BTCUSDT?width=1m&to=\(Self.minute)", fixture)
            #expect(none.1 == #"{"symbol":"BINANCE:BTCUSDT","width":"1m","bars":[]}"# + "\n")
        }
    }

    @Test("a trade from the future is in the bar of its arrival, closes no bar, and is published marked")
    func ahead() async throws {
        try await RelayFixture.run { fixture in
            let stream = try await fixture.streamClient("?symbols=*&delivery=all")
            fixture.feed(Frames.trade(Frames.btc, "100", size: "2"))
            fixture.feedAhead(
                Frames.trade(Frames.btc, "105", size: "1", time: 2_592_000_000),
                arrival: 1_723_161_255_400_000_000
            )
            fixture.feed(Frames.trade(Frames.btc, "101", size: "1", time: 100))
            let (_, body) = try await self.get("/v1/bars/BINANCE%3ABTCUSDT?width=1s", fixture)
            #expect(
                body
                    == #"{"symbol":"BINANCE:BTCUSDT","width":"1s","bars":[{"start":1723161255000,"open":"100","high":"105","low":"100","close":"101","volume":"4","vwap":"101.5","trades":3,"closed":false,"incomplete":true}]}"#
                    + "\n"
            )
            let (_, trades) = try await self.get("/v1/trades/BINANCE%3ABTCUSDT", fixture)
            #expect(trades.contains(#""time":1725753255342,"received":1723161255400000,"ahead":true}"#), "\(trades)")
            #expect(trades.split(separator: "ahead").count == 2)
            var reported = ""
            while !reported.contains(#""seq":3,"#) { reported = try await stream.frame().text }
            #expect(!reported.contains("ahead"))
        }
    }

    @Test(
        "an invalid query is refused with a line that says what is valid",
        arguments: [
            ("/v1/bars/BINANCE:BTCUSDT?width=2m", "400", "width must be one of 1s, 1m, 5m, 1h"),
            ("/v1/bars/BINANCE:BTCUSDT?from=x", "400", "from must be milliseconds since 1970"),
            ("/v1/bars/BINANCE:BTCUSDT?limit=0", "400", "limit must be a whole number from 1 to 10000"),
            ("/v1/bars/BINANCE:BTCUSDT?size=1", "400", "there is no parameter size here"),
            ("/v1/bars/NONE", "404", "no trade of NONE has come yet"),
            ("/v1/trades/BINANCE:BTCUSDT?before=7", "400", "before must be EPOCH:SEQ, two whole numbers"),
            ("/v1/trades/BINANCE:BTCUSDT?before=7:1", "404", "no earlier trades are recorded here"),
        ]
    )
    func refusals(path: String, status: String, words: String) async throws {
        try await RelayFixture.run { fixture in
            fixture.feed(Frames.trade(Frames.btc, "100"))
            let (head, body) = try await self.get(path, fixture)
            #expect(head.hasPrefix("HTTP/1.1 \(status)") && body.contains(words), "\(head) \(body)")
        }
    }

    @Test("stored bars precede those in memory, each once")
    func joined() async throws {
        func bar(_ start: Int64, _ price: String) throws -> Bar {
            let price = try #require(ExactDecimal(price))
            let trade = Trade(price: price, size: price, exchangeTime: start, symbol: SymbolID(index: 0))
            return Bar(pieceFrom: trade).widened(to: .minute)
        }
        let kept = try (1...5).map { try bar(Int64($0) * 60_000_000_000, "\($0)") }
        let past = RelayPast(
            bars: { _, _, from, to, limit in
                let all = kept.filter { $0.start >= from ?? .min && $0.start < to ?? .max }
                return Array(from == nil ? all.suffix(limit) : all.prefix(limit))
            },
            trades: { _, _ in PastTrades() },
            liveTime: { _, _ in LiveTime(from: 0, to: 0, known: nil, gaps: []) }
        )
        let live = BarExcerpt(
            bars: [(try bar(300_000_000_000, "50"), true), (try bar(360_000_000_000, "60"), false)],
            oldest: 300_000_000_000
        )
        func prices(_ live: BarExcerpt?, _ query: BarQuery) async throws -> [String]? {
            let room = try #require(AnswerMemory().take())
            return try await BarExcerpt.joining(live, past: past, of: "A", query, room)?.bars.map {
                $0.bar.close.description
            }
        }
        #expect(try await prices(live, BarQuery(limit: 4)) == ["3", "4", "50", "60"])
        #expect(try await prices(live, BarQuery(from: 120_000_000_000, limit: 2)) == ["2", "3"])
        #expect(try await prices(live, BarQuery(from: 240_000_000_000, limit: 9)) == ["4", "50", "60"])
        #expect(try await prices(nil, BarQuery(limit: 2)) == ["4", "5"])
        #expect(try await prices(nil, BarQuery(from: 999_000_000_000, limit: 2)) == [])
    }

    /// Returns a client that has subscribed to the bars of a symbol with one trade, and the first bar that it got.
    private func client(_ width: String, _ fixture: RelayFixture) async throws -> (client: RawClient, first: String) {
        fixture.feed(Frames.trade(Frames.btc, "100", size: "1"))
        let client = try await fixture.streamClient()
        try await client.send(#"{"type":"subscribe","symbol":"\#(Frames.btc)","bars":"\#(width)"}"#)
        let answer = try await client.frame().text
        #expect(answer.hasSuffix(#""symbols":["\#(Frames.btc)"],"delivery":"bars","bars":"\#(width)"}"#))
        return (client, try await client.frame().text)
    }

    @Test("on the stream: the one there is at once, each as soon as it is over, beside prices or without")
    func stream() async throws {
        try await RelayFixture.run { fixture in
            let (client, open) = try await self.client("1m", fixture)
            #expect(open.hasPrefix(#"{"type":"bar","n":"#) && open.contains(#""width":"1m","start":1723161240000,"#))
            #expect(open.contains(#""closed":false,"incomplete":true"#))
            fixture.feed(
                Frames.trade(Frames.btc, "101", size: "1", time: 1_000),
                Frames.trade(Frames.btc, "7", size: "1", time: 60_000)
            )
            let over = try await client.frame().text
            #expect(over.contains(#""start":1723161240000"#), "\(over)")
            #expect(over.contains(#""close":"101","volume":"2","vwap":"100.5","trades":2,"closed":true"#), "\(over)")
            // The next bar is sent when the timer of one second fires.
            let next = try await client.frame().text
            #expect(next.contains(#""start":1723161300000,"open":"7""#) && next.contains(#""closed":false"#), "\(next)")
        }
    }

    @Test("every closed bar is published, however many a batch brings, and again after a late trade")
    func allBars() async throws {
        try await RelayFixture.run { fixture in
            let client = try await fixture.streamClient()
            try await client.send(#"{"type":"subscribe","symbol":"\#(Frames.btc)","bars":"1s"}"#)
            try await fixture.settle(client)
            func closed() async throws -> (start: Int, trades: Int) {
                while true {
                    let text = try await client.frame().text
                    guard text.hasPrefix(#"{"type":"bar""#), text.contains(#""closed":true"#) else { continue }
                    let start = try #require(RunningProgram.number(in: text, behind: #""start":"#))
                    return (start, try #require(RunningProgram.number(in: text, behind: #""trades":"#)))
                }
            }
            // More seconds in a batch than a series keeps: 700 bars of one second. They are in one batch, before the
            // clock closes one.
            let count = 700
            fixture.feed((0...count).map { Frames.trade(Frames.btc, "\($0 + 1)", size: "1", time: $0 * 1_000) })
            var starts: [Int] = []
            while starts.count < count { starts.append(try await closed().start) }
            #expect(starts == Array(stride(from: starts[0], to: starts[0] + count * 1_000, by: 1_000)))
            // A trade long past, and a new one after it, so that it is counted.
            fixture.feed(
                Frames.trade(Frames.btc, "5", size: "1", time: (count - 90) * 1_000),
                Frames.trade(Frames.btc, "5", size: "1", time: (count + 1) * 1_000)
            )
            // In either order: if the parsing took long, the clock has closed the newest bar before.
            let both = [try await closed(), try await closed()].sorted { $0.start < $1.start }
            #expect(both[0].start == starts[0] + (count - 90) * 1_000 && both[0].trades == 2, "\(both)")
            #expect(both[1].start == starts[0] + count * 1_000, "\(both)")
        }
    }

    @Test("several widths of a symbol are independent; unsubscribing the last releases the symbol")
    func widths() async throws {
        try await RelayFixture.run { fixture in
            let client = try await fixture.streamClient()
            for width in ["1s", "1h"] {
                try await client.send(#"{"type":"subscribe","symbols":["X:Y"],"bars":"\#(width)"}"#)
            }
            try await fixture.settle(client)
            #expect(fixture.calls.all == ["X:Y"])
            try await client.send(#"{"type":"unsubscribe","symbol":"X:Y","bars":"1s"}"#)
            try await fixture.settle(client)
            #expect(fixture.calls.all == ["X:Y"])
            try await client.send(#"{"type":"unsubscribe","bars":"all"}"#)
            try await fixture.settle(client)
            #expect(fixture.calls.all == ["X:Y", "-X:Y"])
        }
    }

    @Test(
        "an invalid request for bars is answered with the reason",
        arguments: [
            (#"{"type":"subscribe","symbol":"X:Y","bars":"2m"}"#, "bars must be one of 1s, 1m, 5m, 1h"),
            (#"{"type":"subscribe","symbol":"X:Y","bars":60}"#, "bars must be one of"),
            (#"{"type":"subscribe","bars":"1m"}"#, "bars needs a symbol"),
            (#"{"type":"subscribe","symbol":"X:Y","bars":"1m","delivery":"all"}"#, "bars needs a symbol"),
            (#"{"type":"subscribe","symbol":"X Y\n","bars":"1m"}"#, "Invalid symbol"),
        ]
    )
    func wrong(request: String, words: String) async throws {
        try await RelayFixture.run { fixture in
            let client = try await fixture.streamClient()
            try await client.send(request)
            let answer = try await client.frame().text
            #expect(answer.contains(#""type":"error""#) && answer.contains(words), "\(answer)")
        }
    }

    @Test("a gap marks the bars that it touches")
    func gap() {
        var feed = BatchSource()
        var book = BarBook()
        let time: Int64 = 1_723_161_255_342_000_000
        _ = book.take(feed.batch([Frames.trade(Frames.btc, "1"), Frames.trade(Frames.btc, "1", time: 60_000)]))
        book.gapFound(
            Gap(from: time + 61_000_000_000, to: time + 100_000_000_000, reason: "r", nextSequence: 3, epoch: 7)
        )
        _ = book.take(feed.batch([Frames.trade(Frames.btc, "1", time: 240_000)]))
        let touched = book.series(of: Frames.btc, .minute)
        #expect(touched?.bars.map(\.isIncomplete) == [true, true, false])
        // A replay's gaps have current times and its trades old ones; then the gap marks the bars before and after it.
        book.gapFound(Gap(from: time * 2, to: time * 2, reason: "r", nextSequence: 4, epoch: 7))
        _ = book.take(feed.batch([Frames.trade(Frames.btc, "1", time: 480_000)]))
        let interrupted = book.series(of: Frames.btc, .minute)
        #expect(interrupted?.bars.map(\.isIncomplete) == [true, true, true, true])
    }

    @Test("any number of symbols takes bounded memory")
    func bounded() {
        #expect(BarBook.capacity(symbols: 64) * 64 < 40_000 && BarBook.capacity(symbols: 512) * 512 < 65_000)
        #expect(BarBook.capacity(symbols: 4_096) * 4_096 < 100_000)
    }
}
