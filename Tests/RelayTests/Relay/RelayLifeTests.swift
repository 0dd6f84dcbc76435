import HTTP
import Glibc
import Ingest
import Logging
import Market
import NIOCore
import NIOPosix
import ServiceLifecycle
import Testing
import TickertapeTesting
import WebSocket
import Wire
@testable import Relay

@Suite("The life of a relay", .timeLimit(.minutes(5 * Patience.factor)))
struct RelayLifeTests {
    @Test("a stop gives everyone what was queued and a close frame with 1001, and takes no new clients")
    func stops() async throws {
        try await RelayFixture.run {
            $0.pipeline = PricePipeline.Settings(quiet: 60_000_000_000, atMost: nil)
        } body: { fixture in
            // This client connects first, so that it is accepted when the others are: a connection that still waits for
            // that when the listener closes is reset.
            let idle = try await RawClient.connect(to: fixture.address)
            let trades = try await fixture.tradesClient(Frames.btc)
            let stream = try await fixture.streamClient()
            try await stream.subscribe(Frames.btc)
            try await fixture.settle(stream)
            fixture.feed(Frames.trade(Frames.btc, "1"), Frames.trade(Frames.btc, "2"))
            async let stop: Void = fixture.relay.stop()
            #expect(try await trades.frame().text == Frames.trade(Frames.btc, "1"))
            #expect(try await trades.frame().text == Frames.trade(Frames.btc, "2"))
            #expect(try await trades.frame().closure == "1001 the relay is stopping")
            #expect(try await stream.update() == Update("snapshot", Frames.btc, "1", skipped: 0))
            // The last price is always sent, although it would have waited for a minute.
            #expect(try await stream.update() == Update("price", Frames.btc, "2", skipped: 0))
            #expect(try await stream.frame().closure == "1001 the relay is stopping")
            #expect(try await idle.rest().contains(#""type":"stopping""#))
            await stop
            await #expect(throws: (any Error).self) { try await RawClient.connect(to: fixture.address) }
        }
    }

    @Test("a stop waits for a slow client while it reads: it gets everything that was queued, and 1001")
    func waitsForReader() async throws {
        try await RelayFixture.run {
            $0.sendBufferBytes = 8 << 10
        } body: { fixture in
            let slow = try await fixture.tradesClient(Frames.btc, receiveBuffer: 4 << 10)
            try await slow.read(false)
            // More than the sockets' buffers hold.
            fixture.feed((1...1_500).map { Frames.trade(Frames.btc, "\($0)") })
            async let stop: Void = fixture.relay.stop(within: RelayServer.stopLimit * Patience.factor)
            // Longer than a client with an empty queue may take to answer, and than the default closing handshake.
            try await Task.sleep(for: .milliseconds(1_100))
            try await slow.read(true)
            for number in 1...1_500 {
                let text = try await slow.frame().text
                try #require(text == Frames.trade(Frames.btc, "\(number)"))
            }
            #expect(try await slow.frame().closure == "1001 the relay is stopping")
            await stop
        }
    }

    @Test("a client that reads nothing is cut at the stop's limit, and delays the stop no longer")
    func stopsInTime() async throws {
        try await RelayFixture.run {
            $0.sendBufferBytes = 8 << 10
        } body: { fixture in
            let frozen = try await fixture.tradesClient(Frames.btc, receiveBuffer: 4 << 10)
            try await frozen.read(false)
            fixture.feed((1...5_000).map { Frames.trade(Frames.btc, "\($0)") })
            let start = ContinuousClock.now
            await fixture.relay.stop()
            let time = ContinuousClock.now - start
            // The limit is 4 s. A loaded machine may add to it, but the stop is never shorter.
            #expect(time >= .seconds(4) && time < .seconds(10) * Patience.factor, "\(time)")
        }
    }

