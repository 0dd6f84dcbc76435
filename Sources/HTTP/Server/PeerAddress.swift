package import NIOCore

/// The origin of a connection, for the limits per address.
package enum PeerAddress: Hashable {
    /// This machine: loopback, a Unix socket, or one of the machine's own addresses.
    case here
    case version4(UInt32)
    /// The first 64 bits: the owner of one address in such a network owns all of them (RFC 4291, 2.5.1).
    case version6(UInt64)

    package init(remote: SocketAddress?, local: SocketAddress?) {
        guard let remote, let text = Self.text(of: remote) else {
            self = .here
            return
        }
        if LoopbackHost.contains(text) || text == local.flatMap(Self.text) {
            self = .here
            return
        }
        // The system has just formatted this text, so it is an address.
        let plain = try? SocketAddress(ipAddress: text, port: 0)
        switch plain {
        case .v4(let address):
            self = .version4(UInt32(bigEndian: address.address.sin_addr.s_addr))
        case .v6(let address):
            var bytes = address.address.sin6_addr
            self = .version6(
                withUnsafeBytes(of: &bytes) { UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)) }
            )
        case .unixDomainSocket, nil:
            self = .here
        }
    }

    /// Returns an IP address in the system's canonical text form. An IPv4-mapped IPv6 address (RFC 4291, 2.5.5.2) is
    /// returned as the IPv4 address.
    package static func text(of address: SocketAddress) -> String? {
        guard let text = address.ipAddress else { return nil }
        let mapped = "::ffff:"
        return text.hasPrefix(mapped) && text.contains(".") ? String(text.dropFirst(mapped.count)) : text
    }
}
