import Logging
import Market
import NIOCore
import NIOPosix
import Recordings
import Testing
import TickertapeTesting
import Wire
@testable import MockUpstream

/// Recordings of venues' frames, served over sockets.
@Suite("A mock server of a venue", .timeLimit(.minutes(2 * Patience.factor)))
struct VenueServerTests {
    private static let quiet = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

    static func binance(_ name: String, _ id: Int) -> String {
        #"{"stream":"\#(name.lowercased())@trade","data":{"e":"trade","E":1723161255343,"s":"\#(name)","t":\#(id),"p":"61837.63000000","q":"0.02000000","T":1723161255342,"m":true,"M":true,"x":1}}"#
    }

    static func coinbase(_ product: String, _ id: Int, type: String = "match") -> String {
        #"{"type":"\#(type)","trade_id":\#(id),"side":"sell","size":"0.04","price":"14.7775","product_id":"\#(product)","sequence":9,"time":"2026-08-25T03:35:57.198335Z"}"#
    }

    static func kraken(_ trades: [(String, Int)]) -> String {
        let elements = trades.map {
            #"{"symbol":"\#($0.0)","side":"sell","price":78568.60,"qty":0.04244195,"ord_type":"limit","trade_id":\#($0.1),"timestamp":"2026-08-26T11:34:06.075373Z"}"#
        }
        return #"{"channel":"trade","type":"update","data":[\#(elements.joined(separator: ","))]}"#
    }

    private static func recording(
        _ frames: [(FrameDialect, String)],
        in folder: TemporaryFolder
    ) throws -> RecordingFile {
        var recording = RecordingBuffer(RecordingHeader(version: RecordingHeader.dialectVersion, start: 1))
        for (index, frame) in frames.enumerated() {
            recording.frame(ByteBuffer(string: frame.1), of: frame.0, at: Int64(index) * 1_000)
        }
        recording.end()
        return try RecordingFile(path: try folder.write(String(buffer: recording.bytes), to: "a.jsonl"))
    }

    private static func serve(
        _ material: ReplayMaterial,
        change: (inout MockServerSettings) throws -> Void = { _ in }
    ) async throws -> MockServer {
        var settings = MockServerSettings()
        settings.speed = nil
        try change(&settings)
        return try await MockServer.start(
            material,
            settings: settings,
            on: MultiThreadedEventLoopGroup.singleton.next(),
            logger: Self.quiet,
            wallClock: { 1_787_628_957_000_000_000 }
        )
    }

