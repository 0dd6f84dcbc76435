import HTTP
import NIOCore

/// The listening address of a relay.
enum ListeningAddress {
    /// Resolves a relay's host.
    ///
    /// - Parameter hasToken: whether clients must show a token. Without one only loopback addresses are allowed, since
    ///   nothing else checks who connects. (Even with a token, Finnhub's terms forbid passing its data on to others.)
    /// - Throws: ``RelayError/needsToken(host:)``, or ``RelayError/cannotListen(host:port:reason:)`` with the fault of
    ///   the host or port.
    static func resolve(host: String, port: Int, hasToken: Bool) throws(RelayError) -> SocketAddress {
        guard (0...65_535).contains(port) else {
            throw .cannotListen(host: host, port: port, reason: "a port is a number from 0 to 65535")
        }
        guard hasToken || LoopbackHost.contains(host) else { throw .needsToken(host: host) }
        let name = host.lowercased() == "localhost" ? "127.0.0.1" : host
        if let address = try? SocketAddress(ipAddress: name, port: port) { return address }
        do {
            // Calls the system's resolver, which may block for a while; at this point the program has not begun its
            // work.
            return try SocketAddress.makeAddressResolvingHost(name, port: port)
        } catch {
            throw .cannotListen(host: host, port: port, reason: "no address has this name")
        }
    }
}
