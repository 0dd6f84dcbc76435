import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Testing
import TickertapeTesting
import Wire
@testable import Feeds

@Suite("A venue's list over REST", .timeLimit(.minutes(2 * Patience.factor)))
struct VenueCatalogueTests {
    private static let binance = #"{"timezone":"UTC","symbols":[{"symbol":"BTCUSDT","status":"TRADING"}]}"#

    private static func http(_ status: String, _ headers: String = "", _ body: String) -> RawServer.Answer {
        .sendAndClose("HTTP/1.1 \(status)\r\n\(headers)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
    }

    /// Asks servers with these answers for the names, some times; returns the last result and the heads.
    private func ask(
        _ venue: Venue,
        _ answers: [RawServer.Answer],
        times: Int = 1,
        pause: Int64 = 0
    ) async throws -> (result: Result<VenueNames, ServiceFailure>, heads: [[String]]) {
        var servers: [RawServer] = []
        for answer in answers { servers.append(try await RawServer.start { _ in answer }) }
        let clock = NIOLockedValueBox<Int64>(1_704_067_200_000_000_000)
        var settings = VenueSettings(venue, symbols: [])
        settings.service = UpstreamAddress(isEncrypted: false, host: "127.0.0.1", port: servers[0].port)
        settings.serviceFallback = servers.dropFirst().first.map {
            UpstreamAddress(isEncrypted: false, host: "127.0.0.1", port: $0.port)
        }
        settings.serviceTimeout = .seconds(60)
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let wallClock = { @Sendable in clock.withLockedValue { $0 } }
        let service = VenueService(venue, settings.services, on: loop, wallClock: wallClock)
        let catalogue = VenueCatalogue(service, wallClock: wallClock)
        var result = Result<VenueNames, ServiceFailure>.failure(.noKey)
        for _ in 0..<times {
            result = try await loop.flatSubmit {
                let promise = loop.makePromise(of: Result<VenueNames, ServiceFailure>.self)
                catalogue.names(on: loop) { promise.succeed($0) }
                return promise.futureResult
            }.get()
            clock.withLockedValue { $0 += pause }
        }
        let heads = servers.map(\.heads)
        for server in servers { try await server.stop() }
        return (result, heads)
    }

    @Test("is requested without a key, once an hour, and names the program")
    func good() async throws {
        let (result, heads) = try await self.ask(
            .binance,
            [Self.http("200 OK", "", Self.binance)],
            times: 5,
            pause: 1_000_000_000_000
        )
        #expect(try result.get().name(of: "BINANCE:BTCUSDT") == "BTCUSDT")
        #expect(heads[0].count == 2)
        let head = try #require(heads[0].first)
        #expect(head.hasPrefix("GET /api/v3/exchangeInfo?showPermissionSets=false HTTP/1.1\r\n"))
        #expect(
            head.contains("\r\nUser-Agent: tickertape\r\n") && !head.contains("Token")
                && !head.contains("Authorization")
        )
    }

    @Test("comes from the other address if the first refuses the location")
    func fallback() async throws {
        let refusal = Self.http("451 No", "", #"{"code":0,"msg":"restricted location"}"#)
        let (result, heads) = try await self.ask(.binance, [refusal, Self.http("200 OK", "", Self.binance)])
        #expect(try result.get().fault(of: "BINANCE:BTCUSDT") == nil)
        #expect(heads.map(\.count) == [1, 1])
    }

    @Test(
        "a refusal says what is wrong, and is not followed by another request at once",
        arguments: [
            ("451 No", "", "x", "refuses this location (HTTP 451: x)"), ("403 No", "", "<html>", "from this network"),
            ("429 No", "Retry-After: 9\r\n", "", "wait until 00:00:09 UTC"),
            (
                "418 No", "Retry-After: 9\r\n", "",
                "has banned this address for a time (HTTP 418): wait until 00:02:00 UTC"
            ),
            ("503 No", "", "", "down or under repair"), ("200 OK", "", "<html><title>Log in", "a page of HTML"),
            ("200 OK", "", "[]", "not Binance's list of symbols"),
            ("404 No", "", "", "check the REST address of Binance"),
            ("200 OK", "", #"{"symbols":[{"symbol":"BTCUSDT"}"#, "not Binance's list of symbols"),
        ] as [(String, String, String, String)]
    )
    func refusals(_ status: String, _ headers: String, _ body: String, _ words: String) async throws {
        let (result, heads) = try await self.ask(.binance, [Self.http(status, headers, body)], times: 3)
        guard case .failure(let failure) = result else {
            Issue.record("no failure")
            return
        }
        #expect(failure.description.contains(words), "\(failure)")
        #expect(!failure.description.contains("key") && !failure.description.contains("service.url"), "\(failure)")
        #expect(heads[0].count == 1)
    }
}
