import NIOCore
import NIOEmbedded
import Testing
import TickertapeTesting
import WebSocket
@testable import Relay

@Suite("The requests of a client that does not read its answers", .timeLimit(.minutes(3 * Patience.factor)))
struct RequestQueueTests {
    @Test("unread answers are counted from their beginning to their end, without the bytes that have left")
    func owed() {
        var queue = RequestQueue()
        #expect(queue.owedBytes { 0 } == 0)
        queue.answered(100..<150)
        queue.answered(150..<150)
        queue.answered(400..<430)
        #expect(queue.owedBytes { 0 } == 80)
        #expect(queue.owedBytes { 120 } == 60)
        #expect(queue.owedBytes { 200 } == 30)
        #expect(queue.owedBytes { 430 } == 0)
    }

    @Test("requests come out in the order in which they went in")
    func order() {
        var queue = RequestQueue()
        for round in 0..<2 {
            for number in 0..<3 { queue.append(.text(ByteBuffer(string: "\(round) \(number)"))) }
            for number in 0..<3 { #expect(queue.popFirst() == .text(ByteBuffer(string: "\(round) \(number)"))) }
            #expect(queue.isEmpty && queue.popFirst() == nil)
        }
    }

    @Test(
        "of one request that names thousands of refused symbols only a few errors wait, and all come",
        arguments: [" ", ""]
    )
    func refusals(end: String) throws {
        let bench = HubBench(symbolLimit: 2) { $0.keepQuiet() }
        let client = try bench.pipedStream()
        _ = try client.takeTexts()
        client.stopReading()
        let names = (1...3_000).map { "S\($0)\(end)" }
        try client.send(#"{"type":"subscribe","symbols":[\#(names.map { #""\#($0)""# }.joined(separator: ","))]}"#)
        try client.send(#"{"type":"ping","id":"last"}"#)
        let waiting = bench.hub.reading(outboxBytes: 0, answerBytes: 0).waitingBytes
        #expect((1..<16 << 10).contains(waiting), "\(waiting) bytes waited")
        client.goOnReading()
        bench.loop.run()
        let texts = try client.takeTexts()
        let refused = names.dropFirst(end.isEmpty ? 2 : 0)
        let errors = texts.filter { $0.hasPrefix(#"{"type":"error""#) }
        #expect(errors.count == refused.count)
        for (name, error) in zip(refused, errors) { #expect(error.contains(#"\#(name)","code":"#), "\(error)") }
        #expect(texts.last?.contains(#""id":"last""#) == true)
        // Two names are not refused.
        if end.isEmpty { #expect(texts.firstIndex { $0.hasPrefix(#"{"type":"subscribed""#) } == 16) }
        bench.stop()
    }

    @Test(
        "of one resumption that names thousands of symbols only a few errors wait, and all come",
        arguments: [" ", ""]
    )
    func resumptions(end: String) throws {
        let bench = HubBench(symbolLimit: 2) { $0.keepQuiet() }
        let client = try bench.pipedClient("/?resume=1")
        bench.play(Frames.trade("S1", "1"))
        _ = try client.takeTexts()
        client.stopReading()
        let names = (1...3_000).map { "S\($0)\(end)" }
        let list = names.map { #""\#($0)""# }.joined(separator: ",")
        try client.send(#"{"type":"resume","symbols":[\#(list)],"since":"7:0"}"#)
        let waiting = bench.hub.reading(outboxBytes: 0, answerBytes: 0).waitingBytes
        #expect((1..<16 << 10).contains(waiting), "\(waiting) bytes waited")
        client.goOnReading()
        bench.loop.run()
        let errors = try client.takeTexts().filter { $0.hasPrefix(#"{"msg":"#) || $0.contains(#""type":"error""#) }
        let refused = names.dropFirst(end.isEmpty ? 2 : 0)
        #expect(errors.count == refused.count)
        for (name, error) in zip(refused, errors) { #expect(error.contains(name), "\(error)") }
        bench.stop()
    }

    @Test("an error repeats no more than 64 bytes of a name", arguments: ["/", "/v1/stream"])
    func longName(path: String) throws {
        let bench = HubBench { $0.keepQuiet() }
        let client = try path == "/" ? bench.pipedClient() : bench.pipedStream()
        _ = try client.takeTexts()
        // One character for a reader, but 40,001 bytes.
        let name = "e" + String(repeating: "\u{301}", count: 20_000)
        try client.send(#"{"type":"subscribe","symbol":"\#(name)"}"#)
        let texts = try client.takeTexts()
        #expect(texts.count { $0.contains("Invalid symbol ") } == 1)
        #expect(texts.allSatisfy { $0.utf8.count < 256 })
        bench.stop()
    }

    @Test(
        "of any number of requests only a few answers wait, and all are answered when they are read",
        arguments: ["/?token=any", "/v1/stream"],
        [false, true]
    )
    func bounded(path: String, isEncrypted: Bool) async throws {
        try await RelayFixture.run(isEncrypted: isEncrypted) {
            $0.sendBufferBytes = 8 << 10
            $0.webSocket.pingInterval = .hours(1)
            // The client is not closed, however long the checks below take.
            $0.stallTimeout = .hours(1)
        } body: { fixture, below in
            let client = try await RawClient.open(path, at: fixture.address, receiveBuffer: 4 << 10, below: below)
            if path == "/v1/stream" { _ = try await client.frame() }
            try await client.read(false)
            let requests = 3_000
            var flood = ByteBuffer()
            for _ in 0..<requests { flood.writeImmutableBuffer(RawClient.masked(opcode: 1, "?")) }
            async let sent: Void = client.channel.writeAndFlush(flood)
            var most = 0
            // The suite's time limit bounds this loop.
            while most == 0 { most = try await fixture.waitingBytes(below: below) }
            // Each of these requests gives the relay's loop turns in which it could answer more.
            for _ in 0..<100 { most = max(most, try await fixture.waitingBytes(below: below)) }
            #expect(most < 16 << 10, "\(most) bytes waited")
            try await client.read(true)
            try await sent
            for number in 0..<requests {
                let text = try await client.frame().text
                try #require(text.contains("Invalid message"), "answer \(number): \(text)")
            }
        }
    }
}
