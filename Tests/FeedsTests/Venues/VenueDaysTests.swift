import Market
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Testing
import TickertapeTesting
import Wire
@testable import Feeds

@Suite("The rounds for the last 24 hours", .timeLimit(.minutes(2 * Patience.factor)))
struct VenueDaysTests {
    @Test("ask for all symbols in turn, with a limited number of requests each")
    func rounds() {
        let symbols = (0..<25).map { "COINBASE:A\($0)-USD" }
        var place = 0
        let rounds = (0..<3).map { _ in VenueDays.round(.coinbase, symbols, from: &place).flatMap(\.symbols) }
        #expect(rounds.map(\.count) == [10, 10, 10])
        #expect(rounds[2] == Array(symbols[20...] + symbols[..<5]) && place == 5)
        #expect(Set(rounds.joined()).count == 25)
        place = 7
        #expect(VenueDays.round(.binance, Array(symbols[..<3]), from: &place).map(\.symbols.count) == [3])
        #expect(VenueDays.round(.binance, [], from: &place).isEmpty)
        // The edge in front of Kraken counts these requests together with others.
        #expect(VenueDays.round(.kraken, (0..<120).map { "KRAKEN:A\($0)USD" }, from: &place).count == 1)
    }

    @Test("hand over what the service answers, from its second address if need be")
    func answers() async throws {
        let body = #"{"open":"1","high":"3","low":"1","last":"2","volume":"9"}"#
        let refusing = try await RawServer.start { _ in .sendAndClose("HTTP/1.1 451 No\r\nContent-Length: 0\r\n\r\n") }
        let server = try await RawServer.start { _ in
            .sendAndClose("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
        }
        let days = NIOLockedValueBox<[VenueDay]>([])
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let both = loop.makePromise(of: Void.self)
        let services = [refusing, server].map {
            var settings = ServiceSettings(
                address: UpstreamAddress(isEncrypted: false, host: "127.0.0.1", port: $0.port)
            )
            settings.venue = .coinbase
            return settings
        }
        let rounds = try await loop.submit {
            let service = VenueService(.coinbase, services, on: loop) { 5 }
            let rounds = VenueDays(
                service,
                on: loop,
                wallClock: { 5 },
                symbols: { ["COINBASE:BTC-USD", "COINBASE:ETH-USD"] },
                take: { day in
                    days.withLockedValue { $0.append(day) }
                    if days.withLockedValue(\.count) == 2 { both.succeed(()) }
                }
            )
            rounds.start()
            // Rounds that have begun are not begun twice.
            rounds.start()
            return NIOLoopBound(rounds, eventLoop: loop)
        }.get()
        try await both.futureResult.get()
        try await loop.submit { rounds.value.stop() }.get()
        #expect(days.withLockedValue { $0.map(\.symbol) } == ["COINBASE:BTC-USD", "COINBASE:ETH-USD"])
        #expect(days.withLockedValue { $0[0].change } == ExactDecimal("1"))
        #expect(server.heads.first?.hasPrefix("GET /products/BTC-USD/stats HTTP/1.1\r\n") == true)
        #expect(server.heads.count == 2)
        try await refusing.stop()
        try await server.stop()
    }
}
