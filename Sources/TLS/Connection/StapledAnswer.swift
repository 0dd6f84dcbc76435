internal import COpenSSL

/// An authority's signed word on one certificate, as a server passes it on (OCSP, RFC 6960; stapling, RFC 6066, 8).
///
/// Its size is bounded by OpenSSL: 16 KiB in TLS 1.2, and the 100 KiB of all certificates together in TLS 1.3.
final class StapledAnswer {
    /// How far an authority's clock may be from ours, in seconds.
    static let clockSkew: Int64 = 300
    /// How long an answer counts that does not say when the next comes, in seconds.
    static let defaultValidity: Int64 = 86_400

    private let answer: OpaquePointer

    /// Reads an answer; `nil` where there is none.
    ///
    /// One that only says that the authority had no answer (`tryLater` and the like, RFC 6960, 2.3) is none: some servers
    /// staple it while they cannot reach the authority.
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

    /// Checks that the authority says "good" of the certificate, and says it now; returns until when, in seconds since
    /// 1970.
    ///
    /// - Parameters:
    ///   - chain: the verified chain, in which the signer is looked for; one that the authority appointed comes with the
    ///     answer.
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
        // However old: a certificate that was revoked stays so.
        if status == V_OCSP_CERTSTATUS_REVOKED { throw TLSError(.revokedByAnswer) }
        let end = try Self.validity(from: thisUpdate, to: nextUpdate)
        guard status == V_OCSP_CERTSTATUS_GOOD else { throw TLSError(.unknownToAuthority) }
        return end
    }

    /// The part of the answer about this certificate, by whichever digest it is named.
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

    /// The end of the answer's validity; throws where it is over or has not begun.
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

    /// Whether a certificate may only be shown together with an answer ("must staple", RFC 7633).
    static func isDemanded(by certificate: OpaquePointer) -> Bool {
        let statusRequest = 5
        let absent: Int32 = -1
        var presence: Int32 = 0
        guard let found = X509_get_ext_d2i(certificate, NID_tlsfeature, &presence, nil) else {
            // One that is there twice or cannot be read might demand it.
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
