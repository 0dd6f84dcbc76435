import Foundation
import NIOCore
import Testing
import TickertapeTesting
@testable import TLS

@Suite("TLS stapled OCSP answers")
struct StaplingTests {
    private let root = Certificates.authority
    private let credentials = Certificates.localhost

    private func client(_ stapling: TLSClientConfiguration.Stapling, _ version: TLSVersion) -> TLSClientConfiguration {
        var client = Certificates.client().speaking(version)
        client.stapling = stapling
        return client
    }

    /// Connects a client to a server that staples this response, and returns their errors.
    private func refused(
        _ answer: [UInt8]?,
        _ version: TLSVersion,
        _ stapling: TLSClientConfiguration.Stapling = .checked,
        presenting credentials: TLSCredentials? = nil
    ) throws -> HandshakeResult {
        var server = Certificates.server(credentials ?? self.credentials)
        server.stapledAnswer = answer
        return try HandshakeResult.refused(client: self.client(stapling, version), server: server)
    }

    private func accepted(
        _ answer: [UInt8]?,
        _ version: TLSVersion,
        _ stapling: TLSClientConfiguration.Stapling = .checked,
        presenting credentials: TLSCredentials? = nil
    ) throws {
        var server = Certificates.server(credentials ?? self.credentials)
        server.stapledAnswer = answer
        try HandshakeResult.accepted(client: self.client(stapling, version), server: server)
    }

    private func sign(_ draft: OCSPResponseTemplate) throws -> [UInt8] {
        try draft.sign(about: self.credentials, by: self.root)
    }

    @Test(
        "a good answer is accepted, by whichever digest it names the certificate",
        arguments: TLSVersion.allCases,
        [TLSClientConfiguration.Stapling.checked, .required]
    )
    func good(version: TLSVersion, stapling: TLSClientConfiguration.Stapling) throws {
        var draft = OCSPResponseTemplate(.good)
        try self.accepted(self.sign(draft), version, stapling)
        draft.namesBySHA256 = true
        try self.accepted(self.sign(draft), version, stapling)
    }

    @Test("an answer that says revoked", arguments: TLSVersion.allCases)
    func revoked(version: TLSVersion) throws {
        let seen = try self.refused(self.sign(OCSPResponseTemplate(.revoked)), version)
        #expect(seen.words == ["certificate refused: revoked (stapled OCSP answer)"])
        #expect(seen.alert == "alert bad certificate status response")
        // An expired response still proves the revocation.
        var old = OCSPResponseTemplate(.revoked)
        old.thisUpdate = .seconds(-864_000)
        old.nextUpdate = .seconds(-86_400)
        let later = try self.refused(self.sign(old), version)
        #expect(later.words == ["certificate refused: revoked (stapled OCSP answer)"])
    }

    @Test("an answer that does not know the certificate", arguments: TLSVersion.allCases)
    func unknown(version: TLSVersion) throws {
        let seen = try self.refused(self.sign(OCSPResponseTemplate(.unknown)), version)
        #expect(seen.words == ["certificate refused: unknown to its issuer (stapled OCSP answer)"])
    }

    @Test("an answer that is out of date", arguments: TLSVersion.allCases)
    func expired(version: TLSVersion) throws {
        var draft = OCSPResponseTemplate(.good)
        draft.nextUpdate = .seconds(-600)
        let seen = try self.refused(self.sign(draft), version)
        #expect(seen.words == ["certificate refused: the stapled OCSP answer is out of date"])
        // Clocks may differ by minutes.
        draft.nextUpdate = .seconds(-60)
        try self.accepted(self.sign(draft), version)
        // A response without a `nextUpdate` is valid for a day.
        draft.nextUpdate = nil
        try self.accepted(self.sign(draft), version)
        draft.thisUpdate = .seconds(-2 * 86_400)
        let endless = try self.refused(self.sign(draft), version)
        #expect(endless.words == ["certificate refused: the stapled OCSP answer is out of date"])
    }

    @Test("an answer of tomorrow", arguments: TLSVersion.allCases)
    func notYetValid(version: TLSVersion) throws {
        var draft = OCSPResponseTemplate(.good)
        draft.thisUpdate = .seconds(600)
        let seen = try self.refused(self.sign(draft), version)
        #expect(seen.words == ["certificate refused: the stapled OCSP answer is not yet valid"])
        draft.thisUpdate = .seconds(60)
        try self.accepted(self.sign(draft), version)
    }

    @Test("an answer whose end is before its beginning")
    func inverted() throws {
        var draft = OCSPResponseTemplate(.good)
        draft.thisUpdate = .seconds(-60)
        draft.nextUpdate = .seconds(-120)
        let seen = try self.refused(self.sign(draft), .tls13)
        #expect(seen.words == ["certificate refused: the stapled OCSP answer cannot be read"])
    }

