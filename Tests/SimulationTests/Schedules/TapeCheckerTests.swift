import Market
import Testing
import Wire
@testable import VenueSchedules

@Suite("The checker of the schedules")
struct TapeCheckerTests {
    private let market: VenueMarket
    private let checker: TapeChecker

    init() throws {
        self.market = try VenueMarket.made(.binance, seed: 1, count: 100)
        self.checker = TapeChecker(self.market)
    }

    /// The trades of the first symbol.
    private func trade(_ place: Int) -> Trade { self.market.parsed[Int(self.market.columns[0].events[place])] }

    private func put(_ trades: [Trade], from sequence: UInt64 = 1) {
        self.checker.read(
            TapeBatch(
                epoch: 1,
                firstSequence: sequence,
                received: 0,
                receivedMonotonic: Int64(sequence),
                trades: trades,
                frames: [],
                symbols: self.market.table
            )
        )
        for trade in trades {
            self.checker.given(symbol: 0, place: Int((trade.id ?? 0) - self.market.columns[0].first))
        }
    }

    private func gap(_ places: ClosedRange<Int>) -> Gap {
        let first = self.market.columns[0].first
        return Gap(
            from: 0,
            to: 0,
            reason: "test",
            nextSequence: 2,
            symbol: self.market.symbols[0],
            missing: first + UInt64(places.lowerBound)...first + UInt64(places.upperBound)
        )
    }

    @Test("accepts trades in their order, a named gap, and a filled trade")
    func accepts() {
        self.put([self.trade(0)])
        self.checker.gapFound(self.gap(1...1))
        self.put([self.trade(2)], from: 2)
        var late = self.trade(1)
        late.marks.insert(.filled)
        self.put([late], from: 3)
        self.checker.checkGiven()
        _ = self.checker.digest()
        #expect(self.checker.faults == [])
    }

    @Test("finds a trade that is missing without a gap")
    func unnamed() {
        self.put([self.trade(0)])
        self.put([self.trade(2)], from: 2)
        self.checker.checkGiven()
        #expect(self.checker.faults.contains { $0.contains("missing without a gap") })
    }

    @Test("finds a trade that is on the tape twice")
    func twice() {
        self.put([self.trade(0), self.trade(0)])
        #expect(self.checker.faults.contains { $0.contains("twice") })
    }

    @Test("finds an altered trade, by its numbers and by the hash")
    func altered() {
        var trade = self.trade(0)
        trade.price = trade.price == .zero ? trade.size : .zero
        self.put([trade])
        _ = self.checker.digest()
        #expect(self.checker.faults.contains { $0.contains("altered") })
        #expect(self.checker.faults.contains { $0.contains("hash") })
    }

    @Test("finds a late trade without its mark")
    func unmarked() {
        self.put([self.trade(0)])
        self.checker.gapFound(self.gap(1...1))
        self.put([self.trade(2)], from: 2)
        self.put([self.trade(1)], from: 3)
        #expect(self.checker.faults.contains { $0.contains("not marked as filled") })
    }

    @Test("finds a gap that names what is on the tape")
    func wronglyNamed() {
        self.put([self.trade(0)])
        self.checker.gapFound(self.gap(0...1))
        #expect(self.checker.faults.contains { $0.contains("named missing, but on the tape") })
    }

    @Test("finds a trade that came and is not on the tape")
    func dropped() {
        self.put([self.trade(0)])
        self.checker.given(symbol: 0, place: 1)
        self.checker.checkGiven()
        #expect(self.checker.faults.contains { $0.contains("not on the tape") })
    }

    @Test("finds a gap without an outcome, and an outcome that is wrong")
    func unsettled() {
        self.put([self.trade(0)])
        self.checker.gapFound(self.gap(1...2))
        self.put([self.trade(3)], from: 2)
        self.checker.checkWhole { _, _ in true }
        #expect(self.checker.faults.contains { $0.contains("without an outcome") })
        let ids = self.gap(1...2).missing ?? 0...0
        self.checker.gapSettled(GapOutcome(symbol: self.market.symbols[0], missing: ids, from: 0, to: 0))
        #expect(self.checker.faults.contains { $0.contains("settled as complete wrongly") })
    }
}
