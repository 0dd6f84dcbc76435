import Market
import NIOCore
import Recordings
import Testing
import TickertapeTesting
import Wire

@Suite("A recording of trades with ids")
struct SettledGapTests {
    private static let symbol = "BINANCE:BTCUSDT"
    private static let outcome = GapOutcome(
        symbol: Self.symbol,
        missing: 3_735_684_463...UInt64.max - 1,
        from: 1_500_000,
        to: 1_900_000,
        lost: [3_735_684_463...3_735_684_470, 9_000_000_000_000_000_000...9_000_000_000_000_000_000],
        reason: "the venue has them \"no more\""
    )

    private func recorder(_ folder: TemporaryFolder) throws -> Recorder {
        var settings = RecorderSettings()
        settings.compresses = false
        return try Recorder(
            path: "\(folder.path)/a.jsonl",
            symbols: [Self.symbol],
            started: 1_000,
            program: "test",
            epoch: 1,
            dialect: .binance,
            settings: settings,
            clock: RecorderClock(wall: { 1_900_000 }, monotonic: { 1_000 }),
            printError: { Issue.record("\($0)") }
        )
    }

    /// Returns a batch with one frame of Binance's, whose trades were left out or are on the tape.
    private func batch(_ id: UInt64, of dialect: FrameDialect = .binance, first: UInt64, isLeftOut: Bool) -> TapeBatch {
        var symbols = SymbolTable()
        let number = symbols.intern(Self.symbol) ?? SymbolID(index: 0)
        let price = ExactDecimal(significand: 5, exponent: 0) ?? .zero
        let trade = Trade(price: price, size: price, exchangeTime: 5_000_000, symbol: number, id: id)
        let isAnswer = dialect.answering != nil
        let frame =
            isAnswer
            ? VenueExchange(
                target: "/api/v3/historicalTrades?symbol=BTCUSDT&fromId=\(id)&limit=1",
                body: BinanceTradeList.encode([trade])
            ).frame : BinanceEncoder.trade(trade, symbols: symbols)
        return TapeBatch(
            epoch: 1,
            firstSequence: first,
            received: 1_500_000,
            receivedMonotonic: 1_000,
            trades: isLeftOut ? [] : [trade],
            frames: [
                TapeBatch.Frame(
                    bytes: frame,
                    dialect: dialect,
                    trades: isLeftOut ? 0..<0 : 0..<1,
                    isWhole: !isLeftOut,
                    leftOut: isLeftOut ? [0] : []
                )
            ],
            symbols: symbols
        )
    }

    private func lines(_ path: String) throws -> [RecordedLine] {
        let stream = try RecordingStream(path: path)
        var lines: [RecordedLine] = []
        while let line = try stream.next() { lines.append(line) }
        return lines
    }

    private func outcomes(_ path: String) throws -> [GapOutcome] {
        try self.lines(path).compactMap { if case .note(let note) = $0.content { note.outcome } else { nil } }
    }

    @Test("has the outcome of a gap behind the frames before it, and cut and merge keep it")
    func outcome() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let recorder = try self.recorder(folder)
        let complete = GapOutcome(symbol: "A", missing: 7...7, from: 1_000, to: 2_000)
        let whole = GapOutcome(symbol: "A", missing: nil, from: 1_000, to: 2_000)
        recorder.read(self.batch(1, first: 1, isLeftOut: false))
        recorder.gapSettled(Self.outcome)
        recorder.gapSettled(complete)
        recorder.gapSettled(whole)
        recorder.read(self.batch(2, first: 2, isLeftOut: false))
        _ = await recorder.finishPatiently()
        let path = "\(folder.path)/a.jsonl"
        #expect(try self.outcomes(path) == [Self.outcome, complete, whole])
        let line = try #require(try folder.read("a.jsonl").split(separator: "\n").first { $0.contains("settled") })
        #expect(line.contains(#""lost":["3735684463-3735684470","9000000000000000000-9000000000000000000"]"#))
        #expect(try RecordingCheck.check(path).isIntact)
        #expect(try RecordingCheck.check(path).events["settled"] == 3)

