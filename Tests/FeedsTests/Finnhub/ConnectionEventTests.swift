import TLS
import Market
import NIOCore
import NIOEmbedded
import Recordings
import Testing
import TickertapeTesting
import WebSocket
import Wire
@testable import Feeds

@Suite("What the connection's end and its pings are told as")
struct ConnectionEventTests {
    @Test("the service's close frame, and what was in pings and pongs")
    func events() throws {
        let bench = FeedBench()
        bench.start()
        let connection = bench.connections[0]
        for event in [
            WebSocketEvent.pingReceived(ByteBuffer(string: "hi")), .pongReceived(ByteBuffer()),
            .closed(WebSocketClosure(code: .policy, reason: "no a secret key here", cause: .peerClosed)),
        ] {
            connection.channel.pipeline.syncOperations.fireUserInboundEventTriggered(event)
        }
        connection.channel.close(promise: nil)
        bench.loop.run()
        let events = bench.log.contents.events.filter { event in
            switch event {
            case .connected, .requested: false
            case .ping, .pong, .disconnected: true
            }
        }
        #expect(
            events.dropLast() == [
                .ping(.incoming, payload: ByteBuffer(string: "hi")),
                .pong(.outgoing, payload: ByteBuffer(string: "hi")),
                .pong(.incoming),
            ]
        )
        guard case .disconnected(let code, _, let cause, let goodbye)? = events.last else {
            Issue.record("\(events)")
            return
        }
        #expect(code == 1008 && cause == .closed && goodbye == "no (the key) here")
    }

    @Test("who broke the protocol, or was not heard of any more, has said no goodbye")
    func noGoodbye() {
        for cause in [WebSocketClosure.Cause.locallyClosed, .connectionLost, .pongTimeout, .closeTimedOut] {
            let closure = WebSocketClosure(code: .normal, reason: "x", cause: cause)
            #expect(ConnectionEnding.closed(closure).goodbye == nil)
        }
        #expect(ConnectionEnding.inactive.goodbye == nil)
    }

    @Test("a ping that repeats the key is told without it")
    func keys() {
        let reader = FinnhubFrameReader(key: Secret("0123456789abcdef"))
        #expect(reader.safe(ByteBuffer(string: "see 0123456789abcdef")) == ByteBuffer())
        #expect(reader.safe(ByteBuffer(string: "see")) == ByteBuffer(string: "see"))
    }
}
