import Ingest
import Market
import NIOCore
import Testing
import Wire
@testable import Feeds

/// Tests that a client with very many symbols does not use up the bounded numbers of all others.
@Suite("A tape whose symbol numbers are used up")
struct TapeRenewalTests {
    /// A reader that keeps the sequence number, the symbol and the epoch of each trade.
    ///
    /// Unchecked, because only the test's thread uses it.
    private final class Book: TapeReader, @unchecked Sendable {
        var lines: [String] = []
        var places: Set<String> = []
        var epochs: [UInt64] = []
        /// The symbols at the beginning of the newest epoch.
        var names: [String] = []
        /// Whether a batch came before its epoch had begun.
        var isAhead = false
        var maximumNames = 0
        var marked = 0

        func epochBegan(_ epoch: UInt64, first: UInt64, symbols: SymbolTable) {
            self.epochs.append(epoch)
            self.names = symbols.names
        }

        func read(_ batch: TapeBatch) {
            self.isAhead = self.isAhead || self.epochs.last != batch.epoch
            self.marked += batch.trades.count { $0.marks.contains(.possibleRepeat) }
            self.maximumNames = max(self.maximumNames, batch.symbols.count)
            for (index, trade) in batch.trades.enumerated() {
                self.lines.append("\(batch.symbols.name(of: trade.symbol)) \(trade.price)")
                self.places.insert("\(batch.epoch) \(batch.firstSequence + UInt64(index))")
            }
        }

        func statusChanged(_ status: FeedStatus) {}
        func gapFound(_ gap: Gap) {}
    }

    private static func frame(_ symbol: String, _ number: Int) -> ByteBuffer {
        ByteBuffer(
            string:
                #"{"data":[{"c":null,"p":\#(number),"s":"\#(symbol)","t":\#(1_723_161_255_342 + number),"v":1}],"type":"trade"}"#
        )
    }

    @Test(
        "begins a new epoch, so that 5,000 names that trade once leave numbers for others, and every trade has its name"
    )
    func manyNames() {
        let book = Book()
        let writer = FinnhubTape(epoch: 100, readers: [book])
        var expected: [String] = []
        for number in 1...5_000 {
            for symbol in ["NAME:\(number)", "BINANCE:BTCUSDT"] {
                _ = writer.take(Self.frame(symbol, number), now: Int64(number))
                expected.append("\(symbol) \(number)")
            }
            writer.endRead(Moment(monotonic: Int64(number), wall: Int64(number)))
        }
        #expect(book.lines == expected)
        // No two trades have the same position.
        #expect(book.places.count == expected.count)
        // Each epoch is published once, before its first batch and with the symbols of that batch.
        #expect(book.epochs == [100, 101] && !book.isAhead)
        #expect(book.names.count == 2 && book.names.last == "BINANCE:BTCUSDT")
        #expect(book.maximumNames < SymbolTable.capacity)
        #expect(writer.input.losses == LossReport.Counts())
    }

    @Test("counts the trades of too many symbols in a read apart from malformed ones")
    func tooManyAtOnce() {
        let book = Book()
        let writer = FinnhubTape(epoch: 1, readers: [book])
        let names = SymbolTable.capacity + 100
        for number in 1...names { _ = writer.take(Self.frame("NAME:\(number)", number), now: 1) }
        _ = writer.take(ByteBuffer(string: #"{"data":[{"p":"x"},{"p":1,"s":"","t":1,"v":1}],"type":"trade"}"#), now: 1)
        writer.endRead(Moment(monotonic: 1, wall: 1))
        #expect(book.lines.count == SymbolTable.capacity)
        #expect(writer.input.losses.unnumberedTrades == 100)
        #expect(writer.input.losses.malformedElements == 2 && writer.input.losses.malformedFrames == 0)
        // The next read has free numbers again.
        _ = writer.take(Self.frame("NAME:\(names)", 1), now: 2)
        writer.endRead(Moment(monotonic: 2, wall: 2))
        #expect(book.lines.last == "NAME:\(names) 1")
    }

    @Test("compares no trades across epochs: a number means another symbol then")
    func overlap() {
        let book = Book()
        let writer = FinnhubTape(epoch: 1, readers: [book])
        var number = 0
        while book.epochs.last != 2 {
            number += 1
            // The times and prices are the same under each number, so only the symbol distinguishes the trades.
            _ = writer.take(Self.frame("NAME:\(number)", 1), now: Int64(number))
            _ = writer.take(Self.frame("NAME:\(number)", 2), now: Int64(number))
            // An interruption in each read, from shortly before the epoch's end on.
            if number > 3_800 { writer.input.interrupted(from: 0, reason: "a reason", cause: nil) }
            writer.endRead(Moment(monotonic: Int64(number), wall: 1))
            guard number < 10_000 else { break }
        }
        #expect(book.lines.count == 2 * number && book.marked == 0)
    }
}
