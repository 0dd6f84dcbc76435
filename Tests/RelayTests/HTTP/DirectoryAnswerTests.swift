import Foundation
import NIOConcurrencyHelpers
import NIOCore
import Relay
import Testing
import TickertapeTesting
import Wire

@Suite("News and symbols over HTTP", .timeLimit(.minutes(2 * Patience.factor)))
struct DirectoryAnswerTests {
    private struct Answer {
        var status: Int
        var head: String
        var body: String

        func header(_ name: String) -> String? {
            self.head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("\(name): ") }
                .map { String($0.dropFirst(name.count + 2)) }
        }
    }

    private static let now: Int64 = 1_704_067_200_000_000_000

    private func ask(_ path: String, _ fixture: RelayFixture, headers: String = "") async throws -> Answer {
        let client = try await RawClient.connect(to: fixture.address)
        let head = try await client.request(
            "GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\(headers)\r\n"
        )
        let body = try await client.rest()
        return Answer(status: Int(head.dropFirst(9).prefix(3)) ?? 0, head: head, body: body)
    }

    /// A directory that notes its queries and gives these answers.
    private static func directory(
        noting queries: NIOLockedValueBox<[DirectoryQuery]> = NIOLockedValueBox([]),
        headlines: Result<FoundHeadlines, ServiceFailure> = .failure(.noKey),
        symbols: Result<FoundSymbols, ServiceFailure> = .failure(.noKey)
    ) -> RelayDirectory {
        RelayDirectory(
            headlines: { query in
                queries.withLockedValue { $0.append(query) }
                return headlines
            },
            symbols: { query in
                queries.withLockedValue { $0.append(query) }
                return symbols
            },
            wallClock: { Self.now }
        )
    }

    private static let headlines = FoundHeadlines(
        headlines: [
            Headline(
                id: 7,
                time: 1_700_000_000_000_000_000,
                publisher: "Reuters",
                text: "Say \"x\"\u{202E}\n</script>",
                summary: "S",
                url: "https://a/b"
            ), Headline(time: 0, publisher: "", text: "T", url: ""),
        ],
        matches: 9,
        publishers: ["CNBC", "Reuters"],
        fetched: Self.now
    )

    @Test("headlines have their publisher, time and address, and the answer lists the publishers and has a tag")
    func news() async throws {
        let queries = NIOLockedValueBox<[DirectoryQuery]>([])
        let directory = Self.directory(noting: queries, headlines: .success(Self.headlines))
        try await RelayFixture.run(directory: directory) { fixture in
            let answer = try await self.ask("/v1/news?publisher=Reuters&text=bitcoin%20etf&limit=2", fixture)
            #expect(answer.status == 200 && answer.header("content-type") == "application/json")
            let parts = answer.body.components(separatedBy: #"},{"id":null,"#)
            try #require(parts.count == 2, "\(answer.body)")
            #expect(
                parts[0].hasPrefix(
                    #"{"fetched":1704067200000,"matches":9,"publishers":["CNBC","Reuters"],"headlines":[{"id":7,"#
                        + #""time":1700000000000,"headline":"Say \"x\""#
                )
            )
            #expect(parts[0].hasSuffix(#","publisher":"Reuters","summary":"S","url":"https://a/b""#), "\(parts[0])")
            #expect(parts[1] == #""time":0,"headline":"T","publisher":"","summary":"","url":null}]}"# + "\n")
            let query = DirectoryQuery(publisher: "Reuters", text: "bitcoin etf", limit: 2)
            #expect(queries.withLockedValue { $0 } == [query])
            let tag = try #require(answer.header("etag"))
            let again = try await self.ask("/v1/news", fixture, headers: "If-None-Match: \(tag)\r\n")
            #expect(again.status == 304 && again.body.isEmpty)
        }
    }

    @Test("symbols have their names, and the answer lists the exchanges and has no name of a folder")
    func symbols() async throws {
        let queries = NIOLockedValueBox<[DirectoryQuery]>([])
        let found = FoundSymbols(
            symbols: [ListedSymbol(named: "BINANCE:BTCUSDT", description: "Binance BTCUSDT")],
            matches: 3,
            publisher: "BINANCE",
            publishers: ["BINANCE", "KRAKEN"],
            fetched: Self.now,
            note: "the list is a day old",
            diskProblem: "/home/somebody belongs to another user"
        )
        let directory = Self.directory(noting: queries, symbols: .success(found))
        try await RelayFixture.run(directory: directory) { fixture in
            let answer = try await self.ask("/v1/symbols?text=btc", fixture)
            #expect(answer.status == 200 && answer.header("etag") != nil)
            #expect(
                answer.body
                    == #"{"publisher":"BINANCE","fetched":1704067200000,"note":"the list is a day old","matches":3,"#
                    + #""publishers":["BINANCE","KRAKEN"],"symbols":[{"symbol":"BINANCE:BTCUSDT","#
                    + #""displaySymbol":"BTC/USDT","description":"Binance BTCUSDT"}]}"# + "\n"
            )
            #expect(queries.withLockedValue { $0 } == [DirectoryQuery(text: "btc", limit: 100)])
        }
    }

    @Test("parameters that are empty or have only blanks count as missing, and a client's token counts as none")
    func empty() async throws {
        let queries = NIOLockedValueBox<[DirectoryQuery]>([])
        let directory = Self.directory(noting: queries, headlines: .success(Self.headlines))
        try await RelayFixture.run(directory: directory) { fixture in
            for query in ["", "?", "?publisher=&text=", "?publisher=%20&text=%20%20&token=x"] {
                let answer = try await self.ask("/v1/news\(query)", fixture)
                #expect(answer.status == 200)
            }
            #expect(queries.withLockedValue { $0 } == Array(repeating: DirectoryQuery(limit: 50), count: 4))
        }
    }

    @Test(
        "a parameter that is unknown, given twice, too long, out of range or not UTF-8 is refused",
        arguments: [
            ("news?symbol=A", "there is no parameter symbol here"), ("symbols?exchange=A", "there is no parameter"),
            ("news?text=a&text=b", "text is given twice"), ("news?text=%FF", "the query cannot be decoded"),
            ("news?limit=0", "limit must be a whole number from 1 to 500"), ("news?limit=501", "limit must be"),
            ("symbols?limit=10001", "limit must be a whole number from 1 to 10000"),
            ("symbols?limit=x", "limit must be"),
            ("news?publisher=\(String(repeating: "x", count: 65))", "publisher must have 64 bytes at most"),
            ("symbols?text=\(String(repeating: "%C3%BC", count: 65))", "text must have 128 bytes at most"),
        ]
    )
    func refused(_ target: String, _ message: String) async throws {
        let queries = NIOLockedValueBox<[DirectoryQuery]>([])
        try await RelayFixture.run(directory: Self.directory(noting: queries)) { fixture in
            let answer = try await self.ask("/v1/\(target)", fixture)
            #expect(answer.status == 400)
            #expect(answer.body.hasPrefix(#"{"type":"bad-query","message":"\#(message)"#), "\(answer.body)")
            #expect(queries.withLockedValue { $0 }.isEmpty)
        }
    }

    @Test(
        "each failure has a status, a type, a sentence, and what to do",
        arguments: [
            (.noKey, 503, "no-key"), (.init(.keyRejected, "R", cure: "C"), 503, "key-rejected"),
            (.init(.notPermitted, "R", cure: "C"), 403, "not-permitted"),
            (.init(.unreachable, "R"), 502, "unreachable"),
            (.init(.unreadableAnswer, "R", cure: "C"), 502, "unreadable-answer"),
            (.unknownExchange("X", known: ["A", "B"]), 404, "no-such-publisher"),
        ] as [(ServiceFailure, Int, String)]
    )
    func failures(_ failure: ServiceFailure, _ status: Int, _ type: String) async throws {
        let directory = Self.directory(headlines: .failure(failure), symbols: .failure(failure))
        try await RelayFixture.run(directory: directory) { fixture in
            for path in ["/v1/news", "/v1/symbols"] {
                let answer = try await self.ask(path, fixture)
                #expect(answer.status == status && answer.header("retry-after") == nil)
                let cure = failure.cure ?? "try again later"
                #expect(
                    answer.body == #"{"type":"\#(type)","message":"\#(failure.reason)","cure":"\#(cure)"}"# + "\n"
                )
                #expect(answer.header("cache-control") == "no-store")
            }
        }
    }

    @Test(
        "a limit of calls is reported with the time of its end, in the header as seconds that are rounded up",
        arguments: [
            (30_000_000_000, "30"), (29_000_000_001, "30"), (1, "1"), (-5_000_000_000, "1"),
        ] as [(Int64, String)]
    )
    func limited(_ wait: Int64, _ seconds: String) async throws {
        let failure = ServiceFailure.rateLimited(until: Self.now + wait, "R")
        try await RelayFixture.run(directory: Self.directory(headlines: .failure(failure))) { fixture in
            let answer = try await self.ask("/v1/news", fixture)
            #expect(answer.status == 503 && answer.header("retry-after") == seconds)
            let retryAt = (Self.now + wait + 999_999) / 1_000_000
            #expect(answer.body.hasPrefix(#"{"type":"rate-limited","message":"R","cure":"wait until "#))
            #expect(answer.body.hasSuffix(#" UTC","retryAt":\#(retryAt)}"# + "\n"), "\(answer.body)")
        }
    }

    @Test("a relay without a directory says that there is no key")
    func keyless() async throws {
        try await RelayFixture.run { fixture in
            for path in ["/v1/news", "/v1/symbols"] {
                let answer = try await self.ask(path, fixture)
                #expect(answer.status == 503 && answer.body.hasPrefix(#"{"type":"no-key","#))
            }
        }
    }

    @Test("the relay serves others while the service is slow")
    func slow() async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        let directory = RelayDirectory(
            headlines: { _ in
                for await _ in stream { break }
                return .success(Self.headlines)
            },
            symbols: { _ in .failure(.noKey) },
            wallClock: { Self.now }
        )
        try await RelayFixture.run(directory: directory) { fixture in
            let waiting = try await RawClient.connect(to: fixture.address)
            try await waiting.channel.writeAndFlush(
                ByteBuffer(string: "GET /v1/news HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            )
            let client = try await fixture.tradesClient(Frames.btc)
            fixture.feed(Frames.trade(Frames.btc, "1"))
            #expect(try await client.frame().text == Frames.trade(Frames.btc, "1"))
            #expect(try await self.ask("/livez", fixture).status == 200)
            continuation.yield()
            #expect(try await waiting.head().hasPrefix("HTTP/1.1 200 "))
        }
    }

    @Test("the example of the documentation prints headlines, and a failure in words")
    func example() async throws {
        let page = try TemporaryFolder.text(of: "\(RunningProgram.sources)/docs/http.md")
        let start = try #require(page.firstRange(of: "```python\n"))
        let end = try #require(page[start.upperBound...].firstRange(of: "```"))
        let code = String(page[start.upperBound..<end.lowerBound])
        for (headlines, expected) in [
            (.success(Self.headlines), "Reuters: Say"), (.failure(.noKey), "no-key: no key is set"),
        ] as [(Result<FoundHeadlines, ServiceFailure>, String)] {
            try await RelayFixture.run(directory: Self.directory(headlines: headlines)) { fixture in
                let port = try #require(fixture.address.port)
                let running = try RunningProgram(
                    "/usr/bin/env",
                    ["python3", "-c", code.replacing("8080", with: "\(port)")],
                    environment: ["PYTHONIOENCODING": "utf-8"]
                )
                #expect(await running.ending() == .exit(0), "\(running.errors)")
                #expect(running.output.contains(expected), "\(running.output)")
            }
        }
    }
}