        let cut = "\(folder.path)/cut.jsonl"
        var order = RecordingEdits.Cut()
        order.symbols = [Self.symbol]
        _ = try RecordingEdits.cut(path, order, to: cut, form: .current)
        #expect(try self.outcomes(cut) == [Self.outcome])
        let merged = "\(folder.path)/merged.jsonl"
        _ = try RecordingEdits.merge([path, cut], to: merged, form: .current)
        #expect(try self.outcomes(merged) == [Self.outcome, complete, whole])
    }

    @Test(
        "has no outcome with wrong ids, without a symbol or without times",
        arguments: [
            #""symbol":"A","from":1,"to":2,"missingFirst":"5""#,
            #""symbol":"A","from":1,"to":2,"missingFirst":"5","missingLast":"4""#,
            #""symbol":"A","from":1,"to":2,"missingFirst":"5","missingLast":"9","lost":["4-5"]"#,
            #""symbol":"A","from":1,"to":2,"missingFirst":"5","missingLast":"9","lost":["5-7","7-9"]"#,
            #""symbol":"A","from":1,"to":2,"missingFirst":"5","missingLast":"9","lost":["7"]"#,
            #""symbol":"A","from":1,"to":2,"missingFirst":"5","missingLast":"9","lost":["9-8"]"#,
            #""symbol":"A","from":1,"missingFirst":"5","missingLast":"9""#,
            #""from":1,"to":2,"missingFirst":"5","missingLast":"9""#,
            #""symbol":"A","from":1,"to":2,"lost":["7-7"]"#,
            #""symbol":"A","from":1,"to":2,"missingLast":"9""#,
        ]
    )
    func hostile(members: String) {
        func content(_ members: String) -> RecordedLine.Content? {
            var parser = RecordingParser()
            parser.feed(ByteBuffer(string: #"{"event":"settled","mono":1,\#(members)}"# + "\n"))
            parser.finish()
            return parser.nextLine()?.content
        }
        let sound = #""symbol":"A","from":1,"to":2,"missingFirst":"5","missingLast":"9","lost":["5-6","8-8"]"#
        guard case .note(let note)? = content(sound), note.outcome?.lost == [5...6, 8...8] else {
            Issue.record("\(sound) is refused")
            return
        }
        guard case .damaged? = content(members) else {
            Issue.record("\(members) is accepted")
            return
        }
    }

    @Test("says of a frame whose trades were all left out which those are, and an export has none of them")
    func leftOut() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let recorder = try self.recorder(folder)
        recorder.read(self.batch(7, first: 4, isLeftOut: false))
        recorder.read(self.batch(7, first: 5, isLeftOut: true))
        recorder.read(self.batch(7, of: .binanceREST, first: 5, isLeftOut: true))
        recorder.read(self.batch(8, of: .binanceREST, first: 5, isLeftOut: false))
        _ = await recorder.finishPatiently()
        let path = "\(folder.path)/a.jsonl"
        let lines = try self.lines(path)
        let frames = lines.compactMap(\.frame)
        #expect(
            frames.map(\.numbers) == [
                RecordedNumbers(first: 4, count: 1), RecordedNumbers(first: 5, count: 0, leftOut: [0]),
                RecordedNumbers(first: 5, count: 0, leftOut: [0]), RecordedNumbers(first: 5, count: 1),
            ]
        )
        #expect(frames.map(\.dialect) == [.binance, .binance, .binanceREST, .binanceREST])
        let findings = try RecordingCheck.check(path)
        #expect(findings.isIntact && findings.trades == 2 && findings.header?.version == RecordingHeader.dialectVersion)
        #expect(findings.dialects == ["binance": 2, "binance-rest": 2])

        var export = RecordingExport(RecordingExport.Order(format: .csv))
        for _ in 0..<2 {
            // A file that is given twice.
            export.beginFile()
            for line in lines { export.take(line) }
        }
        export.finish()
        #expect(export.report.rows == 2 && export.report.unnamed == 0 && export.report.lostTrades == 0)

        // The exchanges belong to their connection.
        let cut = "\(folder.path)/cut.jsonl"
        var order = RecordingEdits.Cut()
        order.dialect = .binance
        _ = try RecordingEdits.cut(path, order, to: cut, form: .current)
        #expect(try self.lines(cut).compactMap(\.frame).map(\.numbers) == frames.map(\.numbers))
        let merged = "\(folder.path)/merged.jsonl"
        _ = try RecordingEdits.merge([path, cut], to: merged, form: .current)
        #expect(try self.lines(merged).compactMap(\.frame).count == 4)
    }

    @Test("has no numbers of a frame of Finnhub's that was left out as a whole")
    func finnhub() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let recorder = try self.recorder(folder)
        var batch = self.batch(7, first: 4, isLeftOut: true)
        batch.frames[0].dialect = .finnhub
        recorder.read(batch)
        _ = await recorder.finishPatiently()
        #expect(try self.lines("\(folder.path)/a.jsonl").compactMap(\.frame).map(\.numbers) == [nil])
    }
}
