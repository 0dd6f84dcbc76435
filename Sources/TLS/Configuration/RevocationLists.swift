internal import COpenSSL

/// The certificate revocation lists (RFC 5280, 5) of a file, given to a client's context.
///
/// The list of the server certificate's own authority must be there. For the authorities above it a list is used where
/// the file has one: few publish a list of their own authorities where a person could get at it.
struct RevocationLists {
    /// The moment at which the first of the lists is out of date, in seconds since 1970.
    let validUntil: Int64

    /// The most bytes of a file; the largest lists of public authorities have some 10 MB.
    private static let maximumFileBytes = 64 << 20

    /// Reads the file (PEM with one list or more, or one list in DER), and makes the context obey it.
    ///
    /// Throws ``TLSError/Kind/configuration`` for a file without a list, or with anything unreadable in it.
    init(file path: String, into context: OpaquePointer) throws(TLSError) {
        let bytes = try BoundedFile.read(path, atMost: Self.maximumFileBytes, kind: "a CRL file")
        let lists = try PEM.revocationLists(in: bytes, source: path)
        defer { for list in lists { X509_CRL_free(list) } }
        OpenSSLErrors.clear()
        let store = SSL_CTX_get_cert_store(context)
        var validUntil = Int64.max
        for list in lists {
            guard X509_STORE_add_crl(store, list) == 1 else { throw OpenSSLErrors.configuration(path) }
            // A list that names no end counts until it is replaced, as OpenSSL has it.
            if let end = X509_CRL_get0_nextUpdate(list) {
                validUntil = min(validUntil, ASN1Times.seconds(of: end) ?? 0)
            }
        }
        self.validUntil = validUntil
        // The flags are the connection's, not the store's: the store also judges who signed an OCSP answer, which the
        // lists say nothing of.
        let parameters = SSL_CTX_get0_param(context)
        let flags = UInt(X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL)
        guard X509_VERIFY_PARAM_set_flags(parameters, flags) == 1 else {
            throw OpenSSLErrors.library("X509_VERIFY_PARAM_set_flags")
        }
    }

    /// Lets a verification go on without the lists of the authorities above the server's own.
    ///
    /// To be set on every verification whose context obeys lists.
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
