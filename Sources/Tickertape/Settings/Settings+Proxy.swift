import HTTP
import TLS
package import Feeds

/// The proxy variables of the environment, which are evaluated once a connection's destination is known.
package struct ProxyVariables: Sendable, Equatable {
    /// The name of the variable in force, and its value.
    private let name: String?
    private let value: Secret?
    private let exclusions: ProxyExclusions

    /// Selects the variables that apply to `wss`. Lower-case names take precedence, as in curl, and empty values are
    /// ignored.
    package init(_ environment: [String: String] = [:]) {
        let first = { (names: [String]) in
            names.first { environment[$0]?.trimmingBlanks().isEmpty == false }
        }
        self.name = first(["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"])
        self.value = self.name.flatMap { environment[$0] }.map { Secret($0.trimmingBlanks()) }
        self.exclusions = ProxyExclusions(first(["no_proxy", "NO_PROXY"]).flatMap { environment[$0] } ?? "")
    }

    /// Returns the proxy for a host, and the variable that names it.
    fileprivate func proxy(host: String, port: Int) throws(OperatorError) -> (proxy: ProxyURL, name: String)? {
        guard let name = self.name, let value = self.value, !self.exclusions.covers(host: host, port: port) else {
            return nil
        }
        do throws(ParseError) {
            return (try ProxyURL(value.reveal()), name)
        } catch {
            throw OperatorError(
                "\(name): \(error.reason); upstream.proxy: none connects without a proxy",
                status: .configuration
            )
        }
    }
}

extension Settings {
    /// Returns the proxy for an address, and the setting or variable that names it; `nil` for a direct connection.
    ///
    /// The loopback interface is never reached through a proxy. `ws` is allowed for loopback only, so it needs none.
    package func proxy(for url: UpstreamAddress) throws(OperatorError) -> (proxy: ProxyURL, origin: String)? {
        guard url.isEncrypted, !LoopbackHost.contains(url.host) else { return nil }
        switch self.proxyChoice {
        case .none: return nil
        case .through(let proxy): return (proxy, "upstream.proxy")
        case .auto: return try self.proxyVariables.proxy(host: url.host, port: url.port).map { ($0.proxy, $0.name) }
        }
    }

    /// Returns the connection settings for an address, with the proxy if one applies.
    func dial(to address: UpstreamAddress) throws(OperatorError) -> DialSettings {
        var dial = self.dial
        guard let proxy = try self.proxy(for: address)?.proxy else { return dial }
        let credentials = proxy.login.map {
            ProxyServer.Credentials(user: $0.user.reveal(), password: $0.password.reveal())
        }
        dial.proxy = ProxyServer(host: proxy.host, port: proxy.port, credentials: credentials)
        return dial
    }

    /// Refuses a proxy's password in the arguments, and warns of one in a file that other users can read.
    func checkProxyLogin(_ file: SettingsFile?) throws(OperatorError) -> String? {
        guard case .through(let proxy) = self.proxyChoice, proxy.login != nil else { return nil }
        switch self.origin(of: .upstreamProxy) {
        case .flag(let flag):
            throw OperatorError(
                "\(flag): every user of this machine can see the arguments; put a proxy with a password into HTTPS_PROXY"
                    + " or the config file",
                status: .usage
            )
        case .file(let path):
            return file?.hintForReaders.map {
                "\(path) holds a proxy's password, and other users of this machine can read it: run \($0)"
            }
        case .builtIn, .environment:
            return nil
        }
    }
}
