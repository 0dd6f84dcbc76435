import NIOCore
import Testing
import TickertapeTesting
@testable import TLS

@Suite("TLS public key pins")
struct PublicKeyPinTests {
    private func pin(_ credentials: TLSCredentials) throws -> PublicKeyPin {
        try PublicKeyPin(certificatePEM: credentials.certificateChainPEM)
    }

    private func client(_ pins: [PublicKeyPin], _ version: TLSVersion = .tls13) -> TLSClientConfiguration {
        var client = Certificates.client().speaking(version)
        client.pins = pins
        return client
    }

    @Test("the server's own key, its authority's and the root's may be pinned", arguments: TLSVersion.allCases)
    func accepted(version: TLSVersion) throws {
        let between = try Certificates.authority.subordinate(name: "Between")
        let credentials = try between.issue(names: ["localhost"])
        let other = try self.pin(Certificates.localhost)
        for pinned in [
            try self.pin(credentials), try PublicKeyPin(certificatePEM: between.certificatePEM),
            try PublicKeyPin(certificatePEM: Certificates.authority.certificatePEM),
        ] {
            try HandshakeResult.accepted(
                client: self.client([other, pinned], version),
                server: Certificates.server(credentials)
            )
        }
    }

    @Test("a good certificate with another key is refused, and its key is named", arguments: TLSVersion.allCases)
    func refused(version: TLSVersion) throws {
        let other = try Certificates.authority.issue(names: ["localhost"])
        let seen = try HandshakeResult.refused(client: self.client([self.pin(other)], version))
        let own = try self.pin(Certificates.localhost)
        #expect(seen.words == ["certificate refused: its public key is not one of those pinned, but \(own)"])
        #expect(seen.alert == "alert bad certificate")
    }

    @Test("a digest that begins with a slash is read in both spellings, and as itself")
    func slash() throws {
        let digest = "/L6rbx1EZKcDIfwmUI+0rgdAXgfBAEEYg7imoYIBK8Y="
        let pin = try #require(PublicKeyPin("sha256/" + digest))
        #expect(PublicKeyPin("sha256//" + digest) == pin)
        #expect("\(pin)" == "sha256/" + digest)
        #expect(PublicKeyPin("sha256/" + digest.dropFirst()) == nil)
        #expect(PublicKeyPin("sha256///" + digest) == nil)
    }

    @Test("a pinned key does not make up for a bad chain")
    func chainFirst() throws {
        let itself = try CertificateAuthority.selfSigned(names: ["localhost"])
        let seen = try HandshakeResult.refused(
            client: self.client([self.pin(itself)]),
            server: Certificates.server(itself)
        )
        #expect(seen.words == ["certificate refused: self-signed certificate (unknown CA)"])
    }

    @Test("a pinned certificate that the server only brings along, outside its chain, does not count")
    func broughtAlong() throws {
        let pinned = try Certificates.authority.subordinate(name: "Pinned")
        var credentials = Certificates.localhost
        credentials.certificateChainPEM += pinned.certificatePEM
        let pin = try PublicKeyPin(certificatePEM: pinned.certificatePEM)
        let seen = try HandshakeResult.refused(client: self.client([pin]), server: Certificates.server(credentials))
        #expect(seen.words.first?.hasPrefix("certificate refused: its public key is not one of those pinned") == true)
    }

    @Test("without verification only the server's own key counts, and it does", arguments: TLSVersion.allCases)
    func unverified(version: TLSVersion) throws {
        let itself = try CertificateAuthority.selfSigned(names: ["other"], notAfter: .seconds(-60))
        var client = self.client([try self.pin(itself)], version)
        client.verification = .disabled
        try HandshakeResult.accepted(client: client, server: Certificates.server(itself))
        // Any server can send the pinned certificate along, but only the owner of its key can present it as its own.
        let stranger = try CertificateAuthority(name: "Stranger").issue(names: ["localhost"])
        var credentials = stranger
        credentials.certificateChainPEM += itself.certificateChainPEM
        let seen = try HandshakeResult.refused(client: client, server: Certificates.server(credentials))
        let own = try self.pin(stranger)
        #expect(seen.words == ["certificate refused: its public key is not one of those pinned, but \(own)"])
    }

    @Test("an openssl server's key is the one that openssl computes", arguments: TLSVersion.allCases)
    func openssl(version: TLSVersion) throws {
        let pem = try OpenSSLCommand.run(
            ["x509", "-pubkey", "-noout"],
            input: Certificates.localhost.certificateChainPEM
        )
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let key = "\(folder.path)/key.der"
        _ = try OpenSSLCommand.run(["pkey", "-pubin", "-outform", "DER", "-out", key], input: pem)
        _ = try OpenSSLCommand.run(["dgst", "-sha256", "-binary", "-out", "\(key).digest", key])
        let text = try OpenSSLCommand.run(["base64", "-in", "\(key).digest"])
        let pin = try #require(PublicKeyPin("sha256/" + text.split(separator: "\n").joined()))
        #expect(try pin == self.pin(Certificates.localhost))
        let context = try TLSContext(client: self.client([pin], version))
        try OpenSSLServer.run([]) { _, port in
            let end = try LoopbackEnd.connect(port: port, context: context, peer: .host("localhost"))
            #expect(try end.handshake.wait().version == version)
            try end.channel.close().wait()
        }
    }

    @Test("a pin is read and written in one spelling, and curl's two slashes are understood")
    func text() throws {
        let text = "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
        let pin = try #require(PublicKeyPin(text))
        #expect("\(pin)" == text)
        #expect(PublicKeyPin("sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=") == pin)
    }

    @Test(
        "what is no pin is refused",
        arguments: [
            "", "sha256/", "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
            "sha1/2jmj7l5rSw0yVb/vlWAYkK/YBwk=", "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU",
            "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFV=",
            "sha256/ 47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuF=",
            "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSu===",
            "sha256/47DEQpj8HBSa+_TImW-5JCeuQeRkm5NMpJWZG3hSuFU=",
            "sha256/e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        ]
    )
    func noPin(text: String) {
        #expect(PublicKeyPin(text) == nil)
    }
}
