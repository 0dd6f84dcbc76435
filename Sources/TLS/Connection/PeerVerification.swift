internal import COpenSSL

// The checks of a server's certificate. OpenSSL calls them during the handshake, so a refusal reaches the server as an
// alert, before the client has sent any application data.

/// Verifies the chain that a server presents (`SSL_CTX_set_cert_verify_callback`).
func verifyPeer(_ store: OpaquePointer?, _ argument: UnsafeMutableRawPointer?) -> Int32 {
    guard let store, let ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()),
        let connection = TLSConnection.behind(OpaquePointer(ssl))
    else { return 0 }
    return connection.verifyChain(store) ? 1 : 0
}

/// Verifies the response that a server staples, or its absence (`SSL_CTX_set_tlsext_status_cb`).
///
/// OpenSSL calls it after the chain is verified; 0 ends the handshake with `bad certificate status response`.
func verifyStapledAnswer(_ ssl: OpaquePointer?, _ argument: UnsafeMutableRawPointer?) -> Int32 {
    guard let ssl, let connection = TLSConnection.behind(ssl) else { return 0 }
    return connection.verifyStapledAnswer() ? 1 : 0
}

extension TLSConnection {
    /// Checks the chain and then the pins; keeps the reason of a refusal.
    fileprivate func verifyChain(_ store: OpaquePointer) -> Bool {
        let checks = self.checks
        if checks.verifiesChain {
            if checks.listsValidUntil != nil { RevocationLists.allowMissingUpperLists(store) }
            guard X509_verify_cert(store) > 0 else {
                self.refused = OpenSSLErrors.refusal(
                    result: X509_STORE_CTX_get_error(store),
                    depth: X509_STORE_CTX_get_error_depth(store)
                )
                return false
            }
        }
        guard self.hasPinnedKey(store) else {
            X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REJECTED)
            return false
        }
        self.checkedUntil = checks.verifiesChain ? self.validityEnd(of: store) : .max
        return true
    }

    /// Whether a pinned key is present: in the verified chain, or as the server's own key without verification.
    private func hasPinnedKey(_ store: OpaquePointer) -> Bool {
        let pins = self.checks.pins
        guard !pins.isEmpty else { return true }
        guard let own = X509_STORE_CTX_get0_cert(store).flatMap({ PublicKeyPin(of: $0) }) else {
            self.refused = TLSError(.notPinned)
            return false
        }
        if pins.contains(own) { return true }
        if self.checks.verifiesChain {
            let chain = X509_STORE_CTX_get0_chain(store)
            for index in 0..<max(twin_sk_X509_num(chain), 0) {
                if let pin = twin_sk_X509_value(chain, index).flatMap({ PublicKeyPin(of: $0) }), pins.contains(pin) {
                    return true
                }
            }
        }
        self.refused = TLSError(.notPinned, detail: "\(CertificateRefusal.notPinned.words), but \(own)")
        return false
    }

    /// When the first item that was verified expires: a certificate of the chain, or a revocation list.
    private func validityEnd(of store: OpaquePointer) -> Int64 {
        var end = self.checks.listsValidUntil ?? .max
        let chain = X509_STORE_CTX_get0_chain(store)
        for index in 0..<max(twin_sk_X509_num(chain), 0) {
            guard let certificate = twin_sk_X509_value(chain, index) else { continue }
            end = min(end, ASN1Times.seconds(of: X509_get0_notAfter(certificate)) ?? 0)
        }
        return end
    }

    /// Checks the stapled response; keeps the reason of a refusal.
    fileprivate func verifyStapledAnswer() -> Bool {
        // A resumed handshake carries neither a certificate nor a response. Its session was checked with these same
        // settings, and it is resumed only while the results of that check are valid (``checkedUntil``).
        if self.isResumed { return true }
        var bytes: UnsafePointer<UInt8>?
        let count = twin_SSL_get_tlsext_status_ocsp_resp(self.ssl, &bytes)
        let answer = bytes.map { UnsafeBufferPointer(start: $0, count: max(count, 0)) }
        do throws(TLSError) {
            guard let chain = SSL_get0_verified_chain(self.ssl), let certificate = twin_sk_X509_value(chain, 0) else {
                throw TLSError(kind: .library, reason: "SSL_get0_verified_chain: nothing in it")
            }
            // Only a certificate that is trusted directly has no issuer in the chain.
            let issuer = twin_sk_X509_value(chain, 1) ?? certificate
            let store = SSL_CTX_get_cert_store(SSL_get_SSL_CTX(self.ssl))
            let checked = try StapledResponse(answer)?.check(certificate, issuer: issuer, chain: chain, store: store)
            if let checked {
                self.checkedUntil = min(self.checkedUntil, checked)
            } else if StapledResponse.isDemanded(by: certificate) {
                throw TLSError(.demandedAnswerMissing)
            } else if self.checks.stapling == .required {
                throw TLSError(.answerMissing)
            }
            return true
        } catch {
            self.refused = error
            return false
        }
    }
}
