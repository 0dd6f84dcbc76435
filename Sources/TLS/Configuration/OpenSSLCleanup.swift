import COpenSSL

/// The cleanup that OpenSSL does when the process ends.
package enum OpenSSLCleanup {
    /// Disables the cleanup; the system reclaims the memory. Must be called before anything else uses OpenSSL.
    ///
    /// Otherwise OpenSSL frees its locks in atexit(3) (OPENSSL_init_crypto(3), `OPENSSL_INIT_NO_ATEXIT`). An event
    /// loop's thread that still closes a connection would use them after that.
    package static func disable() { OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) }
}
