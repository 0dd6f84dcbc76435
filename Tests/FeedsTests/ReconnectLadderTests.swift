import Feeds
import Testing

@Suite("The reconnect ladder")
struct ReconnectLadderTests {
    private let second: Int64 = 1_000_000_000

    @Test("doubles from half a second to a minute, and jitter takes any part of a step")
    func doubling() {
        var ladder = ReconnectLadder()
        let waits = (0..<10).map { _ in ladder.connectionEnded(tradedFor: 0, chance: 1) }
        let half = second / 2
        #expect(
            waits == [
                half, 2 * half, 4 * half, 8 * half, 16 * half, 32 * half, 64 * half, 60 * second, 60 * second,
                60 * second,
            ]
        )
        #expect(ladder.connectionEnded(tradedFor: 0, chance: 0) == 0)
        #expect(ladder.connectionEnded(tradedFor: 0, chance: 0.25) == 15 * second)
    }

    @Test("climbs for a relay that is not there, and begins anew for one that was")
    func relay() {
        let settings = StreamFeed.Settings(
            relay: UpstreamAddress(isEncrypted: false, host: "127.0.0.1", port: 8_080),
            symbols: []
        )
        var ladder = ReconnectLadder(settings: settings.ladder)
        let waits = (0..<5).map { _ in ladder.connectionEnded(tradedFor: 0, chance: 1) }
        #expect(waits == [second / 2, second, 2 * second, 4 * second, 5 * second])
        #expect(ladder.connectionEnded(tradedFor: second, chance: 1) == second / 2)
    }

    @Test("goes back to its first step only after a minute of trades")
    func settling() {
        var ladder = ReconnectLadder()
        for _ in 0..<5 { _ = ladder.connectionEnded(tradedFor: 0, chance: 1) }
        #expect(ladder.connectionEnded(tradedFor: 59 * second, chance: 1) == 16 * second)
        #expect(ladder.connectionEnded(tradedFor: 60 * second, chance: 1) == second / 2)
        #expect(ladder.failures == 1)
    }

    @Test("climbs to five seconds for who watches a relay that is not there, and begins anew after a link that stood")
    func watching() {
        let relay = UpstreamAddress(isEncrypted: false, host: "127.0.0.1", port: 1)
        var ladder = ReconnectLadder(settings: StreamFeed.Settings(relay: relay, symbols: []).ladder)
        let waits = (0..<5).map { _ in ladder.connectionEnded(tradedFor: 0, chance: 1) }
        #expect(waits == [second / 2, second, 2 * second, 4 * second, 5 * second])
        #expect(ladder.failures == 5)
        #expect(ladder.connectionEnded(tradedFor: second, chance: 1) == second / 2)
    }

    @Test("obeys Retry-After, and otherwise doubles a minute up to five")
    func rateLimit() {
        var ladder = ReconnectLadder()
        #expect(ladder.rateLimited(retryAfter: 7 * second) == 7 * second)
        #expect(ladder.rateLimited(retryAfter: nil) == 120 * second)
        #expect(ladder.rateLimited(retryAfter: nil) == 240 * second)
        #expect(ladder.rateLimited(retryAfter: nil) == 300 * second)
        #expect(ladder.rateLimited(retryAfter: 1_000_000 * second) == 3_600 * second)
        #expect(ladder.rateLimited(retryAfter: -1) == 300 * second)
    }

    @Test("survives a year of failures")
    func manyFailures() {
        var ladder = ReconnectLadder()
        for _ in 0..<500_000 { #expect(ladder.connectionEnded(tradedFor: 0, chance: 1) <= 60 * second) }
    }
}
