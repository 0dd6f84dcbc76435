import WebSocket
import NIOCore
import NIOEmbedded
import Testing
import TickertapeTesting
import Wire
@testable import Relay

/// Clients with late pongs, because the ping follows bytes that they have not read; the test controls time.
@Suite("The keepalive of slow clients")
struct SlowPongTests {
    /// Turns off all messages that the relay sends by itself, except pings.
    private static func pings(_ settings: inout RelaySettings) {
        settings.keepQuiet()
        settings.webSocket.pingInterval = .seconds(20)
        settings.webSocket.pongTimeout = .seconds(10)
    }

    /// Plays one batch per second; the client reads its queue after every `pause` batches.
    private func run(
        _ bench: HubBench,
        _ client: PipedClient,
        seconds: Range<Int>,
        takingEvery pause: Int
    ) {
        for second in seconds {
            bench.play(Frames.trade("A", "\(second + 1)"))
            bench.loop.advanceTime(by: .seconds(1))
            guard second % pause == pause - 1 else { continue }
            // The socket has buffer space for a moment, and is full again when the next trade comes.
            client.goOnReading()
            client.stopReading()
        }
    }

    @Test(
        "while a client takes bytes its pong may take longer, and when it takes none it is dropped",
        arguments: ["/?overflow=latest", "/"],
        [true, false]
    )
    func waitsForPong(target: String, waits: Bool) throws {
        // In a replay, too.
        let flow = waits ? FlowCalls() : nil
        let bench = HubBench(flow: flow) {
            Self.pings(&$0)
            // Only the keepalive is tested here.
            $0.stallTimeout = .hours(1)
        }
        let client = try bench.pipedClient(target)
        try client.send(#"{"type":"subscribe","symbol":"A"}"#)
        client.stopReading()
        self.run(bench, client, seconds: 0..<60, takingEvery: 7)
        #expect(client.channel.isActive, "it took something every seven seconds")
        #expect(try client.takeTexts().count >= 50)
        try client.channel.writeInbound(RawClient.masked(opcode: 10, ""))
        self.run(bench, client, seconds: 60..<120, takingEvery: 1_000)
        #expect(!client.channel.isActive, "it took nothing for a minute")
        bench.stop()
    }

    @Test("a client that keeps up and answers no ping is dropped in time")
    func dropsWhoKeepsUp() throws {
        let bench = HubBench(Self.pings)
        let client = try bench.pipedClient()
        try client.send(#"{"type":"subscribe","symbol":"A"}"#)
        for second in 1...32 {
            bench.play(Frames.trade("A", "\(second)"))
            bench.loop.advanceTime(by: .seconds(1))
        }
        #expect(!client.channel.isActive)
        bench.stop()
    }
}