    @Test("an answer about another certificate of the same authority", arguments: TLSVersion.allCases)
    func another(version: TLSVersion) throws {
        let other = try self.root.issue(names: ["localhost"])
        let answer = try OCSPResponseTemplate(.good).sign(about: other, by: self.root)
        let seen = try self.refused(answer, version)
        #expect(seen.words == ["certificate refused: the stapled OCSP answer is about another certificate"])
    }

    @Test("an answer signed by a stranger, or by an authority of the same name", arguments: TLSVersion.allCases)
    func stranger(version: TLSVersion) throws {
        for name in ["Stranger", "Tickertape Test Authority"] {
            var draft = OCSPResponseTemplate(.good)
            let stranger = try CertificateAuthority(name: name)
            draft.signer = stranger.issuer
            let seen = try self.refused(self.sign(draft), version)
            #expect(seen.words == ["certificate refused: the stapled OCSP answer is not signed by its authority"])
        }
    }

    @Test("an answer that was changed after it was signed", arguments: TLSVersion.allCases)
    func tampered(version: TLSVersion) throws {
        // The attack would be a "revoked" changed to "good"; the test changes another bit, which must be detected as
        // well.
        var answer = try self.sign(OCSPResponseTemplate(.good))
        let time = try #require(answer.firstRange(of: Array("Z".utf8))).lowerBound
        answer[time - 1] ^= 1
        let seen = try self.refused(answer, version)
        #expect(seen.words == ["certificate refused: the stapled OCSP answer is not signed by its authority"])
    }

    @Test("somebody whom the authority appointed may answer, and nobody else whom it certified")
    func delegated() throws {
        var responder = CertificateTemplate(
            commonName: "Responder",
            notBefore: .seconds(-60),
            notAfter: .seconds(3_600)
        )
        responder.extensions["extendedKeyUsage"] = "OCSPSigning"
        var draft = OCSPResponseTemplate(.good)
        draft.signer = try self.root.issue(responder)
        try self.accepted(self.sign(draft), .tls13, .required)
        try self.accepted(self.sign(draft), .tls12, .required)

        // The server's own certificate must not sign: a thief of its key could confirm it for ever.
        for signer in [self.credentials, try self.root.issue(names: ["other"])] {
            draft.signer = signer
            let seen = try self.refused(self.sign(draft), .tls13)
            #expect(seen.words == ["certificate refused: the stapled OCSP answer is not signed by its authority"])
        }
        // A delegated signer of another authority, which is a child of the trusted one.
        draft.signer = try self.root.subordinate(name: "Aunt").issue(responder)
        let seen = try self.refused(self.sign(draft), .tls13)
        #expect(seen.words == ["certificate refused: the stapled OCSP answer is not signed by its authority"])
    }

    @Test("with an authority in between it is that one that answers", arguments: TLSVersion.allCases)
    func chain(version: TLSVersion) throws {
        let between = try self.root.subordinate(name: "Between")
        let credentials = try between.issue(names: ["localhost"])
        let answer = try OCSPResponseTemplate(.good).sign(about: credentials, by: between)
        try self.accepted(answer, version, .required, presenting: credentials)
        let revoked = try OCSPResponseTemplate(.revoked).sign(about: credentials, by: between)
        let seen = try self.refused(revoked, version, presenting: credentials)
        #expect(seen.words == ["certificate refused: revoked (stapled OCSP answer)"])
    }

    @Test(
        "bytes that are no answer",
        arguments: TLSVersion.allCases,
        [[0], [0x30, 0x03, 0x0A, 0x01], [0x30, 0x03, 0x0A, 0x01, 0x00], [UInt8](repeating: 0x30, count: 9_000)]
    )
    func malformed(version: TLSVersion, bytes: [UInt8]) throws {
        let seen = try self.refused(bytes, version)
        #expect(seen.words == ["certificate refused: the stapled OCSP answer cannot be read"])
    }

    @Test("every cut of an answer, and one with something behind it")
    func cut() throws {
        let answer = try self.sign(OCSPResponseTemplate(.good))
        for count in stride(from: 1, to: answer.count, by: 37) {
            let seen = try self.refused(Array(answer.prefix(count)), .tls13)
            #expect(seen.words == ["certificate refused: the stapled OCSP answer cannot be read"])
        }
        let seen = try self.refused(answer + [0], .tls13)
        #expect(seen.words == ["certificate refused: the stapled OCSP answer cannot be read"])
    }

