import Market
import NIOCore
import Testing
import TickertapeTesting
import Wire
@testable import Relay

/// The account of one client: the trades that it got, and those reported to it as missed.
private struct Books {
    /// Trades that it got in any way since its beginning.
    var trades: UInt64 = 0
    var singles: [UInt64] = []
    var number: UInt64 = 0
    var types: [String: Int] = [:]
    var resumed: String?

    mutating func take(_ text: String) throws {
        let type = try #require(Self.value("type", in: text)).replacing("\"", with: "")
        let number = try #require(Self.value("n", in: text).flatMap { UInt64($0) })
        try #require(number > self.number, "\(number) after \(self.number)")
        self.number = number
        self.types[type, default: 0] += 1
        switch StreamMessage.parse(ByteBuffer(string: text)) {
        case .price(let update): self.trades += update.skipped + 1
        case .trade(let trade):
            try #require(trade.sequence > self.singles.last ?? 0)
            self.singles.append(trade.sequence)
            self.trades += 1
        default: break
        }
        if type == "skipped" { self.trades += try #require(Self.value("trades", in: text).flatMap { UInt64($0) }) }
        if type == "resumed" { self.resumed = text }
    }

    static func value(_ key: String, in text: String) -> String? {
        guard let start = text.firstRange(of: "\"\(key)\":")?.upperBound else { return nil }
        return String(text[start...].prefix { $0 != "," && $0 != "}" })
    }
}

@Suite("Deliveries of the relay's own stream", .timeLimit(.minutes(2 * Patience.factor)))
struct StreamDeliveryTests {
    private static func small(_ settings: inout RelaySettings) {
        settings.maximumWaitingBytes = 16 << 10
        settings.sendBufferBytes = 8 << 10
    }

