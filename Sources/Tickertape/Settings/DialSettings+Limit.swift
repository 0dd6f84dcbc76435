import Feeds
import NIOCore

extension DialSettings {
    /// Returns these settings with no step of a connection longer than `limit`.
    func limited(to limit: TimeAmount) -> DialSettings {
        var dial = self
        dial.dnsTimeout = min(dial.dnsTimeout, limit)
        dial.tcpTimeout = min(dial.tcpTimeout, limit)
        dial.upgradeTimeout = min(dial.upgradeTimeout, limit)
        dial.tls.handshakeTimeout = min(dial.tls.handshakeTimeout, limit)
        return dial
    }
}
