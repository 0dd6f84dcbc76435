package import NIOCore
package import TLS

/// The settings of a connection up to the first request: the limit of each step, the required certificate, and the
/// proxy.
package struct DialSettings: Sendable, Equatable {
    /// The limit for resolving the server's name.
    package var dnsTimeout: TimeAmount = .seconds(5)
    /// The limit for connecting by TCP, for all addresses together.
    package var tcpTimeout: TimeAmount = .seconds(5)
    /// The limit from the request to the end of the answer's header. A proxy has the same limit before that.
    package var upgradeTimeout: TimeAmount = .seconds(10)
    /// How the server's certificate is checked; used for encrypted addresses only.
    package var tls = TLSClientConfiguration()
    /// The proxy, if the connection is not direct; used for encrypted addresses only.
    package var proxy: ProxyServer?

    package init() {}

    /// These settings for a relay of the same user on this machine: no proxy and no attacker stands between, and the
    /// certificate may have another name.
    package var toOwnRelay: DialSettings {
        var dial = self
        dial.proxy = nil
        dial.tls = TLSClientConfiguration()
        dial.tls.verification = .disabled
        return dial
    }
}
