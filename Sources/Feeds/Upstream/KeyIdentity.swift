package import TLS

/// A name for a key at a service that tells nothing of the key: it names the files of the state and of the lock.
package struct KeyIdentity: Sendable, Equatable {
    /// 32 hexadecimal digits: half of a SHA-256, which no two keys share and nobody turns back into a key.
    package let name: String

    package init(key: Secret, upstream: UpstreamAddress) {
        let text = "tickertape\0\(upstream.host.lowercased())\0\(upstream.port)\0" + key.target(path: "")
        self.name = SHA256.digest(text.utf8).prefix(16).map { byte in
            let digits = String(byte, radix: 16)
            return digits.utf8.count == 1 ? "0" + digits : digits
        }.joined()
    }
}
