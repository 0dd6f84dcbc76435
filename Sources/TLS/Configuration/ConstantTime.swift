internal import COpenSSL

/// The comparison of secrets in a time that does not tell how much of them agrees.
package enum ConstantTime {
    /// Whether both hold the same bytes; the time it takes depends on their lengths alone (CRYPTO_memcmp(3)).
    package static func areEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        guard one.count == other.count else { return false }
        return one.withUnsafeBytes { one in
            other.withUnsafeBytes { other in CRYPTO_memcmp(one.baseAddress, other.baseAddress, one.count) == 0 }
        }
    }
}
