internal import COpenSSL

/// A reader and writer of certificates and keys in PEM.
///
/// The pointers that a closure gets are valid until it returns; then they are freed.
package enum PEM {
    /// Calls `body` with the certificates in a PEM text, in order. Throws unless there is at least one.
    package static func withCertificates<Result>(
        in text: String,
        source: String,
        _ body: ([OpaquePointer]) throws(TLSError) -> Result
    ) throws(TLSError) -> Result {
        OpenSSLErrors.clear()
        let bio = try self.reader(of: Array(text.utf8))
        defer { BIO_free(bio) }
        var certificates: [OpaquePointer] = []
        defer { for certificate in certificates { X509_free(certificate) } }
        while let certificate = PEM_read_bio_X509(bio, nil, refusePassword, nil) {
            certificates.append(certificate)
        }
        // At the end of the text OpenSSL reports "no start line"; any other error is a certificate that cannot be read.
        let code = ERR_peek_last_error()
        guard ERR_GET_LIB(code) == ERR_LIB_PEM, ERR_GET_REASON(code) == PEM_R_NO_START_LINE else {
            throw OpenSSLErrors.configuration(source)
        }
        OpenSSLErrors.clear()
        guard !certificates.isEmpty else {
            throw TLSError(
                kind: .configuration,
                reason: "\(source): no certificate in it: name a PEM file with a certificate"
            )
        }
        return try body(certificates)
    }

    /// Reads the revocation lists in a file's bytes: one in DER or any number in PEM. The caller must free them.
    static func revocationLists(in bytes: [UInt8], source: String) throws(TLSError) -> [OpaquePointer] {
        OpenSSLErrors.clear()
        let bio = try self.reader(of: bytes)
        defer { BIO_free(bio) }
        var lists: [OpaquePointer] = []
        while let list = PEM_read_bio_X509_CRL(bio, nil, refusePassword, nil) { lists.append(list) }
        let code = ERR_peek_last_error()
        let isAtEnd = ERR_GET_LIB(code) == ERR_LIB_PEM && ERR_GET_REASON(code) == PEM_R_NO_START_LINE
        guard isAtEnd else {
            for list in lists { X509_CRL_free(list) }
            throw OpenSSLErrors.configuration(source)
        }
        OpenSSLErrors.clear()
        if lists.isEmpty, let list = self.revocationListDER(in: bytes) { lists.append(list) }
        guard !lists.isEmpty else { throw TLSError(kind: .configuration, reason: "\(source): no CRL in it") }
        return lists
    }

    /// Reads the bytes as one list in DER; `nil` unless the list takes all of them.
    private static func revocationListDER(in bytes: [UInt8]) -> OpaquePointer? {
        bytes.withUnsafeBufferPointer { bytes in
            var next = bytes.baseAddress
            let list = d2i_X509_CRL(nil, &next, bytes.count)
            guard let list, next == bytes.baseAddress.map({ $0 + bytes.count }) else {
                OpenSSLErrors.clear()
                X509_CRL_free(list)
                return nil
            }
            return list
        }
    }

    /// Calls `body` with the private key in a PEM text. Throws when there is no key or a password protects it.
    package static func withPrivateKey<Result>(
        in text: String,
        source: String,
        _ body: (OpaquePointer) throws(TLSError) -> Result
    ) throws(TLSError) -> Result {
        OpenSSLErrors.clear()
        let bio = try self.reader(of: Array(text.utf8))
        defer { BIO_free(bio) }
        guard let key = PEM_read_bio_PrivateKey(bio, nil, refusePassword, nil) else {
            throw OpenSSLErrors.configuration(source)
        }
        defer { EVP_PKEY_free(key) }
        return try body(key)
    }

    /// Returns the PEM text that `write` writes into its BIO; `write` returns 1 for success, as OpenSSL's functions do.
    package static func text(_ write: (OpaquePointer) -> Int32) throws(TLSError) -> String {
        OpenSSLErrors.clear()
        guard let bio = BIO_new(BIO_s_mem()) else { throw OpenSSLErrors.library("BIO_new") }
        defer { BIO_free(bio) }
        guard write(bio) == 1 else { throw OpenSSLErrors.library("writing PEM") }
        var bytes: UnsafeMutablePointer<CChar>?
        let count = twin_BIO_get_mem_data(bio, &bytes)
        guard let bytes, count > 0 else { throw OpenSSLErrors.library("writing PEM") }
        return String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    /// Makes a BIO with a copy of the bytes.
    private static func reader(of bytes: [UInt8]) throws(TLSError) -> OpaquePointer {
        guard let bio = BIO_new(BIO_s_mem()) else { throw OpenSSLErrors.library("BIO_new") }
        guard bytes.isEmpty || BIO_write(bio, bytes, Int32(clamping: bytes.count)) == Int32(clamping: bytes.count)
        else {
            BIO_free(bio)
            throw OpenSSLErrors.library("BIO_write")
        }
        return bio
    }
}

/// Refuses OpenSSL's request for a password; without this callback OpenSSL would ask on the terminal.
private func refusePassword(
    _ buffer: UnsafeMutablePointer<CChar>?,
    _ size: Int32,
    _ isWriting: Int32,
    _ context: UnsafeMutableRawPointer?
) -> Int32 { -1 }
