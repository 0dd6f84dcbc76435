import Logging
import Market
import NIOCore
import NIOPosix
import ServiceLifecycle
import Testing
import Wire

@testable import Sinks

@Suite("The life of a relay", .timeLimit(.minutes(1)))
struct RelayLifeTests {
    @Test("a stop gives everyone what was queued and a close frame with 1001, and takes no new clients")
    func stops() async throws {
        try await RelayFixture.run {
            $0.pipeline = PricePipeline.Settings(quiet: 60_000_000_000, atMost: nil)
        } body: { fixture in
            let trades = try await fixture.tradesClient(Frames.btc)
            let stream = try await fixture.streamClient()
            try await stream.subscribe(Frames.btc)
            try await fixture.settle(stream)
            let idle = try await RawClient.connect(to: fixture.address)
            fixture.feed(Frames.trade(Frames.btc, "1"), Frames.trade(Frames.btc, "2"))
            async let stop: Void = fixture.relay.stop()
            #expect(try await trades.frame().text == Frames.trade(Frames.btc, "1"))
            #expect(try await trades.frame().text == Frames.trade(Frames.btc, "2"))
            #expect(try await trades.frame().closure == "1001 the relay is stopping")
            #expect(try await stream.update() == Update("snapshot", Frames.btc, "1", skipped: 0))
            // The last value always comes, although it would have waited for a minute.
            #expect(try await stream.update() == Update("price", Frames.btc, "2", skipped: 0))
            #expect(try await stream.frame().closure == "1001 the relay is stopping")
            #expect(try await idle.rest().contains(#""type":"stopping""#))
            await stop
            await #expect(throws: (any Error).self) { try await RawClient.connect(to: fixture.address) }
        }
    }

    @Test("a stop is done within two seconds, though a client reads nothing")
    func stopsInTime() async throws {
        try await RelayFixture.run {
            $0.sendBufferBytes = 8 << 10
        } body: { fixture in
            let frozen = try await fixture.tradesClient(Frames.btc, receiveBuffer: 4 << 10)
            try await frozen.read(false)
            fixture.feed((1...5_000).map { Frames.trade(Frames.btc, "\($0)") })
            let start = ContinuousClock.now
            await fixture.relay.stop()
            #expect(ContinuousClock.now - start < .seconds(2))
        }
    }

    @Test("at the end of a replay a slow client gets all that is left")
    func finishes() async throws {
        try await RelayFixture.run(flow: FlowRecorder()) {
            $0.sendBufferBytes = 8 << 10
        } body: { fixture in
            let slow = try await fixture.tradesClient(Frames.btc, receiveBuffer: 4 << 10)
            try await slow.read(false)
            fixture.feed((1...5_000).map { Frames.trade(Frames.btc, "\($0)") })
            async let finish: Void = fixture.relay.finish()
            // Longer than a stop would wait for anyone.
            try await Task.sleep(for: .milliseconds(2_200))
            try await slow.read(true)
            for number in 1...5_000 {
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
            $0.pingInterval = .milliseconds(50)
            $0.pongTimeout = .milliseconds(50)
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
            #expect("\(RelayError.addressInUse(host: "localhost", port: port))".contains("--relay HOST:PORT"))
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
        while relay.address == nil { await Task.yield() }
        let address = try #require(relay.address)
        let client = try await RawClient.open(at: address)
        await group.triggerGracefulShutdown()
        #expect(try await client.frame().closure == "1001 the relay is stopping")
        try await running.value
    }

    private static func relay(host: String, port: Int) -> Relay {
        Relay(
            settings: RelaySettings(host: host, port: port),
            eventLoop: MultiThreadedEventLoopGroup.singleton.next(),
            logger: Logger(label: "relay", factory: { _ in SwiftLogNoOpLogHandler() }),
            demand: { _ in },
            status: FeedStatus(source: .demo, phase: .connecting, since: 0)
        )
    }
}
