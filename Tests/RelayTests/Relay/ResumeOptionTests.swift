import Ingest
import Market
import NIOCore
import NIOEmbedded
import Testing
import TickertapeTesting
import Wire
@testable import Relay

@Suite("A client of Finnhub's protocol that resumes (resume=1)", .timeLimit(.minutes(1 * Patience.factor)))
struct ResumeOptionTests {
    private static let target = "/?resume=1"
    private static let both = Frames.trades(Frames.element(Frames.btc, "1"), Frames.element(Frames.eth, "2"))

    private static func frame(_ frame: String, _ sequence: Int) -> String {
        #"{"type":"frame","at":"7:\#(sequence)","frame":\#(frame)}"#
    }

    private static func position(_ sequence: Int) -> String { #"{"type":"position","at":"7:\#(sequence)"}"# }

    private static func resume(_ symbols: String..., since sequence: Int) -> String {
        let names = symbols.map { "\"\($0)\"" }.joined(separator: ",")
        return #"{"type":"resume","symbols":[\#(names)],"since":"7:\#(sequence)"}"#
    }

    /// Returns the messages to a client, after the steps of its catch-up.
    private func texts(_ client: HubClient, _ bench: HubBench) throws -> [String] {
        bench.loop.run()
        return try client.takeTexts()
    }

    @Test("gets the bytes of a client that does not, with the position of each frame")
    func positions() throws {
        let bench = HubBench()
        let plain = try bench.client()
        let client = try bench.client(Self.target)
        #expect(try client.takeTexts() == [#"{"type":"position","at":"0:0"}"#])
        for client in [plain, client] { try client.subscribe(Frames.eth) }
        bench.play(Self.both, Frames.trade(Frames.btc, "3"), Frames.trade(Frames.eth, "4"))
        let expected = [Frames.trade(Frames.eth, "2"), Frames.trade(Frames.eth, "4")]
        #expect(try plain.takeTexts() == expected)
        #expect(try client.takeTexts() == [Self.frame(expected[0], 2), Self.frame(expected[1], 4)])
        // A later client begins at the newest position.
        #expect(try bench.client(Self.target).takeTexts() == [#"{"type":"position","at":"7:4"}"#])
        try plain.send(Self.resume(Frames.btc, since: 1))
        bench.play(Frames.trade(Frames.btc, "5"))
        #expect(try self.texts(plain, bench) == [])
        bench.stop()
    }

    @Test("gets after a break what came meanwhile, cut to its symbols, and then live frames, each once")
    func resumes() throws {
        let bench = HubBench()
        // Keeps the ring: the batches of the bench are older than its clock.
        let other = try bench.client(Self.target)
        try other.subscribe(Frames.btc)
        try other.subscribe(Frames.eth)
        let client = try bench.client(Self.target)
        try client.subscribe(Frames.eth)
        bench.play(Self.both)
        #expect(try client.takeTexts().dropFirst() == [Self.frame(Frames.trade(Frames.eth, "2"), 2)])
        try client.leave()
        for number in 1...2_000 { bench.play(Self.both, Frames.trade(Frames.btc, "\(number)")) }
        let again = try bench.client(Self.target)
        _ = try again.takeTexts()
        try again.send(Self.resume(Frames.eth, since: 2))
        // These come during the catch-up.
        bench.play(Self.both)
        var texts = try self.texts(again, bench)
        #expect(texts.removeFirst() == #"{"type":"resumed","complete":true}"#)
        #expect(texts.removeLast() == Self.position(6_004))
        bench.play(Frames.trade(Frames.eth, "9"))
        texts += try self.texts(again, bench)
        let numbers = (0...2_000).map { 4 + 3 * $0 } + [6_005]
        #expect(texts.count == numbers.count)
        for (text, number) in zip(texts, numbers) {
            #expect(text == Self.frame(Frames.trade(Frames.eth, number == 6_005 ? "9" : "2"), number))
        }
        bench.stop()
    }

    @Test("learns that something is missing, and gets what is kept")
    func incomplete() throws {
        for event in [
            .gap(Gap(from: 1, to: 2, reason: "lost", nextSequence: 2)), .unsubscribed(Frames.eth), nil,
        ] as [RelayEvent?] {
            let bench = HubBench()
            let other = try bench.client(Self.target)
            try other.subscribe(Frames.eth)
            bench.play(Frames.trade(Frames.eth, "1"))
            if let event { bench.hub.take(event) }
            bench.play(Frames.trade(Frames.eth, "2"))
            let client = try bench.client(Self.target)
            _ = try client.takeTexts()
            try client.send(Self.resume(Frames.eth, since: 1))
            let isComplete = event == nil
            #expect(
                try self.texts(client, bench)
                    == [
                        #"{"type":"resumed","complete":\#(isComplete)}"#,
                        Self.frame(Frames.trade(Frames.eth, "2"), 2), Self.position(2),
                    ]
            )
            bench.stop()
        }
    }

    @Test("learns that something may be missing of a symbol that the upstream does not send")
    func notSent() throws {
        let bench = HubBench()
        let other = try bench.client(Self.target)
        try other.subscribe(Frames.btc)
        bench.play(Frames.trade(Frames.btc, "1"))
        let client = try bench.client(Self.target)
        _ = try client.takeTexts()
        try client.send(Self.resume(Frames.btc, Frames.eth, since: 1))
        #expect(try self.texts(client, bench) == [#"{"type":"resumed","complete":false}"#, Self.position(1)])
        bench.stop()
    }

