internal import COpenSSL

/// An incremental SHA-256 (FIPS 180-4) by OpenSSL.
package final class RunningSHA256 {
    private let context: OpaquePointer
    /// The number of bytes digested.
    package private(set) var count: UInt64 = 0

    package init() {
        guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
            preconditionFailure("OpenSSL has no SHA-256")
        }
        self.context = context
    }

    deinit { EVP_MD_CTX_free(self.context) }

    /// Digests the next bytes.
    package func take(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return }
        precondition(EVP_DigestUpdate(self.context, start, bytes.count) == 1, "EVP_DigestUpdate failed")
        self.count += UInt64(bytes.count)
    }

    /// Returns the digest of all bytes, 32 bytes in lower-case hexadecimal. Must be called only once.
    package func finish() -> String {
        var digest = [UInt8](repeating: 0, count: 32)
        var length: UInt32 = 0
        let isDone = EVP_DigestFinal_ex(self.context, &digest, &length) == 1
        precondition(isDone && length == 32, "EVP_DigestFinal_ex failed")
        return digest.map { $0 < 16 ? "0" + String($0, radix: 16) : String($0, radix: 16) }.joined()
    }
}
