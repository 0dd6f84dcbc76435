import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import TLS
import Testing
import TickertapeTesting
import Wire
@testable import Feeds

@Suite("The directory of headlines and symbols", .timeLimit(.minutes(2 * Patience.factor)))
struct ServiceDirectoryTests {
    private static let second: Int64 = 1_000_000_000
    private static let start: Int64 = 1_704_067_200_000_000_000

    private static let news =
        #"[{"id":1,"datetime":100,"headline":"Bitcoin rises","source":"Reuters","summary":"Funds buy","url":"https://a/1"},"#
        + #"{"id":3,"datetime":300,"headline":"Ether falls","source":"CNBC","summary":"BITCOIN too","url":"https://a/3"},"#
        + #"{"id":2,"datetime":200,"headline":"Funds wait","source":"reuters","summary":"","url":""}]"#
    private static let exchanges = #"["KRAKEN","Binance","COINBASE"]"#

    /// A service with an answer for each path, and a clock that the test turns.
    private final class Bench: Sendable {
        private let server: RawServer
        private let clock = NIOLockedValueBox(ServiceDirectoryTests.start)
        private let answers: NIOLockedValueBox<[String: String]>

        init() async throws {
            let answers = NIOLockedValueBox([
                "/news": ServiceDirectoryTests.ok(ServiceDirectoryTests.news),
                "/crypto/exchange": ServiceDirectoryTests.ok(ServiceDirectoryTests.exchanges),
            ])
            self.answers = answers
            self.server = try await RawServer.start { head in
                let target = head.split(separator: " ")[1]
                let path = String(target.prefix { $0 != "?" })
                let exchange = target.split(separator: "=").last ?? ""
                let symbols = #"[{"symbol":"\#(exchange):BTCUSDT"},{"symbol":"\#(exchange):ETHUSDT"}]"#
                return .sendAndClose(answers.withLockedValue { $0[path] } ?? ServiceDirectoryTests.ok(symbols))
            }
        }

        /// The targets of the requests, in order.
        var asked: [String] { self.server.heads.map { String($0.split(separator: " ")[1]) } }

        func answer(_ path: String, _ text: String) { self.answers.withLockedValue { $0[path] = text } }

        func passes(_ seconds: Int64) { self.clock.withLockedValue { $0 += seconds * ServiceDirectoryTests.second } }

        func client(port: Int? = nil) throws -> ServiceClient {
            let address = UpstreamAddress(isEncrypted: false, host: "127.0.0.1", port: port ?? self.server.port)
            let clock = self.clock
            return try ServiceClient(
                ServiceSettings(address: address, key: Secret(Canary.key)),
                on: MultiThreadedEventLoopGroup.singleton
            ) { clock.withLockedValue { $0 } }
        }

        func directory(
            _ source: ServiceDirectory.SymbolSource = .service(folder: nil),
            port: Int? = nil
        ) throws -> ServiceDirectory {
            let clock = self.clock
            return ServiceDirectory(try self.client(port: port), symbols: source) { clock.withLockedValue { $0 } }
        }

        func calls() throws -> ServiceCalls {
            let clock = self.clock
            return ServiceCalls(try self.client()) { clock.withLockedValue { $0 } }
        }

        func end() async throws { try await self.server.stop() }
    }

    private static func ok(_ body: String) -> String { Self.http("200 OK", body: body) }

    private static func http(_ status: String, _ headers: String = "", body: String) -> String {
        "HTTP/1.1 \(status)\r\n\(headers)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    private func failure<Found>(_ result: Result<Found, ServiceFailure>) throws -> ServiceFailure {
        guard case .failure(let failure) = result else {
            Issue.record("no failure: \(result)")
            throw CancellationError()
        }
        return failure
    }

    // MARK: Headlines

