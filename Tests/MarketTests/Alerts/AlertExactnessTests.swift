import Testing
@testable import Market

@Suite("Exactness of alerts")
struct AlertExactnessTests {
    @Test("the window's extremes are those of all prices in the span, for any trades")
    func windowIsExact() {
        var numbers = SeededGenerator(seed: 5)
        for _ in 0..<50 {
            let span = Int64.random(in: 0...200, using: &numbers)
            var low = PriceWindow(isLowest: true, span: span)
            var high = PriceWindow(isLowest: false, span: span)
            var all: [(time: Int64, price: ExactDecimal)] = []
            var time: Int64 = 0
            for _ in 0..<400 {
                time += Int64.random(in: 0...5, using: &numbers)
                let price = ExactDecimal(significand: .random(in: -30...30, using: &numbers), exponent: -1) ?? .zero
                low.expire(now: time)
                high.expire(now: time)
                all.removeAll { $0.time < time - span }
                #expect(low.extreme?.price == all.map(\.price).min())
                #expect(high.extreme?.price == all.map(\.price).max())
                low.add(price, time: time)
                high.add(price, time: time)
                all.append((time, price))
                #expect(low.extreme?.price == all.map(\.price).min())
                #expect(high.extreme?.price == all.map(\.price).max())
            }
        }
    }

    @Test("a window never holds more than its capacity, keeps its extreme, and errs only to the quiet side")
    func windowIsBounded() {
        var high = PriceWindow(isLowest: false, span: 100_000)
        let count: Int64 = 50_000
        for step in 0..<count {
            high.expire(now: step)
            high.add(ExactDecimal(significand: count - step, exponent: 0) ?? .zero, time: step)
            #expect(high.count <= PriceWindow.capacity)
        }
        #expect(high.extreme?.price == ExactDecimal("50000"))
        // Later the exact answer is the price at the span's start. The window may answer less, but never more.
        for later: Int64 in [100_001, 120_000, 149_998] {
            high.expire(now: later)
            if let extreme = high.extreme { #expect(extreme.price <= ExactDecimal("\(count - (later - 100_000))")!) }
        }
    }

    @Test("edges in percent are compared exactly, also beyond 18 digits")
    func edges() throws {
        func side(_ price: String, of base: String, plus percent: String) throws -> Int {
            let edge = PriceEdge(
                try #require(ExactDecimal(base)),
                plusPercent: try #require(ExactDecimal(percent))
            )
            return edge.side(of: try #require(ExactDecimal(price)))
        }
        #expect(try side("102", of: "100", plus: "2") == 0)
        #expect(try side("0.123456789012345678", of: "0.123456789012345677", plus: "0.0001") == -1)
        #expect(try side("999999999999999999", of: "999999999999999998", plus: "0.0001") == -1)
        #expect(try side("999999999999999999", of: "999998999999999998", plus: "0.0001") == 1)
        #expect(try side("1e1000", of: "1e-1000", plus: "100000") == 1)
        #expect(try side("-1e1000", of: "1e-1000", plus: "100000") == -1)
        #expect(try side("0", of: "0", plus: "5") == 0)
        #expect(try side("-98", of: "-100", plus: "-2") == 0)
        #expect(try side("-98.0000000000000001", of: "-100", plus: "-2") == -1)
        #expect(PriceEdge(ExactDecimal("60000")!, plusPercent: ExactDecimal("-0.1")!).price == ExactDecimal("59940"))
    }

    @Test("edges agree with arithmetic in fractions, for any numbers")
    func edgesByFractions() {
        var numbers = SeededGenerator(seed: 9)
        for _ in 0..<20_000 {
            let base = Int64.random(in: -1_000_000...1_000_000, using: &numbers)
            let percent = Int64.random(in: -500_000...500_000, using: &numbers)
            let exact = Int128(base) * (1_000_000 + Int128(percent))
            let near = Int64(exact / 1_000_000) + Int64.random(in: -1...1, using: &numbers)
            let edge = PriceEdge(
                ExactDecimal(significand: base, exponent: -3) ?? .zero,
                plusPercent: ExactDecimal(significand: percent, exponent: -4) ?? .zero
            )
            let price = ExactDecimal(significand: near, exponent: -3) ?? .zero
            let expected = Int128(near) * 1_000_000 - exact
            #expect(edge.side(of: price) == Int(expected.signum()), "\(near) to \(base) + \(percent)")
        }
    }

    @Test("the same trades give the same alerts, however a replay's pace moves our clock")
    func pace() throws {
        let rules = [
            "* moves 1% in 10s", "* crosses 100", "X above 102", "Y below 98", "* new high", "X stale for 2s",
            "Y back after 3s", "feed stale for 1s", "Z rises 0.5% in 1m cooldown 0", "X above 101 quiet 00:00-00:01",
        ]
        for seed: UInt64 in 1...20 {
            var numbers = SeededGenerator(seed: seed)
            var trades: [(price: String, time: Int64, symbol: String)] = []
            var prices = ["X": 10_000, "Y": 10_000, "Z": 10_000]
            var time: Int64 = 1_000_000
            for _ in 0..<500 {
                time += Int64.random(in: -20...400, using: &numbers)
                if Int.random(in: 0..<40, using: &numbers) == 0 { time += 4_000 }
                let symbol = ["X", "Y", "Z"].randomElement(using: &numbers) ?? "X"
                prices[symbol]! += Int.random(in: -40...40, using: &numbers)
                trades.append(("\(Double(prices[symbol]!) / 100)", time, symbol))
            }
            func play(arrivals: (Int64) -> Int64) throws -> [String] {
                var bench = try AlertBench(symbols: ["X", "Y"]) { $0.cooldown = 5_000_000_000 }
                bench.watch.setRules(try rules.enumerated().map { ($0.offset, try AlertRule($0.element)) })
                for trade in trades {
                    let arrived = arrivals(trade.time)
                    bench.clock(arrived)
                    bench.trade(trade.price, at: trade.time, symbol: trade.symbol, arrived: arrived)
                }
                return bench.lines
            }
            let first = try play { $0 }
            #expect(first.count > 20)
            #expect(try play { _ in 77 } == first)
            #expect(try play { $0 * 10 } == first)
        }
    }
}
