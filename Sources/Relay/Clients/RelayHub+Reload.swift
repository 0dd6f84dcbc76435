import WebSocket

// Settings that change while clients are connected.
extension RelayHub {
    /// Takes other limits and other rules of who may connect, and closes the clients that may stay no longer with 1008.
    ///
    /// A client that stays keeps the limits with which it came. The addresses, the protocols and the pace of prices must
    /// be the same as before.
    ///
    /// - Parameter descriptors: how many connections fit into the process's limit of open files.
    /// - Returns: the number of closed clients.
    func reload(_ settings: RelaySettings, descriptors: Int) -> Int {
        if settings.token != self.settings.token {
            self.tokens = settings.token.map(TokenGate.init)
            self.tokenNumber += 1
        }
        self.settings = settings
        self.descriptors = descriptors
        self.rules += 1
        let refused = self.sessions.values.compactMap { session in
            session.isOpen ? session.output.objection?().map { (session, $0) } : nil
        }
        for (session, reason) in refused { session.close(.policy, reason: reason) }
        self.flush()
        return refused.count
    }

    /// Returns the check of a client that has shown the token in force, if there is one.
    ///
    /// Without a token every client may stay.
    func tokenObjection() -> () -> String? {
        let shown = self.tokenNumber
        return { [unowned self] in
            self.tokens == nil || self.tokenNumber == shown ? nil : "the relay's token is another one now"
        }
    }
}
