import Feeds
import TLS

extension Settings {
    /// Returns the settings of the live feed, with the proxy if one applies.
    ///
    /// - Throws: ``OperatorError`` when the proxy cannot be used.
    func liveFeed(token: Secret) throws(OperatorError) -> FinnhubSettings {
        var feed = FinnhubSettings(
            key: token,
            options: self.finnhub,
            dial: try self.dial(to: self.finnhub.upstream)
        )
        feed.backoff.rejectedKey = self.rejectedKey.wait(isService: ProcessEnvironment.current.isService)
        feed.relayToken = self.relayToken
        return feed
    }
}

extension Settings.RejectedKey {
    /// The retry interval of ``auto`` in a service, where no person watches; ns.
    private static let serviceRetry: Int64 = 900_000_000_000

    /// Returns the wait before the next attempt with the key, ns; `nil` ends the program.
    func wait(isService: Bool) -> Int64? {
        switch self {
        case .auto: isService ? Self.serviceRetry : nil
        case .stop: nil
        case .retry(let wait): wait.nanoseconds
        }
    }
}

extension FinnhubSettings {
    /// Checks that the trust roots and the revocation lists can be loaded, before the program opens or creates
    /// anything.
    ///
    /// - Throws: ``OperatorError`` that says what to change.
    func checkTrust() throws(OperatorError) {
        guard self.upstream.isEncrypted else { return }
        do throws(TLSError) {
            _ = try TLSContext(client: self.dial.tls)
        } catch {
            var withoutLists = self.dial.tls
            withoutLists.revocationListFile = nil
            let isWellWithoutLists = (try? TLSContext(client: withoutLists)) != nil
            let setting = isWellWithoutLists ? "tls.crl-file" : "tls.ca-file, --ca-file"
            throw OperatorError("\(error) (\(setting))", status: .configuration)
        }
    }
}
