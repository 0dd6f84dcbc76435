@testable import TLS

extension CertificateAuthority {
    /// Makes an authority below this one. Every leaf that it issues carries its certificate in the chain.
    func subordinate(
        name: String,
        notBefore: Duration = Self.defaultNotBefore,
        notAfter: Duration = Self.defaultNotAfter
    ) throws(TLSError) -> CertificateAuthority {
        var draft = CertificateTemplate(commonName: name, notBefore: notBefore, notAfter: notAfter)
        draft.isAuthority = true
        return try self.subordinate(draft)
    }

    /// Makes an authority from the draft, without checking that the draft allows it to sign.
    func subordinate(_ draft: CertificateTemplate) throws(TLSError) -> CertificateAuthority {
        let made = try draft.sign(issuer: self.issuer)
        return CertificateAuthority(
            certificatePEM: made.certificateChainPEM,
            privateKeyPEM: made.privateKeyPEM,
            intermediatesPEM: made.certificateChainPEM + self.intermediatesPEM
        )
    }
}
