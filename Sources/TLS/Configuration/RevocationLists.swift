internal import COpenSSL

/// The certificate revocation lists (RFC 5280, 5) of a file, for a client's context.
///
/// The list of the server certificate's issuer is required. The lists of the authorities above the issuer are used
/// where the file has them: few authorities publish such a list where an operator could get it.
struct RevocationLists {
    /// When the first of the lists expires, in seconds since 1970.
    let validUntil: Int64

    /// The largest accepted file, in bytes; the largest lists of public authorities have about 10 MB.
    private static let maximumFileBytes = 64 << 20

    /// Reads the file (PEM with one list or more, or one list in DER), and adds its lists to the context.
    ///
    /// Throws ``TLSError/Kind/configuration`` for a file without a list or with unreadable content.
    init(file path: String, into context: OpaquePointer) throws(TLSError) {
        let bytes = try BoundedFile.read(path, atMost: Self.maximumFileBytes, kind: "a CRL file")
        let lists = try PEM.revocationLists(in: bytes, source: path)
        defer { for list in lists { X509_CRL_free(list) } }
        OpenSSLErrors.clear()
        let store = SSL_CTX_get_cert_store(context)
        var validUntil = Int64.max
        for list in lists {
            guard X509_STORE_add_crl(store, list) == 1 else { throw OpenSSLErrors.configuration(path) }
            // OpenSSL treats a list without a `nextUpdate` as valid until it is replaced.
            if let end = X509_CRL_get0_nextUpdate(list) {
                validUntil = min(validUntil, ASN1Times.seconds(of: end) ?? 0)
            }
        }
        self.validUntil = validUntil
        // The flags are set on the connections' parameters, not on the store. The store also verifies the signer of an
        // OCSP response, which the lists do not cover.
        let parameters = SSL_CTX_get0_param(context)
        let flags = UInt(X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL)
        guard X509_VERIFY_PARAM_set_flags(parameters, flags) == 1 else {
            throw OpenSSLErrors.library("X509_VERIFY_PARAM_set_flags")
        }
    }

    /// Lets a verification continue without the lists of the authorities above the server's issuer.
    ///
    /// Must be set on every verification whose context uses lists.
    static func allowMissingUpperLists(_ store: OpaquePointer) {
        X509_STORE_CTX_set_verify_cb(store) { isFine, store in
            guard isFine == 0, let store else { return isFine }
            guard X509_STORE_CTX_get_error(store) == X509_V_ERR_UNABLE_TO_GET_CRL,
                X509_STORE_CTX_get_error_depth(store) > 0
            else { return 0 }
            X509_STORE_CTX_set_error(store, X509_V_OK)
            return 1
        }
    }
}
