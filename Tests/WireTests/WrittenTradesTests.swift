import Market
import NIOCore
import Testing
import Wire

@Suite("Trades that an export has written")
struct WrittenTradesTests {
    @Test("are known exactly, in whatever order they come")
    func anyOrder() {
        var chance = SeededGenerator(seed: 7)
        var written = WrittenTrades()
        var known: Set<[UInt64]> = []
        for _ in 0..<60_000 {
            let (epoch, number) = (chance.next() % 2, chance.next() % 9_000)
            let isNew = known.insert([epoch, number]).inserted
            let isWritten = written.insert(number, epoch: epoch)
            #expect(isWritten == isNew)
        }
        for number in 0..<9_000 as Range<UInt64> where known.contains([1, number]) {
            #expect(written.contains(number, epoch: 1) && written.reaches(number + 1, epoch: 1))
        }
        let last = [written.insert(.max, epoch: .max), written.insert(.max, epoch: .max)]
        #expect(last == [true, false] && written.forgotten == 0)
    }

    @Test("take bounded memory: of too many pieces the oldest are forgotten, and whole stretches never")
    func bounded() {
        var written = WrittenTrades(maximumParts: 3)
        var isNew = true
        for number in 0..<8_192 as Range<UInt64> { isNew = written.insert(number, epoch: 1) && isNew }
        for place in 10..<20 as Range<UInt64> { isNew = written.insert(place * 4_096, epoch: 1) && isNew }
        #expect(isNew && written.forgotten == 7)
        #expect(written.contains(5_000, epoch: 1) && written.contains(19 * 4_096, epoch: 1))
        #expect(!written.contains(10 * 4_096, epoch: 1))
    }

    // MARK: Export

    private static let start: Int64 = 1_767_225_600_000_000_000

    /// Returns a piece of a recording: one trade for each number, ten a second.
    private static func piece(_ numbers: [UInt64]) -> ByteBuffer {
        var out = ByteBuffer()
        let first = Int64(numbers[0]) * 100_000_000
        RecordingSyntax.header(
            RecordingHeader(symbols: ["A", "B"], start: Self.start + first, epoch: 7, source: "live"),
            into: &out
        )
        for number in numbers {
            let at = Int64(number) * 100_000_000
            let time = (Self.start + at) / 1_000_000
            let symbol = number % 3 == 0 ? "B" : "A"
            RecordingSyntax.frame(
                ByteBuffer(string: #"{"data":[{"p":\#(number),"s":"\#(symbol)","t":\#(time),"v":1}],"type":"trade"}"#),
                RecordingSyntax.Stamp(number: number, wall: Self.start + at, at: at - first),
                numbers: RecordedNumbers(first: number, count: 1),
                into: &out
            )
        }
        return out
    }

    private static func export(
        _ files: [ByteBuffer],
        bars: BarWidth? = nil
    ) -> (rows: Set<Substring>, report: RecordingExport.Report) {
        var order = RecordingExport.Order(format: .csv, bars: bars)
        if files.count > 1 { order.openBars = 1_000 }
        var export = RecordingExport(order)
        for file in files {
            export.beginFile()
            var reader = RecordingParser()
            reader.feed(file)
            reader.finish()
            while let line = reader.nextLine() { export.take(line) }
        }
        export.finish()
        return (Set(String(buffer: export.takeText()).split(separator: "\n")), export.report)
    }

    @Test("none is lost of pieces in any order, of halves by symbols, and of lines that are out of order")
    func pieces() {
        let all = Array(1...3_000 as ClosedRange<UInt64>)
        let whole = Self.export([Self.piece(all)])
        #expect(whole.rows.count == 3_001)
        let (early, late) = (Self.piece(Array(all[..<1_200])), Self.piece(Array(all[1_000...])))
        let halves = [Self.piece(all.filter { $0 % 3 == 0 }), Self.piece(all.filter { $0 % 3 != 0 })]
        for (files, repeated) in [([late, early], 200), (halves, 0), (halves.reversed(), 0)] as [([ByteBuffer], UInt64)]
        {
            let rows = Self.export(files)
            #expect(rows.rows == whole.rows && rows.report.repeated == repeated)
        }
        var swapped = all
        swapped.swapAt(300, 301)
        #expect(Self.export([Self.piece(swapped)]).rows == whole.rows)
    }

    @Test("bars of halves by symbols are those of the whole")
    func bars() {
        let all = Array(1...3_000 as ClosedRange<UInt64>)
        let whole = Self.export([Self.piece(all)], bars: .second)
        // One half has trades of both symbols, because a frame may contain both.
        let halves = [Self.piece(all.filter { $0 % 3 == 0 || $0 % 5 == 0 }), Self.piece(all)]
        let rows = Self.export(halves, bars: .second)
        func sums(_ rows: Set<Substring>) -> Set<Substring> {
            // All columns except `incomplete` and `possibleRepeats`.
            Set(
                rows.map {
                    Substring(
                        $0.split(separator: ",", omittingEmptySubsequences: false).dropLast(2).joined(separator: ",")
                    )
                }
            )
        }
        #expect(sums(rows.rows) == sums(whole.rows) && rows.report.late == 0)
    }
}
