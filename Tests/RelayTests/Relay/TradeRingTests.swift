import Market
import Testing
import Wire
@testable import Relay

@Suite("The ring of the newest trades")
struct TradeRingTests {
    /// Returns a batch with one trade for each letter; letters are symbols, and the price is the trade's number.
    private func batch(_ letters: String, first: UInt64, epoch: UInt64 = 7, symbols: SymbolTable? = nil) -> TapeBatch {
        var table = symbols ?? SymbolTable()
        var sequence = first
        let trades = letters.map { letter -> Trade in
            defer { sequence += 1 }
            return Trade(
                price: ExactDecimal("\(sequence)") ?? .zero,
                size: .zero,
                exchangeTime: Int64(sequence),
                symbol: table.intern(String(letter)) ?? SymbolID(index: 0)
            )
        }
        return TapeBatch(
            epoch: epoch,
            firstSequence: first,
            received: Int64(first),
            receivedMonotonic: Int64(first),
            trades: trades,
            frames: [],
            symbols: table
        )
    }

    /// Feeds the letters in batches of a size, as one feed would.
    private func ring(_ letters: String, size: Int, capacity: Int) -> TradeRing {
        var ring = TradeRing(capacity: capacity)
        var table = SymbolTable()
        var rest = Array(letters)[...]
        var first: UInt64 = 1
        while !rest.isEmpty {
            let batch = self.batch(String(rest.prefix(size)), first: first, symbols: table)
            table = batch.symbols
            ring.append(batch)
            first += UInt64(batch.trades.count)
            rest = rest.dropFirst(size)
        }
        return ring
    }

