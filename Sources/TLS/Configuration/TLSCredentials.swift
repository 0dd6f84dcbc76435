internal import COpenSSL
internal import Glibc

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
        guard let file = fopen(path, "re") else {
            throw TLSError(kind: .configuration, reason: "\(path): \(String(cString: strerror(errno)))")
        }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: Self.maximumFileBytes + 1)
        let count = fread(&bytes, 1, bytes.count, file)
        guard ferror(file) == 0 else {
            throw TLSError(kind: .configuration, reason: "\(path): \(String(cString: strerror(errno)))")
        }
        guard count <= Self.maximumFileBytes else {
            throw TLSError(kind: .configuration, reason: "\(path): larger than a certificate or key file can be")
        }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}

extension TLSCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "TLSCredentials(\(self.certificateSource))" }
    package var debugDescription: String { self.description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
