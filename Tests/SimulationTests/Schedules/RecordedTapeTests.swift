import Foundation
import Market
import NIOCore
import Testing
import TickertapeTesting
import Wire
@testable import VenueSchedules

@Suite("The recording that the schedules in real time read as the tape")
struct RecordedTapeTests {
    private let market: VenueMarket
    private let folder: TemporaryFolder

    init() throws {
        self.market = try VenueMarket.made(.binance, seed: 1, count: 100)
        self.folder = try TemporaryFolder()
    }

    /// An empty recording.
    private var recording: RecordingBuffer {
        var header = RecordingHeader(version: RecordingHeader.dialectVersion, symbols: self.market.symbols, epoch: 1)
        header.monotonic = 1_000_000
        header.start = self.market.start
        return RecordingBuffer(header)
    }

    /// Returns the frame of a trade of the first symbol.
    private func frame(_ place: Int) -> ByteBuffer {
        let trade = self.market.trades[Int(self.market.columns[0].events[place])]
        return ByteBuffer(string: VenueText.frame(trade, of: .binance, symbol: self.market.symbols[0]))
    }

    /// Returns a recording of some trades of the first symbol, by their places, each a read.
    private func recording(_ places: [Int]) -> String {
        var recording = self.recording
        for (index, place) in places.enumerated() {
            recording.frame(
                self.frame(place),
                of: .binance,
                at: Int64(index) * 1_000,
                numbers: RecordedNumbers(first: UInt64(index) + 1, count: 1)
            )
        }
        recording.end()
        return String(buffer: recording.takeBytes())
    }

    /// Returns the tape and its checker, after a recording has been written in two parts.
    private func read(_ text: String, cutAt cut: Int) throws -> (RecordedTape, TapeChecker) {
        defer { self.folder.remove() }
        let checker = TapeChecker(self.market)
        let tape = RecordedTape(in: self.folder.path, checker, self.market)
        tape.read()
        let bytes = Array(text.utf8)
        let path = try self.folder.write(String(decoding: bytes[..<cut], as: UTF8.self), to: "tape.jsonl")
        tape.read()
        let file = try #require(FileHandle(forWritingAtPath: path))
        try file.seekToEnd()
        try file.write(contentsOf: bytes[cut...])
        tape.finish()
        checker.checkGiven()
        _ = checker.digest()
        return (tape, checker)
    }

    @Test("gives every trade to the checker, also of lines that came in two parts")
    func whole() throws {
        let text = self.recording([0, 1, 2])
        let (tape, checker) = try self.read(text, cutAt: text.utf8.count * 2 / 3)
        #expect(checker.faults == [])
        #expect(checker.tradeCount == 3 && tape.hasEnd && tape.files.count == 1)
    }

    @Test("has a fault for a trade that is missing without a gap")
    func missing() throws {
        let (_, checker) = try self.read(self.recording([0, 2]), cutAt: 100)
        #expect(checker.faults.contains { $0.contains("missing without a gap") })
    }

    @Test("has a fault for an altered line")
    func altered() throws {
        let text = self.recording([0, 1, 2]).replacing(#""trades":1"#, with: #""trades":2"#, maxReplacements: 1)
        let (_, checker) = try self.read(text, cutAt: 100)
        #expect(checker.faults.contains { $0.contains("damaged") })
    }

    @Test("takes a torn last line as what a kill leaves")
    func torn() throws {
        let text = String(self.recording([0, 1, 2]).dropLast(40))
        let (tape, checker) = try self.read(text, cutAt: 100)
        #expect(checker.faults == [] && !tape.hasEnd)
    }

    @Test("takes trades of one read as such, also where a gap stands between them")
    func disorder() throws {
        var recording = self.recording
        func put(_ place: Int, filled: [Int] = []) {
            recording.frame(
                self.frame(place),
                of: .binance,
                at: 1_000,
                numbers: RecordedNumbers(first: UInt64(sequence), count: 1, filled: filled)
            )
            sequence += 1
        }
        var sequence = 1
        put(0)
        // The trade between these two comes at the end of the read, so it is in no gap.
        put(2)
        let first = self.market.columns[0].first
        let gap = Gap(
            from: 0,
            to: 0,
            reason: "test",
            nextSequence: 3,
            symbol: self.market.symbols[0],
            missing: first + 3...first + 4
        )
        recording.gap(gap, at: 5_000)
        put(5)
        put(1, filled: [0])
        recording.end()
        let (_, checker) = try self.read(String(buffer: recording.takeBytes()), cutAt: 100)
        #expect(checker.faults == [] && checker.tradeCount == 4)
    }
}
