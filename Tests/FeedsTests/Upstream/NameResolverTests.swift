import Dispatch
import NIOCore
import NIOEmbedded
import NIOPosix
import Synchronization
import Testing
import TickertapeTesting
@testable import Feeds

@Suite("The name resolver", .timeLimit(.minutes(5 * Patience.factor)))
struct NameResolverTests {
    /// A resolver whose lookups hang until the test releases them.
    private final class Hanging: Sendable {
        let began = AsyncStream.makeStream(of: Void.self)
        private let gate = DispatchSemaphore(value: 0)

        func make() -> NameResolver {
            NameResolver { host, port throws(NameFailure) in
                self.began.continuation.yield()
                self.gate.wait()
                guard let address = try? SocketAddress(ipAddress: "127.0.0.1", port: port) else { throw .unknown }
                return [address]
            }
        }

        /// Waits until this number of lookups hang.
        func hang(_ count: Int) async {
            var left = count
            for await _ in self.began.stream {
                left -= 1
                if left == 0 { return }
            }
        }

        func letGo(_ count: Int) {
            for _ in 0..<count { self.gate.signal() }
        }
    }

    private func failure(_ future: EventLoopFuture<[SocketAddress]>) async throws -> NameFailure? {
        do {
            _ = try await future.get()
            return nil
        } catch let failure as NameFailure {
            return failure
        }
    }

    @Test("an address needs no lookup")
    func addresses() async throws {
        let resolver = NameResolver { _, _ throws(NameFailure) in throw .unknown }
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        for host in ["127.0.0.1", "::1"] {
            let found = try await resolver.addresses(of: host, port: 7, within: .seconds(30), on: loop).get()
            #expect(found.map(\.ipAddress) == [host])
            #expect(found.map(\.port) == [7])
        }
    }

    @Test("the system resolves localhost, and reports unknown names")
    func system() async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let found = try await NameResolver.system.addresses(of: "localhost", port: 7, within: .seconds(30), on: loop)
            .get()
        #expect(found.contains { $0.ipAddress == "127.0.0.1" && $0.port == 7 })
        // A text that cannot be a name causes no query.
        let long = String(repeating: "x", count: 300)
        let failure = try await self.failure(
            NameResolver.system.addresses(of: long, port: 7, within: .seconds(30), on: loop)
        )
        #expect(failure != nil)
    }

    @Test("the errors of getaddrinfo are distinguished")
    func codes() {
        #expect(NameFailure(code: -2, systemError: 0) == .unknown)
        #expect(NameFailure(code: -5, systemError: 0) == .unknown)
        #expect(NameFailure(code: -3, systemError: 0) == .noServer)
        #expect(NameFailure(code: -11, systemError: 13) == .failed("Permission denied"))
        #expect(NameFailure(code: -4, systemError: 0) == .failed("Non-recoverable failure in name resolution"))
    }

    @Test("callers share a lookup that hangs, and each one leaves at its own limit")
    func hangs() async throws {
        let hanging = Hanging()
        let resolver = hanging.make()
        let loop = NIOAsyncTestingEventLoop()
        let first = resolver.addresses(of: "slow.test", port: 1, within: .seconds(5), on: loop)
        await loop.advanceTime(by: .seconds(3))
        let second = resolver.addresses(of: "slow.test", port: 1, within: .seconds(5), on: loop)
        await loop.advanceTime(by: .seconds(2))
        #expect(try await self.failure(first) == .late(.seconds(5)))
        #expect(resolver.lookups(of: "slow.test", port: 1) == 1)
        await hanging.hang(1)
        hanging.letGo(1)
        #expect(try await second.get().map(\.ipAddress) == ["127.0.0.1"])
        #expect(resolver.lookups(of: "slow.test", port: 1) == 0)

        // Another name does not wait for it.
        let third = resolver.addresses(of: "slow.test", port: 1, within: .seconds(5), on: loop)
        let other = resolver.addresses(of: "other.test", port: 1, within: .seconds(5), on: loop)
        await hanging.hang(2)
        hanging.letGo(2)
        _ = try await third.get()
        _ = try await other.get()
        await loop.shutdownGracefully()
    }

    @Test(
        "weeks of attempts against a resolver that hangs start three lookups, and its recovery is noticed"
    )
    func weeks() async throws {
        let hanging = Hanging()
        let resolver = hanging.make()
        let loop = NIOAsyncTestingEventLoop()
        for _ in 0..<10_000 {
            let asked = resolver.addresses(of: "slow.test", port: 1, within: .seconds(5), on: loop)
            await loop.advanceTime(by: .seconds(60))
            #expect(try await self.failure(asked) == .late(.seconds(5)))
        }
        #expect(resolver.lookups(of: "slow.test", port: 1) == NameResolver.maximumAtOnce)
        await hanging.hang(3)
        hanging.letGo(4)
        let asked = resolver.addresses(of: "slow.test", port: 1, within: .seconds(5), on: loop)
        #expect(try await asked.get().count == 1)
        await loop.shutdownGracefully()
    }
}