    @Test("learns after a long break that nothing is kept any more, and goes on live")
    func tooLong() throws {
        let bench = HubBench()
        let other = try bench.client(Self.target)
        try other.subscribe(Frames.btc)
        bench.play(Frames.trade(Frames.eth, "1"))
        bench.play(Frames.trade(Frames.eth, "2"))
        bench.loop.advanceTime(to: .now() + .minutes(3))
        let client = try bench.client(Self.target)
        #expect(try client.takeTexts() == [#"{"type":"position","at":"7:2"}"#])
        try client.send(Self.resume(Frames.eth, since: 1))
        #expect(try self.texts(client, bench) == [#"{"type":"resumed","complete":false}"#, Self.position(2)])
        bench.play(Frames.trade(Frames.eth, "3"))
        #expect(try client.takeTexts() == [Self.frame(Frames.trade(Frames.eth, "3"), 3)])
        bench.stop()
    }

    @Test("gets a symbol to which it subscribes while it catches up from the end of that on")
    func subscribesMeanwhile() throws {
        let bench = HubBench()
        let other = try bench.client(Self.target)
        try other.subscribe(Frames.eth)
        bench.play(Self.both)
        bench.play(Self.both)
        let client = try bench.client(Self.target)
        _ = try client.takeTexts()
        try client.send(Self.resume(Frames.eth, since: 2))
        try client.subscribe(Frames.btc)
        let texts = try self.texts(client, bench)
        #expect(
            texts == [
                #"{"type":"resumed","complete":true}"#, Self.frame(Frames.trade(Frames.eth, "2"), 4), Self.position(4),
            ]
        )
        bench.play(Self.both)
        #expect(try client.takeTexts() == [Self.frame(Self.both, 6)])
        bench.stop()
    }

    @Test("gets the upstream's gaps between the frames, and resumes once at the beginning of a connection")
    func gaps() throws {
        let bench = HubBench()
        let plain = try bench.client()
        let client = try bench.client(Self.target)
        for client in [plain, client] { try client.subscribe(Frames.eth) }
        bench.play(Frames.trade(Frames.eth, "1"))
        bench.hub.take(.gap(Gap(from: 1_000_000, to: 2_000_000, reason: "lost", nextSequence: 2, epoch: 7)))
        #expect(try plain.takeTexts() == [Frames.trade(Frames.eth, "1")])
        let texts = try client.takeTexts()
        #expect(texts.count == 3 && texts.last?.hasPrefix(#"{"type":"gap","from":1,"to":2,"reason":"lost""#) == true)
        try client.send(Self.resume(Frames.eth, since: 0))
        #expect(try self.texts(client, bench).map { $0.contains("Invalid message") } == [true])
        bench.stop()
    }

    @Test("subscribes to no more symbols than there may be, and gets nothing for a position that is still to come")
    func hostile() throws {
        let bench = HubBench(symbolLimit: 5)
        let client = try bench.client(Self.target)
        bench.play(Frames.trade("N:0", "1"))
        _ = try client.takeTexts()
        let names = (0..<4_096).map { "\"N:\($0)\"" }.joined(separator: ",")
        try client.send(#"{"type":"resume","symbols":[\#(names)],"since":"7:18446744073709551615"}"#)
        var texts = try self.texts(client, bench)
        // The first refusals precede the answer; the others wait until the client has read them.
        #expect(texts.firstIndex(of: #"{"type":"resumed","complete":false}"#) == 16)
        #expect(texts.firstIndex(of: Self.position(1)) == 17)
        texts.removeSubrange(16..<18)
        #expect(texts.count == 4_091 && texts.allSatisfy { $0.contains(#""type":"error""#) })
        #expect(bench.subscriptions.symbols.count == 5)
        bench.play(Frames.trade("N:0", "2"), Frames.trade("N:9", "3"))
        #expect(try client.takeTexts() == [Self.frame(Frames.trade("N:0", "2"), 2)])
        try client.send(#"{"type":"resume","symbols":["N:0"],"since":"7:-1"}"#)
        #expect(try self.texts(client, bench) == [])
        bench.stop()
    }

    @Test("lets the relay keep frames until a while after it has left; without such a client none are kept")
    func keeping() throws {
        let bench = HubBench()
        let fanout = bench.hub.index.fanout(of: TradesClient.self)
        try bench.client().subscribe(Frames.btc)
        bench.play(Self.both)
        #expect(fanout.kept == nil)
        let client = try bench.client(Self.target)
        bench.play(Self.both)
        let left = Int64(bench.loop.now.uptimeNanoseconds)
        fanout.expireKept(now: left + 2 * FrameRing.usualSpan)
        #expect(fanout.kept != nil)
        try client.leave()
        fanout.expireKept(now: left + FrameRing.usualSpan)
        #expect(fanout.kept != nil)
        fanout.expireKept(now: left + FrameRing.usualSpan + 1)
        #expect(fanout.kept == nil)
        bench.stop()
    }

    @Test("gets nothing of another run, and goes on live")
    func anotherRun() throws {
        let bench = HubBench()
        let other = try bench.client(Self.target)
        try other.subscribe(Frames.btc)
        bench.play([Frames.trade(Frames.eth, "1")], anew: [Frames.trade(Frames.eth, "2")])
        let client = try bench.client(Self.target)
        _ = try client.takeTexts()
        try client.send(Self.resume(Frames.eth, since: 1))
        #expect(
            try self.texts(client, bench)
                == [#"{"type":"resumed","complete":false}"#, #"{"type":"position","at":"8:1"}"#]
        )
        bench.play(Frames.trade(Frames.eth, "3"))
        #expect(
            try client.takeTexts() == [#"{"type":"frame","at":"8:2","frame":\#(Frames.trade(Frames.eth, "3"))}"#]
        )
        bench.stop()
    }
}
