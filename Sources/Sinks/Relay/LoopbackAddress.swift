import NIOCore

/// The check that an address can not be reached from other machines.
enum LoopbackAddress {
    /// Resolves the host of a relay without asking anybody.
    ///
    /// - Throws: ``RelayError/notLoopback(host:)`` for every address and name but those of this machine itself. Finnhub's
    ///   terms forbid passing its data on, and nothing here checks who connects.
    static func resolve(host: String, port: Int) throws(RelayError) -> SocketAddress {
        var name = host.lowercased()
        if name.hasPrefix("["), name.hasSuffix("]") { name = String(name.dropFirst().dropLast()) }
        if name == "localhost" { name = "127.0.0.1" }
        guard (0...65_535).contains(port) else {
            throw .cannotListen(host: host, port: port, reason: "a port is a number from 0 to 65535")
        }
        guard let address = try? SocketAddress(ipAddress: name, port: port), Self.isLoopback(address) else {
            throw .notLoopback(host: host)
        }
        return address
    }

    /// Whether the host, as it stands in the settings, is this machine as only it can see it.
    static func isLoopback(host: String) -> Bool { (try? Self.resolve(host: host, port: 0)) != nil }

    /// Judged by the system's own text form, of which there is one for each address.
    private static func isLoopback(_ address: SocketAddress) -> Bool {
        guard let text = address.ipAddress else { return false }
        return text == "::1" || text.hasPrefix("127.")
    }
}
