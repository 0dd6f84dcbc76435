import Market
import NIOCore
import Relay
import Testing
import TickertapeTesting
import Wire
@testable import Measurements

@Suite("The relay's answers over HTTP", .timeLimit(.minutes(1 * Patience.factor)))
struct RelayAnswersTests {
    struct Answer {
        var status: Int
        var head: String
        var body: String

        func header(_ name: String) -> String? {
            self.head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("\(name): ") }
                .map { String($0.dropFirst(name.count + 2)) }
        }
    }

    private func ask(
        _ path: String,
        _ fixture: RelayFixture,
        method: String = "GET",
        headers: String = ""
    ) async throws -> Answer {
        let client = try await RawClient.connect(to: fixture.address)
        let head = try await client.request(
            "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\(headers)\r\n"
        )
        let body = try await client.rest()
        return Answer(status: Int(head.dropFirst(9).prefix(3)) ?? 0, head: head, body: body)
    }

    private static let since: Int64 = 1_723_161_255_342_000_000

    @Test("it is ready while trades come, and otherwise gives the reason, symbol by symbol")
    func readiness() async throws {
        try await RelayFixture.run(ownSymbols: [Frames.btc, "X:Y"]) { fixture in
            let before = try await self.ask("/readyz", fixture)
            #expect(before.status == 503)
            #expect(
                before.body.hasPrefix(
                    #"{"ready":false,"state":"live","since":1723161255342,"reason":"no trade yet"#
                )
            )

            fixture.feed(Frames.trade(Frames.btc, "1"))
            let fresh = try await self.ask("/readyz", fixture)
            #expect(fresh.status == 200)
            #expect(
                fresh.body.hasPrefix(
                    #"{"ready":true,"state":"live","since":1723161255342,"reason":null,"cause":null,"source":"live","via":null,"newestTradeAge":"#
                )
            )
            #expect(fresh.header("cache-control") == "no-store")

            let refused = SymbolStatus.State.refused(.noSuchSymbol, retryAt: Self.since)
            fixture.symbolChanged(
                SymbolStatus(symbol: "X:Y", state: refused, since: Self.since, reason: "Invalid symbol X:Y")
            )
            fixture.relay.statusChanged(
                FeedStatus(
                    source: .live,
                    phase: .reconnecting(attempt: 2, retryAt: Self.since),
                    since: Self.since,
                    reason: "our ping was not answered in time",
                    cause: .pongTimeout
                )
            )
            let cut = try await self.ask("/readyz", fixture)
            #expect(cut.status == 503)
            #expect(
                cut.body.hasPrefix(
                    #"{"ready":false,"state":"reconnecting","since":1723161255342,"reason":"our ping was not answered in time","cause":"pong-timeout","source":"live","via":null,"newestTradeAge":"#
                )
            )
            #expect(
                cut.body.hasSuffix(
                    #""symbols":[{"symbol":"X:Y","state":"no-such-symbol","since":1723161255342,"reason":"Invalid symbol X:Y","age":null,"trades":0}]}"#
                        + "\n"
                )
            )
            let head = try await self.ask("/readyz", fixture, method: "HEAD")
            #expect(head.status == 503 && head.body.isEmpty)
        }
    }

    @Test("an edge of a cluster says which ingest, which epoch and how many hops, and what the clocks differ by")
    func cluster() async throws {
        let instruments = Instruments()
        var state = ClusterState(cluster: "main", member: "edge-1", role: .edge)
        state.followed = "host-a"
        state.position = ClusterPosition(epoch: 7, frame: 17, sequence: 12)
        state.clockOffset = -1_240_000
        state.server = "nats://10.0.0.1:4222"
        instruments.cluster.begin(state)
        try await RelayFixture.run(ownSymbols: [Frames.btc], instruments: instruments) {
            $0.version = "9.8.7"
        } body: { fixture in
            let place =
                #""cluster":{"cluster":"main","member":"edge-1","role":"edge","publishing":false,"ingest":"host-a","#
                + #""hops":1,"epoch":7,"lag":null,"clockOffset":-1240"#
            let readiness = try await self.ask("/readyz", fixture)
            #expect(readiness.body.contains(place + "}"), "\(readiness.body)")
            #expect(!readiness.body.contains("10.0.0.1"))
            let status = try await self.ask("/v1/status", fixture)
            #expect(status.body.contains(place + #","lease":null,"frame":17,"seq":12,"#), "\(status.body)")
            let metrics = try await self.ask("/metrics", fixture)
            #expect(metrics.body.contains("\ntickertape_cluster_hops{ingest=\"host-a\"} 1\n"))
        }
    }

    @Test("a wrong symbol has the one that was probably meant, and the symbols are in the order of the settings")
    func meant() async throws {
        try await RelayFixture.run(ownSymbols: ["btc-usdt", Frames.btc, "A"]) { fixture in
            let refused = SymbolStatus.State.refused(.noSuchSymbol, retryAt: Self.since)
            let reason = "Invalid symbol btc-usdt"
            fixture.symbolChanged(
                SymbolStatus(symbol: "btc-usdt", state: refused, since: Self.since, reason: reason)
            )
            let answer = try await self.ask("/v1/status", fixture)
            #expect(answer.body.contains(#""reason":"\#(reason)","meant":"COINBASE:BTC-USDT","age":null"#))
            let names = answer.body.matches(of: /"symbol":"([^"]+)","state"/).map { String($0.output.1) }
            #expect(names == ["btc-usdt", Frames.btc, "A"])
        }
    }

    @Test("the status contains everything in the words of the stream")
    func status() async throws {
        let instruments = Instruments()
        try await RelayFixture.run(ownSymbols: [Frames.btc], instruments: instruments) {
            $0.version = "9.8.7"
        } body: { fixture in
            let client = try await fixture.tradesClient(Frames.btc)
            fixture.feed(Frames.trade(Frames.btc, "1"), Frames.trade(Frames.btc, "2"))
            _ = try await client.frame()
            let gap = Gap(from: Self.since, to: Self.since + 2_000_000_000, reason: "cut", nextSequence: 3, epoch: 7)
            instruments.changeHistory { $0.gapFound(gap) }
            let answer = try await self.ask("/v1/status", fixture)
            #expect(answer.status == 200 && answer.header("content-type") == "application/json")
            #expect(answer.body.hasPrefix(#"{"version":"9.8.7","uptime":"#))
            for part in [
                #""epoch":7,"nextSeq":3,"ready":true,"status":{"type":"status","state":"live","since":1723161255342,"#,
                #""symbols":[{"symbol":"BINANCE:BTCUSDT","state":"live","since":null,"reason":null,"age":"#,
                #""clients":{"trades":1,"stream":0},"#,
                #""gaps":{"count":1,"seconds":2.000,"newest":[{"type":"gap","from":1723161255342,"to":1723161257342,"reason":"cut","#,
                #""latency":{"arrival_to_client":{"count":1,"p50":"#,
            ] {
                #expect(answer.body.contains(part))
            }
        }
    }

    @Test("metrics are there for Prometheus, and hold no more symbols than the relay's limit")
    func metrics() async throws {
        try await RelayFixture.run(ownSymbols: ["A:\"1\\", "A:2", "A:3"], symbolLimit: 2) {
            $0.version = "9.8.7"
        } body: { fixture in
            fixture.feed(Frames.trade("A:3", "1"), Frames.trade("A:2", "1"))
            let answer = try await self.ask("/metrics", fixture)
            #expect(answer.status == 200)
            #expect(answer.header("content-type") == "text/plain; version=0.0.4; charset=utf-8")
            let lines = answer.body.split(separator: "\n")
            #expect(lines.contains { $0.hasPrefix(#"tickertape_build_info{version="9.8.7",openssl="3."#) })
            #expect(lines.contains(#"tickertape_symbol_state{symbol="A:\"1\\",state="asked"} 1"#))
            #expect(lines.contains { $0.hasPrefix(#"tickertape_symbol_age_seconds{symbol="A:2"} "#) })
            #expect(!lines.contains { $0.contains("A:3") })
            #expect(lines.contains(#"tickertape_feed_state{state="live"} 1"#))
            #expect(lines.contains(#"tickertape_feed_state{state="late"} 0"#))
            #expect(lines.contains("tickertape_feed_state_since_timestamp_seconds 1723161255.342"))
            #expect(lines.contains("tickertape_ready 1"))
            // What a person is paged for has its series from the start.
            #expect(lines.contains { $0.hasPrefix("tickertape_live_seconds_total ") })
            #expect(lines.contains { $0.hasPrefix(#"tickertape_not_live_seconds_total{reason="tls"} 0"#) })
            for end in ["left", "lost", "too-slow", "pong-timeout", "websocket-violation", "invalid", "stopping"] {
                #expect(lines.contains(#"tickertape_relay_clients_closed_total{reason="\#(end)"} 0"#))
            }
            #expect(lines.contains(#"tickertape_relay_refusals_total{type="too-many-clients"} 0"#))
            #expect(lines.contains(#"tickertape_relay_clients{endpoint="stream"} 0"#))
            #expect(lines.contains { $0.hasPrefix("process_resident_memory_bytes ") })
            // Each family is contiguous, with its help and type.
            let families = lines.filter { $0.hasPrefix("# TYPE ") }.map { $0.split(separator: " ")[2] }
            #expect(Set(families).count == families.count)
            #expect(lines.filter { $0.hasPrefix("# HELP ") }.map { $0.split(separator: " ")[2] } == families)
        }
    }

    @Test("completeness is there for each symbol and hour of trades with ids, and in the metrics")
    func completeness() async throws {
        let instruments = Instruments()
        let hour: Int64 = 1_787_626_800_000_000_000
        for symbol in ["BINANCE:BTCUSDT", "COINBASE:BTC-USD"] {
            var symbols = SymbolTable()
            let interned = symbols.intern(symbol)
            let number = try #require(interned)
            let trades = [1, 2, 5].map { id in
                Trade(
                    price: sampleDecimal("61837.50"),
                    size: sampleDecimal("0.1"),
                    exchangeTime: hour + 1_500,
                    symbol: number,
                    id: id
                )
            }
            instruments.completeness.epochBegan(7, first: 1, symbols: symbols)
            for id in trades.indices {
                instruments.completeness.read(
                    TapeBatch(
                        epoch: 7,
                        firstSequence: 1,
                        received: 0,
                        receivedMonotonic: Int64(id),
                        trades: [trades[id]],
                        frames: [],
                        symbols: symbols
                    )
                )
            }
        }
        // Ends the read of the last trades.
        instruments.completeness.gapSettled(
            GapOutcome(symbol: "BINANCE:BTCUSDT", missing: 3...4, from: 0, to: 0, lost: [3...4])
        )
        try await RelayFixture.run(instruments: instruments) { fixture in
            let one = try await self.ask("/v1/completeness?symbol=BINANCE%3ABTCUSDT", fixture)
            #expect(
                one.body
                    == #"{"symbols":[{"symbol":"BINANCE:BTCUSDT","trades":3,"missing":2,"repeated":0,"filled":0}],"hours":[{"symbol":"BINANCE:BTCUSDT","hour":1787626800000,"first":"1","last":"5","count":3,"missing":2,"repeated":0,"filled":0,"whole":false,"sha256":"63f410578d3d937276d01e8add6a22162545ee6be582f7500a9f81593abad0f7","reason":null}]}"#
                    + "\n"
            )
            let all = try await self.ask("/v1/completeness", fixture)
            #expect(all.status == 200 && all.body.split(separator: #""hour":"#).count == 3)
            #expect(all.body.contains(#""sha256":null,"reason":"trades before others of the hour may still come"}"#))
            #expect(try await self.ask("/v1/completeness?symbol=A", fixture).status == 404)
            #expect(try await self.ask("/v1/completeness?symbol=", fixture).status == 400)
            #expect(try await self.ask("/v1/completeness?hour=1", fixture).status == 400)
            let lines = try await self.ask("/metrics", fixture).body.split(separator: "\n")
            #expect(lines.contains(#"tickertape_symbol_trades_total{symbol="BINANCE:BTCUSDT"} 3"#))
            #expect(lines.contains(#"tickertape_symbol_missing_trades{symbol="COINBASE:BTC-USD"} 2"#))
        }
    }

    @Test("one symbol's newest price has a tag, and a client with that tag gets only the tag")
    func snapshotOfOne() async throws {
        try await RelayFixture.run { fixture in
            let spaced = "IC MARKETS:1"
            fixture.feed(Frames.trade(Frames.btc, "61837.63"), Frames.trade(spaced, "2"))
            let plain = try await self.ask("/v1/snapshot/BINANCE:BTCUSDT", fixture)
            #expect(plain.status == 200)
            #expect(plain.body.hasPrefix(#"{"type":"snapshot","symbol":"BINANCE:BTCUSDT","price":"61837.63","#))
            let tag = try #require(plain.header("etag"))
            let encoded = try await self.ask("/v1/snapshot/BINANCE%3aBTCUSDT?token=abc", fixture)
            #expect(encoded.body == plain.body && encoded.header("etag") == tag)
            #expect(
                try await self.ask("/v1/snapshot/IC%20MARKETS:1", fixture).body.contains(#""symbol":"IC MARKETS:1""#)
            )

            for condition in [tag, "W/\(tag)", "\"x\", \(tag)", "*"] {
                let same = try await self.ask(
                    "/v1/snapshot/BINANCE:BTCUSDT",
                    fixture,
                    headers: "If-None-Match: \(condition)\r\n"
                )
                #expect(same.status == 304 && same.body.isEmpty && same.header("etag") == tag)
            }
            let head = try await self.ask("/v1/snapshot/BINANCE:BTCUSDT", fixture, method: "HEAD")
            #expect(head.status == 200 && head.body.isEmpty && head.header("etag") == tag)
            #expect(head.header("content-length") == "\(plain.body.utf8.count)")

            fixture.feed(Frames.trade(Frames.btc, "61837.64"))
            let changed = try await self.ask(
                "/v1/snapshot/BINANCE:BTCUSDT",
                fixture,
                headers: "If-None-Match: \(tag)\r\n"
            )
            #expect(changed.status == 200 && changed.header("etag") != tag)
            let all = try await self.ask("/v1/snapshot", fixture)
            let allTag = try #require(all.header("etag"))
            let again = try await self.ask("/v1/snapshot", fixture, headers: "If-None-Match: \(allTag)\r\n")
            #expect(again.status == 304)
        }
    }

    @Test("the newest trades of a symbol come out of the ring, exact and numbered")
    func trades() async throws {
        try await RelayFixture.run { fixture in
            fixture.feed(
                Frames.trade(Frames.btc, "61837.630", size: "1e-8", time: 1),
                Frames.trade(Frames.eth, "2530"),
                Frames.trade(Frames.btc, "61838", time: 2)
            )
            let two = try await self.ask("/v1/trades/BINANCE:BTCUSDT", fixture)
            #expect(
                two.body
                    == #"{"symbol":"BINANCE:BTCUSDT","epoch":7,"oldestSeq":1,"nextSeq":4,"trades":[{"seq":1,"price":"61837.63","size":"0.00000001","time":1723161255343,"received":1723161255342123},{"seq":3,"price":"61838","size":"0.02","time":1723161255344,"received":1723161255342123}]}"#
                    + "\n"
            )
            let one = try await self.ask("/v1/trades/BINANCE:BTCUSDT?limit=1", fixture)
            #expect(one.body.contains(#""seq":3"#) && !one.body.contains(#""seq":1,"#))
        }
    }

    @Test(
        "a refused request gets a type and a remedy",
        arguments: [
            ("GET", "/v1/trades/NOBODY:1", 404, "no-such-symbol"),
            ("GET", "/v1/snapshot/NOBODY:1", 404, "no-such-symbol"),
            ("GET", "/v1/trades/%zz", 400, "bad-path"), ("GET", "/v1/trades/%ff", 400, "bad-path"),
            ("GET", "/v1/trades/%00", 400, "bad-path"), ("GET", "/v1/snapshot/a%", 400, "bad-path"),
            ("GET", "/v1/trades/A?limit=0", 400, "bad-query"), ("GET", "/v1/trades/A?limit=10001", 400, "bad-query"),
            ("GET", "/v1/trades/A?limit=99999999999999999999", 400, "bad-query"),
            ("GET", "/v1/trades/A?limit=", 400, "bad-query"), ("GET", "/v1/trades/A?limits=5", 400, "bad-query"),
            ("GET", "/v1/trades/A?limit=5&limit=6", 400, "bad-query"), ("GET", "/v1/trades/A?%zz", 400, "bad-query"),
            ("GET", "/v1/trades", 404, "not-found"), ("GET", "/v1/trades/", 404, "not-found"),
            ("GET", "/v1/trades/A/B", 404, "not-found"), ("DELETE", "/v1/trades/A", 405, "method-not-allowed"),
            ("POST", "/metrics", 405, "method-not-allowed"), ("OPTIONS", "/nope", 404, "not-found"),
        ]
    )
    func refusals(method: String, path: String, status: Int, type: String) async throws {
        try await RelayFixture.run { fixture in
            let answer = try await self.ask(path, fixture, method: method)
            #expect(answer.status == status)
            #expect(answer.body.hasPrefix(#"{"type":"\#(type)","message":""#) && answer.body.contains(#"","cure":""#))
            #expect(answer.header("content-type") == "application/json")
        }
    }

    @Test(
        "a path lists its methods by OPTIONS and by 405, with empty segments too",
        arguments: [
            ("/", "GET, HEAD"), ("/page/main.js", "GET, HEAD"), ("/livez", "GET, HEAD"), ("/readyz?x", "GET, HEAD"),
            ("/metrics", "GET, HEAD"), ("/v1/status", "GET, HEAD"), ("/v1/snapshot", "GET, HEAD"),
            ("/v1/snapshot/A", "GET, HEAD"), ("/v1/trades/A", "GET, HEAD"), ("/v1/bars/A", "GET, HEAD"),
            ("/v1/replay", "GET, HEAD, POST"), ("//", "GET, HEAD"), ("/v1//status/", "GET, HEAD"),
            ("/v1/bars/A/", "GET, HEAD"), ("/v1/replay/", "GET, HEAD, POST"),
        ]
    )
    func methods(path: String, methods: String) async throws {
        try await RelayFixture.run { fixture in
            let options = try await self.ask(path, fixture, method: "OPTIONS")
            #expect(options.status == 204 && options.body.isEmpty)
            #expect(options.header("allow") == "\(methods), OPTIONS")
            #expect(options.header("content-length") == nil)
            let refused = try await self.ask(path, fixture, method: "PUT")
            #expect(refused.status == 405 && refused.header("allow") == methods)
        }
    }

    @Test("the headers of an answer have a fixed order")
    func order() async throws {
        func names(_ answer: Answer) -> [Substring] {
            answer.head.split(separator: "\r\n").dropFirst().map { $0.prefix { $0 != ":" } }
        }
        try await RelayFixture.run { fixture in
            fixture.feed(Frames.trade(Frames.btc, "1"))
            let origin = "Origin: http://localhost\r\n"
            let cors: [Substring] = ["Access-Control-Allow-Origin", "Access-Control-Expose-Headers"]
            let end: [Substring] = ["Vary", "Connection"]
            #expect(
                names(try await self.ask("/livez", fixture, headers: origin))
                    == ["Content-Type", "Cache-Control", "Content-Length"] + cors + end
            )
            let tagged = try await self.ask("/v1/snapshot", fixture, headers: origin)
            #expect(names(tagged) == ["ETag", "Cache-Control", "Content-Length", "Content-Type"] + cors + end)
            let same = try await self.ask("/v1/snapshot", fixture, headers: "If-None-Match: *\r\n")
            #expect(names(same) == ["ETag", "Cache-Control"] + end)
            #expect(
                names(try await self.ask("/nope", fixture)) == ["Content-Type", "Cache-Control", "Content-Length"] + end
            )
        }
    }

    @Test("a page of an allowed origin may read the answers; others learn nothing")
    func origins() async throws {
        try await RelayFixture.run {
            $0.allowedOrigins = ["https://trader.example"]
        } body: { fixture in
            let origin = "Origin: https://trader.example\r\n"
            let read = try await self.ask("/v1/status", fixture, headers: origin)
            #expect(read.status == 200)
            #expect(read.header("access-control-allow-origin") == "https://trader.example")
            #expect(read.header("vary") == "Origin" && read.header("access-control-expose-headers") == "ETag")
            let preflight = try await self.ask(
                "/v1/trades/A",
                fixture,
                method: "OPTIONS",
                headers: origin + "Access-Control-Request-Method: GET\r\n"
            )
            #expect(preflight.status == 204 && preflight.header("access-control-allow-methods") == "GET, HEAD")
            let headers = "If-None-Match, Authorization, X-Tickertape-Token, X-Finnhub-Token"
            #expect(preflight.header("access-control-allow-headers") == headers)
            let program = try await self.ask("/v1/status", fixture)
            #expect(program.header("access-control-allow-origin") == nil && program.header("vary") == "Origin")
            let foreign = try await self.ask("/v1/status", fixture, headers: "Origin: https://evil.example\r\n")
            #expect(foreign.status == 403 && foreign.header("access-control-allow-origin") == nil)
        }
    }

    @Test("the latency to the clients is measured once per flush, and to the stream once per price")
    func latencies() async throws {
        let instruments = Instruments()
        try await RelayFixture.run(instruments: instruments) { fixture in
            let trades = try await fixture.tradesClient(Frames.btc)
            let stream = try await fixture.streamClient()
            try await stream.send(#"{"type":"subscribe","symbol":"\#(Frames.btc)"}"#)
            try await fixture.settle(stream)
            fixture.feed(Frames.trade(Frames.btc, "1"), Frames.trade(Frames.btc, "2"))
            _ = try await trades.frame()
            _ = try await stream.frame()
            // Not earlier: batches that wait for the relay together are sent together, and measured together.
            fixture.feed(Frames.trade("NOBODY:WANTS", "2"))
            // After the batches, so that all were counted.
            _ = try await self.ask("/livez", fixture)
            let report = instruments.latency.report
            let client = try #require(report.rows.first { $0.path == .arrivalToClient })
            #expect(client.summary.count == 1 && client.summary.maximum > 0)
            #expect(report.rows.contains { $0.path == .arrivalToStream })
        }
    }
}
