/// A certificate with its chain, and its private key, as PEM texts.
///
/// Descriptions never show the key, so logs never show it.
package struct TLSCredentials: Sendable {
    /// The server's certificate first, then the chain up to a trusted authority.
    package var certificateChainPEM: String
    package var privateKeyPEM: String
    /// The origin of the two, for error messages.
    var certificateSource = "the certificate"
    var keySource = "the private key"

    package init(certificateChainPEM: String, privateKeyPEM: String) {
        self.certificateChainPEM = certificateChainPEM
        self.privateKeyPEM = privateKeyPEM
    }

    /// Reads the current content of two files. Throws ``TLSError/Kind/configuration``, which names the file.
    package static func files(certificate: String, key: String) throws(TLSError) -> TLSCredentials {
        var credentials = TLSCredentials(
            certificateChainPEM: try read(certificate),
            privateKeyPEM: try read(key)
        )
        credentials.certificateSource = certificate
        credentials.keySource = key
        return credentials
    }

    /// The largest accepted certificate or key file, in bytes; a chain has a few thousand.
    private static let maximumFileBytes = 1 << 20

    private static func read(_ path: String) throws(TLSError) -> String {
        let bytes = try BoundedFile.read(path, atMost: Self.maximumFileBytes, kind: "a certificate or key file")
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension TLSCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "TLSCredentials(\(self.certificateSource))" }
    package var debugDescription: String { self.description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
