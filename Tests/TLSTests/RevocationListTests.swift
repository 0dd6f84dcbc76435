import Foundation
import NIOCore
import Testing
import TickertapeTesting
@testable import TLS

@Suite("TLS revocation lists")
struct RevocationListTests {
    private let root = Certificates.authority
    private let credentials = Certificates.localhost

    /// Calls `body` with a client that uses the lists in these PEM texts.
    private func withClient<Result>(
        _ lists: [String],
        speaking version: TLSVersion = .tls13,
        _ body: (TLSClientConfiguration) throws -> Result
    ) throws -> Result {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        var client = Certificates.client().speaking(version)
        client.revocationListFile = try folder.write(lists.joined(), to: "crl.pem")
        return try body(client)
    }

    private func refused(
        _ lists: [String],
        speaking version: TLSVersion,
        presenting credentials: TLSCredentials? = nil
    ) throws -> HandshakeResult {
        try self.withClient(lists, speaking: version) { client in
            try HandshakeResult.refused(client: client, server: Certificates.server(credentials ?? self.credentials))
        }
    }

    /// Returns a list that revokes another certificate of the authority.
    private func others() throws -> RevocationListTemplate {
        RevocationListTemplate(revoking: [try self.root.issue(names: ["localhost"]).certificateChainPEM])
    }

    @Test("a certificate that stands in no list is accepted", arguments: TLSVersion.allCases)
    func good(version: TLSVersion) throws {
        try self.withClient([self.others().sign(by: self.root)], speaking: version) { client in
            try HandshakeResult.accepted(client: client)
        }
    }

    @Test("a revoked certificate is refused", arguments: TLSVersion.allCases)
    func revoked(version: TLSVersion) throws {
        let list = RevocationListTemplate(revoking: [self.credentials.certificateChainPEM])
        let seen = try self.refused([list.sign(by: self.root)], speaking: version)
        #expect(seen.words == ["certificate refused: revoked (CRL)"])
        #expect(seen.alert == "alert certificate revoked")
    }

    @Test("without the setting nothing is looked up")
    func noLists() throws {
        try HandshakeResult.accepted()
    }

    @Test("a list that is out of date vouches for nothing", arguments: TLSVersion.allCases)
    func expired(version: TLSVersion) throws {
        var list = try self.others()
        list.thisUpdate = .seconds(-7_200)
        list.nextUpdate = .seconds(-3_600)
        let seen = try self.refused([list.sign(by: self.root)], speaking: version)
        #expect(seen.words == ["certificate refused: the CRL of its issuer is out of date"])
    }

    @Test("of an old list and a new one of the same authority, the new one counts")
    func newest() throws {
        var old = try self.others()
        old.thisUpdate = .seconds(-7_200)
        old.nextUpdate = .seconds(-3_600)
        let new = RevocationListTemplate(revoking: [self.credentials.certificateChainPEM])
        let lists = [try old.sign(by: self.root), try new.sign(by: self.root)]
        let seen = try self.refused(lists, speaking: .tls13)
        #expect(seen.words == ["certificate refused: revoked (CRL)"])
        let good = try self.others().sign(by: self.root)
        try self.withClient([old.sign(by: self.root), good]) { try HandshakeResult.accepted(client: $0) }
    }

    @Test("a list of tomorrow", arguments: TLSVersion.allCases)
    func notYetValid(version: TLSVersion) throws {
        var list = try self.others()
        list.thisUpdate = .seconds(86_400)
        let seen = try self.refused([list.sign(by: self.root)], speaking: version)
        #expect(seen.words == ["certificate refused: the CRL of its issuer is not yet valid"])
    }

    @Test("a list of another authority only", arguments: TLSVersion.allCases)
    func otherAuthority(version: TLSVersion) throws {
        let stranger = try CertificateAuthority(name: "Stranger")
        let seen = try self.refused([RevocationListTemplate().sign(by: stranger)], speaking: version)
        #expect(seen.words == ["certificate refused: no CRL for its issuer"])
    }

