import Market
import Testing

@Suite("Bars made from trades")
struct BarMachineTests {
    private static let second: Int64 = 1_000_000_000

    private static func number(_ text: String) -> ExactDecimal { ExactDecimal(text) ?? .zero }

    /// Feeds `time price size` in tenths of a second; gives the bars that came out, and with `end` the rest.
    private static func bars(
        _ machine: inout BarMachine,
        _ trades: [(Int64, String, String)],
        end: Bool = false
    ) -> [Bar] {
        var bars: [Bar] = []
        for (tenths, price, size) in trades {
            bars += machine.take(price: number(price), size: number(size), time: tenths * 100_000_000)
        }
        return end ? bars + machine.end() : bars
    }

    private static func words(_ bar: Bar) -> String {
        let ends = "\(bar.open) \(bar.high) \(bar.low) \(bar.close)"
        let mark = bar.isIncomplete ? " incomplete" : ""
        return "\(bar.start / Self.second): \(ends) v\(bar.volume) n\(bar.count)\(mark)"
    }

    @Test("A bar has the first and the last price, the extremes, the volume and the count")
    func ohlcv() {
        var machine = BarMachine(width: Self.second)
        let bars = Self.bars(
            &machine,
            [(0, "10", "1"), (3, "12.5", "0.1"), (5, "9", "2"), (9, "11", "0.25"), (10, "11.5", "1"), (20, "7", "1")]
        )
        #expect(bars.map(Self.words) == ["0: 10 12.5 9 11 v3.35 n4", "1: 11.5 11.5 11.5 11.5 v1 n1"])
        // (10×1 + 12.5×0.1 + 9×2 + 11×0.25) / 3.35 = 32 / 3.35
        #expect(bars.first.map { "\($0.turnover)" } == "32")
        #expect(bars.first?.volumeWeightedPrice(fractionDigits: 4) == Self.number("9.5522"))
    }

    @Test("A stretch without trades has no bar")
    func nothingIsFilledIn() {
        var machine = BarMachine(width: Self.second)
        let bars = Self.bars(&machine, [(0, "1", "1"), (50, "2", "1"), (90, "3", "1")], end: true)
        #expect(bars.map { $0.start / Self.second } == [0, 5, 9])
    }

    @Test("A price update moves the price, and neither the volume nor the count")
    func priceUpdates() {
        var machine = BarMachine(width: Self.second)
        let bars = Self.bars(&machine, [(0, "5", "1"), (4, "8", "0"), (10, "3", "0"), (20, "1", "1")])
        #expect(bars.map(Self.words) == ["0: 5 8 5 8 v1 n1", "1: 3 3 3 3 v0 n0"])
        #expect(bars.last?.volumeWeightedPrice(fractionDigits: 2) == nil)
    }

    @Test("The bars in which the tape begins and ends are incomplete, and those that a gap touches")
    func incomplete() {
        var machine = BarMachine(width: Self.second)
        var bars = Self.bars(&machine, [(4, "1", "1"), (10, "2", "1"), (25, "3", "1")])
        machine.gapFound(from: 26 * 100_000_000, to: 41 * 100_000_000)
        bars += Self.bars(&machine, [(41, "4", "1"), (50, "5", "1"), (60, "6", "1")], end: true)
        #expect(bars.map { $0.start / Self.second } == [0, 1, 2, 4, 5, 6])
        #expect(bars.map(\.isIncomplete) == [true, false, true, true, false, true])
    }

    @Test("A gap that begins where a bar ends does not touch that bar")
    func gapEdges() {
        var machine = BarMachine(width: Self.second, grace: 5 * Self.second)
        _ = Self.bars(&machine, [(0, "1", "1"), (10, "1", "1"), (20, "1", "1"), (30, "1", "1")])
        machine.gapFound(from: Self.second, to: 2 * Self.second)
        #expect(machine.end().map(\.isIncomplete) == [false, true, false, true])
    }

    @Test("A late trade finds its bar within the grace, and is counted behind it")
    func lateTrades() {
        var machine = BarMachine(width: Self.second, grace: 2 * Self.second)
        // The late one is older than all in its bar, so it opens it.
        let bars = Self.bars(
            &machine,
            [(0, "1", "1"), (8, "5", "1"), (25, "9", "1"), (5, "0.5", "1"), (30, "2", "1"), (9, "7", "1")]
        )
        #expect(bars.map(Self.words) == ["0: 1 5 0.5 5 v3 n3"])
        #expect(machine.late == 1)
    }

    @Test("Time alone ends a bar")
    func passed() {
        var machine = BarMachine(width: Self.second)
        _ = Self.bars(&machine, [(10, "1", "1")])
        #expect(machine.passed(2 * Self.second - 1) == [])
        #expect(machine.passed(2 * Self.second).map(Self.words) == ["1: 1 1 1 1 v1 n1"])
        #expect(Self.bars(&machine, [(12, "3", "1")]) == [])
        #expect(machine.late == 1)
    }

    @Test("A recording that begins again begins the bars again")
    func setBack() {
        var machine = BarMachine(width: Self.second)
        var bars = Self.bars(&machine, [(0, "1", "1"), (200, "2", "1"), (210, "3", "1")])
        bars += Self.bars(&machine, [(0, "4", "1"), (10, "5", "1")])
        #expect(bars.map { $0.start / Self.second } == [0, 20, 21, 0])
        #expect(bars.map(\.isIncomplete) == [false, false, true, false])
        #expect(machine.late == 0)
    }

    @Test("A turnover that 38 digits cannot hold is told, and has no average")
    func overflow() {
        var machine = BarMachine(width: Self.second)
        let bars = Self.bars(&machine, [(0, "1e300", "1"), (1, "1e-300", "1"), (10, "1", "1")])
        #expect(bars.first?.turnover.omitted == 1 && bars.first?.volume.omitted == 0)
        #expect(bars.first?.count == 2)
        #expect(bars.first?.volumeWeightedPrice(fractionDigits: 2) == nil)
    }

    @Test("Every trade is in one bar or counted as late, and no bar is given out twice, for any order and any time")
    func everything() {
        var numbers = SeededGenerator(seed: 8)
        for _ in 0..<200 {
            let grace = Int64.random(in: 0...4, using: &numbers) * Self.second
            var machine = BarMachine(width: Self.second, grace: grace)
            var time: Int64 = 0
            var newest: Int64 = 0
            var starts: [Int64] = []
            var count: UInt64 = 0
            var given: [Bar] = []
            for _ in 0..<100 {
                // Never so far back that it would be a clock set back.
                time = max(
                    time + .random(in: -3 * Self.second...5 * Self.second, using: &numbers),
                    newest - 9 * Self.second
                )
                newest = max(newest, time)
                let price = ExactDecimal(significand: .random(in: 1...999, using: &numbers), exponent: -1) ?? .zero
                given += machine.take(price: price, size: price, time: time)
                #expect(machine.open.count <= Int(grace / Self.second) + 2)
                count += 1
            }
            given += machine.end()
            starts = given.map(\.start)
            #expect(given.reduce(0) { $0 + $1.count } + machine.late == count)
            #expect(zip(starts, starts.dropFirst()).allSatisfy(<))
            for bar in given {
                #expect(bar.low <= bar.open && bar.open <= bar.high && bar.low <= bar.close && bar.close <= bar.high)
            }
        }
        for time in [Int64.min, .max, 0, -1] {
            var machine = BarMachine(width: 3_600 * Self.second)
            _ = machine.take(price: Self.number("1"), size: Self.number("1"), time: time)
            #expect(machine.end().count == 1)
        }
    }
}
