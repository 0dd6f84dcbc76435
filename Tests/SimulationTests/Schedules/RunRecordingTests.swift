import Glibc
import Market
import NIOCore
import NIOEmbedded
import Testing
import Wire
@testable import VenueSchedules

@Suite("The proof of the schedules' recordings")
struct RunRecordingTests {
    private let market: VenueMarket
    private let loop = EmbeddedEventLoop()
    private let recording: RunRecording

    init() throws {
        self.market = try VenueMarket.made(.binance, seed: 1, count: 300)
        self.recording = try RunRecording(self.market, seed: 1)
    }

    /// Records some trades of the first run of a program, one a read.
    private func record(_ count: Int) throws -> LifeRecorder {
        let (bound, start) = (NIOLoopBound(self.loop, eventLoop: self.loop), self.market.start)
        let epoch = UInt64(self.recording.killed + 1)
        let recorder = try self.recording.begin(
            epoch: epoch,
            loop: self.loop,
            wallClock: { start + Int64(bound.value.now.uptimeNanoseconds) }
        )
        for event in 0..<count {
            self.loop.advanceTime(by: .milliseconds(40))
            let trade = self.market.trades[event]
            let text = VenueText.frame(trade, of: .binance, symbol: self.market.symbols[trade.symbol])
            let now = Int64(self.loop.now.uptimeNanoseconds)
            recorder.read(
                TapeBatch(
                    epoch: epoch,
                    firstSequence: UInt64(event + 1),
                    received: start + now,
                    receivedMonotonic: now,
                    trades: [self.market.parsed[event]],
                    frames: [
                        TapeBatch.Frame(
                            bytes: ByteBuffer(string: text),
                            dialect: .binance,
                            trades: 0..<1,
                            isWhole: true
                        )
                    ],
                    symbols: self.market.table
                )
            )
        }
        return recorder
    }

    private func change(_ recorder: LifeRecorder, _ change: (String) -> String) throws {
        let path = try #require(recorder.disk.paths.first)
        let file = try #require(fopen(path, "r+"))
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        bytes.removeLast(bytes.count - fread(&bytes, 1, bytes.count, file))
        let text = change(String(decoding: bytes, as: UTF8.self))
        rewind(file)
        ftruncate(fileno(file), 0)
        fputs(text, file)
    }

    @Test("accepts a recording that ended, and those of killed runs before it")
    func accepts() throws {
        defer { self.recording.remove() }
        _ = try self.record(40)
        self.recording.kill()
        _ = try self.record(50)
        self.recording.kill()
        try self.record(60).stop()
        self.recording.prove()
        #expect(self.recording.faults == [])
        // At most the frames since the last write, some 100 ms, are cut off.
        #expect((145...150).contains(self.recording.trades) && self.recording.killed == 2)
        #expect(self.recording.replayed > 30)
    }

    @Test("finds a line that is missing, and one that was altered")
    func damaged() throws {
        defer { self.recording.remove() }
        let recorder = try self.record(40)
        recorder.stop()
        try self.change(recorder) { text in
            let lines = text.split(separator: "\n")
            return (lines[..<20] + lines[21...]).joined(separator: "\n") + "\n"
        }
        self.recording.prove()
        #expect(!self.recording.faults.isEmpty)
    }

    @Test("finds that a part is missing that was written before the kill")
    func short() throws {
        defer { self.recording.remove() }
        let recorder = try self.record(40)
        self.recording.kill()
        try self.change(recorder) { String($0.prefix($0.utf8.count / 2)) }
        self.recording.prove()
        #expect(self.recording.faults.contains { $0.contains("were written") })
    }

    @Test("finds a recording that is not of this tape")
    func other() throws {
        defer { self.recording.remove() }
        let recorder = try self.record(40)
        recorder.copy.gapFound(
            Gap(from: 0, to: 0, reason: "x", nextSequence: 1, symbol: "BINANCE:BTCUSDT", missing: 1...2)
        )
        recorder.stop()
        self.recording.prove()
        #expect(self.recording.faults.contains { $0.contains("were written") })
    }
}
