import NIOCore
import NIOPosix

/// A resolver of addresses that are known already, for NIO's connector. The connector tries IPv6 and IPv4 in turn, 250
/// ms apart, and takes the first address that answers (RFC 8305).
struct KnownAddresses: Resolver, Sendable {
    let addresses: [SocketAddress]
    let loop: any EventLoop

    func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        self.loop.makeSucceededFuture(self.addresses.filter { $0.protocol == .inet })
    }

    func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        self.loop.makeSucceededFuture(self.addresses.filter { $0.protocol == .inet6 })
    }

    func cancelQueries() {}
}
