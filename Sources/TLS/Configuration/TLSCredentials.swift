/// A certificate with its chain, and the private key to it, as PEM texts.
///
/// The key never appears in a description, so neither in a log.
package struct TLSCredentials: Sendable {
    /// The certificate first, then those that lead to a trusted authority.
    package var certificateChainPEM: String
    package var privateKeyPEM: String
    /// Where the two came from, for error messages.
    var certificateSource = "the certificate"
    var keySource = "the private key"

    package init(certificateChainPEM: String, privateKeyPEM: String) {
        self.certificateChainPEM = certificateChainPEM
        self.privateKeyPEM = privateKeyPEM
    }

    /// Reads the two from files, as they are now; throws ``TLSError/Kind/configuration`` naming the file.
    package static func files(certificate: String, key: String) throws(TLSError) -> TLSCredentials {
        var credentials = TLSCredentials(
            certificateChainPEM: try read(certificate),
            privateKeyPEM: try read(key)
        )
        credentials.certificateSource = certificate
        credentials.keySource = key
        return credentials
    }

    /// The most bytes a certificate or key file may have; a chain has a few thousand.
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
