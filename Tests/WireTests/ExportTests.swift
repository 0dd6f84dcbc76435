import Market
import NIOCore
import Testing
import Wire

@Suite("The export of recordings")
struct ExportTests {
    private static func frame(_ trades: String...) -> ByteBuffer {
        ByteBuffer(string: #"{"data":[\#(trades.joined(separator: ","))],"type":"trade"}"#)
    }

    private static func trade(_ symbol: String, _ price: String, _ size: String, at time: Int) -> String {
        #"{"c":null,"p":\#(price),"s":"\#(symbol)","t":\#(1_795_239_000_000 + time),"v":\#(size)}"#
    }

    /// Returns a numbered recording: a frame of two trades, the same frame again, a gap, and a frame with another
    /// trade.
    ///
    /// - Parameter count: the number of trades that the first frame's line claims.
    private static func recording(count: Int = 2) -> ByteBuffer {
        let start: Int64 = 1_795_239_000_000_000_000
        var out = RecordingBuffer(RecordingHeader(symbols: ["A"], start: start, epoch: 7, source: "live"))
        let first = Self.frame(Self.trade("A", "1.50", "2", at: 0), Self.trade(#"B,\"x\""#, "1e-7", "0", at: 10))
        out.frame(first, at: 80_123_456, numbers: RecordedNumbers(first: 1, count: count))
        out.frame(first, at: 90_000_000)
        let gap = Gap(from: start + 30_000_000_000, to: start + 70_000_000_000, reason: "r", nextSequence: 3, epoch: 7)
        out.gap(gap, at: 70_000_000_000)
        let second = Self.frame(Self.trade("A", "9", "9", at: 1), Self.trade("A", "2.25", "2", at: 70_500))
        let numbers = RecordedNumbers(first: 3, count: 1, leftOut: [0])
        out.frame(second, at: 70_580_000_000, numbers: numbers)
        return out.bytes
    }

    private static func export(
        _ files: [ByteBuffer],
        _ order: RecordingExport.Order
    ) -> (lines: [String], report: RecordingExport.Report) {
        var export = RecordingExport(order)
        for file in files {
            export.beginFile()
            var reader = RecordingParser()
            reader.feed(file)
            reader.finish()
            while let line = reader.nextLine() { export.take(line) }
        }
        export.finish()
        let text = String(buffer: export.takeText())
        return (text.split(separator: "\n").map(String.init), export.report)
    }

    @Test("a trade from the future is in the bar of its recorded arrival, and a row as it is")
    func ahead() {
        var file = ByteBuffer()
        let start: Int64 = 1_795_239_000_000_000_000
        var header = RecordingHeader(symbols: ["A"], epoch: 7, source: "live")
        header.start = start
        RecordingSyntax.header(header, into: &file)
        for (number, time) in [0, 1_000, 2_592_000_000, 2_000].enumerated() {
            let at = Int64(number) * 1_000_000_000 + 80_000_000
            let stamp = RecordingSyntax.Stamp(number: UInt64(number) + 1, wall: start + at, at: at)
            let frame = Self.frame(Self.trade("A", "\(number + 1)", "2", at: time))
            RecordingSyntax.frame(
                frame,
                stamp,
                numbers: RecordedNumbers(first: UInt64(number) + 1, count: 1),
                into: &file
            )
        }
        let (bars, _) = Self.export([file], RecordingExport.Order(format: .csv, bars: .second))
        #expect(
            bars.dropFirst().map { $0.split(separator: ",")[2] } == ["1795239000000", "1795239001000", "1795239002000"]
        )
        let (rows, _) = Self.export([file], RecordingExport.Order(format: .csv))
        #expect(rows.count == 5 && rows[3].contains(",1797831000000,1795239002080000,"), "\(rows)")
        #expect(rows.dropFirst().map { $0.hasSuffix(",false,true,,false") } == [false, false, true, false], "\(rows)")
        let json = Self.export([file], RecordingExport.Order(format: .jsonLines)).lines
        #expect(json.map { $0.hasSuffix(#","ahead":true}"#) } == [false, false, true, false], "\(json)")
    }

    @Test("what the run knew to be ahead is so, and in the bar of its arrival, though the file alone does not say why")
    func recordedAhead() {
        let start: Int64 = 1_795_239_000_000_000_000
        var file = ByteBuffer()
        RecordingSyntax.header(
            RecordingHeader(symbols: ["A"], start: start, epoch: 7, source: "live"),
            into: &file
        )
        let frame = Self.frame(Self.trade("A", "1", "2", at: 0), Self.trade("A", "3", "2", at: 4_000))
        RecordingSyntax.frame(
            frame,
            RecordingSyntax.Stamp(number: 1, wall: start + 80_000_000, at: 0),
            numbers: RecordedNumbers(first: 1, count: 2, ahead: [1]),
            into: &file
        )
        let rows = Self.export([file], RecordingExport.Order(format: .csv)).lines
        #expect(rows.dropFirst().map { $0.hasSuffix(",7,2,false,true,,false") } == [false, true], "\(rows)")
        let bars = Self.export([file], RecordingExport.Order(format: .csv, bars: .second)).lines
        #expect(bars.dropFirst().map { $0.contains(",1795239000000,1,3,1,3,4,") } == [true], "\(bars)")
    }

    @Test("a gap as far from the trades as can be is one of another clock")
    func farGap() {
        let start: Int64 = 1_795_239_000_000_000_000
        var file = RecordingBuffer(RecordingHeader(symbols: ["A"], start: start, epoch: 7, source: "live"))
        file.frame(Self.frame(Self.trade("A", "1", "2", at: 0)), at: 0)
        file.gap(Gap(from: start, to: start &- .min, reason: "r", nextSequence: 0), at: 1)
        let (lines, report) = Self.export([file.bytes], RecordingExport.Order(format: .csv, bars: .second))
        #expect(lines.count == 2 && lines.last?.hasSuffix(",true,0") == true && report.gaps == 1, "\(lines)")
    }

    @Test("trades as CSV: exact, with clocks and names for ever; what the tape left out is there, marked")
    func csv() {
        let (lines, report) = Self.export([Self.recording()], RecordingExport.Order(format: .csv))
        #expect(
            lines == [
                "symbol,price,size,time,received,epoch,seq,possibleRepeat,ahead,id,filled",
                "A,1.5,2,1795239000000,1795239000080123,7,1,false,false,,false",
                #""B,""x""",0.0000001,0,1795239000010,1795239000080123,7,2,false,false,,false"#,
                // Trades that the tape left out, automatically or by the user's setting.
                "A,1.5,2,1795239000000,1795239000090000,,,true,false,,false",
                #""B,""x""",0.0000001,0,1795239000010,1795239000090000,,,true,false,,false"#,
                "A,9,9,1795239000001,1795239070580000,,,true,false,,false",
                "A,2.25,2,1795239070500,1795239070580000,7,3,false,false,,false",
            ]
        )
        #expect(report.trades == 6 && report.possibleRepeats == 3 && report.repeated == 0)
        #expect(report.gaps == 1 && report.damaged == 0)
    }

    @Test("rows that lack epoch and number because their header or their frame is damaged are counted")
    func unnamed() {
        var headless = Self.recording()
        headless.moveReaderIndex(to: (headless.readableBytesView.firstIndex(of: UInt8(ascii: "\n")) ?? 0) + 1)
        let (lines, report) = Self.export([headless], RecordingExport.Order(format: .csv))
        #expect(lines.dropFirst().allSatisfy { $0.contains(",,,") } && lines.count == 7, "\(lines)")
        // A frame that the tape left out entirely has no numbers to lose.
        #expect(report.unnamed == 4)
        #expect(Self.export([Self.recording()], RecordingExport.Order(format: .csv)).report.unnamed == 0)
        #expect(Self.export([Self.recording(count: 3)], RecordingExport.Order(format: .csv)).report.unnamed == 2)
        // Bars have no numbers.
        #expect(Self.export([headless], RecordingExport.Order(format: .csv, bars: .minute)).report.unnamed == 0)
    }

    @Test("trades as JSON lines; of the plain form nothing is made up")
    func jsonLines() {
        let plain = ByteBuffer(
            string: #"{"at":5,"frame":"{\"data\":[{\"p\":1,\"s\":\"A\",\"t\":1,\"v\":2}],\"type\":\"trade\"}"}"#
        )
        let (lines, _) = Self.export([plain], RecordingExport.Order(format: .jsonLines))
        #expect(
            lines == [#"{"symbol":"A","price":"1","size":"2","time":1,"received":null,"epoch":null,"seq":null}"#]
        )
    }

    @Test("a row has the venue's id and the mark of a filled trade, in CSV behind all earlier columns")
    func identified() {
        var file = ByteBuffer()
        RecordingSyntax.header(
            RecordingHeader(version: 3, symbols: ["A"], start: 0, epoch: 7, source: "live"),
            into: &file
        )
        for (number, id) in ["3735683259", "18446744073709551614"].enumerated() {
            let text =
                #"{"type":"trade","symbol":"A","seq":1,"price":"1.50","size":"2","time":1,"received":1,"id":"\#(id)"}"#
            let first = UInt64(number) + 1
            RecordingSyntax.frame(
                ByteBuffer(string: text),
                of: .tickertape,
                RecordingSyntax.Stamp(number: first, wall: 0, at: Int64(number)),
                numbers: RecordedNumbers(first: first, count: 1, filled: number == 1 ? [0] : []),
                into: &file
            )
        }
        let rows = Self.export([file], RecordingExport.Order(format: .csv)).lines
        #expect(
            rows.dropFirst().map { $0.split(separator: ",").suffix(4).joined(separator: ",") } == [
                "false,false,3735683259,false", "false,false,18446744073709551614,true",
            ]
        )
        let json = Self.export([file], RecordingExport.Order(format: .jsonLines)).lines
        #expect(json.first?.hasSuffix(#","seq":1,"id":"3735683259"}"#) == true, "\(json)")
        #expect(json.last?.hasSuffix(#","seq":2,"id":"18446744073709551614","filled":true}"#) == true, "\(json)")
    }

