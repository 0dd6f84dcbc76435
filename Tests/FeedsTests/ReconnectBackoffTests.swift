import Feeds
import Testing

@Suite("The reconnect backoff")
struct ReconnectBackoffTests {
    private let second: Int64 = 1_000_000_000

    @Test("doubles from half a second to a minute, and jitter shortens a step to a tenth of a second at most")
    func doubling() {
        var backoff = ReconnectBackoff()
        let waits = (0..<10).map { _ in backoff.connectionEnded(tradedFor: 0, chance: 1).wait }
        let half = second / 2
        #expect(
            waits == [
                half, 2 * half, 4 * half, 8 * half, 16 * half, 32 * half, 64 * half, 60 * second, 60 * second,
                60 * second,
            ]
        )
        #expect(backoff.connectionEnded(tradedFor: 0, chance: 0).wait == second / 10)
        #expect(backoff.connectionEnded(tradedFor: 0, chance: 0.25).wait == 15 * second)
        // A program that restarts meanwhile waits the time that jitter has saved as well, at most one more step.
        #expect(backoff.connectionEnded(tradedFor: 0, chance: 0.25).whole == 120 * second)
        // A chance outside 0 to 1 is clamped.
        #expect(backoff.connectionEnded(tradedFor: 0, chance: -1).wait == second / 10)
        #expect(backoff.connectionEnded(tradedFor: 0, chance: 7).wait == 60 * second)
    }

    @Test("waits no longer than its step even where that is shorter than the shortest wait")
    func tinySteps() {
        var settings = ReconnectBackoff.Settings()
        settings.first = 1_000
        var backoff = ReconnectBackoff(settings: settings)
        #expect(backoff.connectionEnded(tradedFor: 0, chance: 0).wait == 1_000)
        #expect(backoff.connectionEnded(tradedFor: 0, chance: 0).wait == 2_000)
    }

    @Test("takes three brief connections in a row for a key that is in use, and leaves it alone")
    func keyInUse() {
        var backoff = ReconnectBackoff()
        let brief = 5 * second - 1
        let kinds = (0..<5).map { _ in backoff.connectionEnded(tradedFor: 0, livedFor: brief, chance: 1) }
        #expect(kinds.map(\.kind) == [.reconnecting, .reconnecting, .keyInUse, .keyInUse, .keyInUse])
        #expect(kinds.map(\.wait) == [second / 2, second, 60 * second, 60 * second, 60 * second])
        // A second connection may get a refusal as well, so it changes nothing.
        _ = backoff.rateLimited(retryAfter: nil)
        #expect(backoff.connectionEnded(tradedFor: 0, livedFor: 0, chance: 1).kind == .keyInUse)
        // A connection that lives on was not displaced by another program.
        #expect(backoff.connectionEnded(tradedFor: 0, livedFor: 5 * second, chance: 1).kind == .reconnecting)
        #expect(backoff.connectionEnded(tradedFor: 0, livedFor: 0, chance: 1).kind == .reconnecting)
        #expect(backoff.connectionEnded(tradedFor: 0, livedFor: 0, chance: 1).kind == .reconnecting)
        // A failed attempt has another cause.
        #expect(backoff.connectionEnded(tradedFor: 0, chance: 1).kind == .reconnecting)
        #expect(backoff.connectionEnded(tradedFor: 0, livedFor: 0, chance: 1).kind == .reconnecting)
    }

    @Test("tries a rejected key again only if the setting says so")
    func rejectedKey() {
        var backoff = ReconnectBackoff()
        #expect(backoff.keyRejected() == nil)
        var settings = ReconnectBackoff.Settings()
        settings.rejectedKey = 900 * second
        backoff = ReconnectBackoff(settings: settings)
        #expect(backoff.keyRejected() == 900 * second)
        #expect(backoff.keyRejected() == 900 * second)
    }

    @Test("continues where an earlier run ended, with whole steps, until a connection has settled")
    func restored() throws {
        var first = ReconnectBackoff()
        for _ in 0..<3 { _ = first.connectionEnded(tradedFor: 0, chance: 0.1) }
        let memory = first.memory(ofAttemptAt: 7)
        #expect(memory.failures == 4)
        // The steps of 0.5, 1 and 2 s were drawn as 0.1, 0.1 and 0.2 s.
        #expect(memory.wait == 4 * second + 31 * second / 10)
        var backoff = ReconnectBackoff(memory: memory)
        #expect(backoff.connectionEnded(tradedFor: 0, chance: 0.1).wait == 8 * second)
        #expect(backoff.connectionEnded(tradedFor: 60 * second, chance: 0.5).wait == second / 4)
    }

    @Test("grows for a relay that cannot be reached, and starts again after one that carried messages")
    func relay() {
        let settings = StreamSubscriber.Settings(
            relay: UpstreamAddress(isEncrypted: false, host: "127.0.0.1", port: 8_080),
            symbols: []
        )
        var backoff = ReconnectBackoff(settings: settings.backoff)
        let waits = (0..<5).map { _ in backoff.connectionEnded(tradedFor: 0, chance: 1).wait }
        #expect(waits == [second / 2, second, 2 * second, 4 * second, 5 * second])
        #expect(backoff.connectionEnded(tradedFor: second, chance: 1).wait == second / 2)
    }

    @Test("returns to its first step only after a minute of trades")
    func settling() {
        var backoff = ReconnectBackoff()
        for _ in 0..<5 { _ = backoff.connectionEnded(tradedFor: 0, chance: 1) }
        #expect(backoff.connectionEnded(tradedFor: 59 * second, chance: 1).wait == 16 * second)
        #expect(backoff.connectionEnded(tradedFor: 60 * second, chance: 1).wait == second / 2)
        #expect(backoff.failures == 1)
    }

    @Test("does not take brief connections to a relay for a key that is in use")
    func shortRelayed() {
        let relay = UpstreamAddress(isEncrypted: false, host: "127.0.0.1", port: 1)
        var backoff = ReconnectBackoff(settings: StreamSubscriber.Settings(relay: relay, symbols: []).backoff)
        let pauses = (0..<5).map { _ in backoff.connectionEnded(tradedFor: 0, livedFor: second, chance: 1) }
        #expect(pauses.allSatisfy { $0.kind == .reconnecting && $0.wait <= 5 * second })
    }

    @Test("obeys Retry-After, and otherwise doubles a minute up to five")
    func rateLimit() {
        var backoff = ReconnectBackoff()
        #expect(backoff.rateLimited(retryAfter: 7 * second).wait == 7 * second)
        #expect(backoff.rateLimited(retryAfter: nil).wait == 120 * second)
        #expect(backoff.rateLimited(retryAfter: nil).wait == 240 * second)
        #expect(backoff.rateLimited(retryAfter: nil).wait == 300 * second)
        #expect(backoff.rateLimited(retryAfter: 1_000_000 * second).wait == 3_600 * second)
        #expect(backoff.rateLimited(retryAfter: -1).wait == 300 * second)
    }

    @Test("survives a year of failures")
    func manyFailures() {
        var backoff = ReconnectBackoff()
        for _ in 0..<500_000 { #expect(backoff.connectionEnded(tradedFor: 0, chance: 1).wait <= 60 * second) }
    }
}
