import Market
import Testing
import Wire

@testable import Sinks

@Suite("The ring of the newest trades")
struct TradeRingTests {
    /// A batch of one trade for each letter; letters are symbols, and the price is the trade's number.
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

    @Test("who comes back gets what followed, or is told that some of it is gone")
    func resumes() {
        let ring = self.ring("abcdefgh", size: 3, capacity: 4)
        #expect(ring.sequences == 5..<9)
        #expect(ring.since(8, epoch: 7) == .trades(9..<9))
        #expect(ring.since(6, epoch: 7) == .trades(7..<9))
        #expect(ring.since(4, epoch: 7) == .trades(5..<9))
        #expect(ring.since(3, epoch: 7) == .tooOld(oldest: 5))
        #expect(ring.since(9, epoch: 7) == .unknown)
        #expect(ring.since(6, epoch: 8) == .unknown)
        #expect(TradeRing().since(0, epoch: 7) == .unknown)
        #expect(ring.since(.max, epoch: 7) == .unknown)
    }

    @Test("a hole, or another epoch, begins the ring anew, so that what it holds is whole")
    func holes() {
        var ring = TradeRing(capacity: 4)
        ring.append(self.batch("aaa", first: 1))
        ring.append(self.batch("a", first: 10))
        #expect(ring.sequences == 10..<11 && ring.newest(9, of: "a") == [10])
        #expect(ring.since(3, epoch: 7) == .tooOld(oldest: 10))
        ring.append(self.batch("b", first: 1, epoch: 8))
        #expect(ring.sequences == 1..<2 && ring.newest(9, of: "a") == nil && ring.newest(9, of: "b") == [1])
        ring.append(self.batch("", first: 2, epoch: 8))
        ring.append(self.batch("bbbbbb", first: 2, epoch: 8))
        #expect(ring.newest(9, of: "b") == [4, 5, 6, 7])
    }

    @Test("a place takes 56 bytes")
    func size() {
        #expect(MemoryLayout<TradeRing.Entry>.stride == 56)
    }
}
