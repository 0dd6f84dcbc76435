internal import COpenSSL

/// A comparison of secrets whose duration does not show how many bytes agree.
package enum ConstantTime {
    /// Returns whether both hold the same bytes. The duration depends only on the lengths (CRYPTO_memcmp(3)).
    package static func areEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        guard one.count == other.count else { return false }
        return one.withUnsafeBytes { one in
            other.withUnsafeBytes { other in CRYPTO_memcmp(one.baseAddress, other.baseAddress, one.count) == 0 }
        }
    }
}
