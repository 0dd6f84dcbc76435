internal import COpenSSL

/// The dates and digests of a certificate, for people and for metrics.
package struct CertificateFacts: Sendable, Equatable {
    /// When the certificate begins to be valid and when it expires, in seconds since 1970.
    package let notBefore: Int64
    package let notAfter: Int64
    /// The SHA-256 digest of the whole certificate in the notation of browsers: `AB:CD:…`.
    package let fingerprint: String
    /// The digest of the certificate's public key.
    package let pin: PublicKeyPin

    /// Reads the first certificate of a PEM text; `source` names the text in errors.
    package init(certificatePEM: String, source: String = "the certificate") throws(TLSError) {
        self = try PEM.withCertificates(in: certificatePEM, source: source) { certificates throws(TLSError) in
            try CertificateFacts(of: certificates[0], source: source)
        }
    }

    init(of certificate: OpaquePointer, source: String) throws(TLSError) {
        guard let notBefore = ASN1Times.seconds(of: X509_get0_notBefore(certificate)),
            let notAfter = ASN1Times.seconds(of: X509_get0_notAfter(certificate))
        else { throw TLSError(kind: .configuration, reason: "\(source): its dates cannot be read") }
        var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        OpenSSLErrors.clear()
        guard X509_digest(certificate, EVP_sha256(), &digest, nil) == 1 else {
            throw OpenSSLErrors.library("X509_digest")
        }
        guard let pin = PublicKeyPin(of: certificate) else { throw OpenSSLErrors.library("i2d_X509_PUBKEY") }
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.fingerprint = digest.map(Self.hexadecimal).joined(separator: ":")
        self.pin = pin
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        let text = String(byte, radix: 16, uppercase: true)
        return byte < 16 ? "0\(text)" : text
    }
}
