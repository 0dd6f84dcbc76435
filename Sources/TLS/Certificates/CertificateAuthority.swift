internal import COpenSSL

/// A certificate authority in memory: for the mock server, for a private network and for tests.
///
/// Keys are ECDSA on P-256, and signatures use SHA-256. Times are offsets from the moment of issue on the system's
/// clock, in whole seconds.
package struct CertificateAuthority: Sendable {
    /// The certificate that clients trust, as PEM.
    package let certificatePEM: String
    let privateKeyPEM: String
    /// The certificates between a leaf and the trusted one, as PEM; empty for a root.
    let intermediatesPEM: String

    /// The default start of a validity period. It lies in the past for machines whose clocks run behind.
    package static let defaultNotBefore: Duration = .seconds(-3_600)
    /// The default end of a validity period. Clients refuse server certificates that are valid for much more than a
    /// year.
    package static let defaultNotAfter: Duration = .seconds(365 * 86_400)

    /// Makes a self-signed root.
    package init(
        name: String,
        notBefore: Duration = Self.defaultNotBefore,
        notAfter: Duration = Self.defaultNotAfter
    ) throws(TLSError) {
        var draft = CertificateTemplate(commonName: name, notBefore: notBefore, notAfter: notAfter)
        draft.isAuthority = true
        let made = try draft.sign(issuer: nil)
        self.certificatePEM = made.certificateChainPEM
        self.privateKeyPEM = made.privateKeyPEM
        self.intermediatesPEM = ""
    }

    init(certificatePEM: String, privateKeyPEM: String, intermediatesPEM: String) {
        self.certificatePEM = certificatePEM
        self.privateKeyPEM = privateKeyPEM
        self.intermediatesPEM = intermediatesPEM
    }

    /// Issues a server's certificate for DNS names and IP addresses (subject alternative names).
    ///
    /// The common name is for people to read; current clients do not check it.
    package func issue(
        names: [String],
        addresses: [String] = [],
        commonName: String? = nil,
        notBefore: Duration = Self.defaultNotBefore,
        notAfter: Duration = Self.defaultNotAfter
    ) throws(TLSError) -> TLSCredentials {
        var draft = CertificateTemplate(
            commonName: commonName ?? names.first ?? addresses.first ?? "unnamed",
            notBefore: notBefore,
            notAfter: notAfter
        )
        draft.names = names
        draft.addresses = addresses
        return try self.issue(draft)
    }

    /// Issues the certificate that the draft describes.
    func issue(_ draft: CertificateTemplate) throws(TLSError) -> TLSCredentials {
        let made = try draft.sign(issuer: self.issuer)
        return TLSCredentials(
            certificateChainPEM: made.certificateChainPEM + self.intermediatesPEM,
            privateKeyPEM: made.privateKeyPEM
        )
    }

    /// Makes a server's certificate that is signed with its own key.
    package static func selfSigned(
        names: [String],
        addresses: [String] = [],
        commonName: String? = nil,
        notBefore: Duration = Self.defaultNotBefore,
        notAfter: Duration = Self.defaultNotAfter
    ) throws(TLSError) -> TLSCredentials {
        var draft = CertificateTemplate(
            commonName: commonName ?? names.first ?? addresses.first ?? "unnamed",
            notBefore: notBefore,
            notAfter: notAfter
        )
        draft.names = names
        draft.addresses = addresses
        return try draft.sign(issuer: nil)
    }

    /// The authority's own certificate and key.
    package var issuer: TLSCredentials {
        TLSCredentials(certificateChainPEM: self.certificatePEM, privateKeyPEM: self.privateKeyPEM)
    }
}

extension CertificateAuthority: CustomStringConvertible, CustomReflectable {
    package var description: String { "CertificateAuthority" }
    // A printed value must not show the key.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
