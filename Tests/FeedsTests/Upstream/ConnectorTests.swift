import Dispatch
import Market
import NIOCore
import NIOPosix
import Testing
import TickertapeTesting
@testable import Feeds

/// Tests of the way to an open WebSocket on loopback, up to TCP.
@Suite("Connecting, from the name to TCP", .timeLimit(.minutes(1 * Patience.factor)))
struct ConnectorTests {
    private static let hasIPv6 = BlackHole("::1") != nil

    @Test("IPv4 is used 250 ms later if IPv6 is a black hole", .enabled(if: hasIPv6, "no ::1 here"))
    func race() async throws {
        let server = try await ScriptedFinnhub.start { _ in .play([]) }
        let hole = try #require(BlackHole("::1"))
        let good = try SocketAddress(ipAddress: "127.0.0.1", port: server.port)
        let connector = try Attempt.connector(
            host: "market.test",
            port: server.port,
            resolver: Attempt.resolver([hole.address, good])
        )
        let begin = ContinuousClock.now
        // Without the race this would take the whole limit of thirty seconds, and fail.
        #expect(try await Attempt.run(connector) == nil)
        #expect(ContinuousClock.now - begin >= .milliseconds(250))
        try await server.stop()
    }

    @Test("an address that fails at once, as IPv6 does without a route, causes no delay")
    func failsAtOnce() async throws {
        let server = try await ScriptedFinnhub.start { _ in .play([]) }
        // Link-local without a link: the kernel refuses to try.
        let dead = try SocketAddress(ipAddress: "fe80::1", port: server.port)
        let good = try SocketAddress(ipAddress: "127.0.0.1", port: server.port)
        for addresses in [[dead, good], [dead, dead, dead, good], [good, dead]] {
            let connector = try Attempt.connector(
                host: "market.test",
                port: server.port,
                resolver: Attempt.resolver(addresses)
            )
            #expect(try await Attempt.run(connector) == nil)
        }
        try await server.stop()
    }

    @Test("an attempt without any answer ends at TCP's own limit, and names the addresses")
    func noAnswer() async throws {
        let hole = try #require(BlackHole("127.0.0.1"))
        let port = try #require(hole.address.port)
        let named = try Attempt.connector(
            host: "market.test",
            port: port,
            resolver: Attempt.resolver([hole.address, hole.address])
        ) { $0.dial.tcpTimeout = .milliseconds(400) }
        #expect(
            try await Attempt.run(named)?.description
                == "no answer from market.test port \(port) (127.0.0.1, 127.0.0.1) within 400 ms: is the network up?"
        )
        let bare = try Attempt.connector(port: port) { $0.dial.tcpTimeout = .milliseconds(100) }
        #expect(
            try await Attempt.run(bare)?.description
                == "no answer from 127.0.0.1 port \(port) within 100 ms: is the network up?"
        )
    }

    @Test("refused connections are distinguished from others, with each address")
    func refused() async throws {
        let closed = try #require(BlackHole.closedPort("127.0.0.1"))
        let port = try #require(closed.port)
        #expect(
            try await Attempt.run(port: port)?.description
                == "127.0.0.1 port \(port) refuses connections: is the service running there?"
        )
        let twice = Attempt.resolver([closed, closed])
        #expect(
            try await Attempt.run(Attempt.connector(host: "market.test", port: port, resolver: twice))?.description
                == "market.test port \(port) (127.0.0.1, 127.0.0.1) refuses connections: is the service running there?"
        )
        let dead = try SocketAddress(ipAddress: "fe80::1", port: port)
        let mixed = Attempt.resolver([closed] + Array(repeating: dead, count: 5))
        let words = try await Attempt.run(Attempt.connector(host: "market.test", port: port, resolver: mixed))?
            .description
        #expect(words?.hasPrefix("cannot connect to market.test port \(port) (fe80::1: ") == true, "\(words ?? "")")
        #expect(words?.hasSuffix(" and 2 more)") == true, "\(words ?? "")")
    }

    @Test("names that are unknown, unanswered or too slow are distinguished")
    func names() async throws {
        for (failure, words) in [
            (NameFailure.unknown, "the name market.test is unknown: check the network and the upstream address"),
            (.noServer, "the name market.test was not resolved, because no name server answers: is the network up?"),
            (.failed("Bad luck"), "the name market.test was not resolved: Bad luck"),
        ] {
            let resolver = NameResolver { _, _ throws(NameFailure) in throw failure }
            let connector = try Attempt.connector(host: "market.test", port: 1, resolver: resolver)
            #expect(try await Attempt.run(connector) == UpstreamFailure(words, cause: .name))
        }

        let gate = DispatchSemaphore(value: 0)
        defer { gate.signal() }
        let hanging = NameResolver { _, _ throws(NameFailure) in
            gate.wait()
            throw .unknown
        }
        let slow = try Attempt.connector(host: "market.test", port: 1, resolver: hanging) {
            $0.dial.dnsTimeout = .milliseconds(50)
        }
        for _ in 0..<3 {
            #expect(
                try await Attempt.run(slow)?.description
                    == "the name market.test was not resolved within 50 ms: is the network up?"
            )
        }
        #expect(hanging.lookups(of: "market.test", port: 1) == 1)
    }

    @Test("a limit of whole seconds is shown in seconds")
    func limits() {
        #expect(TimeAmount.seconds(5).words == "5 s")
        #expect(TimeAmount.milliseconds(1_500).words == "1500 ms")
    }

    @Test("an attempt that is no longer wanted when its channel opens sends nothing")
    func unwanted() async throws {
        let server = try await RawServer.start { _ in .silence }
        let connector = try Attempt.connector(port: server.port)
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        await #expect(throws: UpstreamFailure.self) {
            try await loop.flatSubmit {
                connector.connect(
                    on: loop,
                    reached: { _ in throw ChannelError.ioOnClosedChannel },
                    connected: { _, _ in }
                )
            }.get()
        }
        #expect(server.heads.isEmpty)
        try await server.stop()
    }
}
