package import TLS

/// The certificates of the tests, created once a run: an authority, and a server certificate for the loopback
/// addresses.
package enum Certificates {
    /// The authority that the tests' clients trust.
    package static let authority = must("Tickertape Test Authority") { name throws(TLSError) in
        try CertificateAuthority(name: name)
    }

    /// A good certificate for `localhost`, `127.0.0.1` and `::1`.
    package static let localhost = must("localhost") { name throws(TLSError) in
        try authority.issue(names: [name], addresses: ["127.0.0.1", "::1"])
    }

    /// Returns a client's configuration that trusts only one authority.
    package static func client(trusting authority: CertificateAuthority = authority) -> TLSClientConfiguration {
        var configuration = TLSClientConfiguration()
        configuration.trust = .certificates(pem: authority.certificatePEM)
        return configuration
    }

    /// Returns a server's configuration with the good certificate or another one.
    package static func server(_ credentials: TLSCredentials = localhost) -> TLSServerConfiguration {
        TLSServerConfiguration(credentials: credentials)
    }

    /// Writes certificate and key into a temporary directory, calls `body` with the two paths, and removes them.
    package static func withFiles<Result>(
        _ credentials: TLSCredentials = localhost,
        _ body: (_ certificate: String, _ key: String) throws -> Result
    ) throws -> Result {
        let directory = try TemporaryFolder()
        defer { directory.remove() }
        let certificate = try directory.write(credentials.certificateChainPEM, to: "certificate.pem")
        let key = try directory.write(credentials.privateKeyPEM, to: "key.pem")
        return try body(certificate, key)
    }

    private static func must<Result>(_ name: String, _ make: (String) throws(TLSError) -> Result) -> Result {
        do throws(TLSError) {
            return try make(name)
        } catch {
            fatalError("no test certificate for \(name): \(error)")
        }
    }
}