    @Test("a client with an empty queue that does not answer delays a stop less than one that still reads")
    func doesNotWaitForIdle() async throws {
        try await RelayFixture.run { fixture in
            let silent = try await fixture.tradesClient(Frames.btc)
            let stream = try await fixture.streamClient()
            fixture.feed(Frames.trade(Frames.btc, "1"))
            let start = ContinuousClock.now
            await fixture.relay.stop()
            let time = ContinuousClock.now - start
            // The stop waits 4 s for a client that still reads.
            #expect(time < .seconds(4), "\(time)")
            #expect(try await silent.frame().text == Frames.trade(Frames.btc, "1"))
            #expect(try await silent.frame().closure == "1001 the relay is stopping")
            #expect(try await stream.frame().closure == "1001 the relay is stopping")
        }
    }

    @Test("after accepting has stopped no connection is accepted, and the connected clients stay")
    func stopsAccepting() async throws {
        try await RelayFixture.run { fixture in
            let client = try await fixture.tradesClient(Frames.btc)
            let plain = try await RawClient.connect(to: fixture.address)
            let before = try await plain.request("GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            #expect(before.hasPrefix("HTTP/1.1 200 "))
            await fixture.relay.stopAccepting()
            await #expect(throws: (any Error).self) { try await RawClient.connect(to: fixture.address) }
            try await plain.channel.writeAndFlush(ByteBuffer(string: RawClient.upgrade("/?token=any")))
            #expect(try await plain.rest().contains(#""type":"stopping""#))
            fixture.feed(Frames.trade(Frames.btc, "1"))
            #expect(try await client.frame().text == Frames.trade(Frames.btc, "1"))
        }
    }

    @Test("a request that came before the stop is answered")
    func answersRequests() async throws {
        try await RelayFixture.run { fixture in
            fixture.feed(Frames.trade(Frames.btc, "1"))
            var asked: [RawClient] = []
            for _ in 1...20 {
                let client = try await RawClient.connect(to: fixture.address)
                try await client.channel.writeAndFlush(
                    ByteBuffer(string: "GET /v1/status HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                )
                asked.append(client)
            }
            // The clients before it have been accepted: a connection that still waits for that when the listener closes
            // is reset.
            let last = try await RawClient.connect(to: fixture.address)
            _ = try await last.request("GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            await fixture.relay.stop()
            for client in asked {
                let answer = try await client.rest()
                // If the stop came first, its refusal is the answer.
                #expect(answer.hasPrefix("HTTP/1.1 200 ") || answer.contains(#""type":"stopping""#), "\(answer)")
            }
        }
    }

    @Test("a cut ends the wait for clients at once")
    func cuts() async throws {
        try await RelayFixture.run {
            $0.sendBufferBytes = 8 << 10
        } body: { fixture in
            let frozen = try await fixture.tradesClient(Frames.btc, receiveBuffer: 4 << 10)
            try await frozen.read(false)
            fixture.feed((1...5_000).map { Frames.trade(Frames.btc, "\($0)") })
            let start = ContinuousClock.now
            async let stop: Void = fixture.relay.stop()
            // The stop has begun once no client is accepted.
            while (try? await RawClient.connect(to: fixture.address).close()) != nil {}
            fixture.relay.cut()
            await stop
            #expect(ContinuousClock.now - start < .seconds(4))
        }
    }

    @Test("a socket that listens already is used, and stays open over the relay's end for the next one")
    func inherits() async throws {
        let listening = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listening) }
        let any = try SocketAddress(ipAddress: "127.0.0.1", port: 0)
        #expect(any.withSockAddr { bind(listening, $0, socklen_t($1)) } == 0)
        #expect(listen(listening, 64) == 0)
        let first = Self.relay(host: "127.0.0.1", port: 0, inheriting: dup(listening))
        let address = try await first.start()
        #expect(address.port ?? 0 > 0)
        let client = try await RawClient.open(at: address)
        async let stop: Void = first.stop()
        #expect(try await client.frame().closure == "1001 the relay is stopping")
        await stop
        // The client connects before the next relay exists, and waits.
        let early = try await RawClient.connect(to: address)
        try await early.channel.writeAndFlush(ByteBuffer(string: RawClient.upgrade("/?token=any")))
        let second = Self.relay(host: "127.0.0.1", port: 0, inheriting: dup(listening))
        _ = try await second.start()
        #expect(try await early.head().hasPrefix("HTTP/1.1 101 "))
        await second.stop()
    }

    @Test("at the end of a replay a slow client gets all that is left")
    func finishes() async throws {
        try await RelayFixture.run(flow: FlowRecorder()) {
            $0.sendBufferBytes = 8 << 10
        } body: { fixture in
            let slow = try await fixture.tradesClient(Frames.btc, receiveBuffer: 4 << 10)
            try await slow.read(false)
            fixture.feed((1...1_500).map { Frames.trade(Frames.btc, "\($0)") })
            async let finish: Void = fixture.relay.finish(within: RelayServer.finishLimit * Patience.factor)
            // Longer than a stop waits for any client.
            try await Task.sleep(for: .milliseconds(2_200))
            try await slow.read(true)
            for number in 1...1_500 {
                let text = try await slow.frame().text
                try #require(text == Frames.trade(Frames.btc, "\(number)"))
            }
            #expect(try await slow.frame().closure == "1001 the replay is over")
            try await slow.channel.writeAndFlush(RawClient.masked(opcode: 8, ""))
            await finish
        }
    }

    @Test("a client that answers no ping is dropped")
    func dropsSilent() async throws {
        try await RelayFixture.run {
            $0.webSocket.pingInterval = .milliseconds(50)
            $0.webSocket.pongTimeout = .milliseconds(50)
        } body: { fixture in
            for path in ["/", "/v1/stream"] {
                let silent = try await RawClient.open(path, at: fixture.address)
                try await silent.ended()
            }
        }
    }

    @Test("the first subscribe is reported, and clients are counted")
    func reportsFirstSubscribe() async throws {
        try await RelayFixture.run { fixture in
            async let first = fixture.relay.firstSubscribe()
            #expect(fixture.relay.clientCount == 0)
            let client = try await fixture.tradesClient(Frames.btc)
            #expect(await first)
            #expect(await fixture.relay.firstSubscribe())
            #expect(fixture.relay.clientCount == 1)
            try await client.close()
        }
        try await RelayFixture.run { fixture in
            async let first = fixture.relay.firstSubscribe()
            await fixture.relay.stop()
            #expect(await !first)
        }
    }

    @Test("a port in use and an address that others can reach are refused with what to change")
    func refusesAddresses() async throws {
        try await RelayFixture.run { fixture in
            let port = try #require(fixture.address.port)
            await #expect(throws: RelayError.addressInUse(host: "localhost", port: port)) {
                _ = try await Self.relay(host: "localhost", port: port).start()
            }
            for error in [
                RelayError.addressInUse(host: "localhost", port: port),
                .cannotListen(host: "localhost", port: port, reason: "r"),
            ] { #expect("\(error)".contains("--relay HOST:PORT (relay.listen in the config file)")) }
        }
        for host in ["0.0.0.0", "::", "192.0.2.1", "example.org", "", "[fe80::1]", "1.127.0.0"] {
            await #expect(throws: RelayError.needsToken(host: host)) {
                _ = try await Self.relay(host: host, port: 0).start()
            }
        }
        await #expect(throws: RelayError.self) { _ = try await Self.relay(host: "localhost", port: 70_000).start() }
    }

    @Test("it runs and ends as a service")
    func isService() async throws {
        let relay = Self.relay(host: "127.0.0.1", port: 0)
        let group = ServiceGroup(services: [relay], logger: Logger(label: "test"))
        let running = Task { try await group.run() }
        while relay.address == nil { try await Task.sleep(for: .milliseconds(5)) }
        let address = try #require(relay.address)
        let client = try await RawClient.open(at: address)
        await group.triggerGracefulShutdown()
        #expect(try await client.frame().closure == "1001 the relay is stopping")
        try await running.value
    }

    private static func relay(host: String, port: Int, inheriting descriptor: Int32? = nil) -> RelayServer {
        var settings = RelaySettings(listen: Endpoint(host: host, port: port))
        settings.inheritedSocket = descriptor
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        return RelayServer(
            settings: settings,
            subscriptions: Subscriptions(Subscriptions.Settings(linger: .zero), loop: loop),
            eventLoop: loop,
            logger: Logger(label: "relay", factory: { _ in SwiftLogNoOpLogHandler() }),
            status: FeedStatus(source: .demo, phase: .connecting, since: 0)
        )
    }
}
