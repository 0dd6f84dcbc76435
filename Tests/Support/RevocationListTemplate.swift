internal import COpenSSL
package import TLS

/// The content of a certificate revocation list before it is signed (RFC 5280, 5).
///
/// Times are offsets from the moment of signing.
package struct RevocationListTemplate: Sendable {
    package var thisUpdate: Duration = .seconds(-3_600)
    /// When the next list is due; `nil` leaves the field out.
    package var nextUpdate: Duration? = .seconds(7 * 86_400)
    /// The revoked certificates, as PEM; of a chain only the first is revoked.
    package var revoked: [String] = []
    /// Whether the list names the key that signs it, as RFC 5280, 5.2.1 requires. Without the name, only the signature
    /// shows that another key has signed it.
    package var namesKey = true

    package init(revoking revoked: [String] = []) {
        self.revoked = revoked
    }

    /// Makes the authority's list, as PEM.
    package func sign(by authority: CertificateAuthority) throws(TLSError) -> String {
        OpenSSLErrors.clear()
        guard let list = X509_CRL_new() else { throw OpenSSLErrors.library("X509_CRL_new") }
        defer { X509_CRL_free(list) }
        let version2 = 1
        try Self.check(X509_CRL_set_version(list, version2), "X509_CRL_set_version")
        try Self.withTime(self.thisUpdate) { X509_CRL_set1_lastUpdate(list, $0) }
        if let nextUpdate = self.nextUpdate { try Self.withTime(nextUpdate) { X509_CRL_set1_nextUpdate(list, $0) } }
        for certificate in self.revoked { try self.add(certificate, to: list) }
        let issuer = authority.issuer
        try PEM.withCertificates(in: issuer.certificateChainPEM, source: "the authority") { chain throws(TLSError) in
            let name = X509_get_subject_name(chain[0])
            try Self.check(X509_CRL_set_issuer_name(list, name), "X509_CRL_set_issuer_name")
            if self.namesKey { try Self.addKeyIdentifier(of: chain[0], to: list) }
            try PEM.withPrivateKey(in: issuer.privateKeyPEM, source: "the authority's key") { key throws(TLSError) in
                // X509_CRL_sign returns the signature's length.
                guard X509_CRL_sign(list, key, EVP_sha256()) > 0 else { throw OpenSSLErrors.library("X509_CRL_sign") }
            }
        }
        return try PEM.text { PEM_write_bio_X509_CRL($0, list) }
    }

    private func add(_ certificate: String, to list: OpaquePointer) throws(TLSError) {
        try PEM.withCertificates(in: certificate, source: "the revoked certificate") { chain throws(TLSError) in
            guard let entry = X509_REVOKED_new() else { throw OpenSSLErrors.library("X509_REVOKED_new") }
            let isSet = X509_REVOKED_set_serialNumber(entry, X509_get_serialNumber(chain[0])) == 1
            guard isSet, X509_CRL_add0_revoked(list, entry) == 1 else {
                X509_REVOKED_free(entry)
                throw OpenSSLErrors.library("X509_CRL_add0_revoked")
            }
            try Self.withTime(self.thisUpdate) { X509_REVOKED_set_revocationDate(entry, $0) }
        }
    }

    private static func addKeyIdentifier(of issuer: OpaquePointer, to list: OpaquePointer) throws(TLSError) {
        var context = X509V3_CTX()
        twin_X509V3_set_ctx_nodb(&context)
        X509V3_set_ctx(&context, issuer, nil, nil, list, 0)
        guard let made = X509V3_EXT_conf(nil, &context, "authorityKeyIdentifier", "keyid:always") else {
            throw OpenSSLErrors.library("X509V3_EXT_conf")
        }
        defer { X509_EXTENSION_free(made) }
        try Self.check(X509_CRL_add_ext(list, made, -1), "X509_CRL_add_ext")
    }

    /// Calls a setter with a time; the setter copies it.
    private static func withTime(
        _ distance: Duration,
        _ set: (UnsafeMutablePointer<ASN1_TIME>) -> Int32
    ) throws(TLSError) {
        guard let time = ASN1_TIME_adj(nil, Int(ASN1Times.now), 0, Int(distance.components.seconds)) else {
            throw OpenSSLErrors.library("ASN1_TIME_adj")
        }
        defer { ASN1_TIME_free(time) }
        try Self.check(set(time), "setting a time")
    }

    private static func check(_ result: Int32, _ call: String) throws(TLSError) {
        guard result == 1 else { throw OpenSSLErrors.library(call) }
    }
}
