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
        var name = host.lowercased()
        if name.hasPrefix("["), name.hasSuffix("]") { name = String(name.dropFirst().dropLast()) }
        if name == "localhost" { name = "127.0.0.1" }
        guard (0...65_535).contains(port) else {
            throw .cannotListen(host: host, port: port, reason: "a port is a number from 0 to 65535")
        }
        let address = try? SocketAddress(ipAddress: name, port: port)
        // Judged by the system's own text form, of which there is one for each address.
        if let address, let text = address.ipAddress, LoopbackHost.contains(text) { return address }
        guard hasToken else { throw .needsToken(host: host) }
        if let address { return address }
        do {
            // Calls the system's resolver, which may block for a while; at this point the program has not begun its
            // work.
            return try SocketAddress.makeAddressResolvingHost(name, port: port)
        } catch {
            throw .cannotListen(host: host, port: port, reason: "no address has this name")
        }
    }

    /// Returns whether a host from the settings is a loopback address.
    static func isLoopback(host: String) -> Bool {
        (try? Self.resolve(host: host, port: 0, hasToken: false)) != nil
    }
}
