import COpenSSL
@testable import TLS

/// The content of an OCSP response about one certificate before it is signed (RFC 6960).
///
/// Times are offsets from the moment of signing.
struct OCSPResponseTemplate {
    enum Status {
        case good, revoked, unknown
    }

    var status: Status
    var thisUpdate: Duration = .seconds(-3_600)
    /// When the next response is due; `nil` leaves the field out.
    var nextUpdate: Duration? = .seconds(7 * 86_400)
    /// Whether SHA-256 identifies the certificate; SHA-1 is customary.
    var namesBySHA256 = false
    /// A delegated signer, whose certificate is put into the response; `nil` signs with the authority's own key.
    var signer: TLSCredentials?

    init(_ status: Status) {
        self.status = status
    }

    /// Makes the response about a certificate (the first of a chain), in DER.
    func sign(
        about certificate: TLSCredentials,
        by authority: CertificateAuthority
    ) throws(TLSError) -> [UInt8] {
        OpenSSLErrors.clear()
        guard let answer = OCSP_BASICRESP_new() else { throw OpenSSLErrors.library("OCSP_BASICRESP_new") }
        defer { OCSP_BASICRESP_free(answer) }
        let issuer = authority.issuer
        try PEM.withCertificates(in: issuer.certificateChainPEM, source: "the authority") { issuers throws(TLSError) in
            try PEM.withCertificates(in: certificate.certificateChainPEM, source: "the certificate") {
                chain throws(TLSError) in
                try self.add(chain[0], issuer: issuers[0], to: answer)
            }
        }
        try Self.sign(answer, by: self.signer ?? issuer)
        guard let response = OCSP_response_create(OCSP_RESPONSE_STATUS_SUCCESSFUL, answer) else {
            throw OpenSSLErrors.library("OCSP_response_create")
        }
        defer { OCSP_RESPONSE_free(response) }
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = i2d_OCSP_RESPONSE(response, &bytes)
        guard count > 0, let bytes else { throw OpenSSLErrors.library("i2d_OCSP_RESPONSE") }
        defer { twin_OPENSSL_free(bytes) }
        return Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
    }

    private func add(
        _ certificate: OpaquePointer,
        issuer: OpaquePointer,
        to answer: OpaquePointer
    ) throws(TLSError) {
        let digest = self.namesBySHA256 ? EVP_sha256() : EVP_sha1()
        guard let identifier = OCSP_cert_to_id(digest, certificate, issuer), let from = ASN1_TIME_new(),
            let to = ASN1_TIME_new()
        else { throw OpenSSLErrors.library("OCSP_cert_to_id") }
        defer {
            OCSP_CERTID_free(identifier)
            ASN1_TIME_free(from)
            ASN1_TIME_free(to)
        }
        try Self.set(from, to: self.thisUpdate)
        if let nextUpdate = self.nextUpdate { try Self.set(to, to: nextUpdate) }
        let isRevoked = self.status == .revoked
        let added = OCSP_basic_add1_status(
            answer,
            identifier,
            self.status.number,
            OCSP_REVOKED_STATUS_NOSTATUS,
            isRevoked ? from : nil,
            from,
            self.nextUpdate == nil ? nil : to
        )
        guard added != nil else { throw OpenSSLErrors.library("OCSP_basic_add1_status") }
    }

    private static func sign(_ answer: OpaquePointer, by signer: TLSCredentials) throws(TLSError) {
        try PEM.withCertificates(in: signer.certificateChainPEM, source: "the signer") { chain throws(TLSError) in
            try PEM.withPrivateKey(in: signer.privateKeyPEM, source: "the signer's key") { key throws(TLSError) in
                guard OCSP_basic_sign(answer, chain[0], key, EVP_sha256(), nil, 0) == 1 else {
                    throw OpenSSLErrors.library("OCSP_basic_sign")
                }
            }
        }
    }

    /// Sets a time as GeneralizedTime, the only form that OCSP has.
    private static func set(_ time: UnsafeMutablePointer<ASN1_TIME>, to distance: Duration) throws(TLSError) {
        guard ASN1_GENERALIZEDTIME_adj(time, Int(ASN1Times.now), 0, Int(distance.components.seconds)) != nil else {
            throw OpenSSLErrors.library("ASN1_GENERALIZEDTIME_adj")
        }
    }
}

extension OCSPResponseTemplate.Status {
    fileprivate var number: Int32 {
        switch self {
        case .good: V_OCSP_CERTSTATUS_GOOD
        case .revoked: V_OCSP_CERTSTATUS_REVOKED
        case .unknown: V_OCSP_CERTSTATUS_UNKNOWN
        }
    }
}
