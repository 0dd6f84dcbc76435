import HTTP
import NIOCore

/// The address that a relay listens at.
enum ListeningAddress {
    /// Finds the address of a relay's host.
    ///
    /// - Parameter hasToken: whether clients must show a token; without one only loopback addresses are allowed, for nothing
    ///   else would check who connects. (Finnhub's terms forbid passing its data on to others even then.)
    /// - Throws: ``RelayError/needsToken(host:)``, or what is wrong with the host.
    static func resolve(host: String, port: Int, hasToken: Bool) throws(RelayError) -> SocketAddress {
        var name = host.lowercased()
        if name.hasPrefix("["), name.hasSuffix("]") { name = String(name.dropFirst().dropLast()) }
        if name == "localhost" { name = "127.0.0.1" }
        guard (0...65_535).contains(port) else {
            throw .cannotListen(host: host, port: port, reason: "a port is a number from 0 to 65535")
        }
        let address = try? SocketAddress(ipAddress: name, port: port)
        if let address, Self.isLoopback(address) { return address }
        guard hasToken else { throw .needsToken(host: host) }
        if let address { return address }
        do {
            // Asks the system's resolver, which may take a while; the program has not begun yet.
            return try SocketAddress.makeAddressResolvingHost(name, port: port)
        } catch {
            throw .cannotListen(host: host, port: port, reason: "no address has this name")
        }
    }

    /// Whether the host, as it stands in the settings, is this machine as only it can see it.
    static func isLoopback(host: String) -> Bool {
        (try? Self.resolve(host: host, port: 0, hasToken: false)) != nil
    }

    /// Judged by the system's own text form, of which there is one for each address.
    private static func isLoopback(_ address: SocketAddress) -> Bool {
        address.ipAddress.map(PeerAddress.isLoopback) ?? false
    }
}
