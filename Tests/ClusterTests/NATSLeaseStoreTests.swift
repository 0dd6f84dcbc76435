import Cluster
import Feeds
import Foundation
import Logging
import NATS
import NIOCore
import NIOPosix
import Testing
import TickertapeTesting

/// A program's way to the leases on a real server, used from outside of its loop.
private struct StoreBench {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let lines = LogLines()
    private let bound: NIOLoopBound<(client: NATSClient, store: NATSLeaseStore)>

    init(_ address: String) async throws {
        var settings = NATSSettings(servers: [try #require(ServerAddress(address))])
        settings.longestWait = .milliseconds(100)
        self.bound = try await self.loop.submit { [loop, lines, settings] in
            let connector = NATSConnector(
                DialSettings(),
                identity: { $0.makeSucceededFuture(nil) },
                wallClock: Self.wallClock
            )
            let client = NATSClient(settings, transport: connector, on: loop)
            let logger = Logger(label: "test", factory: { _ in lines.handler })
            let store = NATSLeaseStore(client, on: loop, wallClock: Self.wallClock, logger: logger)
            client.start()
            return NIOLoopBound((client, store), eventLoop: loop)
        }.get()
    }

    static func wallClock() -> Int64 { Int64(Date().timeIntervalSince1970 * 1_000_000) * 1_000 }

    /// Reads a key until there is an answer.
    func read() async throws -> LeaseAnswer {
        let limit = ContinuousClock.now + .seconds(20 * Patience.factor)
        while ContinuousClock.now < limit {
            let answer = try await self.loop.flatSubmit { [bound] in
                bound.value.store.read("key.a", within: .seconds(2))
            }.get()
            if case .state = answer { return answer }
            try await Task.sleep(for: .milliseconds(10))
        }
        return .unknown
    }

    func write(_ text: String, expecting revision: UInt64) async throws -> LeaseAnswer {
        try await self.loop.flatSubmit { [bound] in
            bound.value.store.write("key.a", ByteBuffer(string: text), expecting: revision, within: .seconds(20))
        }.get()
    }

    func stop() async throws { try await self.loop.submit { [bound] in bound.value.client.stop() }.get() }
}

/// The leases' store with nats-server.
@Suite(
    "NATSLeaseStore with nats-server",
    .serialized,
    .enabled(if: !NATSServer.programs.isEmpty, Comment(rawValue: NATSServer.missing)),
    .timeLimit(.minutes(2 * Patience.factor))
)
struct NATSLeaseStoreTests {
    @Test(
        "makes one bucket for all programs, and after its loss one with other revisions",
        arguments: NATSServer.programs
    )
    func lostBucket(program: String) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let first = try await NATSServer(program, ["-js", "-sd", "\(folder.path)/first"], in: folder)
        let programs = [try await StoreBench(first.address), try await StoreBench(first.address)]
        let hasFirstRevision = NATSServer.isProgram(program, atLeast: (2, 10, 0))
        // Both find no bucket, and make one of their own time at once. nats-server 2.9 can crash where a client reads a
        // bucket while another one makes it.
        func read() async throws -> [LeaseAnswer] {
            async let one = programs[0].read()
            if !hasFirstRevision { _ = try await one }
            async let two = programs[1].read()
            return try await [one, two]
        }
        let begin = UInt64(StoreBench.wallClock()) / 1_000
        #expect(try await read() == [.state(.absent), .state(.absent)])
        guard case .written(let old) = try await programs[0].write("old", expecting: 0) else {
            return #expect(Bool(false), "\(programs[0].lines.all)")
        }
        #expect(try await programs[1].write("late", expecting: 0) == .refused)

        first.program.send(signal: SIGKILL)
        _ = await first.program.ending()
        let second = try await NATSServer(
            program,
            port: first.port,
            ["-js", "-sd", "\(folder.path)/second"],
            in: folder
        )
        #expect(try await read() == [.state(.absent), .state(.absent)])
        guard case .written(let new) = try await programs[1].write("new", expecting: 0) else {
            return #expect(Bool(false), "\(programs[1].lines.all)")
        }
        if hasFirstRevision {
            // The former holder's renewal meets no revision of another program.
            #expect(try await programs[0].write("old", expecting: old) == .refused)
            #expect(old >= begin && new > old)
        } else {
            #expect(old == 1 && new == 1)
        }
        for program in programs {
            #expect(program.lines.all.allSatisfy { $0.hasPrefix("notice The bucket of the leases exists") })
            try await program.stop()
        }
        second.program.send(signal: SIGTERM)
        _ = await second.program.ending()
    }
}
