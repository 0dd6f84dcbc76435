/// The hosts that only this machine reaches.
package enum LoopbackHost {
    /// Whether a host is `localhost`, in 127.0.0.0/8, or `::1`.
    ///
    /// Only spellings that name one address are taken: `127.1` or `0x7f.0.0.1` mean different things to different
    /// resolvers, so they count as strangers.
    package static func contains(_ host: String) -> Bool {
        if host.lowercased() == "localhost" || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        let isAddress =
            parts.count == 4
            && parts.allSatisfy { part in
                part.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
                    && UInt8(part) != nil && (part.count == 1 || !part.hasPrefix("0"))
            }
        return isAddress && parts[0] == "127"
    }
}
