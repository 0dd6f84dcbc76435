import NIOCore
import NIOPosix
import Testing
import TickertapeTesting
import Wire
@testable import Feeds

/// Requests for earlier trades to servers with arbitrary answers.
@Suite("A venue's REST service", .timeLimit(.minutes(2 * Patience.factor)))
struct VenueTradesServiceTests {
    private static let now: Int64 = 1_704_067_200_000_000_000
    private static let second: Int64 = 1_000_000_000

    private static func http(_ status: String, _ body: String, _ headers: String = "") -> RawServer.Answer {
        .sendAndClose("HTTP/1.1 \(status)\r\n\(headers)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
    }

    private static func ask(
        _ request: VenueTradesRequest,
        _ answer: RawServer.Answer
    ) async throws -> (answer: VenueTradesAnswer, head: String) {
        let server = try await RawServer.start { _ in answer }
        var settings = VenueSettings(request.venue, symbols: [])
        settings.service = UpstreamAddress(isEncrypted: false, host: "127.0.0.1", port: server.port)
        settings.serviceFallback = nil
        settings.serviceTimeout = .seconds(60)
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let services = settings.services
        let answer = try await loop.flatSubmit {
            let promise = loop.makePromise(of: VenueTradesAnswer.self)
            let service = VenueTradesService(request.venue, services, on: loop) { Self.now }
            service.ask(request, at: 0, on: loop) { promise.succeed($0) }
            return promise.futureResult
        }.get()
        let head = server.heads.first ?? ""
        try await server.stop()
        return (answer, head)
    }

    private static let binance = VenueTradesRequest(.binance, symbol: "BINANCE:BTCUSDT", .ids(first: 7, count: 3))
    private static let kraken = VenueTradesRequest(.kraken, symbol: "KRAKEN:XXBTZUSD", .newest(count: 1_000))

    @Test("is asked for the target once, without a key, and its count of the weight comes along")
    func good() async throws {
        let (answer, head) = try await Self.ask(Self.binance, Self.http("200 OK", "[]", "X-MBX-USED-WEIGHT-1M: 75\r\n"))
        #expect(try answer.result.get() == ByteBuffer(string: "[]"))
        #expect(answer.usedWeight == 75)
        #expect(head.hasPrefix("GET /api/v3/historicalTrades?symbol=BTCUSDT&fromId=7&limit=3 HTTP/1.1\r\n"))
        #expect(head.contains("\r\nUser-Agent: tickertape\r\n") && !head.contains("Token"))
    }

    @Test(
        "a refusal has its status, its kind and the venue's words",
        arguments: [
            ("404 No", "", #"{"code":-1,"msg":"gone"}"#, 404, .unreadableAnswer, "(HTTP 404: gone)"),
            ("451 No", "", "x", 451, .notPermitted, "refuses this location"),
            ("403 No", "", "<html><title>Denied", 403, .notPermitted, "refuses requests from this network"),
            ("429 No", "Retry-After: 9\r\n", "", 429, .rateLimited(until: now + 9 * second), "limit of requests"),
            ("418 No", "Retry-After: 9\r\n", "", 418, .rateLimited(until: now + 120 * second), "has banned"),
            ("503 No", "", "", 503, .unreachable, "down or under repair"),
        ] as [(String, String, String, UInt, ServiceFailure.Kind, String)]
    )
    func refused(
        _ status: String,
        _ headers: String,
        _ body: String,
        _ code: UInt,
        _ kind: ServiceFailure.Kind,
        _ words: String
    ) async throws {
        let (answer, _) = try await Self.ask(Self.binance, Self.http(status, body, headers))
        guard case .failure(let failure) = answer.result else {
            Issue.record("no failure")
            return
        }
        #expect(failure.status == code && failure.kind == kind)
        #expect(failure.description.contains(words), "\(failure)")
    }

    @Test(
        "an error of Kraken's has the status 200 and is a failure",
        arguments: [
            ("EAPI:Rate limit exceeded", .rateLimited(until: now + 15 * second)),
            ("EGeneral:Temporary lockout", .rateLimited(until: now + 600 * second)),
            ("EService:Unavailable", .unreachable), ("EQuery:Unknown asset pair", .unreadableAnswer),
        ] as [(String, ServiceFailure.Kind)]
    )
    func krakenError(_ text: String, _ kind: ServiceFailure.Kind) async throws {
        let body = #"{"error":["\#(text)"],"result":null}"#
        let (answer, _) = try await Self.ask(Self.kraken, Self.http("200 OK", body))
        guard case .failure(let failure) = answer.result else {
            Issue.record("no failure")
            return
        }
        #expect(failure.kind == kind && failure.reason == "Kraken says: \(text)")
    }

    @Test("a page of HTML from the edge in front of Kraken is a ban of ten minutes")
    func edge() async throws {
        let (answer, _) = try await Self.ask(Self.kraken, Self.http("403 Forbidden", "<html><title>Denied"))
        guard case .failure(let failure) = answer.result else {
            Issue.record("no failure")
            return
        }
        #expect(failure.kind == .rateLimited(until: Self.now + 600 * Self.second))
        #expect(failure.description.contains("the edge in front of Kraken refuses this address"))
    }
}
