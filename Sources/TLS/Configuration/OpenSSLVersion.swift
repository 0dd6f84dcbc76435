import COpenSSL

/// The version of OpenSSL at run time, which can differ from the version at build time.
package enum OpenSSLVersion {
    /// The version number, such as `3.0.15`.
    package static var number: String {
        OpenSSL_version(OPENSSL_VERSION_STRING).map { String(cString: $0) } ?? "unknown"
    }
}
