import COpenSSL

/// What OpenSSL frees when the process ends.
package enum OpenSSLCleanup {
    /// Leaves that memory to the system; to be called before anything else uses OpenSSL.
    ///
    /// Otherwise OpenSSL frees its locks by atexit(3) (OPENSSL_init_crypto(3), `OPENSSL_INIT_NO_ATEXIT`), and the thread of
    /// an event loop that still closes a connection reads them afterwards.
    package static func disable() { OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) }
}
