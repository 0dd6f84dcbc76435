import Sinks

extension Settings {
    /// Finds out whether the relay may listen where it is to, before anything is opened.
    ///
    /// - Returns: what the person must know of an address that other machines can reach.
    /// - Throws: ``OperatorError`` where nothing would check who connects from there.
    func checkRelay() throws(OperatorError) -> String? {
        guard let listen = self.relay.listen, !listen.isLoopback else { return nil }
        guard self.relay.token != nil else {
            throw OperatorError(RelayError.needsToken(host: listen.host).description, status: .configuration)
        }
        return Self.terms(listen)
    }

    /// What the person must know of an address that other machines can reach.
    static func terms(_ listen: Endpoint) -> String {
        "other machines can reach the relay on \(listen): Finnhub's terms are for personal use and forbid to "
            + "redistribute its data, so let nobody else use it (docs/security.md)"
    }
}
