package import TLS
import HTTP
import Market

/// The address of an HTTP proxy: `http://proxy.example:3128`, `http://user:password@10.0.0.1:3128`, `proxy:3128`.
///
/// Its description omits the user and the password.
package struct ProxyURL: Sendable, Equatable, CustomStringConvertible {
    /// The credentials for the proxy.
    package struct Login: Sendable, Equatable {
        package var user: Secret
        package var password: Secret
    }

    /// A host name or an IP address; an IPv6 address has no brackets.
    package var host: String
    /// The given port, or 80.
    package var port: Int
    package var login: Login?

    private static let usage = "write it like http://HOST:PORT or http://USER:PASSWORD@HOST:PORT"

    /// Parses an address.
    ///
    /// - Throws: the reason, which never repeats the text, since it may hold a password.
    package init(_ text: String) throws(ParseError) {
        guard text.utf8.count <= 2_048, text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            throw ParseError("has characters that an address cannot have; \(Self.usage)", echoes: false)
        }
        var rest = Substring(text)
        if let mark = text.firstRange(of: "://") {
            switch text[..<mark.lowerBound].lowercased() {
            case "http": break
            case "https":
                throw ParseError(
                    "is a proxy that needs TLS itself (https://), which this program does not support; name one"
                        + " with http:// (what goes through it is encrypted all the same)",
                    echoes: false
                )
            case "socks", "socks4", "socks4a", "socks5", "socks5h":
                throw ParseError(
                    "is a SOCKS proxy, which this program does not support; name an HTTP proxy",
                    echoes: false
                )
            default: throw ParseError("is not a proxy's address; \(Self.usage)", echoes: false)
            }
            rest = text[mark.upperBound...]
        }
        let end = rest.firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? rest.endIndex
        guard rest[end...].isEmpty || rest[end...] == "/" else {
            throw ParseError("has something after its port; \(Self.usage)", echoes: false)
        }
        var authority = rest[..<end]
        if let at = authority.lastIndex(of: "@") {
            self.login = try Self.login(authority[..<at])
            authority = authority[authority.index(after: at)...]
        }
        guard let (host, port) = Endpoint.split(authority) else {
            throw ParseError("has no valid host; \(Self.usage)", echoes: false)
        }
        self.host = host
        self.port = 80
        if let port {
            guard let number = Endpoint.port(port), number > 0 else {
                throw ParseError("has no valid port; \(Self.usage)", echoes: false)
            }
            self.port = number
        }
    }

    private static func login(_ text: Substring) throws(ParseError) -> Login? {
        if text.isEmpty { return nil }
        let colon = text.firstIndex(of: ":") ?? text.endIndex
        let parts = [text[..<colon], text[colon...].dropFirst()].map(PercentText.decoded)
        // RFC 7617, 2: control characters are forbidden, and the first colon ends the user.
        guard let user = parts[0], let password = parts[1], !user.utf8.contains(UInt8(ascii: ":")),
            (user + password).utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f })
        else {
            throw ParseError(
                "has a user or password that cannot be sent; marks in them are written %XX, as %40 for @",
                echoes: false
            )
        }
        return Login(user: Secret(user), password: Secret(password))
    }

    package var description: String {
        "http://\(self.login == nil ? "" : "<redacted>@")\(Endpoint(host: self.host, port: self.port))"
    }
}

/// The choice between a direct connection to the service and one through a proxy.
package enum ProxyChoice: Sendable, Equatable {
    /// Follows the environment: `HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`.
    case auto
    /// Connects directly, and ignores the environment.
    case none
    /// Uses this proxy, and ignores the environment.
    case through(ProxyURL)
}

extension Syntax<ProxyChoice> {
    package static var proxy: Syntax {
        Syntax(
            read: { text throws(ParseError) in
                switch text.lowercased() {
                case "auto": return .auto
                case "none", "off", "", "~", "null": return .none
                default: return .through(try ProxyURL(text))
                }
            },
            write: { choice in
                switch choice {
                case .auto: "auto"
                case .none: "none"
                case .through(let proxy): "\(proxy)"
                }
            }
        )
    }
}
