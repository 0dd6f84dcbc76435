package import TLS
package import Wire

/// A name for a key at a service that does not reveal the key. It names the key's files: the state and the lock.
package struct KeyIdentity: Sendable, Equatable {
    /// Of a key, 32 hexadecimal digits: half of a SHA-256 digest. Two keys do not share one, and it does not lead back
    /// to a key.
    package let name: String

    /// The name of a venue, which needs no key; another one for each other address.
    package init(_ venue: Venue, at upstream: UpstreamAddress) {
        let isOwn = upstream.host == venue.upstream.host
        self.name = isOwn ? venue.rawValue : "\(venue.rawValue)-\(upstream.host.lowercased())-\(upstream.port)"
    }

    /// The name of a venue's REST service, whose requests have a budget of their own.
    package init(restOf venue: Venue, at service: UpstreamAddress) {
        let isOwn = service.host == venue.service.host
        self.name = "\(venue.rawValue)-rest" + (isOwn ? "" : "-\(service.host.lowercased())-\(service.port)")
    }

    package init(key: Secret, upstream: UpstreamAddress) {
        let text = "tickertape\0\(upstream.host.lowercased())\0\(upstream.port)\0" + key.target(path: "")
        self.name = SHA256.digest(text.utf8).prefix(16).map { byte in
            let digits = String(byte, radix: 16)
            return digits.utf8.count == 1 ? "0" + digits : digits
        }.joined()
    }
}