    @Test("plays Binance's frames of the subscribed symbols as they were recorded, and no recorded answer")
    func binance() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let file = try Self.recording(
            [
                (.binance, #"{"result":null,"id":77}"#), (.binance, Self.binance("BTCUSDT", 1)),
                (.binance, Self.binance("ETHUSDT", 9)),
                (.binance, #"{"stream":"!serverShutdown","data":{"e":"serverShutdown","E":1}}"#),
                (.binance, Self.binance("BTCUSDT", 2)),
            ],
            in: folder
        )
        #expect(file.dialects == [.binance] && file.symbols == ["BINANCE:BTCUSDT", "BINANCE:ETHUSDT"])
        let server = try await Self.serve(.recording(file))
        let client = try await RawClient(server)
        client.upgrade("/stream")
        client.send(#"{"method":"SUBSCRIBE","params":["btcusdt@trade"],"id":1}"#)
        #expect(await client.waits { $0.contains("the recording has ended") || $0.contains(#""t":2,"#) })
        let text = client.text
        let first = try #require(text.firstRange(of: #"{"result":null,"id":1}"#))
        let (one, two) = (Self.binance("BTCUSDT", 1), Self.binance("BTCUSDT", 2))
        #expect(text[first.upperBound...].contains(one) && text.contains(two))
        #expect(!text.contains("ETHUSDT") && !text.contains("serverShutdown") && !text.contains("77"))
        await client.close()
        await server.stop()
    }

    @Test("plays Coinbase's frames after the answer, with the recorded newest trades and heartbeats")
    func coinbase() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let beat = String(buffer: CoinbaseEncoder.heartbeat(product: "A-B", newest: 5, at: 0))
        let frames = [
            #"{"type":"subscriptions","channels":[{"name":"ticker","product_ids":["A-B"]}]}"#,
            Self.coinbase("A-B", 5, type: "last_match"), beat, Self.coinbase("C-D", 1), Self.coinbase("A-B", 6),
        ]
        let file = try Self.recording(frames.map { (.coinbase, $0) }, in: folder)
        let server = try await Self.serve(.recording(file))
        let client = try await RawClient(server)
        client.upgrade("/")
        client.send(#"{"type":"subscribe","product_ids":["A-B","X-Y"],"channels":["matches","heartbeat"]}"#)
        #expect(await client.waits { $0.contains(frames[4]) })
        let text = client.text
        #expect(text.contains(frames[1]) && text.contains(beat) && !text.contains("ticker") && !text.contains("C-D"))
        #expect(text.contains("X-Y is not a valid product"))
        await client.close()
        await server.stop()
    }

    @Test("plays Kraken's frames, reduced to the client's pairs with their bytes as they were")
    func kraken() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let frames = [
            Self.kraken([("BTC/USD", 1), ("ETH/USD", 7), ("BTC/USD", 2)]), Self.kraken([("ETH/USD", 8)]),
            #"{"channel":"heartbeat"}"#, Self.kraken([("BTC/USD", 3)]),
        ]
        let file = try Self.recording(frames.map { (.kraken, $0) }, in: folder)
        let server = try await Self.serve(.recording(file))
        let client = try await RawClient(server)
        client.upgrade("/v2")
        client.send(#"{"method":"subscribe","params":{"channel":"trade","symbol":["BTC/USD"]},"req_id":1}"#)
        #expect(await client.waits { $0.contains(frames[3]) })
        let text = client.text
        #expect(text.contains(#""channel":"status""#) && text.contains(Self.kraken([("BTC/USD", 1), ("BTC/USD", 2)])))
        #expect(!text.contains("ETH/USD"))
        await client.close()
        await server.stop()
    }

    @Test("of a recording of several services, each connection gets its own service's frames")
    func several() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let finnhub = #"{"data":[{"c":null,"p":1,"s":"BINANCE:BTCUSDT","t":1723161255342,"v":1}],"type":"trade"}"#
        let file = try Self.recording(
            [
                (.finnhub, finnhub), (.binance, Self.binance("BTCUSDT", 1)), (.coinbase, Self.coinbase("A-B", 2)),
                (.kraken, Self.kraken([("BTC/USD", 3)])),
            ],
            in: folder
        )
        #expect(file.dialects == [.finnhub, .binance, .coinbase, .kraken])
        let server = try await Self.serve(.recording(file))
        let all = [finnhub, Self.binance("BTCUSDT", 1), Self.coinbase("A-B", 2), Self.kraken([("BTC/USD", 3)])]
        let ways = [
            ("/?token=x", #"{"type":"subscribe","symbol":"BINANCE:BTCUSDT"}"#),
            ("/ws", #"{"method":"SUBSCRIBE","params":["btcusdt@trade"],"id":1}"#),
            ("/", #"{"type":"subscribe","product_ids":["A-B"],"channels":["matches"]}"#),
            ("/v2", #"{"method":"subscribe","params":{"channel":"trade","symbol":"BTC/USD"}}"#),
        ]
        for (index, way) in ways.enumerated() {
            let client = try await RawClient(server)
            client.upgrade(way.0)
            client.send(way.1)
            let own = index == 1 ? String(buffer: BinanceEncoder.raw(ByteBuffer(string: all[1]))) : all[index]
            #expect(await client.waits { $0.contains(own) }, "\(way.0)")
            for (other, frame) in all.enumerated() where other != index { #expect(!client.text.contains(frame)) }
            await client.close()
        }
        await server.stop()
    }

    @Test("lists its symbols over REST in each venue's form")
    func lists() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let file = try Self.recording(
            [
                (.binance, Self.binance("BTCUSDT", 1)), (.coinbase, Self.coinbase("A-B", 2)),
                (.kraken, Self.kraken([("BTC/USD", 3), ("SOL/USD", 3)])),
            ],
            in: folder
        )
        let server = try await Self.serve(.recording(file))
        for (uri, words) in [
            ("/api/v3/exchangeInfo", #"{"symbol":"BTCUSDT","status":"TRADING","isSpotTradingAllowed":true}"#),
            ("/api/v3/exchangeInfo?symbols=%5B%22BTCUSDT%22%5D", #""symbol":"BTCUSDT""#),
            ("/api/v3/exchangeInfo?symbol=NO", #"{"code":-1121,"msg":"Invalid symbol."}"#),
            ("/api/v3/exchangeInfo?symbols=%5B%22", "-1121"), ("/api/v3/klines", "404"), ("/api/v3/trades", "-1102"),
            ("/products", #"[{"id":"A-B","base_currency":"A","quote_currency":"B","display_name":"A/B","#),
            (
                "/0/public/AssetPairs",
                #""result":{"XXBTZUSD":{"altname":"XBTUSD","wsname":"XBT/USD","base":"XXBT","quote":"ZUSD","status":"online"},"#
                    + #""SOLUSD":{"altname":"SOLUSD","wsname":"SOL/USD","base":"SOL","quote":"USD","status":"online"}}"#
            ),
            ("/0/public/AssetPairs?pair=XXBTZUSD", #""XXBTZUSD""#),
            ("/0/public/AssetPairs?pair=NO", "EQuery:Unknown asset pair"),
        ] {
            let client = try await RawClient(server)
            client.request(uri, headers: ["User-Agent: test"])
            #expect(await client.waits { $0.contains(words) }, "\(uri): \(client.text)")
            await client.close()
        }
        let nameless = try await RawClient(server)
        nameless.request("/products")
        #expect(await nameless.waits { $0.contains("403") })
        await nameless.close()
        await server.stop()
    }

    @Test("refuses an upgrade with the venue's own words for a status, with a page, and at another path")
    func refusals() async throws {
        let server = try await Self.serve(.market(Self.market(.binance))) { settings in
            settings.faults = try FaultPlan(
                parsing: ["status=451@1", "status=418,retry-after=120@2", "html=403@3", "status=429@4"]
            )
        }
        for words in [
            ["451", "restricted location"], ["418", "retry-after: 120", "-1003"], ["403", "<html>"], ["429", "-1003"],
        ] {
            let client = try await RawClient(server)
            client.upgrade("/stream")
            #expect(
                await client.waits { text in words.allSatisfy { text.lowercased().contains($0) } },
                "\(client.text)"
            )
            await client.close()
        }
        let lost = try await RawClient(server)
        lost.upgrade("/v2")
        #expect(await lost.waits { $0.contains("404") })
        await lost.close()
        await server.stop()
    }

    @Test("a client that breaks the rate of messages three times is cut and then refused")
    func banned() async throws {
        let server = try await Self.serve(.market(Self.market(.binance))) { settings in
            settings.keepaliveInterval = .seconds(20)
        }
        for _ in 0..<3 {
            let client = try await RawClient(server)
            client.upgrade("/ws")
            for _ in 0..<7 { client.send("x") }
            try await client.waitForEnd()
        }
        let client = try await RawClient(server)
        client.upgrade("/ws")
        #expect(await client.waits { $0.contains("418") && $0.lowercased().contains("retry-after") })
        await client.close()
        await server.stop()
    }

    @Test("an announced rotation sends Binance's event and then a close frame")
    func rotation() async throws {
        let server = try await Self.serve(.market(Self.market(.binance))) { settings in
            settings.faults = try FaultPlan(parsing: ["rotation=20ms,announced=10ms"])
        }
        let client = try await RawClient(server)
        client.upgrade("/stream")
        let event = #"{"stream":"!serverShutdown","data":{"e":"serverShutdown","E":1787628957000}}"#
        #expect(await client.waits { $0.contains(event) && $0.contains("longest life") })
        await client.close()
        await server.stop()
    }

    @Test("a simulated market is served with ids from the first trade on", arguments: Venue.allCases)
    func simulated(_ venue: Venue) async throws {
        let server = try await Self.serve(.market(Self.market(venue)))
        let client = try await RawClient(server)
        client.upgrade(["/stream", "/", "/v2"][Venue.allCases.firstIndex(of: venue) ?? 0])
        let native = venue == .kraken ? "BTC/USD" : venue == .coinbase ? "BTC-USD" : "BTCUSDT"
        client.send(
            String(buffer: VenueRequest.subscribe(["\(venue.prefix)\(native)"]).encoded(for: venue, id: 1))
        )
        let id = venue == .binance ? #""t":20,"# : #""trade_id":20,"#
        #expect(await client.waits { $0.contains(id) })
        await client.close()
        await server.stop()
    }

    private static func market(_ venue: Venue) -> SimulatedRun.Settings {
        let native = venue == .kraken ? "BTC/USD" : venue == .coinbase ? "BTC-USD" : "BTCUSDT"
        var symbol = SimulatedSymbol.bitcoin
        symbol.name = "\(venue.prefix)\(native)"
        var run = SimulatedRun.Settings(
            market: SimulatedMarket.Settings(seed: 2, symbols: [symbol], dialect: venue.dialect)
        )
        run.length = 20_000_000_000
        return run
    }
}
