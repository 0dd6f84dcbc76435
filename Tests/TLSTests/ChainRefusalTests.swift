import Foundation
import NIOCore
import Testing
import TickertapeTesting
@testable import TLS

@Suite("TLS refusals of what stands in the chain")
struct ChainRefusalTests {
    private let root = Certificates.authority

    private func words(
        of credentials: TLSCredentials,
        speaking version: TLSVersion,
        trusting authority: CertificateAuthority = Certificates.authority
    ) throws -> [String] {
        try HandshakeResult.refused(
            client: Certificates.client(trusting: authority).speaking(version),
            server: Certificates.server(credentials)
        ).words
    }

    @Test("an authority between that has expired", arguments: TLSVersion.allCases)
    func expiredAuthority(version: TLSVersion) throws {
        let between = try self.root.subordinate(
            name: "Between",
            notBefore: .seconds(-7_200),
            notAfter: .seconds(-3_600)
        )
        let words = try self.words(of: between.issue(names: ["localhost"]), speaking: version)
        #expect(words == ["certificate refused: certificate has expired"])
    }

    @Test("an authority between that the server leaves out", arguments: TLSVersion.allCases)
    func missingAuthority(version: TLSVersion) throws {
        var credentials = try self.root.subordinate(name: "Between").issue(names: ["localhost"])
        let chain = credentials.certificateChainPEM
        let end = try #require(chain.range(of: "-----END CERTIFICATE-----\n"))
        credentials.certificateChainPEM = String(chain[..<end.upperBound])
        let words = try self.words(of: credentials, speaking: version)
        #expect(words == ["certificate refused: unable to get local issuer certificate (unknown CA)"])
    }

    @Test("a self-signed authority that the server brings along", arguments: TLSVersion.allCases)
    func broughtAuthority(version: TLSVersion) throws {
        let stranger = try CertificateAuthority(name: "Stranger")
        var credentials = try stranger.issue(names: ["localhost"])
        credentials.certificateChainPEM += stranger.certificatePEM
        let words = try self.words(of: credentials, speaking: version)
        #expect(words == ["certificate refused: self-signed certificate in certificate chain (unknown CA)"])
    }

    @Test("a certificate that was signed by another server's", arguments: TLSVersion.allCases)
    func signedByServer(version: TLSVersion) throws {
        let noAuthority = try self.root.subordinate(.localhost())
        let words = try self.words(of: noAuthority.issue(names: ["localhost"]), speaking: version)
        #expect(words == ["certificate refused: signed by a certificate that is not a CA"])
    }

    @Test("a certificate with a bit of its signature changed", arguments: TLSVersion.allCases)
    func forged(version: TLSVersion) throws {
        var credentials = Certificates.localhost
        let lines = credentials.certificateChainPEM.split(separator: "\n").dropFirst().dropLast()
        var certificate = try #require(Data(base64Encoded: lines.joined()))
        // The last byte belongs to the signature.
        certificate[certificate.count - 1] ^= 1
        credentials.certificateChainPEM =
            "-----BEGIN CERTIFICATE-----\n\(certificate.base64EncodedString())\n-----END CERTIFICATE-----\n"
        let words = try self.words(of: credentials, speaking: version)
        #expect(words == ["certificate refused: certificate signature failure"])
    }

    @Test("an authority that may not sign certificates", arguments: TLSVersion.allCases)
    func mayNotSign(version: TLSVersion) throws {
        var draft = CertificateTemplate.authority("Signs lists only")
        draft.extensions["keyUsage"] = "critical,cRLSign"
        let between = try self.root.subordinate(draft)
        let words = try self.words(of: between.issue(names: ["localhost"]), speaking: version)
        #expect(words == ["certificate refused: signed by a certificate that is not a CA"])
    }

    @Test("an authority below one that allows none below it", arguments: TLSVersion.allCases)
    func tooDeep(version: TLSVersion) throws {
        var draft = CertificateTemplate.authority("Last")
        draft.extensions["basicConstraints"] = "critical,CA:TRUE,pathlen:0"
        let last = try self.root.subordinate(draft)
        try HandshakeResult.accepted(server: Certificates.server(last.issue(names: ["localhost"])))
        let below = try last.subordinate(name: "Below the last")
        let words = try self.words(of: below.issue(names: ["localhost"]), speaking: version)
        #expect(words == ["certificate refused: path length constraint exceeded"])
    }

    @Test(
        "a name that its authority may not vouch for",
        arguments: TLSVersion.allCases,
        ["critical,permitted;DNS:example.com", "critical,excluded;DNS:localhost"]
    )
    func nameConstraints(version: TLSVersion, constraint: String) throws {
        var draft = CertificateTemplate.authority("Constrained")
        draft.extensions["nameConstraints"] = constraint
        let between = try self.root.subordinate(draft)
        let words = try self.words(of: between.issue(names: ["localhost"]), speaking: version)
        #expect(words == ["certificate refused: name not permitted by its CA (name constraints)"])
    }

    @Test("an address that its authority may not vouch for")
    func addressConstraints() throws {
        var draft = CertificateTemplate.authority("Constrained")
        draft.extensions["nameConstraints"] = "critical,permitted;IP:10.0.0.0/255.0.0.0"
        let between = try self.root.subordinate(draft)
        let credentials = try between.issue(names: [], addresses: ["127.0.0.1"])
        let seen = try HandshakeResult.refused(server: Certificates.server(credentials), peer: .address("127.0.0.1"))
        #expect(seen.words == ["certificate refused: name not permitted by its CA (name constraints)"])
    }

