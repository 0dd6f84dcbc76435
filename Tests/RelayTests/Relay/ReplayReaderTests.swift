import WebSocket
import Market
import NIOCore
import NIOEmbedded
import Testing
import TickertapeTesting
import Wire
@testable import Relay

/// The messages to clients of a replay around its gaps and at its end, at any speed.
@Suite("Readers of a replay")
struct ReplayReaderTests {
    private static let base: Int64 = 1_723_161_255_342_000_000

    private func bench(flow: FlowCalls? = nil) -> HubBench {
        HubBench(flow: flow) {
            $0.keepQuiet()
            $0.webSocket.pingInterval = .hours(1)
        }
    }

    private static func frame(_ elements: [String]) -> String {
        #"{"data":[\#(elements.joined(separator: ","))],"type":"trade"}"#
    }

    private static func gap(_ cause: FeedStatus.Cause, at milliseconds: Int = 0) -> Gap {
        let from = Self.base + Int64(milliseconds) * 1_000_000
        return Gap(from: from, to: from + 1_000_000_000, reason: "r", nextSequence: 1, epoch: 7, cause: cause)
    }

    @Test(
        "gaps come after all trades that wait, however many messages, and close no client",
        arguments: ["", "&overflow=latest"]
    )
    func manyMessages(overflow: String) throws {
        let bench = self.bench(flow: FlowCalls())
        let client = try bench.pipedStream("?symbols=*&delivery=all\(overflow)")
        _ = try client.takeTexts()
        client.stopReading()
        // One batch of a feed at the speed `max`.
        let elements = (1...1_500).map { Frames.element("A", "\($0)") }
        bench.play(Self.frame(elements))
        client.stopReading(fillsChannel: true)
        for _ in 1...100 { bench.hub.take(.gap(Self.gap(.recorded))) }
        client.goOnReading()
        let texts = try client.takeTexts()
        #expect(texts.count { $0.contains(#""type":"trade""#) } == 1_500, "\(texts.last ?? "")")
        #expect(texts.suffix(100).allSatisfy { $0.contains(#""type":"gap""#) }, "\(texts.last ?? "")")
        bench.play(Frames.trade("A", "7"))
        #expect(try client.takeTexts().contains { $0.contains(#""price":"7""#) })
    }

    @Test("an earlier price is the newest after a move of the replay, and late otherwise")
    func movedBack() throws {
        for (cause, price) in [(FeedStatus.Cause.seek, "90"), (.recorded, "100")] {
            let bench = self.bench()
            let client = try bench.pipedStream("?symbols=*")
            bench.play(Frames.trade("A", "100", time: 30_000))
            _ = try client.takeTexts()
            bench.hub.take(.gap(Self.gap(cause)))
            bench.play(Frames.trade("A", "90", time: 25_000))
            let snapshot = bench.hub.snapshot()
            #expect(String(buffer: snapshot).contains(#""price":"\#(price)""#), "\(cause)")
            let isReported = try client.takeTexts().contains { $0.contains(#""price":"90""#) }
            #expect(isReported == (cause == .seek))
            // From there on the rule applies again.
            bench.play(Frames.trade("A", "80", time: 24_000))
            let later = bench.hub.snapshot()
            #expect(String(buffer: later).contains(#""price":"\#(price)""#), "\(cause)")
        }
    }

    @Test("at the end the last price comes for a client with an interval, before the close frame")
    func lastBeat() throws {
        let bench = self.bench()
        let client = try bench.pipedStream("?symbols=*&every=250ms")
        let other = try bench.pipedStream("?symbols=*&every=1s")
        for price in ["1", "2", "3"] { bench.play(Frames.trade("A", price)) }
        bench.loop.advanceTime(by: .milliseconds(300))
        for price in ["4", "5"] { bench.play(Frames.trade("A", price)) }
        bench.hub.stop(reason: "the replay is over", within: .seconds(1))
        for (reader, prices) in [(client, ["3", "5"]), (other, ["5"])] {
            let texts = try reader.takeTexts()
            #expect(texts.compactMap(Self.price) == prices, "\(texts)")
            #expect(texts.last == "1001 the replay is over")
        }
    }

    @Test("closed bars that a gap touches come again at once, however many trades follow in the same turn")
    func touchedBars() throws {
        let bench = self.bench()
        let client = try bench.pipedStream()
        try client.send(#"{"type":"subscribe","symbol":"A","bars":"1s"}"#)
        func seconds(_ range: ClosedRange<Int>) -> String {
            let elements = range.map { Frames.element("A", "\($0 + 1)", time: $0 * 1_000) }
            return Self.frame(elements)
        }
        bench.play(seconds(0...20))
        _ = try client.takeTexts()
        bench.hub.take(.gap(Self.gap(.recorded, at: 19_000)))
        bench.play(seconds(25...60))
        let again = try client.takeTexts().filter { $0.contains(#""closed":true,"incomplete":true"#) }
        let starts = again.compactMap { RunningProgram.number(in: $0, behind: #""start":"#) }
        let first = 1_723_161_255_000
        #expect(starts.starts(with: [17, 18, 19].map { first + $0 * 1_000 }), "\(starts.map { ($0 - first) / 1_000 })")
    }

    @Test("a bar that is not over at the end is sent as it is then, before the close frame")
    func openBar() throws {
        let bench = self.bench()
        let client = try bench.pipedStream()
        bench.play(Frames.trade("A", "1"))
        try client.send(#"{"type":"subscribe","symbol":"A","bars":"1m"}"#)
        for price in ["2", "3"] { bench.play(Frames.trade("A", price)) }
        bench.hub.stop(reason: "the replay is over", within: .seconds(1))
        let texts = try client.takeTexts()
        #expect(texts.last == "1001 the replay is over")
        let bar = texts.dropLast().last ?? ""
        #expect(bar.contains(#""close":"3""#) && bar.contains(#""trades":3,"closed":false"#), "\(texts)")
    }

    private static func price(_ text: String) -> String? {
        guard text.contains(#""type":"price""#) || text.contains(#""type":"snapshot""#) else { return nil }
        return text.split(separator: #""price":""#).last?.split(separator: "\"").first.map(String.init)
    }
}