    @Test("an answer without measure is not even gathered")
    func huge() throws {
        let seen = try self.refused([UInt8](repeating: 0x30, count: 20_000), .tls12)
        #expect(seen.words == ["TLS failed: excessive message size"])
        // In TLS 1.3 the response arrives with the certificates, whose limit is larger.
        let read = try self.refused([UInt8](repeating: 0x30, count: 20_000), .tls13)
        #expect(read.words == ["certificate refused: the stapled OCSP answer cannot be read"])
    }

    @Test("no answer is enough, unless one is required or demanded by the certificate", arguments: TLSVersion.allCases)
    func missing(version: TLSVersion) throws {
        try self.accepted(nil, version)
        let seen = try self.refused(nil, version, .required)
        #expect(seen.words == ["certificate refused: no OCSP answer is stapled to it"])

        var draft = CertificateTemplate.localhost()
        draft.extensions["tlsfeature"] = "status_request"
        let demanding = try self.root.issue(draft)
        for stapling in [TLSClientConfiguration.Stapling.checked, .required] {
            let seen = try self.refused(nil, version, stapling, presenting: demanding)
            #expect(
                seen.words == ["certificate refused: no OCSP answer is stapled to it, which it requires (must-staple)"]
            )
        }
        // An unreadable extension might require a response; an extension for another feature does not.
        draft.extensions["tlsfeature"] = "DER:05:00"
        let unclear = try self.refused(nil, version, presenting: self.root.issue(draft))
        #expect(
            unclear.words == ["certificate refused: no OCSP answer is stapled to it, which it requires (must-staple)"]
        )
        draft.extensions["tlsfeature"] = "99"
        try self.accepted(nil, version, presenting: self.root.issue(draft))

        let answer = try OCSPResponseTemplate(.good).sign(about: demanding, by: self.root)
        try self.accepted(answer, version, presenting: demanding)
    }

    @Test("an answer that says \"try later\" is none", arguments: TLSVersion.allCases)
    func tryLater(version: TLSVersion) throws {
        // OCSPResponse with responseStatus tryLater and nothing else (RFC 6960, 4.2.1).
        let answer: [UInt8] = [0x30, 0x03, 0x0A, 0x01, 0x03]
        try self.accepted(answer, version)
        let seen = try self.refused(answer, version, .required)
        #expect(seen.words == ["certificate refused: no OCSP answer is stapled to it"])
    }

    @Test("a client that does not ask gets none and checks none", arguments: TLSVersion.allCases)
    func ignored(version: TLSVersion) throws {
        try self.accepted(self.sign(OCSPResponseTemplate(.revoked)), version, .ignored)
    }

    @Test("without verification no answer is asked for")
    func unverified() throws {
        var client = self.client(.required, .tls13)
        client.verification = .disabled
        let server = Certificates.server().stapling(try self.sign(OCSPResponseTemplate(.revoked)))
        try HandshakeResult.accepted(client: client, server: server)
    }

    @Test("a bad chain is told before a bad answer")
    func order() throws {
        let server = Certificates.server().stapling(try self.sign(OCSPResponseTemplate(.revoked)))
        let seen = try HandshakeResult.refused(
            client: self.client(.required, .tls13),
            server: server,
            peer: .host("example.com")
        )
        #expect(seen.words == ["certificate refused: hostname mismatch"])
    }

    @Test("the openssl command reads our answers as we do, and our client those that it staples")
    func openssl() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let authority = try folder.write(self.root.certificatePEM, to: "authority.pem")
        let leaf = try folder.write(self.credentials.certificateChainPEM, to: "leaf.pem")
        let path = "\(folder.path)/answer.der"
        for (status, word, errors) in [
            (OCSPResponseTemplate.Status.good, "leaf.pem: good", []),
            (.revoked, "leaf.pem: revoked", ["certificate refused: revoked (stapled OCSP answer)"]),
        ] {
            try Data(self.sign(OCSPResponseTemplate(status))).write(to: URL(fileURLWithPath: path))
            let verdict = try OpenSSLCommand.run(
                ["ocsp", "-respin", path, "-CAfile", authority, "-issuer", authority, "-cert", leaf]
            )
            #expect(verdict.contains("Response verify OK"), "\(verdict)")
            #expect(verdict.contains(word), "\(verdict)")
            for version in TLSVersion.allCases {
                let context = try TLSContext(client: self.client(.required, version))
                try OpenSSLServer.run(["-status_file", path]) { _, port in
                    let end = try LoopbackEnd.connect(port: port, context: context, peer: .host("localhost"))
                    if errors.isEmpty {
                        _ = try end.handshake.wait()
                        end.channel.close(promise: nil)
                    }
                    #expect(try end.ended.wait().errors.map { "\($0)" } == errors)
                }
            }
        }
    }
}
