import HTTP
import Relay
import TLS

extension Settings {
    /// Checks that the relay may listen on its addresses, before the program opens anything.
    ///
    /// - Returns: warnings about addresses that other machines can reach.
    /// - Throws: ``OperatorError`` when other machines can reach an address and no token is set, and for lines without a
    ///   relay.
    func checkRelay() throws(OperatorError) -> [String] {
        if let listen = self.relay.listen, !listen.isLoopback, self.relayToken == nil {
            throw OperatorError(RelayError.needsToken(host: listen.host).description, status: .configuration)
        }
        if let lines = self.relay.lines {
            if !lines.isLoopback, self.relayToken == nil {
                throw OperatorError(RelayError.linesNeedToken(host: lines.host).description, status: .configuration)
            }
            if self.relay.isOff {
                throw OperatorError(
                    "lines.listen needs the relay: set relay.listen or relay.unix-socket, or lines.listen to off",
                    status: .configuration
                )
            }
            if lines == self.relay.listen, lines.port != 0 {
                throw OperatorError(
                    "lines.listen and relay.listen are both \(lines): give one of them another port",
                    status: .configuration
                )
            }
        }
        return [self.relay.listen.flatMap(Self.warning), self.relay.lines.flatMap(Self.linesWarning)].compactMap(\.self)
    }

    /// Checks what the start checks beyond the settings by themselves: the relay's addresses and certificate, the
    /// webhook, and the feeds of the symbols. It opens no socket and writes no file, but reads those that settings name.
    func check() throws(OperatorError) {
        _ = try self.checkRelay()
        _ = try self.webhookAddress()
        if let certificate = self.relayFiles.certificate, let key = self.relayFiles.key {
            do throws(TLSError) {
                _ = try ServerPair.load(certificate: certificate, key: key)
            } catch {
                throw OperatorError("\(error) (relay.certificate-file, relay.key-file)", status: .configuration)
            }
        }
        if self.hasLiveFeed {
            var settings = self
            settings.followHoldings()
            let plan = try FeedPlan(settings, token: self.token)
            try plan.checkTrust(settings)
        }
    }

    /// Returns a warning about an address that other machines can reach; `nil` for a loopback address.
    static func warning(of listen: Endpoint) -> String? {
        if listen.isLoopback { return nil }
        return "other machines can reach the relay on \(listen): Finnhub's terms are for personal use and forbid to "
            + "redistribute its data, so keep it for yourself (docs/security.md)"
    }

    private static func linesWarning(of lines: Endpoint) -> String? {
        if lines.isLoopback { return nil }
        return "other machines can reach the lines on \(lines), where nothing is encrypted, neither prices nor the "
            + "token: use it in a network that you trust, and keep the data for yourself (docs/lines.md)"
    }
}