    @Test(
        "whatever the capacity and the batches, it holds the newest trades, by number and by symbol",
        arguments: 1...9
    )
    func model(capacity: Int) {
        let letters = "abacabadabacabaeffffgabaccc"
        for length in 0...letters.count {
            let all = Array(letters.prefix(length))
            for size in 1...5 {
                let ring = self.ring(String(all), size: size, capacity: capacity)
                let kept = all.indices.suffix(capacity).map { UInt64($0 + 1) }
                #expect(Array(ring.sequences) == kept)
                for sequence in kept {
                    #expect(ring[sequence].trade.exchangeTime == Int64(sequence))
                    #expect(ring.symbols.name(of: ring[sequence].trade.symbol) == String(all[Int(sequence) - 1]))
                }
                for letter in "abcdefg" {
                    let expected = kept.filter { all[Int($0) - 1] == letter }
                    #expect(ring.newest(100, of: String(letter)) == (expected.isEmpty ? nil : expected))
                    if !expected.isEmpty { #expect(ring.newest(1, of: String(letter)) == [expected.last ?? 0]) }
                }
            }
        }
    }

    /// Returns where a client resumes that knows a trade, and the shortage.
    private func path(_ ring: TradeRing, _ sequence: UInt64, epoch: UInt64 = 7) -> String? {
        ring.path(since: TapePosition(epoch: epoch, sequence: sequence)).map { path in
            "\(path.start) \(path.shortage.map { "\($0)" } ?? "-") \(path.isComplete)"
        }
    }

    @Test("a resuming client gets the trades that followed, or a report that some are gone")
    func resumes() {
        let ring = self.ring("abcdefgh", size: 3, capacity: 4)
        #expect(ring.sequences == 5..<9)
        #expect(self.path(ring, 8) == "7:9 - true")
        #expect(self.path(ring, 6) == "7:7 - true")
        #expect(self.path(ring, 4) == "7:5 - true")
        #expect(self.path(ring, 3) == "7:5 tooOld false")
        #expect(self.path(ring, 9) == "7:9 unknown false")
        #expect(self.path(ring, 6, epoch: 8) == "7:9 unknown false")
        #expect(self.path(ring, 6, epoch: 6) == "7:5 unknown false")
        #expect(self.path(ring, .max) == "7:9 unknown false")
        #expect(self.path(TradeRing(), 0) == nil)
        #expect(self.path(TradeRing(epoch: 7), 0) == "7:1 - true")
    }

    @Test("trades past their age are dropped, whether trades come or not")
    func ages() {
        let second: Int64 = 1_000_000_000
        var ring = TradeRing(capacity: 100, span: 10 * second, epoch: 7)
        var table = SymbolTable()
        for number in 1...30 as ClosedRange<Int64> {
            var batch = self.batch("a", first: UInt64(number), symbols: table)
            batch.receivedMonotonic = number * second
            table = batch.symbols
            let promised = max(ring.lowerBound(after: batch), ring.lowerBound(at: batch.receivedMonotonic))
            ring.append(batch)
            #expect(ring.sequences == promised..<UInt64(number + 1))
            #expect(ring.sequences.lowerBound == UInt64(max(1, number - 10)), "at \(number) s")
        }
        ring.expire(now: 35 * second)
        #expect(ring.sequences == 25..<31 && ring.newest(100, of: "a") == Array(25...30))
        ring.expire(now: 100 * second)
        #expect(ring.sequences == 31..<31 && ring.newest(100, of: "a") == nil)
        #expect(self.path(ring, 30) == "7:31 - true")
        #expect(self.path(ring, 29) == "7:31 tooOld false")
    }

    @Test("trades of earlier runs come first, with a gap between, and give way to this run's")
    func earlierRuns() throws {
        var ring = TradeRing(capacity: 8, epoch: 9)
        let gap = Gap(from: 1, to: 2, reason: "the program was started anew", nextSequence: 1, epoch: 9)
        ring.preload([self.batch("ab", first: 5, epoch: 7)], gap: gap)
        ring.preload([self.batch("ab", first: 11, epoch: 8), self.batch("ba", first: 13, epoch: 8)], gap: gap)
        #expect(ring.count == 6)
        #expect(self.path(ring, 4, epoch: 7) == "7:5 - false")
        #expect(self.path(ring, 6, epoch: 7) == "7:7 - false")
        #expect(self.path(ring, 3, epoch: 7) == "7:5 tooOld false")
        #expect(self.path(ring, 7, epoch: 7) == "8:11 unknown false")
        #expect(self.path(ring, 14, epoch: 8) == "8:15 - false")
        #expect(self.path(ring, 15, epoch: 8) == "9:1 unknown false")
        #expect(self.path(ring, 1, epoch: 6) == "7:5 unknown false")
        #expect(self.path(ring, 0, epoch: 9) == "9:1 - true")
        #expect(self.path(ring, 0, epoch: 10) == "9:1 unknown false")
        #expect(ring.count(of: "a", from: TapePosition(epoch: 7, sequence: 6)) == 2)
        ring.append(self.batch("aabb", first: 1, epoch: 9))
        #expect(ring.count == 8)
        #expect(ring.count(of: "a", from: TapePosition(epoch: 8, sequence: 12)) == 3)
        #expect(ring.count(of: "a", from: TapePosition(epoch: 9, sequence: 2)) == 1)
        // Two of the oldest trades were dropped.
        #expect(self.path(ring, 5, epoch: 7) == "8:11 unknown false")
        let (next, index) = ring.run(at: TapePosition(epoch: 8, sequence: 15))
        #expect(next.epoch == 8 && index == 0)
        #expect(ring.behind(earlier: 0).next == TapePosition(epoch: 9, sequence: 1))
        // A hole in this run: the trades before it cannot be joined to later ones.
        ring.append(self.batch("a", first: 9, epoch: 9))
        #expect(ring.earlier.isEmpty && ring.sequences == 9..<10)
    }

    @Test("a hole, or another epoch, restarts the ring, so that its contents have no hole")
    func holes() {
        var ring = TradeRing(capacity: 4)
        ring.append(self.batch("aaa", first: 1))
        ring.append(self.batch("a", first: 10))
        #expect(ring.sequences == 10..<11 && ring.newest(9, of: "a") == [10])
        #expect(self.path(ring, 3) == "7:10 tooOld false")
        ring.append(self.batch("b", first: 1, epoch: 8))
        #expect(ring.earlier.count == 1 && ring.sequences == 1..<2)
        #expect(ring.newest(9, of: "a") == nil && ring.newest(9, of: "b") == [1])
        ring.append(self.batch("", first: 2, epoch: 8))
        ring.append(self.batch("bbbbbb", first: 2, epoch: 8))
        #expect(ring.newest(9, of: "b") == [4, 5, 6, 7])
    }

    @Test("the trades of an epoch become an earlier run with the first one of another epoch")
    func takeover() {
        var ring = TradeRing(capacity: 6)
        ring.append(self.batch("aba", first: 5))
        let gap = Gap(from: 1, to: 2, reason: "another ingest has taken over", nextSequence: 1, epoch: 8)
        let batch = self.batch("ba", first: 1, epoch: 8)
        #expect(ring.lowerBound(after: batch) == 5)
        ring.append(batch, behind: gap)
        #expect(self.path(ring, 5) == "7:6 - false" && self.path(ring, 7) == "7:8 - false")
        #expect(self.path(ring, 3) == "7:5 tooOld false" && self.path(ring, 0, epoch: 8) == "8:1 - true")
        #expect(ring.count(of: "a", from: TapePosition(epoch: 7, sequence: 6)) == 2 && ring.count == 5)
        let (gapBehind, next) = ring.behind(earlier: 0)
        #expect(gapBehind == gap && next == TapePosition(epoch: 8, sequence: 1))
        // Another one; the oldest trades are beyond the capacity.
        ring.append(self.batch("aab", first: 1, epoch: 9))
        #expect(ring.count == 6 && ring.earlier.count == 2)
        #expect(self.path(ring, 6) == "7:7 - false" && self.path(ring, 5) == "7:7 tooOld false")
        #expect(ring.behind(earlier: 1).gap.reason == "the numbers begin anew")
        #expect(self.path(ring, .max) == "8:1 unknown false" && self.path(ring, .max, epoch: 9) == "9:4 unknown false")
    }

    @Test("an epoch that goes on behind trades of an earlier run has two parts, with a gap between them")
    func restartInEpoch() {
        var ring = TradeRing(capacity: 8)
        let gap = Gap(from: 1, to: 2, reason: "tickertape was restarted", nextSequence: 9, epoch: 7)
        ring.preload([self.batch("aba", first: 2)], gap: gap)
        ring.append(self.batch("ab", first: 9))
        #expect(self.path(ring, 2) == "7:3 - false" && self.path(ring, 4) == "7:5 - false")
        #expect(self.path(ring, 5) == "7:9 tooOld false" && self.path(ring, 8) == "7:9 - true")
        #expect(self.path(ring, 0) == "7:9 tooOld false")
        for sequence: UInt64 in 2...5 { #expect(ring.run(at: TapePosition(epoch: 7, sequence: sequence)).earlier == 0) }
        for sequence: UInt64 in 9...11 {
            #expect(ring.run(at: TapePosition(epoch: 7, sequence: sequence)).earlier == nil)
        }
        #expect(ring.count(of: "a", from: TapePosition(epoch: 7, sequence: 3)) == 2)
    }

    @Test("an entry takes 56 bytes")
    func size() {
        #expect(MemoryLayout<TradeRing.Entry>.stride == 56)
    }
}