    @Test(
        "a previous close is exact, and an answer without one gives none",
        arguments: [
            (#"{"c":61837.63,"d":837.5,"pc":61000.13,"t":1764268800}"#, "61000.13"), (#"{"c":0,"d":null,"pc":0}"#, nil),
            (#"{"c":1}"#, nil), (#"{"pc":"61000"}"#, nil), (#"{"pc":1e400}"#, nil), (#"[1]"#, nil), ("", nil),
            (#"{"pc":61000.13"#, nil),
        ] as [(String, String?)]
    )
    func previousClose(_ body: String, _ close: String?) async throws {
        let bench = try await Bench()
        bench.answer("/quote", Self.ok(body))
        let found = try await bench.directory().previousClose(of: "BINANCE:BTCUSDT")
        #expect(found.map { "\($0)" } == close)
        #expect(bench.asked == ["/quote?symbol=BINANCE%3ABTCUSDT"])
    }

    @Test("headlines are requested once for all readers, and again after a minute")
    func coalesced() async throws {
        let bench = try await Bench()
        let directory = try bench.directory()
        try await withThrowingTaskGroup(of: FoundHeadlines.self) { group in
            for _ in 0..<30 {
                group.addTask { try await directory.headlines(DirectoryQuery(limit: 9)).get() }
            }
            for try await found in group {
                #expect(found.headlines.compactMap(\.id) == [3, 2, 1])
                #expect(found.fetched == Self.start && found.matches == 3)
            }
        }
        #expect(bench.asked == ["/news?category=crypto"])
        bench.passes(59)
        _ = try await directory.headlines(DirectoryQuery(limit: 9)).get()
        #expect(bench.asked.count == 1)
        bench.answer("/news", Self.ok("[]"))
        bench.passes(2)
        let none = try await directory.headlines(DirectoryQuery(limit: 9)).get()
        #expect(none.headlines.isEmpty && none.publishers.isEmpty && none.fetched == Self.start + 61 * Self.second)
        #expect(bench.asked.count == 2)
        try await bench.end()
    }

    @Test(
        "headlines are found by publisher and by every word of headline and summary, in any case of letters",
        arguments: [
            (nil, "", [3, 2, 1]), ("REUTERS", "", [2, 1]), ("Reut", "", []), (nil, "bitcoin", [3, 1]),
            (nil, "FALLS  bitcoin", [3]), (nil, "bitcoin nothing", []), ("reuters", "funds", [2, 1]),
            ("cnbc", "funds", []), (nil, "coin", [3, 1]),
        ] as [(String?, String, [Int64])]
    )
    func filtered(_ publisher: String?, _ text: String, _ ids: [Int64]) async throws {
        let bench = try await Bench()
        let directory = try bench.directory()
        let found = try await directory.headlines(DirectoryQuery(publisher: publisher, text: text, limit: 9)).get()
        #expect(found.headlines.compactMap(\.id) == ids && found.matches == ids.count)
        #expect(found.publishers == ["CNBC", "Reuters", "reuters"])
        let first = try await directory.headlines(DirectoryQuery(publisher: publisher, text: text, limit: 1)).get()
        #expect(first.headlines.compactMap(\.id) == Array(ids.prefix(1)) && first.matches == ids.count)
        try await bench.end()
    }

    // MARK: Failures

    @Test(
        "each failure has its type and a cure, and is kept for ten seconds",
        arguments: [
            ("401 No", #"{"error":"Invalid API key"}"#, .keyRejected),
            ("403 No", #"{"error":"You don't have access to this resource."}"#, .notPermitted),
            ("429 No", "API limit reached. Please sign up for a free account", .noKey),
            ("503 No", "", .unreachable), ("404 No", "", .unreadableAnswer), ("200 OK", "{}", .unreadableAnswer),
        ] as [(String, String, ServiceFailure.Kind)]
    )
    func failures(_ status: String, _ body: String, _ kind: ServiceFailure.Kind) async throws {
        let bench = try await Bench()
        bench.answer("/news", Self.http(status, body: body))
        let directory = try bench.directory()
        for _ in 0..<3 {
            let failure = try self.failure(await directory.headlines(DirectoryQuery(limit: 9)))
            #expect(failure.kind == kind && failure.cure?.isEmpty == false)
            #expect(!Canary.occurs(in: failure.description))
            bench.passes(3)
        }
        #expect(bench.asked.count == 1)
        bench.passes(2)
        bench.answer("/news", Self.ok(Self.news))
        #expect(try await directory.headlines(DirectoryQuery(limit: 9)).get().matches == 3)
        try await bench.end()
    }

    @Test("a service that cannot be reached is reported as such")
    func unreachable() async throws {
        let bench = try await Bench()
        let closed = try #require(BlackHole.closedPort("127.0.0.1")?.port)
        let directory = try bench.directory(port: closed)
        for failure in [
            try self.failure(await directory.headlines(DirectoryQuery(limit: 9))),
            try self.failure(await directory.symbols(DirectoryQuery(limit: 9))),
        ] {
            #expect(failure.kind == .unreachable && failure.description.contains("refuses connections"))
        }
        try await bench.end()
    }

    @Test("without a key there are no headlines, and no symbols of the service")
    func keyless() async throws {
        let directory = ServiceDirectory(nil, symbols: .service(folder: nil)) { 0 }
        #expect(await directory.headlines(DirectoryQuery(limit: 9)) == .failure(.noKey))
        #expect(await directory.symbols(DirectoryQuery(limit: 9)) == .failure(.noKey))
    }

    // MARK: The limit of calls

    @Test("after a 429 nothing is requested before the time that it names, of whatever kind")
    func limited() async throws {
        let bench = try await Bench()
        bench.answer("/news", Self.http("429 No", "Retry-After: 30\r\n", body: "slow down"))
        let directory = try bench.directory()
        let until = Self.start + 30 * Self.second
        for _ in 0..<3 {
            let failure = try self.failure(await directory.headlines(DirectoryQuery(limit: 9)))
            #expect(failure.kind == .rateLimited(until: until))
            #expect(failure.description.hasSuffix("(HTTP 429: slow down): wait until 00:00:30 UTC"))
            let symbols = try self.failure(await directory.symbols(DirectoryQuery(limit: 9), isFromClient: true))
            #expect(symbols.kind == .rateLimited(until: until))
            bench.passes(9)
        }
        #expect(bench.asked == ["/news?category=crypto"])
        bench.answer("/news", Self.ok(Self.news))
        bench.passes(3)
        #expect(try await directory.headlines(DirectoryQuery(limit: 9)).get().matches == 3)
        #expect(try await directory.symbols(DirectoryQuery(limit: 9), isFromClient: true).get().matches == 2)
        try await bench.end()
    }

    @Test("a program makes 20 calls a minute at most, and then says until when it makes none")
    func allowance() async throws {
        let bench = try await Bench()
        let calls = try bench.calls()
        for _ in 0..<ServiceCalls.maximum {
            _ = try await calls.get("/news").get()
            bench.passes(1)
        }
        let failure = try self.failure(await calls.get("/news"))
        #expect(failure.kind == .rateLimited(until: Self.start + 60 * Self.second))
        #expect(failure.description.hasSuffix("20 times a minute at most: wait until 00:01:00 UTC"), "\(failure)")
        #expect(bench.asked.count == 20)
        bench.passes(40)
        _ = try await calls.get("/news").get()
        let next = try self.failure(await calls.get("/news"))
        #expect(next.kind == .rateLimited(until: Self.start + 61 * Self.second))
        #expect(bench.asked.count == 21)
        // A clock that is set back does not end the calls for ever.
        bench.passes(-100_000)
        _ = try await calls.get("/news").get()
        try await bench.end()
    }

    // MARK: Symbols

    @Test("a client's exchange is searched only if the service lists it, and its symbols are requested once")
    func exchange() async throws {
        let bench = try await Bench()
        let directory = try bench.directory()
        for name in ["kraken", "Kraken"] {
            let query = DirectoryQuery(publisher: name, text: "btc", limit: 9)
            let found = try await directory.symbols(query, isFromClient: true).get()
            #expect(found.symbols.map(\.symbol) == ["KRAKEN:BTCUSDT"] && found.matches == 1)
            #expect(found.publisher == "KRAKEN" && found.publishers == ["BINANCE", "COINBASE", "KRAKEN"])
            #expect(found.note == nil)
        }
        for name in ["NOWHERE", "kraken/../news", "K"] {
            let query = DirectoryQuery(publisher: name, limit: 9)
            let failure = try self.failure(await directory.symbols(query, isFromClient: true))
            #expect(failure.kind == .unknownExchange)
            #expect(failure.description.hasSuffix(": choose one of BINANCE, COINBASE, KRAKEN"), "\(failure)")
        }
        #expect(bench.asked == ["/crypto/exchange", "/crypto/symbol?exchange=KRAKEN"])
        let usual = try await directory.symbols(DirectoryQuery(limit: 9)).get()
        #expect(usual.publisher == "BINANCE" && usual.symbols.first?.symbol == "BINANCE:BTCUSDT")
        try await bench.end()
    }

    @Test("the usual exchange is searched even if the service does not list its exchanges")
    func usual() async throws {
        let bench = try await Bench()
        bench.answer("/crypto/exchange", Self.http("403 No", body: ""))
        let directory = try bench.directory()
        let found = try await directory.symbols(DirectoryQuery(limit: 9), isFromClient: true).get()
        #expect(found.matches == 2 && found.publishers == ["BINANCE"])
        let other = DirectoryQuery(publisher: "KRAKEN", limit: 9)
        let refused = try self.failure(await directory.symbols(other, isFromClient: true))
        #expect(refused.kind == .notPermitted)
        // The user of this machine may name any exchange, as the service does not list all that it has.
        #expect(try await directory.symbols(other).get().matches == 2)
        try await bench.end()
    }

    @Test("the lists of four exchanges are in memory at most, those that were used last")
    func bounded() async throws {
        let bench = try await Bench()
        let directory = try bench.directory()
        for name in ["A", "B", "C", "D", "A", "E", "A", "B"] {
            _ = try await directory.symbols(DirectoryQuery(publisher: name, limit: 1)).get()
        }
        #expect(bench.asked.map { String($0.last ?? " ") } == ["A", "B", "C", "D", "E", "B"])
        try await bench.end()
    }

    @Test("a recording's symbols are found by exchange and by text, without a request")
    func recording() async throws {
        let bench = try await Bench()
        let symbols = ["BINANCE:BTCUSDT", "Kraken:BTCUSD", "X"]
        let directory = try bench.directory(.recording(symbols: symbols, name: "the recording"))
        let all = try await directory.symbols(DirectoryQuery(limit: 9), isFromClient: true).get()
        #expect(all.matches == 3 && all.publisher == nil && all.publishers == ["BINANCE", "KRAKEN"])
        #expect(all.note?.hasPrefix("these are the symbols of the recording; the list of all") == true)
        let one = try await directory.symbols(DirectoryQuery(publisher: "kraken", text: "btc", limit: 9)).get()
        #expect(one.symbols.map(\.symbol) == ["Kraken:BTCUSD"] && one.publisher == "KRAKEN")
        let nothing = try await directory.symbols(DirectoryQuery(publisher: "NOWHERE", limit: 9)).get()
        #expect(nothing.symbols.isEmpty && nothing.note?.hasPrefix("nothing among 3 symbols fits") == true)
        #expect(bench.asked.isEmpty)
        try await bench.end()
    }
}
