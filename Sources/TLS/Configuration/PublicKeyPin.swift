internal import COpenSSL

/// The SHA-256 digest of a public key, by which an operator names the expected key (RFC 7469, 2.4; curl's
/// `--pinnedpubkey`).
///
/// The digest covers the whole SubjectPublicKeyInfo, so it stays the same when a certificate is renewed with the same
/// key.
package struct PublicKeyPin: Sendable, Hashable {
    private static let digestBytes = Int(SHA256_DIGEST_LENGTH)
    /// The length of a digest in Base64, including one `=`.
    private static let textBytes = 44

    private let digest: [UInt8]

    /// Reads `sha256/BASE64`, or curl's form with two slashes; `nil` for anything else.
    package init?(_ text: String) {
        // One digest in 64 begins with a slash itself, so the length decides which form it is.
        let prefix = text.utf8.dropLast(Self.textBytes)
        guard prefix.elementsEqual("sha256/".utf8) || prefix.elementsEqual("sha256//".utf8) else { return nil }
        let encoded = Array(text.utf8.suffix(Self.textBytes))
        guard encoded.count == Self.textBytes, encoded.last == UInt8(ascii: "=") else { return nil }
        // OpenSSL's decoder also writes the byte that the `=` stands for.
        var decoded = [UInt8](repeating: 0, count: Self.digestBytes + 1)
        guard EVP_DecodeBlock(&decoded, encoded, Int32(encoded.count)) == Int32(decoded.count) else {
            OpenSSLErrors.clear()
            return nil
        }
        self.digest = Array(decoded.dropLast())
        // The decoder accepts several spellings (blanks, stray bits); only the canonical one is a pin.
        guard Self.encode(self.digest).utf8.elementsEqual(encoded) else { return nil }
    }

    /// Computes the pin of the first certificate in a PEM text.
    package init(certificatePEM: String) throws(TLSError) {
        self = try PEM.withCertificates(in: certificatePEM, source: "the certificate") {
            certificates throws(TLSError) in
            guard let pin = PublicKeyPin(of: certificates[0]) else { throw OpenSSLErrors.library("i2d_X509_PUBKEY") }
            return pin
        }
    }

    /// Computes the pin of a certificate; `nil` when OpenSSL fails, which happens only without memory.
    init?(of certificate: OpaquePointer) {
        var encoded: UnsafeMutablePointer<UInt8>?
        let count = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &encoded)
        guard count > 0, let encoded else { return nil }
        defer { twin_OPENSSL_free(encoded) }
        var digest = [UInt8](repeating: 0, count: Self.digestBytes)
        guard EVP_Digest(encoded, Int(count), &digest, nil, EVP_sha256(), nil) == 1 else { return nil }
        self.digest = digest
    }

    private static func encode(_ digest: [UInt8]) -> String {
        var text = [UInt8](repeating: 0, count: Self.textBytes + 1)
        EVP_EncodeBlock(&text, digest, Int32(digest.count))
        return String(decoding: text.dropLast(), as: UTF8.self)
    }
}

extension PublicKeyPin: CustomStringConvertible {
    package var description: String { "sha256/" + Self.encode(self.digest) }
}
