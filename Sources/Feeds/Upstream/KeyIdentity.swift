package import TLS

/// A name for a key at a service that does not reveal the key. It names the key's files: the state and the lock.
package struct KeyIdentity: Sendable, Equatable {
    /// 32 hexadecimal digits: half of a SHA-256 digest. Two keys do not share one, and it does not lead back to a key.
    package let name: String

    package init(key: Secret, upstream: UpstreamAddress) {
        let text = "tickertape\0\(upstream.host.lowercased())\0\(upstream.port)\0" + key.target(path: "")
        self.name = SHA256.digest(text.utf8).prefix(16).map { byte in
            let digits = String(byte, radix: 16)
            return digits.utf8.count == 1 ? "0" + digits : digits
        }.joined()
    }
}
