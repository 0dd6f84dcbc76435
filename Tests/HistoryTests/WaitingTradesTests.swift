import History
import Market
import Testing

@Suite("Trades that wait for the database")
struct WaitingTradesTests {
    private func trade(_ number: Int) -> Trade {
        let one = ExactDecimal(normalisedSignificand: 1, exponent: 0)
        return Trade(price: one, size: one, exchangeTime: Int64(number), symbol: SymbolID(index: 0))
    }

    @Test("they come back in order, in whatever pieces they were added and are taken, round after round")
    func order() {
        let sizes = [1, 10, 0, 1_013, 1, 5_000, 24, 1_024, 7]
        var waiting = WaitingTrades()
        for most in [1, 7, 100_000] {
            var number = 0
            for size in sizes {
                waiting.append((number..<number + size).map(self.trade))
                number += size
            }
            #expect(waiting.count == number)
            var next = 0
            while next < number {
                let piece = waiting.next(min(most, number - next))
                #expect(!piece.isEmpty && piece.count <= most)
                #expect(piece.map(\.exchangeTime) == (next..<next + piece.count).map(Int64.init))
                next += piece.count
            }
            waiting.clear()
            #expect(waiting.count == 0)
        }
    }
}
