internal import COpenSSL

/// The SHA-256 digest (FIPS 180-4) by OpenSSL.
package enum SHA256 {
    /// Returns the digest of the bytes, 32 bytes.
    package static func digest(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        let bytes = Array(bytes)
        var digest = [UInt8](repeating: 0, count: 32)
        var count: UInt32 = 0
        let status = bytes.withUnsafeBytes { input in
            digest.withUnsafeMutableBufferPointer { output in
                EVP_Digest(input.baseAddress, input.count, output.baseAddress, &count, EVP_sha256(), nil)
            }
        }
        precondition(status == 1 && count == 32, "OpenSSL has no SHA-256")
        return digest
    }
}
