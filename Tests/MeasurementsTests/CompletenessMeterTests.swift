import Market
import NIOCore
import Testing
import TickertapeTesting
import Wire
@testable import Measurements

@Suite("The meter of completeness")
struct CompletenessMeterTests {
    private static let symbol = "KRAKEN:XXBTZUSD"

    private func batch(_ ids: [UInt64], marks: TradeMarks = [], repeated: [UInt64] = [], read: Int64) -> TapeBatch {
        var symbols = SymbolTable()
        let symbol = symbols.intern(Self.symbol) ?? SymbolID(index: 0)
        func trade(_ id: UInt64) -> Trade {
            let (price, size) = (sampleDecimal("1"), sampleDecimal("2"))
            return Trade(price: price, size: size, exchangeTime: 1, symbol: symbol, id: id, marks: marks)
        }
        var batch = TapeBatch(
            epoch: 1,
            firstSequence: 1,
            received: 0,
            receivedMonotonic: read,
            trades: ids.map(trade),
            frames: [],
            symbols: symbols
        )
        batch.repeated = repeated.map(trade)
        return batch
    }

    @Test("takes trades, repeats, gaps and outcomes from the tape, through an epoch")
    func tape() {
        let meter = CompletenessMeter()
        #expect(meter.summary.line == nil)
        meter.epochBegan(1, first: 1, symbols: SymbolTable())
        meter.read(self.batch([1, 2], read: 1))
        meter.gapFound(Gap(from: 0, to: 1, reason: "cut", nextSequence: 3, symbol: Self.symbol, missing: 3...6))
        meter.epochBegan(2, first: 1, symbols: SymbolTable())
        meter.read(self.batch([7], repeated: [2], read: 2))
        #expect(meter.hours().first?.sha256 == nil && meter.hours().first?.missing == 4)
        meter.read(self.batch([3, 5], marks: .filled, read: 3))
        meter.gapSettled(GapOutcome(symbol: Self.symbol, missing: 3...6, from: 0, to: 1, lost: [4...4, 6...6]))
        let hour = meter.hours(of: Self.symbol)[0]
        #expect((hour.count, hour.missing, hour.repeated, hour.filled) == (5, 2, 1, 2) && hour.sha256 != nil)
        #expect(meter.hours(of: "A").isEmpty && meter.totals.map(\.symbol) == [Self.symbol])
        #expect(
            meter.summary.line
                == "ids: 5 trades of 1 symbol, 2 missing, 2 filled, 1 repeated; hours: 0 complete, 1 incomplete"
        )
        meter.gapFound(Gap(from: 0, to: 1, reason: "moved", nextSequence: 3, cause: .seek))
        #expect(meter.totals.isEmpty)
    }
}
