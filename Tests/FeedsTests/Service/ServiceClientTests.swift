import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import TLS
import Testing
import TickertapeTesting
@testable import Feeds
@testable import MockUpstream
@testable import Wire

/// Tests of the REST client against servers with arbitrary answers.
@Suite("A request to the REST service", .timeLimit(.minutes(2 * Patience.factor)))
struct ServiceClientTests {
    static let now: Int64 = 1_704_067_200_000_000_000

    private func client(
        port: Int,
        host: String = "127.0.0.1",
        key: String? = Canary.key,
        resolver: NameResolver = .system,
        change: (inout ServiceSettings) -> Void = { _ in }
    ) throws -> ServiceClient {
        var settings = ServiceSettings(
            address: UpstreamAddress(isEncrypted: false, host: host, port: port, path: "/api/v1"),
            key: key.map { Secret($0) }
        )
        settings.timeout = .seconds(60)
        settings.dial.tls = Certificates.client()
        change(&settings)
        return try ServiceClient(settings, on: MultiThreadedEventLoopGroup.singleton, resolver: resolver) { Self.now }
    }

    /// Makes one request to a server with this answer.
    private func ask(
        _ answer: RawServer.Answer,
        change: (inout ServiceSettings) -> Void = { _ in }
    ) async throws -> (result: Result<ByteBuffer, ServiceFailure>, heads: [String]) {
        let server = try await RawServer.start { _ in answer }
        let result = try await self.client(port: server.port, change: change).get(
            "/crypto/symbol",
            query: [("exchange", "A B&ü")]
        )
        let heads = server.heads
        try await server.stop()
        return (result, heads)
    }

    private func failure(
        _ answer: RawServer.Answer,
        change: (inout ServiceSettings) -> Void = { _ in }
    ) async throws -> ServiceFailure {
        let (result, heads) = try await self.ask(answer, change: change)
        #expect(!heads.isEmpty)
        guard case .failure(let failure) = result else {
            Issue.record("no failure: \(result)")
            return ServiceFailure(.unreachable, "")
        }
        #expect(!Canary.occurs(in: failure.description), "\(failure)")
        #expect(!failure.description.contains("\n"))
        return failure
    }