    @Test("bars: complete where all trades of a gap with ids have come, even if their time was over long before")
    func settled() throws {
        var symbols = SymbolTable()
        let interned = symbols.intern("BINANCE:BTCUSDT")
        let symbol = try #require(interned)
        let start: Int64 = 1_795_239_000_000_000_000
        /// A trade in each second but two, which come after more seconds than bars stay open.
        func file(lost: [ClosedRange<UInt64>]) throws -> ByteBuffer {
            var file = ByteBuffer()
            var header = RecordingHeader(
                version: RecordingHeader.dialectVersion,
                symbols: ["BINANCE:BTCUSDT"],
                start: start,
                epoch: 7,
                source: "live"
            )
            header.first = 1
            RecordingSyntax.header(header, into: &file)
            var line: UInt64 = 0
            func stamp(_ second: Int64) -> RecordingSyntax.Stamp {
                line += 1
                let at = second * 1_000_000_000 + 80_000_000
                return RecordingSyntax.Stamp(number: line, wall: start + at, at: at)
            }
            func add(_ id: UInt64, at second: Int64, isFilled: Bool = false) throws {
                let trade = Trade(
                    price: try #require(ExactDecimal(significand: 5, exponent: 0)),
                    size: try #require(ExactDecimal(significand: 1, exponent: 0)),
                    exchangeTime: start + Int64(id) * 1_000_000_000,
                    symbol: symbol,
                    id: id
                )
                let numbers = RecordedNumbers(first: line, count: 1, filled: isFilled ? [0] : [])
                let frame = BinanceEncoder.trade(trade, symbols: symbols)
                RecordingSyntax.frame(frame, of: .binance, stamp(second), numbers: numbers, into: &file)
            }
            for id in 1...9 as ClosedRange<UInt64> { try add(id, at: Int64(id)) }
            let missing: ClosedRange<UInt64> = 10...11
            let (from, to) = (start + 10_000_000_000, start + 11_500_000_000)
            var gap = Gap(from: from, to: to, reason: "missing", nextSequence: 10, epoch: 7, symbol: "BINANCE:BTCUSDT")
            gap.missing = missing
            RecordingSyntax.gap(gap, stamp(12), into: &file)
            for id in 12...200 as ClosedRange<UInt64> { try add(id, at: Int64(id)) }
            if lost.isEmpty { for id in missing { try add(id, at: 200, isFilled: true) } }
            let outcome = GapOutcome(
                symbol: "BINANCE:BTCUSDT",
                missing: missing,
                from: from,
                to: to,
                lost: lost,
                reason: lost.isEmpty ? nil : "too old"
            )
            RecordingSyntax.note(RecordedNote(outcome), stamp(201), into: &file)
            try add(201, at: 201)
            return file
        }
        let order = RecordingExport.Order(format: .csv, bars: .second)
        func incomplete(_ lines: [String]) -> Int { lines.filter { $0.contains(",true,") }.count }
        let (filled, report) = Self.export([try file(lost: [])], order)
        // The first and the last one are incomplete in every recording.
        #expect(filled.count == 1 + 201 && report.late == 0 && incomplete(filled) == 2, "\(filled)")
        let lost = Self.export([try file(lost: [10...11])], order).lines
        #expect(lost.count == 1 + 199 && incomplete(lost) > 2, "\(lost)")
    }

