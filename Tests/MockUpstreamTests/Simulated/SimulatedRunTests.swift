import Feeds
import Market
import MockUpstream
import NIOCore
import Testing
import TickertapeTesting
import Wire

@Suite("A simulated market as it is played")
struct SimulatedRunTests {
    private struct Seen {
        var frames: [ByteBuffer] = []
        var gaps: [RecordedGap] = []
        var times: [Int64] = []
        var trades: [Trade] = []
    }

    private func run(_ change: (inout SimulatedRun.Settings) -> Void) -> Seen {
        var settings = SimulatedRun.Settings(market: SimulatedMarket.Settings(seed: 9))
        settings.length = 60_000_000_000
        change(&settings)
        var run = SimulatedRun(settings)
        var seen = Seen()
        var parser = FinnhubParser()
        var symbols = SymbolTable()
        while let item = run.next() {
            switch item {
            case .frame(let frame):
                seen.frames.append(frame.frame)
                seen.times.append(frame.at)
                _ = parser.parse(frame.frame, symbols: &symbols, into: &seen.trades)
            case .gap(let gap): seen.gaps.append(gap)
            case .signal, .closing, .connected, .settled: Issue.record("a market has no pings")
            }
        }
        #expect(zip(seen.times, seen.times.dropFirst()).allSatisfy { $0 <= $1 })
        return seen
    }

    @Test("has about the requested rate", arguments: [50.0, 5_000])
    func rate(_ rate: Double) {
        let seen = self.run { $0.market.tempo.rate = SimulatedSymbol.rate(rate, symbols: 2) }
        let measured = Double(seen.trades.count) / 60
        #expect((rate * 0.4...rate * 2.5).contains(measured), "\(measured) a second")
    }

    @Test("has its bursts at their times, all of their trades in one millisecond")
    func bursts() {
        let seen = self.run { $0.market.tempo.burst = SimulatedTempo.Burst(trades: 700, interval: 20_000) }
        for second in [20, 40] as [Int64] {
            let time = (1_767_225_600_000 + second * 1_000) * 1_000_000
            #expect(seen.trades.count { $0.exchangeTime == time } >= 700)
        }
        #expect(zip(seen.trades, seen.trades.dropFirst()).allSatisfy { $0.exchangeTime <= $1.exchangeTime })
    }

    @Test("repeats the requested share of messages, at once, and is otherwise the same market")
    func repeats() {
        let plain = self.run { _ in }
        let seen = self.run { $0.repeats = 0.2 }
        var once: [ByteBuffer] = []
        for frame in seen.frames where once.last != frame { once.append(frame) }
        #expect(once == plain.frames)
        let share = Double(seen.frames.count - plain.frames.count) / Double(plain.frames.count)
        #expect((0.12...0.28).contains(share), "\(share)")
    }

    @Test("reports its gaps, and plays nothing during them")
    func gaps() {
        let seen = self.run {
            $0.gapInterval = 20_000_000_000
            $0.gapLength = 3_000_000_000
        }
        #expect(seen.gaps.map { ($0.gap.to - $0.gap.from) / 1_000_000 } == [3_000, 3_000])
        for start in [20, 40] as [Int64] {
            let silence = start * 1_000_000_000..<(start + 3) * 1_000_000_000
            #expect(!seen.times.contains { silence.contains($0) })
        }
    }

    @Test("a larger volatility moves the price farther")
    func volatility() {
        func spread(_ volatility: Double) -> Double {
            let seen = self.run { $0.market.tempo.volatility = volatility }
            let prices = seen.trades.filter { $0.symbol.index == 0 }.compactMap { Double("\($0.price)") }
            return (prices.max() ?? 0) - (prices.min() ?? 0)
        }
        #expect(spread(10) > 2 * spread(1))
        #expect(spread(0) == 0)
    }

    @Test("written as a recording, the same settings give the same bytes, and reading them gives the market")
    func recording() throws {
        var settings = SimulatedRun.Settings(market: SimulatedMarket.Settings(seed: 3))
        settings.length = 30_000_000_000
        settings.gapInterval = 10_000_000_000
        settings.gapLength = 1_000_000_000
        func write() -> ByteBuffer {
            var all = ByteBuffer()
            SimulatedRun.record(settings) { all.writeImmutableBuffer($0) }
            return all
        }
        let bytes = write()
        #expect(bytes == write())
        var reader = RecordingParser()
        reader.feed(bytes)
        reader.finish()
        var frames = 0
        var gaps = 0
        while let event = reader.nextEvent() {
            switch event {
            case .header(let header): #expect(header.source == "simulated" && header.symbols.count == 2)
            case .frame: frames += 1
            case .gap: gaps += 1
            case .damaged, .torn: Issue.record("\(event)")
            }
        }
        #expect(frames > 30 && gaps == 2)
    }
}
