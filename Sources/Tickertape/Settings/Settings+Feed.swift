import Feeds
import TLS

extension Settings {
    /// The feed of the market itself, which may be behind a proxy.
    ///
    /// - Throws: ``OperatorError`` when the proxy is none that can be used.
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
    /// What `auto` means where nobody is there to see it.
    private static let serviceRetry: Int64 = 900_000_000_000

    /// How long to wait before the key is tried again, ns; `nil` ends it.
    func wait(isService: Bool) -> Int64? {
        switch self {
        case .auto: isService ? Self.serviceRetry : nil
        case .stop: nil
        case .retry(let wait): wait.nanoseconds
        }
    }
}

extension FinnhubSettings {
    /// Finds out whether the trust roots and the revocation lists can be used, before anything is opened or made.
    ///
    /// - Throws: ``OperatorError`` with what to change.
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
