import HTTP
import TLS

/// The address of a NATS server.
package struct ServerAddress: Sendable, Hashable {
    /// The port of NATS where an address names none.
    package static let standardPort = 4_222

    /// A name, or an IP address without brackets.
    package let host: String
    package let port: Int
    /// Whether the address itself demands TLS (`tls://`).
    package let demandsTLS: Bool

    package init(host: String, port: Int = standardPort, demandsTLS: Bool = false) {
        self.host = host
        self.port = port
        self.demandsTLS = demandsTLS
    }

    /// Reads `nats://host:port`, `tls://host`, `host:port`, with an IPv6 address in brackets. `nil` for anything else,
    /// and for an address with a user or a password, which belong into settings of their own.
    package init?(_ text: String) {
        var rest = text[...]
        var demandsTLS = false
        if let end = text.firstRange(of: "://") {
            switch text[..<end.lowerBound].lowercased() {
            case "nats": break
            case "tls": demandsTLS = true
            default: return nil
            }
            rest = text[end.upperBound...]
            if rest.hasSuffix("/") { rest = rest.dropLast() }
        }
        guard let (host, isBracketed, port) = Endpoint.parts(of: rest), (1...253).contains(host.utf8.count),
            isBracketed == host.contains(":"),
            // With the zone of an IPv6 address.
            host.utf8.allSatisfy({ Endpoint.isNameByte($0) || isBracketed && ":%".utf8.contains($0) })
        else { return nil }
        guard let port else {
            self.init(host: host, demandsTLS: demandsTLS)
            return
        }
        guard let number = Endpoint.port(port), number > 0 else { return nil }
        self.init(host: host, port: number, demandsTLS: demandsTLS)
    }

    /// Returns whether two addresses are of one server: host, without regard to case, and port.
    func isSame(as other: ServerAddress) -> Bool {
        self.port == other.port && self.host.lowercased() == other.host.lowercased()
    }

    /// Whether only this machine can reach the server.
    package var isLoopback: Bool { LoopbackHost.contains(self.host) }

    /// Whether the host is an IP address.
    var isIPAddress: Bool { if case .address = TLSPeerName(self.host) { true } else { false } }
}

extension ServerAddress: CustomStringConvertible {
    package var description: String {
        (self.demandsTLS ? "tls://" : "nats://") + (self.host.contains(":") ? "[\(self.host)]" : self.host)
            + ":\(self.port)"
    }
}
