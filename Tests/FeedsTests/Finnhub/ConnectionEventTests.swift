import TLS
import Market
import NIOCore
import NIOEmbedded
import Testing
import TickertapeTesting
import WebSocket
import Wire
@testable import Feeds

@Suite("The events for a connection's end and its pings")
struct ConnectionEventTests {
    @Test("hold the service's close frame, and the payloads of pings and pongs")
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

    @Test("hold no goodbye of a peer that broke the protocol, or that fell silent")
    func noGoodbye() {
        for cause in [WebSocketClosure.Cause.locallyClosed, .connectionLost, .pongTimeout, .closeTimedOut] {
            let closure = WebSocketClosure(code: .normal, reason: "x", cause: cause)
            #expect(ConnectionEnding.closed(closure).goodbye == nil)
        }
        #expect(ConnectionEnding.inactive.goodbye == nil)
    }

    @Test("hold no key that a ping repeats")
    func keys() {
        let reader = FinnhubFrameReader(key: Secret("0123456789abcdef"))
        #expect(reader.safe(ByteBuffer(string: "see 0123456789abcdef")) == ByteBuffer())
        #expect(reader.safe(ByteBuffer(string: "see")) == ByteBuffer(string: "see"))
    }
}
