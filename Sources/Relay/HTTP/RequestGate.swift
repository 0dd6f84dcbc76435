import HTTP
import NIOHTTP1

/// The check of a request's host and origin, before all other work on it.
///
/// A relay on loopback is reachable by every web page that the user opens. `Host` must be one of our names. This
/// refuses a page whose own name resolves to this machine (DNS rebinding). `Origin`, which browsers always send with a
/// WebSocket and programs do not, must be absent or a page of this machine. This refuses a foreign page (cross-site
/// WebSocket hijacking). At a Unix socket the name in `Host` is not checked, since no page can reach it.
struct RequestGate: Sendable {
    /// Host names in lower case, IPv6 addresses in brackets.
    private let names: Set<String>
    private let checksHost: Bool
    /// Whole origins in lower case.
    private let allowedOrigins: Set<String>

    /// - Parameters:
    ///   - boundAddress: the local address of the connection, without a port; `nil` at a Unix socket.
    ///   - hostNames: further names of this machine.
    init(boundAddress: String?, hostNames: [String] = [], allowedOrigins: [String]) {
        self.checksHost = boundAddress != nil
        let known = ["127.0.0.1", "localhost", "::1"] + hostNames + (boundAddress.map { [$0] } ?? [])
        self.names = Set(
            known.map { name in
                let name = name.lowercased()
                return name.contains(":") && !name.hasPrefix("[") ? "[\(name)]" : name
            }
        )
        self.allowedOrigins = Set(allowedOrigins.map(Self.asSent))
    }

    /// The gate of a relay with these settings.
    init(boundAddress: String?, _ settings: RelaySettings) {
        self.init(
            boundAddress: boundAddress,
            hostNames: settings.hostNames,
            allowedOrigins: settings.allowedOrigins
        )
    }

    /// Why a page is refused.
    static let foreignOrigin = "web pages of this origin may not connect"

    /// Returns why the request is refused, or `nil`.
    func refusal(of head: HTTPRequestHead) -> HTTPRefusal? {
        let hosts = head.headers["Host"]
        guard hosts.count == 1 else {
            return HTTPRefusal(
                status: .badRequest,
                type: "host-missing",
                message: "a request needs exactly one Host header",
                hint: "use an HTTP client, such as curl"
            )
        }
        guard self.isOurs(hosts[0]) else { return Self.foreign("the Host header") }
        if let authority = RequestTarget(of: head).authority, !self.isOurs(authority) {
            return Self.foreign("the address in the request line")
        }
        guard self.allows(origins: head.headers["Origin"]) else {
            return HTTPRefusal(
                status: .forbidden,
                type: "origin-not-allowed",
                message: Self.foreignOrigin,
                hint: "add the origin to relay.allowed-origins"
            )
        }
        return nil
    }

    /// Returns whether a request with these `Origin` headers is a program's or of an allowed page.
    func allows(origins: [String]) -> Bool {
        origins.count <= 1 && origins.allSatisfy(self.isAllowed(origin:))
    }

    private static func foreign(_ place: String) -> HTTPRefusal {
        HTTPRefusal(
            status: .misdirectedRequest,
            type: "host-not-allowed",
            message: "\(place) names another machine",
            hint: "use localhost or 127.0.0.1, or add the name to relay.host-names"
        )
    }

    /// Returns whether `host[:port]` is a name of ours.
    private func isOurs(_ authority: String) -> Bool {
        !self.checksHost || Self.hostName(authority).map { self.names.contains($0) } == true
    }

    /// Returns an origin as browsers send it: in lower case, and without the port that its scheme implies (RFC 6454,
    /// 6.2).
    private static func asSent(_ origin: String) -> String {
        let origin = origin.lowercased()
        for (scheme, port) in [("https://", ":443"), ("http://", ":80")]
        where origin.hasPrefix(scheme) && origin.hasSuffix(port) {
            return String(origin.dropLast(port.count))
        }
        return origin
    }

    private func isAllowed(origin: String) -> Bool {
        let origin = origin.lowercased()
        if self.allowedOrigins.contains(origin) { return true }
        for scheme in ["http://", "https://"] where origin.hasPrefix(scheme) {
            guard let host = Self.hostName(String(origin.dropFirst(scheme.count))) else { return false }
            return self.names.contains(host)
        }
        return false
    }

    /// Returns the host of `host[:port]` in lower case, or `nil` for another form.
    static func hostName(_ text: String) -> String? {
        guard let (host, isBracketed, port) = Endpoint.parts(of: text.lowercased()) else { return nil }
        // The port may be empty (RFC 3986, 3.2.3).
        if let port {
            guard port.utf8.count <= 5, port.utf8.allSatisfy(Self.isDigit) else { return nil }
        }
        return isBracketed ? "[\(host)]" : host
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