    @Test("hello describes the relay; the URL subscribes; a subprotocol is negotiated; invalid requests are refused")
    func opens() async throws {
        try await RelayFixture.run { fixture in
            fixture.feed(Frames.trade(Frames.btc, "5"))
            let client = try await RawClient.open(
                "/v1/stream?symbols=*&delivery=all",
                at: fixture.address,
                headers: "Sec-WebSocket-Protocol: bearer.secret, tickertape.v1.json\r\n"
            )
            let hello = try await client.frame().text
            for part in [
                #""protocol":"tickertape.v1","#, #""epoch":7,"seq":1,"oldest":1,"#, #""price":"5""#,
                #""resume":{"trades":100000,"seconds":600}"#, #""state":"live"}]}"#,
            ] { #expect(hello.contains(part), "\(part) is not in \(hello)") }
            #expect(try await client.frame().text.contains(#""symbols":null,"delivery":"all""#))
            #expect(try await client.update() == Update("snapshot", Frames.btc, "5", skipped: 0))
            for wrong in [
                "delivery=most", "every=1ms", "since=7", "since=7:1", "overflow=wait", "symbol=", "dance=1", "every=x",
                "delivery=all&every=1s", "symbols=*&symbol=A", "symbol=%ZZ", "every=99", "every=-250",
            ] {
                let refused = try await RawClient.connect(to: fixture.address)
                let head = try await refused.request(RawClient.upgrade("/v1/stream?\(wrong)"))
                #expect(head.hasPrefix("HTTP/1.1 400 "), "\(wrong): \(head)")
            }
            for milliseconds in ["250ms", "250"] {
                let paced = try await RawClient.open("/v1/stream?symbols=*&every=\(milliseconds)", at: fixture.address)
                _ = try await paced.frame()
                #expect(try await paced.frame().text.contains(#""delivery":"every","every":250"#))
            }
            let other = try await RawClient.connect(to: fixture.address)
            let head = try await other.request(
                RawClient.upgrade("/v1/stream", headers: "Sec-WebSocket-Protocol: chat\r\n")
            )
            #expect(head.hasPrefix("HTTP/1.1 400 "))
        }
    }

    @Test("every trade comes to the clients that want it, with the same bytes, and a ping is answered")
    func singles() async throws {
        try await RelayFixture.run { fixture in
            let clients = [
                try await fixture.streamClient("?symbol=\(Frames.btc)&delivery=all"),
                try await fixture.streamClient("?symbols=*&delivery=all"),
            ]
            for client in clients { try await fixture.settle(client) }
            fixture.feed(Frames.trade(Frames.btc, "5"), Frames.trade(Frames.eth, "6"), Frames.trade(Frames.btc, "5"))
            let first = [try await clients[0].frame().text, try await clients[0].frame().text]
            let all = [
                try await clients[1].frame().text, try await clients[1].frame().text, try await clients[1].frame().text,
            ]
            #expect(first == [all[0], all[2]])
            #expect(
                all[1].contains(#""symbol":"BINANCE:ETHUSDT","seq":2,"price":"6","size":"0.02","time":1723161255342"#)
            )
            try await clients[0].send(#"{"type":"ping","id":[1,"a"]}"#)
            #expect(try await clients[0].frame().text.contains(#","id":[1,"a"],"time":"#))
        }
    }

    @Test("a delivery changes live, without a second snapshot, and nothing is lost between the two")
    func changes() async throws {
        try await RelayFixture.run {
            $0.pipeline = PricePipeline.Settings(quiet: 3_600_000_000_000, atMost: nil)
        } body: { fixture in
            let client = try await fixture.streamClient()
            try await client.subscribe(Frames.btc)
            try await fixture.settle(client)
            for price in ["1", "2", "3"] { fixture.feed(Frames.trade(Frames.btc, price)) }
            #expect(try await client.update() == Update("snapshot", Frames.btc, "1", skipped: 0))
            try await fixture.settle(client)
            try await client.send(#"{"type":"subscribe","symbol":"\#(Frames.btc)","delivery":"all"}"#)
            #expect(try await client.update() == Update("price", Frames.btc, "3", skipped: 1))
            try await fixture.settle(client)
            fixture.feed(Frames.trade(Frames.btc, "3"))
            #expect(try await client.frame().text.contains(#""type":"trade""#))
            try await client.send(#"{"type":"subscribe","symbol":"\#(Frames.btc)","delivery":"every","every":100}"#)
            #expect(try await client.frame().text.contains(#""delivery":"every","every":100}"#))
            fixture.feed(Frames.trade(Frames.btc, "3"), Frames.trade(Frames.btc, "3"))
            #expect(try await client.update() == Update("price", Frames.btc, "3", skipped: 1))
        }
    }

    @Test("for any delivery and however slow the client, the sent and the skipped trades are all trades")
    func isExact() async throws {
        try await RelayFixture.run {
            Self.small(&$0)
            $0.pipeline = PricePipeline.Settings(quiet: 1_000_000, atMost: 5_000_000)
        } body: { fixture in
            var random = SeededGenerator(seed: 7)
            let queries = [
                "symbols=*&delivery=latest", "symbols=*&delivery=all&overflow=latest", "symbols=*&every=100ms",
                "symbol=A&symbol=B&delivery=all&overflow=latest",
            ]
            var clients: [RawClient] = []
            for query in queries {
                let client = try await fixture.streamClient("?\(query)", receiveBuffer: 4 << 10)
                try await fixture.settle(client)
                clients.append(client)
            }
            var totals = [UInt64](repeating: 0, count: queries.count)
            for step in 0..<1_500 {
                let names = (0..<Int.random(in: 1...6, using: &random)).map { _ in
                    ["A", "B", "C"].randomElement(using: &random) ?? "A"
                }
                let last = step == 1_499 ? ["A", "B", "C"] : names
                let frames = last.map { Frames.trade($0, step == 1_499 ? "99" : "\(step % 3 + 1)", time: step) }
                fixture.feed(frames, received: 1_723_161_255_342_123_456)
                for index in queries.indices {
                    totals[index] += UInt64(index == 3 ? last.filter { $0 != "C" }.count : last.count)
                    if step % 50 == 7 * index { try await clients[index].read(Bool.random(using: &random)) }
                }
                if step == 700 {
                    fixture.relay.gapFound(Gap(from: 0, to: 1, reason: "a", nextSequence: 1))
                    fixture.relay.gapFound(Gap(from: 0, to: 1, reason: "b", nextSequence: 1))
                }
            }
            for (index, client) in clients.enumerated() {
                try await client.read(true)
                var books = Books()
                // If a symbol had no price when the client connected, its first trade comes as its snapshot.
                let byPrice = index == 0 || index == 2
                var snapshots: UInt64 = 0
                while books.trades + snapshots < totals[index] {
                    let text = try await client.frame().text
                    try books.take(text)
                    if byPrice, text.hasPrefix(#"{"type":"snapshot""#) {
                        snapshots += 1 + (Books.value("skipped", in: text).flatMap { UInt64($0) } ?? 0)
                    }
                }
                #expect(books.trades + snapshots == totals[index], "\(queries[index]): \(books.types)")
                #expect(books.types["gap"] == 2, "\(queries[index]): \(books.types)")
            }
        }
    }

    @Test("a client that wants every trade is by default closed with the count of what was missed")
    func closes() async throws {
        try await RelayFixture.run(Self.small) { fixture in
            let slow = try await fixture.streamClient("?symbol=A&delivery=all", receiveBuffer: 4 << 10)
            try await fixture.settle(slow)
            try await slow.read(false)
            let total = 4_000
            for number in 0..<total { fixture.feed(Frames.trade("A", "\(number + 1)")) }
            let other = try await fixture.streamClient()
            try await fixture.settle(other)
            try await slow.read(true)
            var count = 0
            while true {
                let frame = try await slow.frame()
                if let closure = frame.closure {
                    #expect(closure == "1013 too slow: \(total - count) trades missed")
                    break
                }
                try #require(frame.text.contains(#""seq":\#(count + 1),"#))
                count += 1
            }
            #expect(count > 0 && count < total)
        }
    }

    @Test("a client that resumes from a number gets every trade since, once, then resumed, then live ones")
    func resumes() async throws {
        try await RelayFixture.run(Self.small) { fixture in
            for number in 1...3_000 { fixture.feed(Frames.trade(number % 3 == 0 ? "B" : "A", "\(number)")) }
            let client = try await fixture.streamClient("?symbol=A&delivery=all&since=7:1000", receiveBuffer: 4 << 10)
            var books = Books()
            // More trades come during the catch-up.
            for number in 3_001...3_600 { fixture.feed(Frames.trade(number % 3 == 0 ? "B" : "A", "\(number)")) }
            let expected = (1_001...3_600).filter { $0 % 3 != 0 }.map { UInt64($0) }
            while books.singles.count < expected.count || books.resumed == nil {
                try books.take(try await client.frame().text)
            }
            #expect(books.singles == expected)
            let resumed = try #require(books.resumed)
            #expect(resumed.contains(#""epoch":7,"from":1000,"#) && resumed.hasSuffix(#""complete":true}"#))
            #expect(books.types["gap"] == nil && books.types["snapshot"] == nil)
        }
    }

    @Test("prices resume with a snapshot that counts the trades since; trades no longer kept are a gap")
    func resumesPrices() async throws {
        try await RelayFixture.run { fixture in
            for number in 1...10 { fixture.feed(Frames.trade(number % 2 == 0 ? "B" : "A", "\(number)")) }
            let client = try await fixture.streamClient("?symbol=A&symbol=B&since=7:4")
            #expect(try await client.update() == Update("snapshot", "A", "9", skipped: 3))
            #expect(try await client.update() == Update("snapshot", "B", "10", skipped: 3))
            let resumed = #"{"type":"resumed","epoch":7,"from":4,"to":10,"trades":6,"complete":true}"#
            #expect(try await client.reported() == resumed)
            let late = try await fixture.streamClient("?symbols=*&delivery=all&since=3:400")
            let gap = try await late.reported()
            #expect(gap.hasPrefix(#"{"type":"gap","from":null,"to":1723161255342,"#) && gap.contains(#""nextSeq":1,"#))
            #expect(gap.hasSuffix(#""overlap":null,"cause":"resume"}"#))
            for _ in 1...10 { #expect(try await late.frame().text.contains(#""type":"trade""#)) }
            #expect(try await late.reported().hasSuffix(#""to":10,"trades":10,"complete":false}"#))
        }
    }

    @Test("a flood of requests is answered by errors, then ended; other clients continue")
    func flood() async throws {
        try await RelayFixture.run {
            $0.requestBurst = 5
            $0.requestsPerSecond = 1
        } body: { fixture in
            let client = try await fixture.streamClient()
            var codes: [String] = []
            for _ in 0..<40 { try? await client.send(#"{"type":"ping"}"#) }
            while true {
                let frame = try await client.frame()
                if let closure = frame.closure {
                    #expect(closure == "1008 too many requests")
                    break
                }
                codes.append(Books.value("code", in: frame.text) ?? "-")
            }
            #expect(codes.prefix(5).allSatisfy { $0 == "-" } && codes.last == #""rate-limited""#)
            let other = try await fixture.streamClient()
            try await fixture.settle(other)
        }
    }

    @Test("names that never trade are forgotten with their last subscriber, however many one client tries")
    func forgetsNames() async throws {
        try await RelayFixture.run { fixture in
            let client = try await fixture.streamClient()
            let all = try await fixture.streamClient("?symbols=*")
            for number in 0..<5_000 {
                try await client.send(#"{"type":"subscribe","symbol":"N\#(number)"}"#)
                try await client.send(#"{"type":"unsubscribe","symbol":"N\#(number)"}"#)
                #expect(try await client.frame().text.contains(#""symbols":["N\#(number)"]"#))
            }
            try await client.subscribe("LAST")
            try await fixture.settle(client)
            try await fixture.settle(all)
            fixture.feed(Frames.trade("LAST", "1"))
            #expect(try await client.update() == Update("snapshot", "LAST", "1", skipped: 0))
            #expect(try await all.update() == Update("snapshot", "LAST", "1", skipped: 0))
        }
    }
}
