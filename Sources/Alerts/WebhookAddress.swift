import HTTP

/// The address of a webhook: an `https` or `http` URL. Such URLs are secrets, so no description shows any part of it.
package struct WebhookAddress: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    package let isEncrypted: Bool
    package let host: String
    package let port: Int
    /// The request target: path and query.
    package let target: String

    /// The longest URL, in bytes.
    package static let maximumBytes = 2_048

    /// Reads a URL; `nil` if it cannot be requested.
    package init?(_ text: String) {
        guard text.utf8.count <= Self.maximumBytes, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return nil
        }
        let schemes = [("https://", true), ("http://", false)]
        guard let (scheme, isEncrypted) = schemes.first(where: { text.lowercased().hasPrefix($0.0) }) else {
            return nil
        }
        // A fragment is never sent (RFC 9110, 4.2.4).
        let rest = text.dropFirst(scheme.count).prefix { $0 != "#" }
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        guard let (host, port) = Self.split(rest[..<end]) else { return nil }
        let target = rest[end...]
        self.isEncrypted = isEncrypted
        self.host = host
        self.port = port ?? (isEncrypted ? 443 : 80)
        self.target = target.hasPrefix("/") ? String(target) : "/\(target)"
    }

    /// Splits an authority into host and port; `nil` for one with a user or password.
    private static func split(_ authority: Substring) -> (host: String, port: Int?)? {
        guard let (host, isBracketed, port) = Endpoint.parts(of: authority), (1...253).contains(host.utf8.count),
            host.utf8.allSatisfy({ Endpoint.isNameByte($0) || isBracketed && $0 == UInt8(ascii: ":") })
        else { return nil }
        guard let port else { return (host, nil) }
        guard let number = Endpoint.port(port), number > 0 else { return nil }
        return (host, number)
    }

    /// The value of the `Host` header.
    var authority: String {
        let name = self.host.contains(":") ? "[\(self.host)]" : self.host
        return self.port == (self.isEncrypted ? 443 : 80) ? name : "\(name):\(self.port)"
    }

    /// Whether the host is this machine.
    package var isLoopback: Bool { LoopbackHost.contains(self.host) }

    package var description: String { "<redacted>" }
    package var debugDescription: String { "<redacted>" }
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
