import TLS
import Foundation
import NIOCore
import NIOPosix
import Testing
import TickertapeTesting
@testable import Relay

@Suite("A relay at a Unix socket", .timeLimit(.minutes(1 * Patience.factor)))
struct UnixSocketTests {
    private func mode(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.type] as? FileAttributeType == .typeSocket)
        return try #require(attributes[.posixPermissions] as? Int)
    }

    @Test("serves this user alone, without the token that TCP needs, and removes the file when it stops")
    func serves() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = "\(folder.path)/relay.sock"
        try await RelayFixture.run {
            $0.unixSocket = path
            $0.token = Secret("abcdefghijklmnop")
        } body: { fixture in
            #expect(try self.mode(path) == 0o600)
            let client = try await RawClient.open(at: SocketAddress(unixDomainSocketPath: path))
            try await client.subscribe(Frames.btc)
            try await fixture.settle(client)
            fixture.feed(Frames.trade(Frames.btc, "1"))
            #expect(try await client.frame().text == Frames.trade(Frames.btc, "1"))
            let page = try await RawClient.connect(to: SocketAddress(unixDomainSocketPath: path))
            let head = try await page.request(RawClient.upgrade("/", headers: "Origin: https://evil.example\r\n"))
            #expect(head.hasPrefix("HTTP/1.1 403 "))
            // The same relay over TCP.
            let other = try await RawClient.connect(to: fixture.address)
            #expect(try await other.request(RawClient.upgrade("/")).hasPrefix("HTTP/1.1 401 "))
            await fixture.relay.stop()
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    @Test("can be the only listener of a relay")
    func alone() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        try await RelayFixture.run {
            $0.listen = nil
            $0.unixSocket = "\(folder.path)/relay.sock"
        } body: { fixture in
            #expect(fixture.address.pathname == "\(folder.path)/relay.sock")
            let client = try await fixture.tradesClient(Frames.btc)
            fixture.feed(Frames.trade(Frames.btc, "1"))
            #expect(try await client.frame().text == Frames.trade(Frames.btc, "1"))
        }
    }

    @Test("replaces a socket whose program is gone, and nothing else")
    func places() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = "\(folder.path)/relay.sock"
        let first = try UnixSocketFile(listeningAt: path)
        #expect(throws: UnixSocketFile.Failure(reason: "is in use by another program", isInUse: true)) {
            try UnixSocketFile(listeningAt: path)
        }
        close(first.descriptor)
        let second = try UnixSocketFile(listeningAt: path)
        // The first one notices that the file is another's by now.
        first.remove()
        #expect(try self.mode(path) == 0o600)
        close(second.descriptor)
        second.remove()
        #expect(!FileManager.default.fileExists(atPath: path))

        try Data("precious".utf8).write(to: URL(fileURLWithPath: path))
        #expect(throws: UnixSocketFile.Failure(reason: "exists already, and is not a socket")) {
            try UnixSocketFile(listeningAt: path)
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("precious".utf8))
    }

    @Test("is refused in folders that others can write to, and with too long a path")
    func refuses() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        func reason(_ path: String) -> String? {
            do throws(UnixSocketFile.Failure) {
                let file = try UnixSocketFile(listeningAt: path)
                close(file.descriptor)
                file.remove()
                return nil
            } catch {
                return error.reason
            }
        }
        let long = folder.path + "/" + String(repeating: "x", count: 107 - folder.path.utf8.count)
        #expect(reason(long) == "has 108 bytes, and a socket's path may have 107")
        #expect(reason(String(long.dropLast())) == nil)
        #expect(reason("\(folder.path)/none/relay.sock")?.hasPrefix("cannot be made in \(folder.path)/none") == true)
        chmod(folder.path, 0o777)
        #expect(reason("\(folder.path)/relay.sock")?.contains("that others can write to") == true)
        // Like /tmp.
        chmod(folder.path, 0o1777)
        #expect(reason("\(folder.path)/relay.sock") == nil)
    }

    @Test("the refusal names the socket and the remedy, and the relay closes its port again")
    func tells() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = "\(folder.path)/relay.sock"
        let live = try UnixSocketFile(listeningAt: path)
        defer { close(live.descriptor) }
        await #expect(throws: RelayError.socketInUse(path: path)) {
            try await RelayFixture.run({ $0.unixSocket = path }) { _ in }
        }
        #expect("\(RelayError.socketInUse(path: path))".contains("relay.unix-socket"))
    }
}
