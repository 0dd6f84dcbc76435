internal import COpenSSL

/// The cipher suites for TLS 1.2 in OpenSSL's syntax (openssl-ciphers(1)), the preferred first.
///
/// TLS 1.3 has only suites with forward secrecy and authenticated encryption, so it needs no choice.
package struct TLSCipherList: Sendable, Hashable {
    /// Suites with forward secrecy and authenticated encryption (AEAD) only. Traffic that is captured today stays
    /// secret when a server's key is stolen later (RFC 9325, 4.2).
    package static let standard = TLSCipherList(unchecked: "ECDHE+AESGCM:ECDHE+CHACHA20")

    /// The list as the operator wrote it.
    package let text: String

    private init(unchecked text: String) { self.text = text }

    /// Reads a list; `nil` where OpenSSL does not know one of its names or allows none of its suites.
    package init?(_ text: String) {
        guard let context = SSL_CTX_new(TLS_method()) else { return nil }
        defer {
            SSL_CTX_free(context)
            OpenSSLErrors.clear()
        }
        // OpenSSL ignores unknown names when at least one is known, so each name is checked alone.
        let names = text.split { ":, ;".contains($0) }.filter { name in !"!-+@".contains(name.prefix(1)) }
        guard names.allSatisfy({ SSL_CTX_set_cipher_list(context, String($0)) == 1 }) else { return nil }
        self.text = text
        do throws(TLSError) {
            try self.apply(to: context)
        } catch {
            return nil
        }
        guard Self.allowsSome(context) else { return nil }
    }

    /// Sets the suites of a context for TLS 1.2. The list can raise the security level but not lower it.
    func apply(to context: OpaquePointer) throws(TLSError) {
        let level = max(SSL_CTX_get_security_level(context), TLSContext.minimumSecurityLevel)
        guard SSL_CTX_set_cipher_list(context, self.text) == 1 else {
            throw OpenSSLErrors.configuration("ciphers \(self.text)")
        }
        SSL_CTX_set_security_level(context, max(SSL_CTX_get_security_level(context), level))
    }

    /// Whether the context's security level leaves at least one suite for TLS 1.2.
    private static func allowsSome(_ context: OpaquePointer) -> Bool {
        _ = twin_SSL_CTX_set_max_proto_version(context, Int(TLS1_2_VERSION))
        guard let ssl = SSL_new(context) else { return false }
        defer { SSL_free(ssl) }
        guard let suites = SSL_get1_supported_ciphers(ssl) else { return false }
        defer { OPENSSL_sk_free(suites) }
        return OPENSSL_sk_num(suites) > 0
    }
}

extension TLSCipherList: CustomStringConvertible {
    package var description: String { self.text }
}
