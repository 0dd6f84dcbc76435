import Market
import NIOCore
import NIOEmbedded
import Testing
import TickertapeTesting
@testable import Relay

@Suite("Lines: slow readers")
struct LineSlowReaderTests {
    private static func bench() -> HubBench {
        .lines {
            $0.maximumWaitingBytes = 64 << 10
            $0.maximumWaitingMessages = 100
        }
    }

    @Test("a reader of trades gets them in order, then the count of what it missed, and the end")
    func trades() throws {
        let bench = Self.bench()
        let client = try PipedLines(on: bench)
        _ = try client.ask("trades A")
        client.stopReading(fillsChannel: true)
        for number in 1...1_000 { bench.play(Frames.trade("A", "\(number)")) }
        client.goOnReading()
        var lines = try client.take()
        try #require(!lines.isEmpty)
        let last = lines.removeLast()
        #expect(lines.map { $0.split(separator: " ")[1] } == (1...lines.count).map { "\($0)" })
        #expect(lines.count >= 90 && lines.count < 1_000)
        #expect(last == "# too slow: \(1_000 - lines.count) trades missed")
        client.endInput()
        #expect(!client.channel.isActive)
    }

    @Test("a reader of trades that reads nothing for the stall timeout is closed")
    func stalled() throws {
        let bench = Self.bench()
        let client = try PipedLines(on: bench)
        _ = try client.ask("trades A")
        client.stopReading(fillsChannel: true)
        bench.play(Frames.trade("A", "1"))
        for _ in 0..<200 { bench.loop.advanceTime(by: .seconds(1)) }
        #expect(!client.channel.isActive && bench.hub.clientCount == 0)
    }

    @Test("a reader of prices goes on with the newest, and JSON counts what was left out")
    func prices() throws {
        let bench = Self.bench()
        let client = try PipedLines(on: bench)
        _ = try client.ask("prices A json")
        client.stopReading(fillsChannel: true)
        for number in 1...1_000 { bench.play(Frames.trade("A", "\(number)")) }
        client.goOnReading()
        let lines = try client.take()
        try #require(lines.count == 1)
        #expect(lines[0].contains(#""price":"1000""#) && lines[0].contains(#""skipped":999"#))
    }

    @Test("a reader that never reads its answers is read no further, and holds few of them")
    func answers() throws {
        let bench = Self.bench()
        let client = try PipedLines(on: bench)
        client.stopReading()
        for _ in 0..<10_000 where client.channel.isActive { try client.send("nonsense\n") }
        let waiting = bench.hub.reading(outboxBytes: 0, answerBytes: 0).waitingBytes
        #expect((1..<16 << 10).contains(waiting), "\(waiting) bytes waited")
        client.goOnReading()
        // What came in spite of that is answered, and nothing stays behind.
        #expect(try client.take().count == 10_000)
    }

    @Test("the commands of a client are limited")
    func commands() throws {
        let bench = HubBench.lines {
            $0.requestBurst = 5
            $0.requestsPerSecond = 1
        }
        let client = try PipedLines(on: bench)
        var lines: [String] = []
        for _ in 0..<20 where client.channel.isActive { lines += try client.ask("stop A") }
        #expect(lines.first == "# too many commands; slow down" && lines.last == "# too many commands")
    }
}
