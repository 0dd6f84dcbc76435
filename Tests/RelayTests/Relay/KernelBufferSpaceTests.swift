import Glibc
import NIOCore
import Testing
import TickertapeTesting
@testable import Relay

@Suite("The kernel's buffers for a client", .timeLimit(.minutes(1 * Patience.factor)))
struct KernelBufferSpaceTests {
    @Test(
        "an accepted connection has the configured limits, on an inherited socket as well",
        arguments: [false, true]
    )
    func bounds(isGiven: Bool) async throws {
        let descriptor = isGiven ? try Self.listeningSocket() : nil
        try await RelayFixture.run {
            $0.inheritedSocket = descriptor
            $0.sendBufferBytes = 96 << 10
            $0.unsentBytes = 24 << 10
        } body: { fixture in
            let client = try await RawClient.open(at: fixture.address)
            let port = try #require(client.channel.localAddress?.port)
            let accepted = try #require(Self.descriptor(ofPeerAt: port))
            #expect(Self.option(accepted, Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT) == 24 << 10)
            // Linux doubles it.
            #expect(Self.option(accepted, SOL_SOCKET, SO_SNDBUF) == 192 << 10)
            try await client.close()
        }
    }

    @Test("the default limits are the documented ones: 32 KiB unsent, and 256 KiB in all")
    func usual() {
        let settings = RelaySettings()
        #expect(settings.unsentBytes == 32 << 10 && settings.sendBufferBytes * 2 == 256 << 10)
    }

    /// Returns a socket that listens at a free port, as systemd would pass it.
    private static func listeningSocket() throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let any = try SocketAddress(ipAddress: "127.0.0.1", port: 0)
        let bound = any.withSockAddr { bind(descriptor, $0, socklen_t($1)) }
        try #require(bound == 0 && listen(descriptor, 16) == 0)
        return descriptor
    }

    /// Returns this process's end of the connection whose other end has a port.
    private static func descriptor(ofPeerAt port: Int) -> Int32? {
        (3..<4_096).first { descriptor in
            // The family in host byte order, then the port in network byte order.
            var address = [UInt8](repeating: 0, count: 128)
            var length = socklen_t(address.count)
            let result = address.withUnsafeMutableBytes {
                getpeername(descriptor, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self), &length)
            }
            return result == 0 && address[0] == UInt8(AF_INET) && Int(address[2]) << 8 | Int(address[3]) == port
        }
    }

    private static func option(_ descriptor: Int32, _ level: Int32, _ name: Int32) -> Int32? {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, level, name, &value, &length) == 0 ? value : nil
    }
}
