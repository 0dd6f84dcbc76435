import NIOCore

/// The hosts that only this machine reaches.
package enum LoopbackHost {
    /// Whether a host is `localhost`, or an address in 127.0.0.0/8 or `::1` in any of its forms; IPv6 without brackets.
    ///
    /// Only spellings that name one address are taken: `127.1` or `0x7f.0.0.1` mean different things to different
    /// resolvers, so they count as strangers.
    package static func contains(_ host: String) -> Bool {
        if host.lowercased() == "localhost" { return true }
        // Judged by the system's own text form, of which there is one for each address.
        guard let text = (try? SocketAddress(ipAddress: host, port: 0))?.ipAddress else { return false }
        return text == "::1" || text.hasPrefix("127.")
    }
}
