import Glibc
import TLS

/// Writes the certificate and the key of a server on this machine, and the authority that vouches for it.
///
/// The authority has signed it itself: the suite's server sends no chain.
func writeCertificates(to directory: String) throws {
    let authority = try CertificateAuthority(name: "conformance")
    let server = try authority.issue(names: ["localhost"], addresses: ["127.0.0.1"])
    try write(authority.certificatePEM, to: "\(directory)/ca.pem")
    try write(server.certificateChainPEM, to: "\(directory)/certificate.pem")
    try write(server.privateKeyPEM, to: "\(directory)/key.pem")
}

private struct NotWritten: Error {
    var path: String
}

private func write(_ text: String, to path: String) throws {
    guard let file = fopen(path, "w") else { throw NotWritten(path: path) }
    let written = fputs(text, file)
    guard fclose(file) == 0, written >= 0 else { throw NotWritten(path: path) }
}
