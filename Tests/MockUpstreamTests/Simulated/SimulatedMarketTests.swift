import Feeds
import Market
import MockUpstream
import NIOCore
import Testing
import Wire

@Suite struct SimulatedMarketTests {
    /// The statistics of a part of the market.
    private struct Statistics {
        var frames = 0
        var pings: [Int64] = []
        var largestFrame = 0
        var trades = 0
        var perSecond: [Int] = []
        /// The statistics of each symbol, by its number.
        var symbols: [SymbolStatistics] = []

        func percentile(_ share: Double) -> Int {
            let sorted = self.perSecond.sorted()
            return sorted[Int(Double(sorted.count - 1) * share)]
        }
    }

    private struct SymbolStatistics {
        var trades = 0
        var samePrice = 0
        var sameMillisecond = 0
        var perSecond: [Int: Int] = [:]
        var last: Trade?
        var low: ExactDecimal?
        var high: ExactDecimal?
        var smallest: ExactDecimal?

        mutating func take(_ trade: Trade, second: Int) {
            self.trades += 1
            self.perSecond[second, default: 0] += 1
            if let last = self.last {
                #expect(trade.exchangeTime >= last.exchangeTime)
                if last.price == trade.price { self.samePrice += 1 }
                if last.exchangeTime == trade.exchangeTime { self.sameMillisecond += 1 }
            }
            self.last = trade
            self.low = min(self.low ?? trade.price, trade.price)
            self.high = max(self.high ?? trade.price, trade.price)
            self.smallest = min(self.smallest ?? trade.size, trade.size)
        }
    }

    private func run(_ settings: SimulatedMarket.Settings, seconds: Int) -> Statistics {
        var market = SimulatedMarket(settings)
        var statistics = Statistics()
        statistics.perSecond = Array(repeating: 0, count: seconds + 2)
        var parser = FinnhubParser()
        var symbols = SymbolTable()
        var trades: [Trade] = []
        var arrival: Int64 = 0
        while true {
            let frame = market.nextFrame()
            #expect(frame.at > arrival)
            arrival = frame.at
            guard arrival < Int64(seconds) * 1_000_000_000 else { return statistics }
            trades.removeAll(keepingCapacity: true)
            switch parser.parse(frame.text, symbols: &symbols, into: &trades) {
            case .ping:
                statistics.pings.append(arrival / 1_000_000)
            case .trade(let count, let skipped):
                #expect(count >= 1 && count <= 10 && skipped == 0)
                statistics.frames += 1
                statistics.largestFrame = max(statistics.largestFrame, frame.text.readableBytes)
            case let other:
                Issue.record("\(other)")
            }
            for trade in trades {
                let second = Int(trade.exchangeTime / 1_000_000 - settings.start) / 1_000
                statistics.trades += 1
                statistics.perSecond[second] += 1
                while statistics.symbols.count <= trade.symbol.index { statistics.symbols.append(SymbolStatistics()) }
                statistics.symbols[Int(trade.symbol.index)].take(trade, second: second)
            }
        }
    }

    /// The targets are those of ten recorded minutes of the real market: 30.6 trades a second, 14 in the median second,
    /// 903 at most; 62% with the previous trade's price, 64% in its millisecond; 9.5 trades in a frame.
    @Test("Bitcoin has the rates, bursts and repeats of the real market", arguments: [1, 2] as [UInt64])
    func bitcoin(seed: UInt64) {
        let statistics = self.run(.init(seed: seed, symbols: [.bitcoin]), seconds: 650)
        let symbol = statistics.symbols[0]
        let trades = Double(statistics.trades)
        #expect((26...36).contains(trades / 650))
        #expect((11...18).contains(statistics.percentile(0.5)))
        #expect((400...1_000).contains(statistics.percentile(1)))
        #expect((9.2...9.8).contains(trades / Double(statistics.frames)))
        #expect((0.60...0.65).contains(Double(symbol.samePrice) / trades))
        #expect((0.60...0.69).contains(Double(symbol.sameMillisecond) / trades))
        #expect(statistics.pings.count == 10)
        #expect(statistics.largestFrame < 1_024)
    }

    @Test("Ether trades at a slower pace and repeats more", arguments: [1, 2] as [UInt64])
    func ether(seed: UInt64) {
        let statistics = self.run(.init(seed: seed, symbols: [.ether]), seconds: 650)
        let symbol = statistics.symbols[0]
        let trades = Double(statistics.trades)
        #expect((17...26).contains(trades / 650))
        #expect((150...350).contains(statistics.percentile(1)))
        #expect((0.65...0.71).contains(Double(symbol.samePrice) / trades))
        #expect((0.62...0.70).contains(Double(symbol.sameMillisecond) / trades))
    }

    @Test("the bundled three minutes hold both symbols, realistic prices, small sizes and a burst")
    func demo() throws {
        let statistics = self.run(.init(seed: DemoRecording.seed), seconds: 180)
        try #require(statistics.symbols.count == 2)
        // Bitcoin has the higher price.
        let isBitcoinFirst = try #require(statistics.symbols[1].high) < #require(statistics.symbols[0].high)
        let (bitcoin, ether) = (statistics.symbols[isBitcoinFirst ? 0 : 1], statistics.symbols[isBitcoinFirst ? 1 : 0])
        #expect((26...36).contains(Double(bitcoin.trades) / 180))
        #expect((15...26).contains(Double(ether.trades) / 180))
        #expect(try #require(bitcoin.perSecond.values.max()) > 600)
        #expect(try #require(bitcoin.low) > #require(ExactDecimal("59000")))
        #expect(try #require(bitcoin.high) < #require(ExactDecimal("61000")))
        #expect(try #require(bitcoin.smallest) == #require(ExactDecimal("0.00001")))
        #expect((9.6...10).contains(Double(statistics.trades) / Double(statistics.frames)))
        #expect(statistics.pings.map { $0 / 1_000 } == [60, 120])
    }

    @Test("the same seed makes the same market, another seed another")
    func seeds() {
        func start(_ seed: UInt64) -> [SimulatedMarket.Frame] {
            var market = SimulatedMarket(.init(seed: seed))
            return (0..<50).map { _ in market.nextFrame() }
        }
        #expect(start(7) == start(7))
        #expect(start(7) != start(8))
    }
}
