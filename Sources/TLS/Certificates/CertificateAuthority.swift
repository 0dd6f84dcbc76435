internal import COpenSSL

/// A maker of certificates, in memory: for the stand-in server, for a private network, for tests.
///
/// Keys are ECDSA on P-256, signatures use SHA-256. Times are distances from the moment of issue on the system's clock,
/// to the second.
package struct CertificateAuthority: Sendable {
    /// The certificate to trust, as PEM.
    package let certificatePEM: String
    private let privateKeyPEM: String
    /// The certificates between a leaf and the one to trust, as PEM; empty for a root.
    private let intermediatesPEM: String

    /// How long before the moment of issue certificates are valid by default, for machines whose clocks run behind.
    package static let defaultNotBefore: Duration = .seconds(-3_600)
    /// How long certificates are valid by default; clients refuse server certificates of much more than a year.
    package static let defaultNotAfter: Duration = .seconds(365 * 86_400)

    /// Makes a root of its own.
    package init(
        name: String,
        notBefore: Duration = Self.defaultNotBefore,
        notAfter: Duration = Self.defaultNotAfter
    ) throws(TLSError) {
        var draft = CertificateDraft(commonName: name, notBefore: notBefore, notAfter: notAfter)
        draft.isAuthority = true
        let made = try draft.sign(issuer: nil)
        self.certificatePEM = made.certificateChainPEM
        self.privateKeyPEM = made.privateKeyPEM
        self.intermediatesPEM = ""
    }

    private init(certificatePEM: String, privateKeyPEM: String, intermediatesPEM: String) {
        self.certificatePEM = certificatePEM
        self.privateKeyPEM = privateKeyPEM
        self.intermediatesPEM = intermediatesPEM
    }

    /// Makes an authority below this one; its certificate travels with every leaf that it issues.
    package func subordinate(
        name: String,
        notBefore: Duration = Self.defaultNotBefore,
        notAfter: Duration = Self.defaultNotAfter
    ) throws(TLSError) -> CertificateAuthority {
        var draft = CertificateDraft(commonName: name, notBefore: notBefore, notAfter: notAfter)
        draft.isAuthority = true
        return try self.subordinate(draft)
    }

    /// Makes what the draft says, to sign with; whether it may is the draft's affair.
    func subordinate(_ draft: CertificateDraft) throws(TLSError) -> CertificateAuthority {
        let made = try draft.sign(issuer: self.issuer)
        return CertificateAuthority(
            certificatePEM: made.certificateChainPEM,
            privateKeyPEM: made.privateKeyPEM,
            intermediatesPEM: made.certificateChainPEM + self.intermediatesPEM
        )
    }

    /// Issues a server's certificate for DNS names and IP addresses (subject alternative names).
    ///
    /// The common name is for people to read; no client of today checks it.
    package func issue(
        names: [String],
        addresses: [String] = [],
        commonName: String? = nil,
        notBefore: Duration = Self.defaultNotBefore,
        notAfter: Duration = Self.defaultNotAfter
    ) throws(TLSError) -> TLSCredentials {
        var draft = CertificateDraft(
            commonName: commonName ?? names.first ?? addresses.first ?? "unnamed",
            notBefore: notBefore,
            notAfter: notAfter
        )
        draft.names = names
        draft.addresses = addresses
        return try self.issue(draft)
    }

    /// Issues what the draft says.
    func issue(_ draft: CertificateDraft) throws(TLSError) -> TLSCredentials {
        let made = try draft.sign(issuer: self.issuer)
        return TLSCredentials(
            certificateChainPEM: made.certificateChainPEM + self.intermediatesPEM,
            privateKeyPEM: made.privateKeyPEM
        )
    }

    /// Makes a server's certificate that nobody but its own key vouches for.
    package static func selfSigned(
        names: [String],
        addresses: [String] = [],
        commonName: String? = nil,
        notBefore: Duration = Self.defaultNotBefore,
        notAfter: Duration = Self.defaultNotAfter
    ) throws(TLSError) -> TLSCredentials {
        var draft = CertificateDraft(
            commonName: commonName ?? names.first ?? addresses.first ?? "unnamed",
            notBefore: notBefore,
            notAfter: notAfter
        )
        draft.names = names
        draft.addresses = addresses
        return try draft.sign(issuer: nil)
    }

    /// The authority's own certificate and key.
    var issuer: TLSCredentials {
        TLSCredentials(certificateChainPEM: self.certificatePEM, privateKeyPEM: self.privateKeyPEM)
    }
}

extension CertificateAuthority: CustomStringConvertible, CustomReflectable {
    package var description: String { "CertificateAuthority" }
    // The key must not show where somebody prints the value.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
