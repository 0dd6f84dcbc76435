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
        let host: Substring
        let port: Substring?
        if rest.hasPrefix("[") {
            guard let close = rest.firstIndex(of: "]") else { return nil }
            host = rest[rest.index(after: rest.startIndex)..<close]
            let tail = rest[rest.index(after: close)...]
            guard tail.isEmpty || tail.hasPrefix(":"), host.contains(":") else { return nil }
            port = tail.isEmpty ? nil : tail.dropFirst()
        } else {
            let parts = rest.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count <= 2 else { return nil }
            host = parts[0]
            port = parts.count == 2 ? parts[1] : nil
        }
        let isHost =
            (1...253).contains(host.utf8.count)
            && host.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "-._:%".utf8.contains(byte)
                }
            }
        guard isHost else { return nil }
        if let port {
            guard let number = UInt16(port), number > 0, port.utf8.allSatisfy({ $0 != UInt8(ascii: "+") }) else {
                return nil
            }
            self.init(host: String(host), port: Int(number), demandsTLS: demandsTLS)
        } else {
            self.init(host: String(host), demandsTLS: demandsTLS)
        }
    }

    /// Whether the host is an IP address.
    var isIPAddress: Bool { if case .address = TLSPeerName(self.host) { true } else { false } }
}

extension ServerAddress: CustomStringConvertible {
    package var description: String {
        (self.demandsTLS ? "tls://" : "nats://") + (self.host.contains(":") ? "[\(self.host)]" : self.host)
            + ":\(self.port)"
    }
}