    @Test("bars: complete where nothing is missing in a gap without ids, also in a market of another time")
    func whole() {
        let start: Int64 = 1_795_239_000_000_000_000
        func incomplete(isTold: Bool) -> Int {
            var file = ByteBuffer()
            RecordingSyntax.header(RecordingHeader(symbols: ["A"], start: start), into: &file)
            var line: UInt64 = 0
            func stamp(_ second: Int64) -> RecordingSyntax.Stamp {
                line += 1
                return RecordingSyntax.Stamp(
                    number: line,
                    wall: start + second * 1_000_000_000,
                    at: second * 1_000_000_000
                )
            }
            for second in 1...9 as ClosedRange<Int64> {
                if second == 5 {
                    let (from, to) = (start + 4_200_000_000, start + 4_900_000_000)
                    let gap = Gap(from: from, to: to, reason: "lost", nextSequence: 5)
                    RecordingSyntax.gap(gap, stamp(second), into: &file)
                }
                let time = 1_600_000_000_000 + second * 1_000
                let text = #"{"data":[{"p":5,"s":"A","t":\#(time),"v":1}],"type":"trade"}"#
                RecordingSyntax.frame(ByteBuffer(string: text), of: .finnhub, stamp(second), numbers: nil, into: &file)
                if second == 7, isTold {
                    let (from, to) = (start + 4_200_000_000, start + 4_900_000_000)
                    let outcome = GapOutcome(symbol: "A", missing: nil, from: from, to: to)
                    RecordingSyntax.note(RecordedNote(outcome), stamp(second), into: &file)
                }
            }
            let lines = Self.export([file], RecordingExport.Order(format: .csv, bars: .second)).lines
            return lines.filter { $0.contains(",true,") }.count
        }
        #expect(incomplete(isTold: false) == 4 && incomplete(isTold: true) == 2)
    }

