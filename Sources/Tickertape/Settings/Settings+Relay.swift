import Relay

extension Settings {
    /// Finds out whether the relay may listen where it is to, before anything is opened.
    ///
    /// - Returns: what the person must know of an address that other machines can reach.
    /// - Throws: ``OperatorError`` where nothing would check who connects from there.
    func checkRelay() throws(OperatorError) -> String? {
        guard let listen = self.relay.listen, !listen.isLoopback else { return nil }
        guard self.relayToken != nil else {
            throw OperatorError(RelayError.needsToken(host: listen.host).description, status: .configuration)
        }
        return Self.warning(of: listen)
    }

    /// What the person must know of an address that other machines can reach; `nil` where only this one can.
    static func warning(of listen: Endpoint) -> String? {
        if listen.isLoopback { return nil }
        return "other machines can reach the relay on \(listen): Finnhub's terms are for personal use and forbid to "
            + "redistribute its data, so let nobody else use it (docs/security.md)"
    }
}
