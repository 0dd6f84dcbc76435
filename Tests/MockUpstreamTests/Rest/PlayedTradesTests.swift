import Market
import Testing
@testable import MockUpstream

@Suite("The trades that a mock server has played")
struct PlayedTradesTests {
    private static func ids(_ played: PlayedTrades, _ symbol: String = "A") -> [UInt64] {
        played.trades(of: symbol).compactMap(\.id)
    }

    @Test("are in the order of their ids, each id once with its newest content, and have none without an id")
    func order() {
        let played = PlayedTrades()
        let table = PlayedSamples.table("A")
        played.take(PlayedSamples.trades([5, 7, 6, 6, 3, 9]), symbols: table, now: 0)
        #expect(Self.ids(played) == [3, 5, 6, 7, 9])
        played.take(PlayedSamples.trades([6], size: 4), symbols: table, now: 0)
        #expect(Self.ids(played) == [3, 5, 6, 7, 9])
        #expect(played.trades(of: "A").map(\.size.significand) == [2, 2, 4, 2, 2])
        var nameless = PlayedSamples.trades([12])
        nameless[0].id = nil
        played.take(nameless, symbols: table, now: 0)
        #expect(Self.ids(played) == [3, 5, 6, 7, 9])
        #expect(played.trades(of: "B").isEmpty && !played.has("B"))
    }

    @Test("are found under their names, whatever numbers the players' tables have")
    func names() {
        let played = PlayedTrades()
        var other = PlayedSamples.table("B")
        _ = other.intern("A")
        played.take(PlayedSamples.trades([1]), symbols: PlayedSamples.table("A"), now: 0)
        played.take(PlayedSamples.trades([8]), symbols: other, now: 0)
        var second = PlayedSamples.trades([2])
        second[0].symbol = SymbolID(index: 1)
        played.take(second, symbols: other, now: 0)
        #expect(Self.ids(played) == [1, 2])
        #expect(Self.ids(played, "B") == [8])
    }

    @Test("are the newest, with an equal share for each symbol")
    func bounded() {
        let played = PlayedTrades(limit: 1_000)
        played.take(PlayedSamples.trades(1...10_000), symbols: PlayedSamples.table("A"), now: 0)
        #expect((1_000...1_250).contains(Self.ids(played).count))
        #expect(Self.ids(played).last == 10_000)
        played.take(PlayedSamples.trades(1...10_000), symbols: PlayedSamples.table("B"), now: 0)
        #expect(Self.ids(played).count == 500)
        #expect((500...625).contains(Self.ids(played, "B").count))
        // A trade older than all of them would be the first to go.
        played.take(PlayedSamples.trades([3]), symbols: PlayedSamples.table("A"), now: 0)
        #expect(Self.ids(played).first == 9_501)
    }

    @Test("are known by the time of their play for as long as a service needs that")
    func times() {
        let played = PlayedTrades()
        let table = PlayedSamples.table("A")
        let second = PlayedSamples.second
        played.keepTimes(for: second)
        #expect(played.trades(of: "A", playedBefore: second).isEmpty)
        for id in 1...30_000 as ClosedRange<UInt64> {
            played.take(PlayedSamples.trades([id]), symbols: table, now: Int64(id) * 1_000_000)
        }
        #expect(played.trades(of: "A", playedBefore: 500_000).isEmpty)
        let known = played.trades(of: "A", playedBefore: 29 * second).last?.id ?? 0
        #expect((28_980...29_000).contains(known))
        #expect(played.trades(of: "A", playedBefore: 30 * second).last?.id == 30_000)
    }
}
