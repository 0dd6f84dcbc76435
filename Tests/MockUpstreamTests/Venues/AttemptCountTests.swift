import Testing
@testable import MockUpstream

@Suite("An upstream's limit of attempts")
struct AttemptCountTests {
    private static let second: Int64 = 1_000_000_000

    @Test("counts in a rolling window, and refuses only what is too many where there is no ban")
    func rolling() {
        let budget = AttemptCount(AttemptLimit(count: 3, window: 10 * Self.second, status: 429))
        for now in [0, 4, 8] as [Int64] { #expect(budget.attempted(now: now * Self.second) == nil) }
        #expect(budget.attempted(now: 9 * Self.second) == .init(status: 429, retryAfter: nil))
        // The refused attempt counts, too.
        #expect(budget.attempted(now: 13 * Self.second) == .init(status: 429, retryAfter: nil))
        #expect(budget.attempted(now: 19 * Self.second) == nil)
    }

    @Test("a ban of Kraken's lasts as long as a client goes on trying")
    func renewed() throws {
        let budget = AttemptCount(try #require(KrakenMock().attemptLimit))
        for number in 0..<150 { #expect(budget.attempted(now: Int64(number)) == nil) }
        var now = Self.second
        for _ in 0..<10 {
            #expect(budget.attempted(now: now) == .init(status: 429, retryAfter: nil))
            now += 599 * Self.second
        }
        now += 2 * Self.second
        #expect(budget.attempted(now: now) == nil)
    }

    @Test("a client of Binance that breaks the rate three times is refused with 418 until the time that it is given")
    func breaches() throws {
        let budget = AttemptCount(try #require(BinanceMock().attemptLimit))
        budget.broken(now: 0)
        budget.broken(now: 0)
        #expect(budget.attempted(now: 1) == nil)
        budget.broken(now: 0)
        #expect(budget.attempted(now: Self.second) == .init(status: 418, retryAfter: 119))
        #expect(budget.attempted(now: 119 * Self.second) == .init(status: 418, retryAfter: 1))
        #expect(budget.attempted(now: 120 * Self.second) == nil)
    }
}
