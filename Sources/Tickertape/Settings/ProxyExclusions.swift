import HTTP
import NIOCore

/// The hosts that are reached without a proxy, as `NO_PROXY` lists them.
///
/// There is no standard. These rules are the ones that curl and Go share:
///
/// - Commas or blanks separate entries.
/// - `*` matches all hosts.
/// - `example.com`, `.example.com` and `*.example.com` match that host and its subdomains.
/// - A port after an entry limits it to that port.
/// - IP addresses are compared by value, and may have a prefix length (`10.0.0.0/8`).
package struct ProxyExclusions: Sendable, Equatable {
    private enum Pattern: Sendable, Equatable {
        case everything
        /// In lower case, without leading and trailing dots.
        case name(String)
        case network([UInt8], bits: Int)
    }

    private struct Entry: Sendable, Equatable {
        var pattern: Pattern
        var port: Int?
    }

    private let entries: [Entry]

    /// Reads a list, and ignores entries that it cannot parse.
    package init(_ text: String) {
        let isSeparator = { (character: Character) in character == "," || character.isWhitespace }
        self.entries = text.split(whereSeparator: isSeparator).compactMap { Self.entry(String($0)) }
    }

    /// Whether a host is on the list.
    package func covers(host: String, port: Int) -> Bool {
        let address = Self.bytes(ofAddress: host)
        let name = Self.bare(host)
        return self.entries.contains { entry in
            if let only = entry.port, only != port { return false }
            switch entry.pattern {
            case .everything: return true
            case .name(let suffix): return address == nil && (name == suffix || name.hasSuffix("." + suffix))
            case .network(let network, let bits):
                guard let address, address.count == network.count else { return false }
                return Self.share(address, network, bits: bits)
            }
        }
    }

    private static func entry(_ text: String) -> Entry? {
        if text == "*" { return Entry(pattern: .everything) }
        if let address = Self.bytes(ofAddress: text) {
            return Entry(pattern: .network(address, bits: address.count * 8))
        }
        if let slash = text.firstIndex(of: "/") {
            let digits = text[text.index(after: slash)...]
            guard let address = Self.bytes(ofAddress: String(text[..<slash])), let bits = Int(digits: digits),
                bits <= address.count * 8
            else { return nil }
            return Entry(pattern: .network(address, bits: bits))
        }
        let plain = text.hasPrefix("*.") ? String(text.dropFirst()) : text
        guard let (host, port) = Endpoint.split(plain) else { return nil }
        let number = port.flatMap(Endpoint.port)
        if port != nil, number == nil { return nil }
        if let address = Self.bytes(ofAddress: host) {
            return Entry(pattern: .network(address, bits: address.count * 8), port: number)
        }
        let name = Self.bare(host)
        return name.isEmpty ? nil : Entry(pattern: .name(name), port: number)
    }

    private static func bare(_ host: String) -> String {
        var name = Substring(host.lowercased())
        while name.hasPrefix(".") { name.removeFirst() }
        while name.hasSuffix(".") { name.removeLast() }
        return String(name)
    }

    private static func bytes(ofAddress text: String) -> [UInt8]? {
        guard let address = try? SocketAddress(ipAddress: text, port: 0) else { return nil }
        switch address {
        case .v4(let address): return withUnsafeBytes(of: address.address.sin_addr) { Array($0) }
        case .v6(let address): return withUnsafeBytes(of: address.address.sin6_addr) { Array($0) }
        case .unixDomainSocket: return nil
        }
    }

    private static func share(_ one: [UInt8], _ other: [UInt8], bits: Int) -> Bool {
        let whole = bits / 8
        guard one.prefix(whole).elementsEqual(other.prefix(whole)) else { return false }
        let rest = bits % 8
        return rest == 0 || (one[whole] ^ other[whole]) >> (8 - rest) == 0
    }
}
