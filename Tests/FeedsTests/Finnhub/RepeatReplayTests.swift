import Market
import NIOCore
import Testing
import TickertapeTesting
import Wire
@testable import Feeds
@testable import MockUpstream
@testable import Simulation

/// Tests of replays with frames that are equal, or that become equal when they are cut.
@Suite("A replay of equal frames")
struct RepeatReplayTests {
    /// Plays a recording in virtual time; returns what its readers got.
    private func play(_ text: ByteBuffer, symbols: [String], speed: Double? = 1) throws -> TapeLog.Contents {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        var settings = ReplaySettings()
        settings.machine.speed = speed
        let file = try RecordingFile(path: try folder.write(String(buffer: text), to: "market.jsonl"))
        let log = TapeLog()
        let order = VirtualReplay.Order(symbols: symbols, source: .replay(file: "test", speed: 1), epoch: 9)
        _ = try VirtualReplay(.recording(file), settings: settings).run(order, readers: [log])
        return log.contents
    }

    private func lines(_ contents: TapeLog.Contents, of symbol: String) -> [String] {
        zip(contents.lines, contents.trades).filter { $0.0.hasPrefix(symbol + " ") }
            .map { "\($0.0) \($0.1.exchangeTime)" }
    }

    private func marked(_ contents: TapeLog.Contents) -> [Bool] {
        contents.trades.map { $0.marks.contains(.possibleRepeat) }
    }

    private static func recording(_ frames: [(at: Int64, text: String, numbers: RecordedNumbers?)]) -> ByteBuffer {
        var out = ByteBuffer()
        let header = RecordingHeader(
            symbols: ["A", "B"],
            start: 1_723_161_255_000_000_000,
            epoch: 7,
            source: "live"
        )
        RecordingSyntax.header(header, into: &out)
        for (index, frame) in frames.enumerated() {
            let stamp = RecordingSyntax.Stamp(number: UInt64(index + 1), wall: 1_723_161_255_000_000_000, at: frame.at)
            RecordingSyntax.frame(ByteBuffer(string: frame.text), stamp, numbers: frame.numbers, into: &out)
        }
        return out
    }

    private static func mixed(_ numbers: Int...) -> String {
        // One trade of each symbol; those of A are all equal.
        let (begin, end) = (#"{"data":["#, #"],"type":"trade"}"#)
        let frames = [FeedBench.trade("A", 1)] + numbers.map { FeedBench.trade("B", $0) }
        let trades = frames.map { $0.dropFirst(begin.utf8.count).dropLast(end.utf8.count) }
        return begin + trades.joined(separator: ",") + end
    }

    @Test("a simulated market has for each symbol what the whole has, also with one trade a frame")
    func simulated() throws {
        var market = SimulatedMarket.Settings(seed: 5)
        market.tempo.rate = SimulatedSymbol.rate(2_000, symbols: 2)
        var settings = SimulatedRun.Settings(market: market)
        settings.length = 5_000_000_000
        var whole = ByteBuffer()
        SimulatedRun.record(settings, into: { whole.writeImmutableBuffer($0) })
        // The same trades, one in each frame.
        var single = ByteBuffer()
        var run = SimulatedRun(settings)
        var parser = FinnhubParser()
        var table = SymbolTable()
        var trades: [Trade] = []
        while let item = run.next() {
            guard case .frame(let frame) = item else { continue }
            let first = trades.count
            _ = parser.parse(frame.frame, symbols: &table, into: &trades)
            for trade in trades[first...] {
                var text = ByteBuffer()
                FinnhubEncoder.trade([trade], symbols: table, into: &text)
                RecordingSyntax.plainFrame(text, at: frame.at, into: &single)
            }
        }
        #expect(trades.count > 5_000)
        for text in [whole, single] {
            let all = try self.play(text, symbols: table.names)
            #expect(all.trades.count == trades.count)
            for symbol in table.names {
                let one = try self.play(text, symbols: [symbol], speed: nil)
                #expect(self.lines(one, of: symbol) == self.lines(all, of: symbol))
                #expect(one.trades.count == self.lines(all, of: symbol).count)
            }
        }
    }

    @Test("frames that become equal when they are cut to one symbol are no repeats, at any speed")
    func cutFrames() throws {
        let text = Self.recording((1...4).map { (Int64($0) * 1_000_000, Self.mixed($0), nil) })
        for speed in [1, nil] as [Double?] {
            let all = try self.play(text, symbols: ["A", "B"], speed: speed)
            #expect(all.trades.count == 8 && !self.marked(all).contains(true))
            let one = try self.play(text, symbols: ["A"], speed: speed)
            #expect(one.trades.count == 4 && !self.marked(one).contains(true))
        }
    }

    @Test("trades marked in the recording are marked in its replay, whole and cut; so are equal frames without numbers")
    func recordedMarks() throws {
        let fills = FeedBench.trade("A", 2, 2, 2, 2, 2, 2, 2, 2, 2, 2)
        let numbered = Self.recording([
            (0, Self.mixed(1, 2), RecordedNumbers(first: 1, count: 3)),
            (1, Self.mixed(3, 4), RecordedNumbers(first: 4, count: 3, possibleRepeats: [0, 2])),
        ])
        #expect(self.marked(try self.play(numbered, symbols: ["A", "B"])) == [false, false, false, true, false, true])
        #expect(self.marked(try self.play(numbered, symbols: ["B"], speed: nil)) == [false, false, false, true])
        #expect(self.marked(try self.play(numbered, symbols: ["A"])) == [false, true])
        let plain = Self.recording([(0, fills, nil), (1, fills, nil), (3_000_000_000, fills, nil)])
        let reported = try self.play(plain, symbols: ["A"], speed: nil)
        #expect(
            self.marked(reported)
                == Array(repeating: false, count: 10) + Array(repeating: true, count: 10)
                + Array(repeating: false, count: 10)
        )
    }
}
