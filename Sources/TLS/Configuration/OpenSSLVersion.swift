import COpenSSL

/// The OpenSSL that the program runs with, which need not be the one it was built with.
package enum OpenSSLVersion {
    /// Its number, such as `3.0.15`.
    package static var number: String {
        OpenSSL_version(OPENSSL_VERSION_STRING).map { String(cString: $0) } ?? "unknown"
    }
}
