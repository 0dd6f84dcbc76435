import NIOCore
import Testing
import TickertapeTesting
@testable import TLS

@Suite("The ciphers of TLS 1.2")
struct CipherTests {
    /// Suites that other programs may use: RSA key exchange, which has no forward secrecy, and CBC, which is not AEAD.
    private static let weak = ["AES128-GCM-SHA256", "AES128-SHA", "ECDHE-RSA-AES128-SHA", "ECDHE-RSA-AES256-SHA384"]

    private func client(_ ciphers: TLSCipherList = .standard) -> TLSClientConfiguration {
        var client = Certificates.client().speaking(.tls12)
        client.ciphers = ciphers
        return client
    }

    private func server(_ ciphers: TLSCipherList = .standard) throws -> TLSServerConfiguration {
        var server = TLSServerConfiguration(credentials: try Self.rsa.get())
        server.ciphers = ciphers
        return server
    }

    private static let rsa = Result { try Self.certificate(bits: 2_048) }

    private static func certificate(bits: UInt32) throws -> TLSCredentials {
        var draft = CertificateTemplate.localhost()
        draft.key = .rsa(bits: bits)
        return try Certificates.authority.issue(draft)
    }

    @Test("a client sends nothing to a server without forward secrecy or AEAD", arguments: Self.weak)
    func refusesServers(cipher: String) throws {
        let list = try #require(TLSCipherList(cipher))
        let meeting = try HandshakeResult.refused(client: self.client(), server: try self.server(list))
        #expect(meeting.words == ["refused by the peer: alert handshake failure"])
        // A client that explicitly allows the suite gets it.
        try HandshakeResult.accepted(client: self.client(list), server: try self.server(list))
    }

    @Test("a server takes no client without forward secrecy or AEAD", arguments: Self.weak)
    func refusesClients(cipher: String) throws {
        let list = try #require(TLSCipherList(cipher))
        let meeting = try HandshakeResult.refused(client: self.client(list), server: try self.server())
        #expect(
            meeting.server.contains(.error(TLSError(kind: .noCommonCipher, reason: "no shared cipher"))),
            "\(meeting.server)"
        )
    }

    @Test("what openssl's server takes of TLS 1.2 is what a list by hand says")
    func offers() throws {
        for cipher in Self.weak {
            try OpenSSLServer.run(presenting: try Self.rsa.get(), ["-tls1_2", "-cipher", cipher]) { _, port in
                let context = try TLSContext(client: Certificates.client())
                let end = try LoopbackEnd.connect(port: port, context: context, peer: .host("localhost"))
                #expect(throws: TLSError(kind: .alertReceived, reason: "alert handshake failure")) {
                    try end.handshake.wait()
                }
            }
        }
        try OpenSSLServer.run(presenting: try Self.rsa.get(), ["-tls1_2"]) { _, port in
            let context = try TLSContext(client: Certificates.client())
            let end = try LoopbackEnd.connect(port: port, context: context, peer: .host("localhost"))
            let cipher = try end.handshake.wait().cipher
            #expect(cipher.hasPrefix("ECDHE-") && (cipher.contains("GCM") || cipher.contains("CHACHA20")), "\(cipher)")
            try end.channel.close().wait()
        }
    }

    @Test(
        "a list with a name that is none, with none for TLS 1.2, or with nothing that is strong enough is none",
        arguments: [
            "", "ECDHE+AESGCM:ECDHE-RSA-AES128-GCM-SHA255", "nonsense", "TLS_AES_128_GCM_SHA256", "!ALL", "NULL-SHA256",
            "AECDH-AES128-SHA", "@SECLEVEL=9:AES128-SHA", "ECDHE+AESGCM:@NONSENSE",
        ]
    )
    func refusesLists(text: String) {
        #expect(TLSCipherList(text) == nil)
    }

    @Test("a list cannot lower the security level")
    func keepsLevel() throws {
        var server = TLSServerConfiguration(credentials: try Self.certificate(bits: 1_024))
        server.ciphers = try #require(TLSCipherList("ECDHE+AESGCM:@SECLEVEL=0"))
        let error = #expect(throws: TLSError.self) { try TLSContext(server: server) }
        #expect(error?.reason.contains("key too small") == true, "\(error.map { "\($0)" } ?? "")")
    }
}
