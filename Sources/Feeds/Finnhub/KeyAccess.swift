package import TLS

/// A key together with what belongs to it: the way to the service, its lock and its saved attempts.
package struct KeyAccess: Sendable {
    let key: Secret
    let holding: KeyHolding
    let connector: any Connecting

    init(key: Secret, holding: KeyHolding, connector: any Connecting) {
        self.key = key
        self.holding = holding
        self.connector = connector
    }

    /// - Parameter wallClock: ns since 1970.
    /// - Throws: ``TLSError`` if the trust roots cannot be used.
    package init(_ settings: FinnhubSettings, wallClock: @escaping @Sendable () -> Int64) throws(TLSError) {
        self.init(
            key: settings.key,
            holding: settings.holding,
            connector: GuardedConnector.way(
                try UpstreamConnector(settings.connector, wallClock: wallClock),
                settings.client.permission
            )
        )
    }
}

/// The outcome of a change of the key.
package enum KeyChange: Sendable, Equatable {
    /// The new key is in use. A gap marks the seam if both connections were open.
    case changed(isProven: Bool)
    /// The key before stays in use, for this reason in one line, which names the cure.
    case kept(String)
}