    @Test("a name that its authority may vouch for is accepted")
    func permittedName() throws {
        var draft = CertificateTemplate.authority("Constrained")
        draft.extensions["nameConstraints"] = "critical,permitted;DNS:localhost"
        let between = try self.root.subordinate(draft)
        try HandshakeResult.accepted(server: Certificates.server(between.issue(names: ["localhost"])))
    }

    @Test("a certificate for clients", arguments: TLSVersion.allCases)
    func wrongPurpose(version: TLSVersion) throws {
        var draft = CertificateTemplate.localhost()
        draft.extensions["extendedKeyUsage"] = "clientAuth"
        let words = try self.words(of: self.root.issue(draft), speaking: version)
        #expect(words == ["certificate refused: it is not meant for a server"])
    }

    @Test("an extension that must be understood and is not")
    func unknownExtension() throws {
        var draft = CertificateTemplate.localhost()
        draft.extensions["1.3.6.1.4.1.55555.1"] = "critical,DER:05:00"
        let words = try self.words(of: self.root.issue(draft), speaking: .tls13)
        #expect(words == ["certificate refused: unhandled critical extension"])
    }

    @Test("an authority's weak key", arguments: TLSVersion.allCases)
    func weakAuthority(version: TLSVersion) throws {
        var draft = CertificateTemplate.authority("Weak")
        draft.key = .rsa(bits: 1_024)
        let weak = try self.root.subordinate(draft)
        try self.withOpenServer(weak.issue(names: ["localhost"]), version) { words in
            #expect(words == ["certificate refused: the key of a CA in its chain is too weak"])
        }
    }

    @Test("a server's weak key", arguments: TLSVersion.allCases)
    func weakKey(version: TLSVersion) throws {
        var draft = CertificateTemplate.localhost()
        draft.key = .rsa(bits: 1_024)
        try self.withOpenServer(self.root.issue(draft), version) { words in
            #expect(words == ["certificate refused: its key is too weak"])
        }
    }

    @Test("a weak signature", arguments: TLSVersion.allCases, ["SHA-1", "MD5"])
    func weakSignature(version: TLSVersion, digest: String) throws {
        var draft = CertificateTemplate.localhost()
        draft.digest = digest == "MD5" ? .md5 : .sha1
        // ECDSA has no signatures with MD5.
        var authority = CertificateTemplate.authority("RSA")
        authority.key = .rsa(bits: 2_048)
        try self.withOpenServer(self.root.subordinate(authority).issue(draft), version) { words in
            #expect(words == ["certificate refused: a signature in its chain is made with a weak digest"])
        }
    }

    @Test("a weak key exchange of TLS 1.2")
    func weakExchange() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let group = "\(folder.path)/group.pem"
        _ = try OpenSSLCommand.run(
            ["genpkey", "-genparam", "-algorithm", "DH", "-pkeyopt", "group:modp_1536", "-out", group]
        )
        var draft = CertificateTemplate.localhost()
        draft.key = .rsa(bits: 2_048)
        var client = Certificates.client().speaking(.tls12)
        // Without this the client does not even offer the exchange.
        client.ciphers = try #require(TLSCipherList("DHE+AESGCM"))
        let context = try TLSContext(client: client)
        let weak = ["-cipher", "DHE-RSA-AES128-GCM-SHA256:@SECLEVEL=0", "-dhparam", group]
        try OpenSSLServer.run(presenting: self.root.issue(draft), weak) { _, port in
            let end = try LoopbackEnd.connect(port: port, context: context, peer: .host("localhost"))
            #expect(try end.ended.wait().errors.map { "\($0)" } == ["TLS failed: dh key too small"])
        }
    }

    @Test("a chain without measure is not even gathered", arguments: TLSVersion.allCases)
    func endlessChain(version: TLSVersion) throws {
        var credentials = Certificates.localhost
        for _ in 0..<300 { credentials.certificateChainPEM += self.root.certificatePEM }
        let words = try self.words(of: credentials, speaking: version)
        #expect(words == ["TLS failed: excessive message size"])
    }

    @Test("our own server does not present a weak key either")
    func ownWeakKey() throws {
        var draft = CertificateTemplate.localhost()
        draft.key = .rsa(bits: 1_024)
        let credentials = try self.root.issue(draft)
        #expect(throws: TLSError(kind: .configuration, reason: "the certificate: ee key too small")) {
            try TLSContext(server: Certificates.server(credentials))
        }
    }

    /// Connects our client to an `openssl s_server` with the given credentials, and passes the client's errors to
    /// `body`.
    private func withOpenServer(
        _ credentials: TLSCredentials,
        _ version: TLSVersion,
        _ body: ([String]) throws -> Void
    ) throws {
        let context = try TLSContext(client: Certificates.client().speaking(version))
        try OpenSSLServer.run(presenting: credentials, ["-cipher", "ALL:@SECLEVEL=0"]) { _, port in
            let end = try LoopbackEnd.connect(port: port, context: context, peer: .host("localhost"))
            try body(end.ended.wait().errors.map { "\($0)" })
        }
    }
}
