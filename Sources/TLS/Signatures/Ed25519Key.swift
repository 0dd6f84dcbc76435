internal import COpenSSL

/// A private key of Ed25519 (RFC 8032), by OpenSSL. It prints nothing of itself.
// Sendable: OpenSSL never changes the key after it is made, and its reference count is atomic.
package struct Ed25519Key: @unchecked Sendable {
    /// The length of a seed and of a public key, in bytes.
    package static let keyBytes = 32
    /// The length of a signature, in bytes.
    package static let signatureBytes = 64

    private final class Owner {
        let pointer: OpaquePointer

        init(_ pointer: OpaquePointer) { self.pointer = pointer }

        deinit { EVP_PKEY_free(self.pointer) }
    }

    private let owner: Owner

    /// Makes the key of a seed (RFC 8032, 5.1.5); `nil` unless it has 32 bytes.
    package init?(seed: [UInt8]) {
        guard seed.count == Self.keyBytes,
            let pointer = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, seed, seed.count)
        else { return nil }
        self.owner = Owner(pointer)
    }

    /// The public key, 32 bytes.
    package var publicKey: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Self.keyBytes)
        var count = bytes.count
        let status = EVP_PKEY_get_raw_public_key(self.owner.pointer, &bytes, &count)
        precondition(status == 1 && count == Self.keyBytes, "OpenSSL gives no public key")
        return bytes
    }

    /// Returns the signature of a message, 64 bytes; the same each time.
    package func sign(_ message: some Sequence<UInt8>) -> [UInt8] {
        guard let context = EVP_MD_CTX_new() else { preconditionFailure("OpenSSL has no memory") }
        defer { EVP_MD_CTX_free(context) }
        let message = Array(message)
        var signature = [UInt8](repeating: 0, count: Self.signatureBytes)
        var count = signature.count
        let isSigned =
            EVP_DigestSignInit(context, nil, nil, nil, self.owner.pointer) == 1
            && EVP_DigestSign(context, &signature, &count, message, message.count) == 1
        precondition(isSigned && count == Self.signatureBytes, "OpenSSL cannot sign by Ed25519")
        return signature
    }
}

extension Ed25519Key: CustomStringConvertible, CustomReflectable {
    package var description: String { "<redacted>" }
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
