package import NIOCore

/// Who a connection comes from, as far as limits for each address go.
package enum PeerAddress: Hashable {
    /// This machine: loopback, a socket file, or one of the machine's own addresses.
    case here
    case version4(UInt32)
    /// The first 64 bits: whoever has one address of such a network has all of them (RFC 4291, 2.5.1).
    case version6(UInt64)

    package init(remote: SocketAddress?, local: SocketAddress?) {
        guard let remote, let text = Self.text(of: remote) else {
            self = .here
            return
        }
        if Self.isLoopback(text) || text == local.flatMap(Self.text) {
            self = .here
            return
        }
        // The system has just written these, so they are addresses.
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

    /// An IP address in the system's own text form, of which there is one for each; one of version 4 that came in at a
    /// socket of version 6 (RFC 4291, 2.5.5.2) as what it is.
    package static func text(of address: SocketAddress) -> String? {
        guard let text = address.ipAddress else { return nil }
        let mapped = "::ffff:"
        return text.hasPrefix(mapped) && text.contains(".") ? String(text.dropFirst(mapped.count)) : text
    }

    /// Judged by the system's text form.
    package static func isLoopback(_ text: String) -> Bool { text == "::1" || text.hasPrefix("127.") }
}
