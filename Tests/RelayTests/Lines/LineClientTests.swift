import HTTP
import Ingest
import Market
import NIOCore
import NIOEmbedded
import Testing
import TickertapeTesting
import Wire
@testable import Relay

@Suite("Lines: a client")
struct LineClientTests {
    private static let time = "2024-08-08T23:54:15.342Z"

    @Test("prices: the newest one first, then each new one, until stop")
    func prices() throws {
        let bench = HubBench.lines()
        bench.play(Frames.trade("A", "61837.63", size: "0.02"))
        let client = try PipedLines(on: bench)
        #expect(try client.ask("prices A B\r").contains("A 61837.63 0.02 \(Self.time)"))
        #expect(bench.calls.all.sorted() == ["A", "B"])
        bench.play(Frames.trade("A", "61837.7", size: "1"), Frames.trade("C", "5"))
        #expect(try client.take() == ["A 61837.7 1 \(Self.time)"])
        #expect(try client.ask("stop A") == [])
        bench.play(Frames.trade("A", "61838"))
        #expect(try client.take() == [])
    }

    @Test("trades: every one, the same bytes for all clients of a form")
    func trades() throws {
        let bench = HubBench.lines()
        let clients = try (0..<3).map { _ in try PipedLines(on: bench) }
        for client in clients { #expect(try client.ask("trades A") == []) }
        bench.play(Frames.trades(Frames.element("A", "1"), Frames.element("A", "1"), Frames.element("B", "2")))
        for client in clients { #expect(try client.take() == ["A 1 0.02 \(Self.time)", "A 1 0.02 \(Self.time)"]) }
    }

    @Test("json: the messages of /v1/stream with the source and without a number")
    func json() throws {
        let bench = HubBench.lines()
        bench.play(Frames.trade("A", "1"))
        let client = try PipedLines(on: bench)
        let first = try client.ask("prices A json")
        try #require(first.count == 3)
        #expect(first[0].hasPrefix(#"{"type":"status","state":"live","#))
        #expect(first[1] == #"{"type":"subscribed","symbols":["A"],"delivery":"latest","source":"live"}"#)
        #expect(first[2].hasPrefix(#"{"type":"snapshot","symbol":"A","price":"1","size":"0.02","#))
        #expect(first[2].hasSuffix(#","source":"live"}"#))
        bench.play(Frames.trade("A", "2"))
        #expect(try client.take().first?.hasPrefix(#"{"type":"price","symbol":"A","price":"2","size":"0.02","#) == true)
        _ = try client.ask("trades A")
        bench.play(Frames.trade("A", "2"))
        let trade = #"{"type":"trade","symbol":"A","seq":3,"price":"2","size":"0.02","time":1723161255342,"#
        #expect(try client.take() == [trade + #""received":0,"source":"live"}"#])
    }

    @Test("the form is the client's: a later line may change it, and both forms may be on one symbol")
    func forms() throws {
        let bench = HubBench.lines()
        let (plain, json) = (try PipedLines(on: bench), try PipedLines(on: bench))
        _ = try plain.ask("trades A")
        _ = try json.ask("trades A json")
        bench.play(Frames.trade("A", "1"))
        #expect(try plain.take() == ["A 1 0.02 \(Self.time)"])
        #expect(try json.take().count == 1)
        _ = try json.ask("trades A plain")
        bench.play(Frames.trade("A", "2"))
        #expect(try json.take() == ["A 2 0.02 \(Self.time)"])
    }

    @Test("another form begins like a new reader of it, with everything that the client follows")
    func otherForm() throws {
        let bench = HubBench.lines()
        bench.play(Frames.trade("A", "1"), Frames.trade("B", "2"))
        let client = try PipedLines(on: bench)
        #expect(try client.ask("prices A") == ["A 1 0.02 \(Self.time)"])
        #expect(try client.ask("prices A") == [], "nothing new in the same form")
        let json = try client.ask("prices B json")
        try #require(json.count == 4)
        #expect(json[0].hasPrefix(#"{"type":"status","#) && json[1].hasPrefix(#"{"type":"subscribed","symbols":["B"]"#))
        for (line, symbol) in zip(json[2...], ["A", "B"]) {
            #expect(line.hasPrefix(#"{"type":"snapshot","symbol":"\#(symbol)","#))
        }
        bench.play(Frames.trade("A", "3"))
        #expect(try client.take().map { $0.hasPrefix(#"{"type":"price","symbol":"A","price":"3""#) } == [true])
        #expect(try client.ask("prices A plain") == ["A 3 0.02 \(Self.time)", "B 2 0.02 \(Self.time)"])
    }

    @Test("a reader of all symbols gets a price again when its symbol is subscribed again upstream")
    func recalled() throws {
        let bench = HubBench.lines()
        let clients = try ["prices *", "prices * json", "trades *", "prices A json"].map { command in
            let client = try PipedLines(on: bench)
            _ = try client.ask(command)
            return client
        }
        bench.play(Frames.trade("A", "1"))
        for client in clients { #expect(try client.take().count == 1) }
        bench.hub.take(.unsubscribed("A"))
        let released = try clients.map { try $0.take() }
        #expect(released[0] == ["# A released"] && released[1].map { $0.contains("released") } == [true])
        #expect(released[2] == ["# A released"] && released[3] == [])
        // Whoever names it subscribes it again, and has discarded the price, too.
        let named = try clients[0].ask("prices A")
        #expect(named.first == "A 1 0.02 \(Self.time)", "\(named)")
        bench.hub.take(.symbol(SymbolStatus(symbol: "A", state: .asked, since: 0)))
        let lines = try clients.map { try $0.take() }
        #expect(lines[0].map { $0.hasPrefix("# A asked") } == [true])
        try #require(lines[1].count == 2)
        #expect(lines[1][0].hasPrefix(#"{"type":"snapshot","symbol":"A","price":"1","#))
        #expect(lines[1][1].contains(#""state":"asked""#))
        #expect(lines[2].map { $0.hasPrefix("# A asked") } == [true])
        #expect(lines[3].map { $0.contains(#""state":"asked""#) } == [true])
        bench.play(Frames.trade("A", "1"))
        #expect(try clients[1].take() == [], "only once: the client has that price now")
    }

    @Test("a price that was postponed beyond its symbol's release is followed by the release")
    func releasedBehind() throws {
        let bench = HubBench.lines()
        let client = try PipedLines(on: bench)
        _ = try client.ask("prices * json")
        bench.play(Frames.trade("A", "1"))
        _ = try client.take()
        client.stopReading(fillsChannel: true)
        bench.play(Frames.trade("A", "2"))
        bench.hub.take(.unsubscribed("A"))
        client.goOnReading()
        let lines = try client.take()
        #expect(lines.contains { $0.contains(#""price":"2""#) })
        #expect(lines.last?.contains("released") == true, "\(lines)")
    }

    @Test("every symbol costs as much as its lines")
    func costs() throws {
        let bench = HubBench.lines {
            $0.requestBurst = 5
            $0.requestsPerSecond = 1
        }
        for number in 0..<256 { bench.play(Frames.trade("S\(number)", "1")) }
        let client = try PipedLines(on: bench)
        #expect(try client.ask("prices *").count == 256)
        #expect(try client.ask("prices * json") == ["# too many commands; slow down"])
    }

    @Test("* is every symbol, also one that comes later")
    func everything() throws {
        let bench = HubBench.lines()
        bench.play(Frames.trade("A", "1"))
        let (prices, trades) = (try PipedLines(on: bench), try PipedLines(on: bench))
        #expect(try prices.ask("prices *") == ["A 1 0.02 \(Self.time)"])
        #expect(try trades.ask("trades *") == [])
        bench.play(Frames.trade("B", "2"))
        #expect(try prices.take() == ["B 2 0.02 \(Self.time)"])
        #expect(try trades.take() == ["B 2 0.02 \(Self.time)"])
        #expect(bench.calls.all == [])
        _ = try trades.ask("stop B")
        bench.play(Frames.trades(Frames.element("A", "3"), Frames.element("B", "3")))
        #expect(try trades.take() == ["A 3 0.02 \(Self.time)"])
    }

    @Test("a state that is not live, a gap and a refused symbol are lines that begin with #")
    func notices() throws {
        let bench = HubBench.lines()
        let client = try PipedLines(on: bench)
        bench.hub.take(.status(FeedStatus(source: .live, phase: .stale, since: 1, reason: "no trade for 31 s")))
        #expect(try client.ask("prices A") == ["# stale: no trade for 31 s"])
        bench.hub.take(.gap(Gap(from: 0, to: 3_000_000_000, reason: "the connection was lost", nextSequence: 1)))
        #expect(try client.take() == ["# gap of 3 s: the connection was lost"])
        let refused = SymbolStatus(
            symbol: "A",
            state: .refused(.noSuchSymbol, retryAt: 0),
            since: 0,
            reason: "Invalid symbol A"
        )
        bench.hub.take(.symbol(refused))
        #expect(try client.take() == ["# A no-such-symbol: Invalid symbol A"])
        bench.hub.take(.status(FeedStatus(source: .live, phase: .live, since: 2)))
        #expect(try client.take() == ["# live"])
    }

    @Test("data that is not the market's ends with its source")
    func marks() throws {
        let bench = HubBench.lines()
        bench.hub.take(.status(FeedStatus(source: .demo, phase: .live, since: 1, certificateChecked: false)))
        bench.play(Frames.trade("A B", "1"))
        let client = try PipedLines(on: bench)
        #expect(try client.ask("prices *") == ["A_B 1 0.02 \(Self.time) CERTIFICATE-NOT-CHECKED DEMO"])
    }

    @Test("help lists the commands, and the connection stays for another line")
    func help() throws {
        let client = try PipedLines(on: .lines())
        #expect(try client.ask("help") == LineCommand.manual.map { "# \($0)" })
        #expect(try client.ask("nonsense") == ["# unknown command nonsense; send help"])
        #expect(try client.ask("quit") == [])
        client.endInput()
        #expect(!client.channel.isActive && client.bench.hub.clientCount == 0)
    }

    @Test("more symbols than the limit, and names that are none, are refused one by one")
    func refusals() throws {
        let client = try PipedLines(on: .lines(symbolLimit: 2))
        let long = String(repeating: "x", count: SymbolName.longest + 1)
        let answers = try client.ask("prices \(long) A B C")
        #expect(answers.contains("# Subscribing to too many symbols: C"))
        #expect(answers.contains { $0.hasPrefix("# Invalid symbol xxx") })
        #expect(client.bench.calls.all.sorted() == ["A", "B"])
    }

    @Test("the end of the relay: the last prices, the reason, the end")
    func stop() throws {
        let bench = HubBench.lines { $0.pipeline = PricePipeline.Settings(quiet: 1_000_000_000, atMost: nil) }
        let client = try PipedLines(on: bench)
        _ = try client.ask("prices A")
        bench.play(Frames.trade("A", "1"))
        _ = try client.take()
        bench.play(Frames.trade("A", "2"))
        #expect(try client.take() == [])
        bench.hub.stop(reason: "the relay is stopping", within: .seconds(1))
        #expect(try client.take().suffix(2) == ["A 2 0.02 \(Self.time)", "# the relay is stopping"])
        client.endInput()
        #expect(!client.channel.isActive)
    }
}
