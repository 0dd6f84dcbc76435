import HTTP
import Relay

extension Settings {
    /// Checks that the relay may listen on its address, before the program opens anything.
    ///
    /// - Returns: a warning about an address that other machines can reach.
    /// - Throws: ``OperatorError`` when other machines can reach the address and no token is set.
    func checkRelay() throws(OperatorError) -> String? {
        guard let listen = self.relay.listen, !listen.isLoopback else { return nil }
        guard self.relayToken != nil else {
            throw OperatorError(RelayError.needsToken(host: listen.host).description, status: .configuration)
        }
        return Self.warning(of: listen)
    }

    /// Returns a warning about an address that other machines can reach; `nil` for a loopback address.
    static func warning(of listen: Endpoint) -> String? {
        if listen.isLoopback { return nil }
        return "other machines can reach the relay on \(listen): Finnhub's terms are for personal use and forbid to "
            + "redistribute its data, so keep it for yourself (docs/security.md)"
    }
}