    @Test("bars: marked where a gap touches them, and where the recording begins or ends in them")
    func bars() {
        let (lines, _) = Self.export([Self.recording()], RecordingExport.Order(format: .csv, bars: .second))
        #expect(
            lines == [
                "symbol,width,start,open,high,low,close,volume,vwap,trades,incomplete,possibleRepeats",
                "A,1s,1795239000000,1.5,9,1.5,9,13,6.69230769230769231,3,true,2",
                "A,1s,1795239070000,2.25,2.25,2.25,2.25,2,2.25,1,true,0",
                #""B,""x""",1s,1795239000000,0.0000001,0.0000001,0.0000001,0.0000001,0,,0,true,0"#,
            ]
        )
        let minutes = Self.export([Self.recording()], RecordingExport.Order(format: .jsonLines, bars: .hour)).lines
        #expect(minutes.count == 2)
        #expect(minutes[0].contains(#""volume":"15","vwap":"6.1","trades":4,"incomplete":true,"possibleRepeats":2}"#))
    }

    @Test("a span and symbols are cut out")
    func cut() {
        var order = RecordingExport.Order(format: .csv)
        order.symbols = ["A"]
        order.from = 1_795_239_000_001_000_000
        #expect(Self.export([Self.recording()], order).lines.count == 3)
        order.to = 1_795_239_070_500_000_000
        #expect(Self.export([Self.recording()], order).lines.count == 2)
    }

    @Test("a file that is given twice is there once, and what follows without a hole is no gap")
    func files() {
        let file = Self.recording()
        let (lines, report) = Self.export([file, file], RecordingExport.Order(format: .csv))
        #expect(lines.count == 7 && report.trades == 6 && report.repeated == 6)
        var next = RecordingBuffer(
            RecordingHeader(symbols: ["A"], start: 1_795_239_000_000_000_000, epoch: 7, source: "live")
        )
        next.frame(
            Self.frame(Self.trade("A", "3", "1", at: 75_000)),
            at: 75_080_000_000,
            numbers: RecordedNumbers(first: 4, count: 1)
        )
        let seconds = Self.export([file, next.bytes], RecordingExport.Order(format: .csv, bars: .second)).lines
        #expect(seconds.contains("A,1s,1795239075000,3,3,3,3,1,3,1,true,0"))
        #expect(seconds.count == 5)
    }

    @Test("without numbers a message that comes again within two seconds is there, marked, as in a replay")
    func repeatedMessages() {
        func line(_ at: Int, _ price: Int) -> String {
            let trade = Self.trade("A", "\(price)", "2", at: 0).replacing("\"", with: "\\\"")
            return #"{"at":\#(at),"frame":"{\"data\":[\#(trade)],\"type\":\"trade\"}"}"# + "\n"
        }
        let lines = [(0, 1), (10, 2), (20, 1), (2_000_000_000, 2), (5_000_000_000, 1), (.max, 1)].map(line)
        let text = ByteBuffer(string: lines.joined())
        let (rows, report) = Self.export([text], RecordingExport.Order(format: .csv))
        #expect(
            rows.dropFirst().map { $0.hasSuffix(",true,false,,false") } == [false, false, true, true, false, false],
            "\(rows)"
        )
        #expect(report.trades == 6 && report.possibleRepeats == 2 && report.repeated == 0)
        let json = Self.export([text], RecordingExport.Order(format: .jsonLines)).lines
        #expect(json.map { $0.hasSuffix(#","possibleRepeat":true}"#) } == [false, false, true, true, false, false])
    }

    @Test(
        "messages that the tape left out are remembered within bounds, and it is said where that was not enough",
        arguments: [(100, 0, false), (4_200, 0, true), (40, 512 << 10, true)]
    )
    func forgotten(count: Int, padding: Int, isTooMuch: Bool) {
        let start: Int64 = 1_795_239_000_000_000_000
        var file = ByteBuffer()
        RecordingSyntax.header(
            RecordingHeader(symbols: ["A"], start: start, epoch: 7, source: "live"),
            into: &file
        )
        let rest = #"],"x":""# + String(repeating: "x", count: padding) + #"","type":"trade"}"#
        for number in 1...count {
            let at = Int64(number) * 1_000_000
            let stamp = RecordingSyntax.Stamp(number: UInt64(number), wall: start + at, at: at)
            let text = #"{"data":["# + Self.trade("A", "\(number)", "2", at: number) + rest
            RecordingSyntax.frame(ByteBuffer(string: text), stamp, numbers: nil, into: &file)
        }
        let once = Self.export([file], RecordingExport.Order(format: .csv)).report
        #expect(once.trades == UInt64(count) && once.repeated == 0 && !once.mayRepeat)
        let twice = Self.export([file, file], RecordingExport.Order(format: .csv)).report
        #expect(twice.mayRepeat == isTooMuch)
        #expect(twice.trades + twice.repeated == UInt64(2 * count))
        if !isTooMuch { #expect(twice.trades == UInt64(count)) }
    }

    @Test("what the tape has marked is marked, and 20 equal fills in two messages are all there")
    func marked() {
        let fills = Self.frame(Self.trade("A", "1", "2", at: 0), Self.trade("A", "1", "2", at: 0))
        var out = ByteBuffer()
        let header = RecordingHeader(symbols: ["A"], start: 0, epoch: 7, source: "live")
        RecordingSyntax.header(header, into: &out)
        for (index, places) in [[], [0, 1]].enumerated() {
            let first = UInt64(index * 2 + 1)
            let numbers = RecordedNumbers(first: first, count: 2, possibleRepeats: places)
            let stamp = RecordingSyntax.Stamp(number: first, wall: 1_795_239_000_000_000_000, at: Int64(index))
            RecordingSyntax.frame(fills, stamp, numbers: numbers, into: &out)
        }
        let rows = Self.export([out], RecordingExport.Order(format: .csv)).lines.dropFirst()
        let ends = rows.map { $0.split(separator: ",").suffix(4).dropLast().joined(separator: ",") }
        #expect(ends == ["1,false,false", "2,false,false", "3,true,false", "4,true,false"])
        let bars = Self.export([out], RecordingExport.Order(format: .csv, bars: .second)).lines
        #expect(bars.last?.hasSuffix(",8,1,4,true,2") == true, "\(bars)")
    }
}