    private static func http(_ status: String, _ headers: String = "", _ body: String) -> String {
        "HTTP/1.1 \(status)\r\n\(headers)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    @Test("sends the key in a header, never in the URL, and takes the body, whole or in chunks")
    func good() async throws {
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n[1\r\n4;x=y\r\n,2]\n\r\n0\r\n\r\n"
        for answer in [
            RawServer.Answer.send(Self.http("200 OK", "", "[1,2]\n")), .send(chunked),
            .drip(chunked, every: .microseconds(100)),
            // An answer without a length ends with its connection.
            .sendAndClose("HTTP/1.1 200 OK\r\n\r\n[1,2]\n"),
            .send("HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n" + Self.http("200 OK", "", "[1,2]\n")),
        ] {
            let (result, heads) = try await self.ask(answer)
            #expect(try String(buffer: result.get()) == "[1,2]\n")
            let head = try #require(heads.first)
            #expect(head.hasPrefix("GET /api/v1/crypto/symbol?exchange=A%20B%26%C3%BC HTTP/1.1\r\n"))
            #expect(head.contains("\r\nX-Finnhub-Token: \(Canary.key)\r\n"))
            #expect(head.contains("\r\nHost: 127.0.0.1:"))
            #expect(head.ranges(of: Canary.key).count == 1)
            #expect(!Canary.occurs(in: String(head.prefix { $0 != "\r\n" })))
        }
    }

    @Test(
        "a refusal is classified, with the service's text and the remedy",
        arguments: [
            (
                401, "", #"{"error":"Invalid API key"}"#, ServiceFailure.Kind.keyRejected,
                "(HTTP 401: Invalid API key): check FINNHUB_TOKEN"
            ),
            (
                403, "", #"{"error":"You don't have access to this resource."}"#, .notPermitted,
                "(HTTP 403: You don't have access to this resource.): finnhub.io/pricing"
            ),
            (
                429, "", #"{"error":"API limit reached. Please try again later. Remaining Limit: 0"}"#,
                .rateLimited(until: Self.now + 60_000_000_000), "Remaining Limit: 0): wait until 00:01:00 UTC"
            ),
            (
                429, "Retry-After: 7\r\n", "slow down", .rateLimited(until: Self.now + 7_000_000_000),
                "(HTTP 429: slow down): wait until 00:00:07 UTC"
            ),
            (
                429, "X-Ratelimit-Reset: 1704067230\r\n", "", .rateLimited(until: Self.now + 30_000_000_000),
                "(HTTP 429): wait until 00:00:30 UTC"
            ),
            (429, "", "API limit reached. Please sign up for a free account", .noKey, "no key is set"),
            (
                429, "Retry-After: 9\r\n", "error code: 1015", .rateLimited(until: Self.now + 9_000_000_000),
                "Cloudflare error 1015): wait until 00:00:09 UTC"
            ),
            (500, "", "", .unreachable, "the service is down (HTTP 500): try again later"),
            (502, "", "<html><title>Bad gateway</title>", .unreachable, "a page of HTML, \"Bad gateway\""),
            (521, "", "", .unreachable, "the edge in front of the service is refused by it (HTTP 521)"),
            (
                403, "", "error code: 1020", .unreachable,
                "Cloudflare error 1020): try again later or from another network"
            ),
            (
                302, "Location: https://finnhub.io/login?x=1\r\n", "", .unreadableAnswer,
                "redirects to https://finnhub.io (HTTP 302)"
            ),
            (404, "", "{}", .unreadableAnswer, "nothing at this path (HTTP 404: {}): check service.url"),
            (204, "", "", .unreadableAnswer, "check service.url"),
        ] as [(Int, String, String, ServiceFailure.Kind, String)]
    )
    func refusals(
        _ status: Int,
        _ headers: String,
        _ body: String,
        _ kind: ServiceFailure.Kind,
        _ words: String
    ) async throws {
        let text = status == 204 ? "HTTP/1.1 204 No\r\n\r\n" : Self.http("\(status) No", headers, body)
        let failure = try await self.failure(.sendAndClose(text))
        #expect(failure.kind == kind, "\(failure)")
        #expect(failure.description.contains(words), "\(failure)")
    }

    @Test("a service's text is quoted without the key that it repeats")
    func redacted() async throws {
        for key in [Canary.key, Canary.percentEncoded] {
            let failure = try await self.failure(.send(Self.http("401 No", "", #"{"error":"key \#(key) is wrong"}"#)))
            #expect(failure.description.contains("is wrong"))
        }
    }

    // A loop, because the test runner prints arguments, and no log may hold the key.
    @Test("a list that repeats the key is not passed on")
    func repeated() async throws {
        for key in [Canary.key, Canary.percentEncoded] {
            let list = #"[{"datetime":1,"headline":"the key is \#(key)"}]"#
            let failure = try await self.failure(.send(Self.http("200 OK", "", list)))
            #expect(failure.kind == .unreadableAnswer)
            #expect(failure.description == "the answer repeats the key: check service.url")
        }
    }

    @Test("an answer that comes late, slowly, never or cut off is a failure within the limit")
    func slow() async throws {
        let limit = 300 * Patience.factor
        let soon = { (settings: inout ServiceSettings) in settings.timeout = .milliseconds(Int64(limit)) }
        #expect(
            try await self.failure(.silence, change: soon).description
                == "no answer came within \(limit) ms: try again later"
        )
        let drip = RawServer.Answer.drip(
            Self.http("200 OK", "", String(repeating: " ", count: 100_000)),
            every: .milliseconds(1)
        )
        let begun = "the answer began and did not end within \(limit) ms: try again later"
        let failure = try await self.failure(drip, change: soon)
        #expect([begun, "no answer came within \(limit) ms: try again later"].contains(failure.description))
        let endless = RawServer.Answer.endless("HTTP/1.1 100 Continue\r\n\r\n")
        #expect(try await self.failure(endless, change: soon).kind == .unreachable)
        for cut in [
            "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n[1",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n[1", "HTTP/1.1 2",
        ] {
            let failure = try await self.failure(.sendAndClose(cut))
            #expect(
                failure
                    == ServiceFailure(
                        .unreachable,
                        "the connection was lost before the answer was whole",
                        cure: "try again"
                    )
            )
        }
        #expect(try await self.failure(.close).kind == .unreachable)
    }

    @Test("an answer that is too large, compressed, or not HTTP is refused, and the failure names the setting")
    func garbage() async throws {
        let small = { (settings: inout ServiceSettings) in settings.maximumBytes = 1 << 20 }
        let tooLarge = "the answer has more than 1 MiB, too large for a list: check service.url"
        #expect(
            try await self.failure(.send("HTTP/1.1 200 OK\r\nContent-Length: 1048577\r\n\r\n"), change: small)
                .description == tooLarge
        )
        let flood = RawServer.Answer.endless("HTTP/1.1 200 OK\r\n\r\n" + String(repeating: "x", count: 70_000))
        #expect(try await self.failure(flood, change: small).description == tooLarge)
        let chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + String(repeating: "zz\r\n", count: 9)
        for text in [
            chunks, "\u{16}\u{3}\u{1}garbage", "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", "SSH-2.0-x\r\n\r\n",
        ] {
            let failure = try await self.failure(.send(text))
            #expect(failure.kind == .unreadableAnswer && failure.description.contains("service.url"), "\(failure)")
        }
        let packed = try await self.failure(.send(Self.http("200 OK", "Content-Encoding: gzip\r\n", "x")))
        #expect(packed.description.contains("compressed"))
    }

    @Test("without a key, or with one that no header can hold, nothing is sent")
    func keys() async throws {
        let server = try await RawServer.start { _ in .close }
        #expect(try await self.client(port: server.port, key: nil).get("/news") == .failure(.noKey))
        #expect(try await self.client(port: server.port, key: "").get("/news") == .failure(.noKey))
        let injected = try await self.client(port: server.port, key: "abc\r\nHost: evil").get("/news")
        guard case .failure(let failure) = injected else { throw ChannelError.eof }
        #expect(failure.kind == .keyRejected && !failure.description.contains("evil"))
        #expect(server.heads.isEmpty)
        try await server.stop()
    }

    @Test("a missing network is reported as the missing part")
    func network() async throws {
        let closed = try #require(BlackHole.closedPort("127.0.0.1"))
        let refused = try await self.client(port: closed.port ?? 0).get("/news")
        guard case .failure(let refusal) = refused else { throw ChannelError.eof }
        #expect(refusal.kind == .unreachable && refusal.description.contains("refuses connections"), "\(refusal)")
        let nameless = NameResolver { _, _ throws(NameFailure) in throw .unknown }
        let unknown = try await self.client(port: 1, host: "finnhub.test", resolver: nameless).get("/news")
        guard case .failure(let failure) = unknown else { throw ChannelError.eof }
        #expect(failure.description == "the name finnhub.test is unknown: check the network and service.url")
    }

    @Test("over TLS it takes the stand-in's lists from the right authority, and refuses another certificate")
    func encrypted() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let recording = try RecordingFile(
            path: folder.write(
                #"{"at":0,"frame":"{\"data\":[{\"c\":null,\"p\":1,\"s\":\"BINANCE:BTCUSDT\",\"t\":1,\"v\":1},{\"c\":null,\"p\":1,\"s\":\"BINANCE:ETHEUR\",\"t\":1,\"v\":1},{\"c\":null,\"p\":1,\"s\":\"KRAKEN:X\",\"t\":1,\"v\":1}],\"type\":\"trade\"}"}"#
                    + "\n",
                to: "r.jsonl"
            )
        )
        var settings = MockServerSettings()
        settings.credentials = Certificates.localhost
        let mockServer = try await MockServer.start(
            recording: recording,
            settings: settings,
            on: MultiThreadedEventLoopGroup.singleton.next(),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            wallClock: { Self.now }
        )
        let port = mockServer.address?.port ?? 0
        let client = try self.client(port: port) { $0.address.isEncrypted = true }
        let list = try await client.get("/crypto/symbol", query: [("exchange", "binance")]).get()
        #expect(
            ListedSymbol.list(list, exchange: "BINANCE") == [
                ListedSymbol(symbol: "BINANCE:BTCUSDT", displaySymbol: "BTC/USDT", description: "Binance BTCUSDT"),
                ListedSymbol(symbol: "BINANCE:ETHEUR", displaySymbol: "ETH/EUR", description: "Binance ETHEUR"),
            ]
        )
        #expect(try await String(buffer: client.get("/crypto/exchange").get()) == #"["BINANCE","KRAKEN"]"#)
        #expect(try await String(buffer: client.get("/news").get()) == "[]")
        guard case .failure(let missing) = await client.get("/quote") else { throw ChannelError.eof }
        #expect(missing.description.contains("nothing at this path (HTTP 404: the stand-in has"), "\(missing)")
        let stranger = try CertificateAuthority(name: "Somebody else")
        let suspicious = try self.client(port: port) {
            $0.address.isEncrypted = true
            $0.dial.tls = Certificates.client(trusting: stranger)
        }
        guard case .failure(let failure) = await suspicious.get("/news") else { throw ChannelError.eof }
        #expect(failure.kind == .unreachable && failure.description.contains("certificate"), "\(failure)")
        await mockServer.stop()
    }

    @Test("a planned refusal of the stand-in answers these requests, too")
    func faults() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let frame =
            #"{"at":0,"frame":"{\"data\":[{\"c\":null,\"p\":1,\"s\":\"A\",\"t\":1,\"v\":1}],\"type\":\"trade\"}"}"#
        var settings = MockServerSettings()
        settings.faults = FaultPlan([try Fault("status=429,retry-after=30")])
        let mockServer = try await MockServer.start(
            recording: RecordingFile(path: folder.write(frame + "\n", to: "r.jsonl")),
            settings: settings,
            on: MultiThreadedEventLoopGroup.singleton.next(),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            wallClock: { Self.now }
        )
        let client = try self.client(port: mockServer.address?.port ?? 0)
        guard case .failure(let failure) = await client.get("/news") else { throw ChannelError.eof }
        #expect(failure.kind == .rateLimited(until: Self.now + 30_000_000_000), "\(failure)")
        await mockServer.stop()
    }
}
