internal import COpenSSL

/// An incremental SHA-256 (FIPS 180-4) by OpenSSL: a value, whose copies continue independently.
// Sendable: the context is changed only while this value is its only owner.
package struct RunningSHA256: @unchecked Sendable {
    private final class Context {
        let pointer: OpaquePointer

        init() {
            guard let pointer = EVP_MD_CTX_new(), EVP_DigestInit_ex(pointer, EVP_sha256(), nil) == 1 else {
                preconditionFailure("OpenSSL has no SHA-256")
            }
            self.pointer = pointer
        }

        init(copying other: Context) {
            guard let pointer = EVP_MD_CTX_new(), EVP_MD_CTX_copy_ex(pointer, other.pointer) == 1 else {
                preconditionFailure("OpenSSL cannot copy a SHA-256")
            }
            self.pointer = pointer
        }

        deinit { EVP_MD_CTX_free(self.pointer) }
    }

    private var context = Context()
    /// The number of bytes digested.
    package private(set) var count: UInt64 = 0

    package init() {}

    /// Digests the next bytes.
    package mutating func take(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return }
        if !isKnownUniquelyReferenced(&self.context) { self.context = Context(copying: self.context) }
        precondition(EVP_DigestUpdate(self.context.pointer, start, bytes.count) == 1, "EVP_DigestUpdate failed")
        self.count += UInt64(bytes.count)
    }

    /// Returns the digest of all bytes so far, 32 bytes in lower-case hexadecimal.
    package func finish() -> String {
        let end = Context(copying: self.context)
        var digest = [UInt8](repeating: 0, count: 32)
        var length: UInt32 = 0
        let isDone = EVP_DigestFinal_ex(end.pointer, &digest, &length) == 1
        precondition(isDone && length == 32, "EVP_DigestFinal_ex failed")
        return digest.map { $0 < 16 ? "0" + String($0, radix: 16) : String($0, radix: 16) }.joined()
    }
}