    @Test("a list by somebody who has only the authority's name", arguments: TLSVersion.allCases)
    func forged(version: TLSVersion) throws {
        let impostor = try CertificateAuthority(name: "Tickertape Test Authority")
        // A list that names its signing key does not match the authority ...
        var list = RevocationListTemplate()
        let seen = try self.refused([list.sign(by: impostor)], speaking: version)
        #expect(seen.words == ["certificate refused: no CRL for its issuer"])
        // ... and without the name, the signature shows the forgery.
        list.namesKey = false
        let hidden = try self.refused([list.sign(by: impostor)], speaking: version)
        #expect(hidden.words == ["certificate refused: the CRL is not signed by its authority"])
    }

    @Test("an authority that may sign certificates but no lists")
    func mayNotSign() throws {
        var draft = CertificateTemplate.authority("Signs no lists")
        draft.extensions["keyUsage"] = "critical,keyCertSign"
        let between = try self.root.subordinate(draft)
        let list = try RevocationListTemplate().sign(by: between)
        let seen = try self.refused([list], speaking: .tls13, presenting: between.issue(names: ["localhost"]))
        #expect(
            seen.words == [
                "certificate refused: the CRL of its issuer cannot be used: key usage does not include CRL signing"
            ]
        )
    }

    @Test(
        "with an authority in between, its list is needed, and the one above is obeyed if it is there",
        arguments: TLSVersion.allCases
    )
    func chain(version: TLSVersion) throws {
        let between = try self.root.subordinate(name: "Between")
        let credentials = try between.issue(names: ["localhost"])
        let server = Certificates.server(credentials)
        let lower = try RevocationListTemplate().sign(by: between)
        let upper = try RevocationListTemplate().sign(by: self.root)
        try self.withClient([lower], speaking: version) { try HandshakeResult.accepted(client: $0, server: server) }
        try self.withClient([lower, upper], speaking: version) {
            try HandshakeResult.accepted(client: $0, server: server)
        }

        let without = try self.refused([upper], speaking: version, presenting: credentials)
        #expect(without.words == ["certificate refused: no CRL for its issuer"])
        let revoking = try RevocationListTemplate(revoking: [between.certificatePEM]).sign(by: self.root)
        let revoked = try self.refused([lower, revoking], speaking: version, presenting: credentials)
        #expect(revoked.words == ["certificate refused: a CA in its chain was revoked (CRL)"])
        var expired = RevocationListTemplate()
        expired.nextUpdate = .seconds(-60)
        let old = try self.refused([lower, expired.sign(by: self.root)], speaking: version, presenting: credentials)
        #expect(old.words == ["certificate refused: the CRL of its issuer is out of date"])
    }

    @Test("a list in DER is read as well, as authorities publish it")
    func der() throws {
        let list = RevocationListTemplate(revoking: [self.credentials.certificateChainPEM])
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let pem = try folder.write(list.sign(by: self.root), to: "crl.pem")
        let path = "\(folder.path)/crl.der"
        _ = try OpenSSLCommand.run(["crl", "-in", pem, "-outform", "DER", "-out", path])
        var client = Certificates.client()
        client.revocationListFile = path
        let seen = try HandshakeResult.refused(client: client)
        #expect(seen.words == ["certificate refused: revoked (CRL)"])
    }

    @Test("an openssl server with a certificate that openssl revoked is refused", arguments: TLSVersion.allCases)
    func openssl(version: TLSVersion) throws {
        let list = RevocationListTemplate(revoking: [self.credentials.certificateChainPEM])
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = try folder.write(list.sign(by: self.root), to: "crl.pem")
        let authority = try folder.write(self.root.certificatePEM, to: "authority.pem")
        let leaf = try folder.write(self.credentials.certificateChainPEM, to: "leaf.pem")
        // OpenSSL's command must read our list in the same way.
        let verdict = try OpenSSLCommand.run(
            ["verify", "-CAfile", authority, "-CRLfile", path, "-crl_check", leaf]
        )
        #expect(verdict.contains("certificate revoked"), "\(verdict)")
        var client = Certificates.client().speaking(version)
        client.revocationListFile = path
        let context = try TLSContext(client: client)
        try OpenSSLServer.run([]) { server, port in
            let end = try LoopbackEnd.connect(port: port, context: context, peer: .host("localhost"))
            let words = try end.ended.wait().errors.map { "\($0)" }
            #expect(words == ["certificate refused: revoked (CRL)"])
            try server.wait(for: "certificate revoked")
        }
    }

    @Test("without verification no list is read, not even a bad one")
    func unverified() throws {
        var client = Certificates.client()
        client.verification = .disabled
        client.revocationListFile = "/nowhere/crl.pem"
        try HandshakeResult.accepted(client: client)
    }

    @Test(
        "a file that is not there, or holds anything else than lists, is an error of the settings",
        arguments: [
            "", "nothing\n", "-----BEGIN X509 CRL-----\nAAAA\n-----END X509 CRL-----\n",
            "-----BEGIN X509 CRL-----\nMII", "\u{30}\u{82}\u{FF}",
        ]
    )
    func badFiles(text: String) throws {
        let error = try self.withClient([text]) { client in
            #expect(throws: TLSError.self) { try TLSContext(client: client) }
        }
        #expect(error?.kind == .configuration)
        #expect(error?.reason.contains("crl.pem: ") == true)
        // A certificate is not a list, and one incomplete list makes the whole file invalid.
        let certificate = try self.withClient([self.root.certificatePEM]) { client in
            #expect(throws: TLSError.self) { try TLSContext(client: client) }
        }
        #expect(certificate?.reason.hasSuffix("crl.pem: no CRL in it") == true)
        let list = try RevocationListTemplate().sign(by: self.root)
        let spoilt = try self.withClient([list, String(list.dropLast(60))]) { client in
            #expect(throws: TLSError.self) { try TLSContext(client: client) }
        }
        #expect(spoilt?.kind == .configuration)
    }

    @Test("a context knows when its files were written to or replaced")
    func changedFiles() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let list = try RevocationListTemplate().sign(by: self.root)
        var client = Certificates.client()
        client.revocationListFile = try folder.write(list, to: "crl.pem")
        client.trust = .file(try folder.write(self.root.certificatePEM, to: "authority.pem"))
        let first = try TLSContext(client: client)
        #expect(first.isCurrent)
        _ = try folder.write(list + list, to: "crl.pem")
        #expect(!first.isCurrent)
        let second = try TLSContext(client: client)
        #expect(second.isCurrent)
        _ = try folder.write(self.root.certificatePEM + "\n", to: "authority.pem")
        #expect(!second.isCurrent)
        // Files that are not read cannot be out of date.
        client.verification = .disabled
        let third = try TLSContext(client: client)
        _ = try folder.write(list, to: "crl.pem")
        #expect(third.isCurrent)
    }

    @Test("a file that is not there is named")
    func missingFile() {
        var client = Certificates.client()
        client.revocationListFile = "/nowhere/crl.pem"
        #expect(throws: TLSError(kind: .configuration, reason: "/nowhere/crl.pem: No such file or directory")) {
            try TLSContext(client: client)
        }
    }

    @Test("what is no file of a size that a list has is refused without being read whole, a named pipe among it")
    func endlessFile() throws {
        var client = Certificates.client()
        client.revocationListFile = "/"
        #expect(throws: TLSError(kind: .configuration, reason: "/: is a folder")) { try TLSContext(client: client) }
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        // Opening a pipe without a writer would block for ever.
        let pipe = "\(folder.path)/pipe"
        try #require(mkfifo(pipe, 0o600) == 0)
        for path in ["/dev/zero", pipe] {
            client.revocationListFile = path
            #expect(throws: TLSError(kind: .configuration, reason: "\(path): is not a regular file")) {
                try TLSContext(client: client)
            }
        }
        let huge = try folder.write("", to: "huge.pem")
        try #require(truncate(huge, 64 << 20 + 1) == 0)
        client.revocationListFile = huge
        #expect(throws: TLSError(kind: .configuration, reason: "\(huge): larger than a CRL file can be")) {
            try TLSContext(client: client)
        }
    }
}
