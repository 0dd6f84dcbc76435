internal import COpenSSL

/// An authority's signed status of one certificate, as a server staples it (OCSP, RFC 6960; stapling, RFC 6066, 8).
///
/// OpenSSL bounds its size: 16 KiB in TLS 1.2, and 100 KiB for all certificates together in TLS 1.3.
final class StapledResponse {
    /// The accepted difference between an authority's clock and ours, in seconds.
    static let clockSkew: Int64 = 300
    /// The validity of a response without a `nextUpdate`, in seconds.
    static let defaultValidity: Int64 = 86_400

    private let answer: OpaquePointer

    /// Reads a response; `nil` without one.
    ///
    /// A response without a status (`tryLater` and the other errors of RFC 6960, 2.3) counts as missing. Some servers
    /// staple one while they cannot reach the authority.
    init?(_ bytes: UnsafeBufferPointer<UInt8>?) throws(TLSError) {
        guard let bytes, let start = bytes.baseAddress else { return nil }
        OpenSSLErrors.clear()
        defer { OpenSSLErrors.clear() }
        var next: UnsafePointer<UInt8>? = start
        guard let response = d2i_OCSP_RESPONSE(nil, &next, bytes.count) else { throw TLSError(.answerUnreadable) }
        defer { OCSP_RESPONSE_free(response) }
        guard next == start + bytes.count else { throw TLSError(.answerUnreadable) }
        guard OCSP_response_status(response) == OCSP_RESPONSE_STATUS_SUCCESSFUL else { return nil }
        guard let answer = OCSP_response_get1_basic(response) else { throw TLSError(.answerUnreadable) }
        self.answer = answer
    }

    deinit {
        OCSP_BASICRESP_free(self.answer)
    }

    /// Checks that the response is valid now and says "good" of the certificate. Returns the end of its validity, in
    /// seconds since 1970.
    ///
    /// - Parameters:
    ///   - chain: the verified chain, which can contain the signer. The response itself carries the certificate of a
    ///     delegated signer.
    ///   - store: the trusted certificates.
    func check(
        _ certificate: OpaquePointer,
        issuer: OpaquePointer,
        chain: OpaquePointer,
        store: OpaquePointer?
    ) throws(TLSError) -> Int64 {
        OpenSSLErrors.clear()
        defer { OpenSSLErrors.clear() }
        guard OCSP_basic_verify(self.answer, chain, store, 0) == 1 else { throw TLSError(.answerForged) }
        guard let single = self.part(about: certificate, issuer: issuer) else { throw TLSError(.answerAboutAnother) }
        var reason: Int32 = 0
        var revokedAt: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
        var thisUpdate: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
        var nextUpdate: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
        let status = OCSP_single_get0_status(single, &reason, &revokedAt, &thisUpdate, &nextUpdate)
        // An old response counts too, because a revoked certificate stays revoked.
        if status == V_OCSP_CERTSTATUS_REVOKED { throw TLSError(.revokedByAnswer) }
        let end = try Self.validity(from: thisUpdate, to: nextUpdate)
        guard status == V_OCSP_CERTSTATUS_GOOD else { throw TLSError(.unknownToAuthority) }
        return end
    }

    /// Returns the part about this certificate, with whichever digest the response identifies it.
    private func part(about certificate: OpaquePointer, issuer: OpaquePointer) -> OpaquePointer? {
        for index in 0..<max(OCSP_resp_count(self.answer), 0) {
            guard let single = OCSP_resp_get0(self.answer, index) else { continue }
            let named = OCSP_SINGLERESP_get0_id(single)
            var algorithm: OpaquePointer?
            guard OCSP_id_get0_info(nil, &algorithm, nil, nil, named) == 1,
                let digest = twin_EVP_get_digestbyobj(algorithm),
                let expected = OCSP_cert_to_id(digest, certificate, issuer)
            else { continue }
            defer { OCSP_CERTID_free(expected) }
            if OCSP_id_cmp(expected, named) == 0 { return single }
        }
        return nil
    }

    /// Returns the end of the response's validity; throws when it is expired or not yet valid.
    private static func validity(
        from thisUpdate: UnsafePointer<ASN1_TIME>?,
        to nextUpdate: UnsafePointer<ASN1_TIME>?
    ) throws(TLSError) -> Int64 {
        let now = ASN1Times.now
        guard let start = ASN1Times.seconds(of: thisUpdate) else { throw TLSError(.answerUnreadable) }
        var end = start + Self.defaultValidity
        if let nextUpdate {
            guard let next = ASN1Times.seconds(of: nextUpdate), next >= start else { throw TLSError(.answerUnreadable) }
            end = next
        }
        guard start <= now + Self.clockSkew else { throw TLSError(.answerNotYetValid) }
        guard now <= end + Self.clockSkew else { throw TLSError(.answerExpired) }
        return end
    }

    /// Whether a certificate requires a stapled response ("must staple", RFC 7633).
    static func isDemanded(by certificate: OpaquePointer) -> Bool {
        let statusRequest = 5
        let absent: Int32 = -1
        var presence: Int32 = 0
        guard let found = X509_get_ext_d2i(certificate, NID_tlsfeature, &presence, nil) else {
            // An extension that is repeated or unreadable might require it.
            OpenSSLErrors.clear()
            return presence != absent
        }
        let features = OpaquePointer(found)
        defer { TLS_FEATURE_free(features) }
        return (0..<max(twin_sk_ASN1_INTEGER_num(features), 0)).contains { index in
            ASN1_INTEGER_get(twin_sk_ASN1_INTEGER_value(features, index)) == statusRequest
        }
    }
}
