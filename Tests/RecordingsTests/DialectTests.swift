import Market
import NIOConcurrencyHelpers
import NIOCore
import Recordings
import Testing
import TickertapeTesting
import Wire

@Suite("Frames of several dialects in a recording")
struct DialectTests {
    /// Returns the text of a frame with one trade of a symbol, at a price.
    private static func text(_ dialect: FrameDialect, _ symbol: String, _ price: Int) -> ByteBuffer {
        switch dialect {
        case .finnhub:
            ByteBuffer(string: #"{"data":[{"c":null,"p":\#(price),"s":"\#(symbol)","t":1,"v":1}],"type":"trade"}"#)
        case .binance, .coinbase, .kraken, .binanceREST, .coinbaseREST, .krakenREST:
            preconditionFailure("these tests record no frame of \(dialect)")
        case .tickertape:
            ByteBuffer(
                string: #"{"type":"trade","symbol":"\#(symbol)","seq":\#(price),"price":"\#(price)","size":"1","#
                    + #""time":1,"received":1}"#
            )
        }
    }

    private static let settings = {
        var settings = RecorderSettings()
        settings.compresses = false
        return settings
    }()

    private static func writer(_ disk: any RecordingDisk, folder: String) throws -> RecordingWriter {
        try RecordingWriter(
            names: SegmentNames(first: "\(folder)/a.jsonl"),
            header: RecordingHeader(program: "test", symbols: ["A"], start: 1_000_000, epoch: 1, source: "live"),
            monotonic: 0,
            settings: Self.settings,
            disk: disk
        )
    }

    private static func append(
        _ dialect: FrameDialect,
        _ symbol: String,
        _ number: Int,
        to writer: inout RecordingWriter
    ) {
        writer.append(
            frame: Self.text(dialect, symbol, number),
            of: dialect,
            received: 1_000_000 + Int64(number) * 1_000_000,
            monotonic: Int64(number) * 1_000_000,
            numbers: RecordedNumbers(first: UInt64(number), count: 1),
            epoch: 1
        )
    }

    /// Records two files: one frame of Finnhub's, and in the second file one of each dialect.
    private static func record(in folder: TemporaryFolder) throws -> String {
        var writer = try Self.writer(SystemDisk(), folder: folder.path)
        Self.append(.finnhub, "A", 1, to: &writer)
        Self.append(.tickertape, "B", 2, to: &writer)
        Self.append(.finnhub, "A", 3, to: &writer)
        writer.close(wall: 9_000_000, monotonic: 9_000_000)
        return "\(folder.path)/a.jsonl"
    }

    /// Returns the symbol, the dialect and the first number of each frame, and the header's version.
    private func frames(_ path: String, followsSegments: Bool = false) throws -> (version: Int, frames: [String]) {
        let stream = try RecordingStream(path: path, followsSegments: followsSegments)
        var reader = FrameReader()
        var symbols = SymbolTable()
        var frames: [String] = []
        while let line = try stream.next() {
            guard case .frame(let text, let numbers, let dialect) = line.content else { continue }
            var trades: [Trade] = []
            #expect(reader.read(text, of: dialect, symbols: &symbols, into: &trades) == .trades(skipped: 0))
            let trade = try #require(trades.first)
            frames.append("\(dialect.name) \(symbols.name(of: trade.symbol)) \(numbers?.first ?? 0)")
        }
        return (stream.segments[0].header.version, frames)
    }

    @Test("the first frame that is not Finnhub's begins a file of version 3, and the file before it does not change")
    func recorder() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = try Self.record(in: folder)
        #expect(try self.frames(path) == (2, ["finnhub A 1"]))
        #expect(try self.frames("\(folder.path)/a-0002.jsonl") == (3, ["tickertape B 2", "finnhub A 3"]))
        #expect(
            try self.frames(path, followsSegments: true)
                == (2, ["finnhub A 1", "tickertape B 2", "finnhub A 3"])
        )
        let span = try RecordingSpan(of: RecordingStream(path: path).segments)
        #expect(span == RecordingSpan(start: 1_000_000, bounds: 1_000_000...3_000_000))
        let alone = try TemporaryFolder()
        defer { alone.remove() }
        var writer = try Self.writer(SystemDisk(), folder: alone.path)
        Self.append(.finnhub, "A", 1, to: &writer)
        writer.close(wall: 9_000_000, monotonic: 9_000_000)
        // All but the last line, which names the next file.
        let lines = try alone.read("a.jsonl").split(separator: "\n")
        #expect(try folder.read("a.jsonl").split(separator: "\n").dropLast() == lines.dropLast())
        #expect(try !alone.read("a.jsonl").contains("dialect"))
        #expect(try folder.read("a-0002.jsonl").contains(#""dir":"in","dialect":"tickertape","seq":2"#))
    }

    @Test("a recorder of another feed than Finnhub's begins with a file of version 3, which holds its frames")
    func firstFile() async throws {
        for (dialect, version) in [(FrameDialect.tickertape, 3), (.finnhub, 2)] {
            let folder = try TemporaryFolder()
            defer { folder.remove() }
            let recorder = try Recorder(
                path: "\(folder.path)/a.jsonl",
                symbols: ["A"],
                started: 1_000,
                program: "test",
                epoch: 1,
                dialect: dialect,
                settings: Self.settings,
                clock: RecorderClock(wall: { 1_900_000 }, monotonic: { 1_000 }),
                printError: { Issue.record("\($0)") }
            )
            let frame = TapeBatch.Frame(
                bytes: Self.text(dialect, "A", 1),
                dialect: dialect,
                trades: 0..<0,
                isWhole: true
            )
            recorder.read(
                TapeBatch(
                    epoch: 1,
                    firstSequence: 1,
                    received: 1_100_000,
                    receivedMonotonic: 1_100_000,
                    trades: [],
                    frames: [frame],
                    symbols: SymbolTable()
                )
            )
            let report = await recorder.finish()
            #expect(report.isWhole && report.segments == 1 && report.frames == 1)
            #expect(try self.frames("\(folder.path)/a.jsonl") == (version, ["\(dialect.name) A 0"]))
        }
    }

    @Test("where the next file cannot be made, a frame that is not Finnhub's is left out, and the file reports it")
    func noFile() throws {
        let disk = FaultyDisk()
        var writer = try Self.writer(disk, folder: "/none")
        Self.append(.finnhub, "A", 1, to: &writer)
        disk.state.withLockedValue { $0.makesFiles = false }
        Self.append(.tickertape, "B", 2, to: &writer)
        Self.append(.finnhub, "A", 3, to: &writer)
        writer.close(wall: 9_000_000, monotonic: 9_000_000)
        #expect(writer.frames == 2 && writer.failed == 1)
        var reader = RecordingParser()
        reader.feed(ByteBuffer(bytes: disk.content("/none/a.jsonl")))
        var dropped: [UInt64] = []
        while let event = reader.nextEvent() {
            if case .gap(let gap) = event { dropped.append(gap.dropped ?? 0) }
        }
        #expect(dropped == [1])
    }

    @Test("verify counts the frames of each dialect, and a compressed file's index has their symbols and times")
    func readers() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        _ = try Self.record(in: folder)
        let path = "\(folder.path)/a-0002.jsonl"
        let found = try RecordingCheck.check(path)
        #expect(found.isIntact && found.frames == 2 && found.dialects == ["tickertape": 1])
        try PackedSegment.pack(path, to: "\(path).zst")
        #expect(try RecordingCheck.check("\(path).zst").dialects == ["tickertape": 1])
        let index = try #require(try RecordingMap(path: "\(path).zst").index)
        #expect(index.symbols == ["B", "A"] && index.blocks.map(\.symbols) == [[0, 1]])
    }

    @Test("repair, cut and merge keep the dialects; the new file has version 3 only where it needs it")
    func edits() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = try Self.record(in: folder)
        let second = "\(folder.path)/a-0002.jsonl"
        let all = ["finnhub A 1", "tickertape B 2", "finnhub A 3"]
        func made(_ name: String, _ make: (String) throws -> Void) throws -> (version: Int, frames: [String]) {
            let target = "\(folder.path)/\(name)"
            try make(target)
            #expect(try RecordingCheck.check(target).isIntact)
            return try self.frames(target)
        }
        #expect(
            try made("repaired") { _ = try RecordingEdits.repair(second, to: $0, form: .current) }
                == (3, ["tickertape B 2", "finnhub A 3"])
        )
        #expect(
            try made("merged") { _ = try RecordingEdits.merge([path, second], to: $0, form: .current) } == (3, all)
        )
        var cut = RecordingEdits.Cut()
        #expect(try made("whole") { _ = try RecordingEdits.cut(path, cut, to: $0, form: .current) } == (3, all))
        cut.symbols = ["B"]
        #expect(
            try made("b") { _ = try RecordingEdits.cut(path, cut, to: $0, form: .current) } == (3, ["tickertape B 2"])
        )
        cut.symbols = []
        cut.dialect = .finnhub
        #expect(
            try made("finnhub") { _ = try RecordingEdits.cut(path, cut, to: $0, form: .current) }
                == (2, ["finnhub A 1", "finnhub A 3"])
        )
        // A part without a message of the dialect makes no new file, and the failure names the other dialects.
        let others = "\(folder.path)/others"
        cut.dialect = .tickertape
        _ = try RecordingEdits.cut(path, cut, to: others, form: .current)
        cut.dialect = .finnhub
        let failure = #expect(throws: RecordingFailure.self) {
            try RecordingEdits.cut(others, cut, to: "\(folder.path)/none", form: .current)
        }
        #expect(failure?.description.contains("dialect finnhub") == true)
        #expect(failure?.description.contains("only of tickertape") == true)
        cut.dialect = nil
        #expect(throws: RecordingFailure.self) {
            try RecordingEdits.cut(path, cut, to: "\(folder.path)/plain", form: .plain)
        }
    }

    @Test("a frame of an unknown dialect is damage, and costs no other line")
    func unknown() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        _ = try Self.record(in: folder)
        let text = try folder.read("a-0002.jsonl").split(separator: "\n").map { line in
            guard line.contains("tickertape B") || line.contains(#""dialect":"tickertape""#) else { return "\(line)\n" }
            return ("\(line.dropLast(18))".replacing(#""dialect":"tickertape""#, with: #""dialect":"tick""#) + "}\n")
                .sealed
        }
        let path = try folder.write(text.joined(), to: "b.jsonl")
        let found = try RecordingCheck.check(path)
        #expect(found.frames == 1 && found.damage.count == 1)
        #expect(found.damage.first?.reason.contains("a newer tickertape is needed") == true)
    }
}
