import NIOCore
import NIOEmbedded
import Testing
import TickertapeTesting
import WebSocket
@testable import Relay

/// A socket that takes nothing while the test says so.
private final class FullSocket: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer

    var isFull = false

    func flush(context: ChannelHandlerContext) {
        if !self.isFull { context.flush() }
    }
}

/// A client of `/v1/stream` on a hub's bench, with its WebSocket and a socket that can be full.
private struct SlowStreamClient {
    let channel: EmbeddedChannel
    let socket = FullSocket()
    let client: StreamClient

    init(_ bench: HubBench) throws {
        self.channel = EmbeddedChannel(loop: bench.loop)
        self.client = StreamClient(context: bench.hub.context)
        let pipeline = self.channel.pipeline.syncOperations
        try pipeline.addHandler(self.socket)
        try pipeline.addWebSocketHandlers(WebSocketSettings(role: .server))
        try self.client.join(pipeline)
    }

    func ask(_ text: String) {
        self.client.received(ByteBuffer(string: text))
        self.client.context.flush()
    }

    /// Makes the socket take no more, or its queue and later bytes.
    func setFull(_ isFull: Bool) {
        self.socket.isFull = isFull
        if !isFull { self.channel.flush() }
    }

    /// Sets what the channel reports when much waits, or little again.
    func setWritable(_ isWritable: Bool) {
        self.channel.isWritable = isWritable
        self.channel.pipeline.fireChannelWritabilityChanged()
        self.channel.embeddedEventLoop.run()
    }

    /// Returns all bytes sent to it since the last call.
    func take() throws -> String {
        var text = ""
        while var bytes = try self.channel.readOutbound(as: ByteBuffer.self) {
            text += bytes.readString(length: bytes.readableBytes) ?? ""
        }
        return text
    }
}

@Suite("The pace of clients of the relay's own stream")
struct StreamPaceTests {
    @Test("trades that grow too old during a client's catch-up count as skipped, whatever notices it")
    func expires() throws {
        let bench = HubBench()
        defer { bench.stop() }
        for price in ["1", "2", "3"] { bench.play(Frames.trade(Frames.btc, price)) }
        let slow = try SlowStreamClient(bench)
        slow.setWritable(false)
        slow.ask(#"{"type":"overflow","policy":"latest"}"#)
        slow.ask(#"{"type":"subscribe","delivery":"all","since":"7:1"}"#)
        bench.loop.advanceTime(to: .now() + .seconds(700))
        // Its hello checks the age of the trades.
        let other = try SlowStreamClient(bench)
        #expect(try other.take().contains(#""oldest":null"#))
        bench.play(Frames.trade(Frames.btc, "4"))
        slow.setWritable(true)
        let text = try slow.take()
        #expect(text.contains(#""type":"skipped""#) && text.contains(#""trades":2,"from":2,"to":3"#), "\(text)")
        #expect(text.contains(#""seq":4,"price":"4""#) && text.contains(#""complete":false"#), "\(text)")
        try slow.channel.close().wait()
        try other.channel.close().wait()
    }

    @Test("a client that reads again gets the price it missed, though its channel stayed writable")
    func readsAgain() throws {
        let bench = HubBench()
        defer { bench.stop() }
        let slow = try SlowStreamClient(bench)
        slow.ask(#"{"type":"subscribe"}"#)
        bench.play(Frames.trade(Frames.btc, "1"))
        slow.setFull(true)
        bench.play(Frames.trade(Frames.btc, "2"))
        bench.loop.advanceTime(by: .seconds(12))
        bench.play(Frames.trade(Frames.btc, "3"))
        _ = try slow.take()
        slow.setFull(false)
        #expect(try slow.take().contains(#""price":"2""#))
        bench.loop.advanceTime(by: .seconds(2))
        #expect(try slow.take().contains(#""price":"3""#))
        try slow.channel.close().wait()
    }

    @Test("the newest price is sent after missed single trades, also if their count was reported before")
    func isReportedBefore() throws {
        let bench = HubBench { $0.maximumWaitingBytes = 4 << 10 }
        defer { bench.stop() }
        let slow = try SlowStreamClient(bench)
        slow.ask(#"{"type":"overflow","policy":"latest"}"#)
        slow.ask(#"{"type":"subscribe","delivery":"all"}"#)
        slow.setFull(true)
        slow.setWritable(false)
        for number in 1...40 { bench.play(Frames.trade(Frames.btc, "\(number)")) }
        // The answer cannot wait, so it reports the trades missed until here.
        slow.ask(#"{"type":"ping"}"#)
        slow.setFull(false)
        let before = try slow.take()
        #expect(before.contains(#""type":"skipped""#) && !before.contains(#""price":"40""#), "\(before)")
        slow.setWritable(true)
        #expect(try slow.take().contains(#""price":"40""#))
        try slow.channel.close().wait()
    }

    @Test("the queue is limited by the settings")
    func obeysSettings() throws {
        let bench = HubBench { $0.maximumWaitingMessages = 16 }
        defer { bench.stop() }
        let slow = try SlowStreamClient(bench)
        #expect(try slow.take().contains(#""waitingMessages":16,"#))
        slow.ask(#"{"type":"subscribe","delivery":"all"}"#)
        slow.setFull(true)
        slow.setWritable(false)
        for number in 1...60 { bench.play(Frames.trade(Frames.btc, "\(number)")) }
        slow.setFull(false)
        slow.setWritable(true)
        #expect(try slow.take().contains("too slow: "))
    }

    @Test("to resume costs as much as ten requests, and more is refused")
    func resumingCosts() throws {
        let bench = HubBench { $0.requestBurst = 20 }
        defer { bench.stop() }
        let client = try SlowStreamClient(bench)
        for _ in 1...3 { client.ask(#"{"type":"subscribe","symbol":"A","since":"7:1"}"#) }
        let text = try client.take()
        #expect(text.split(separator: #""type":"subscribed""#).count == 3 && text.contains("rate-limited"), "\(text)")
        try client.channel.close().wait()
    }
}
