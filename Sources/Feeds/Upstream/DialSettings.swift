package import NIOCore
package import TLS

/// How a server is reached, up to the first request: the limit of each step, whom the server must prove to be, and the way.
package struct DialSettings: Sendable, Equatable {
    /// The limit for finding the addresses of the server's name.
    package var dnsTimeout: TimeAmount = .seconds(5)
    /// The limit for connecting to one of them, all together.
    package var tcpTimeout: TimeAmount = .seconds(5)
    /// How the server's certificate is checked; used for encrypted addresses only.
    package var tls = TLSClientConfiguration()
    /// The way there when it is not direct; used for encrypted addresses only.
    package var proxy: ProxyServer?

    package init() {}
}
