import Foundation
import Testing
import TickertapeTesting
@testable import TLS

@Suite("A server's certificate and key from files")
struct ServerPairTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func write(_ text: String, to name: String, mode: Int = 0o600) throws -> String {
        let path = try self.folder.write(text, to: name)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }

    /// Returns the text with which a pair is refused.
    private func refusal(_ certificate: String, _ key: String) -> String? {
        #expect(throws: TLSError.self) { try ServerPair.load(certificate: certificate, key: key) }?.description
    }

    @Test("a good pair is loaded without a warning, and says when it ends and what its digests are")
    func good() throws {
        defer { self.folder.remove() }
        let certificate = try self.write(Certificates.localhost.certificateChainPEM, to: "certificate.pem", mode: 0o644)
        let key = try self.write(Certificates.localhost.privateKeyPEM, to: "key.pem")
        let pair = try ServerPair.load(certificate: certificate, key: key)
        #expect(pair.warnings.isEmpty)
        let facts = try OpenSSLCommand.run(["x509", "-in", certificate, "-noout", "-fingerprint", "-sha256"])
        #expect(facts.contains(pair.facts.fingerprint))
        #expect(pair.facts.pin == (try PublicKeyPin(certificatePEM: Certificates.localhost.certificateChainPEM)))
        #expect(pair.facts.notAfter - pair.facts.notBefore == 365 * 86_400 + 3_600)
    }

    @Test("each pair that cannot be used is refused in one line with its file and a cure")
    func refused() throws {
        defer { self.folder.remove() }
        let good = Certificates.localhost
        let certificate = try self.write(good.certificateChainPEM, to: "certificate.pem")
        let key = try self.write(good.privateKeyPEM, to: "key.pem")
        let other = try CertificateAuthority.selfSigned(names: ["localhost"])
        let otherKey = try self.write(other.privateKeyPEM, to: "other.pem")
        var draft = CertificateTemplate(commonName: "localhost", notBefore: .seconds(-9), notAfter: .seconds(900))
        draft.key = .rsa(bits: 2_048)
        let rsaKey = try self.write(draft.sign(issuer: nil).privateKeyPEM, to: "rsa.pem")
        let expired = try CertificateAuthority.selfSigned(
            names: ["x"],
            notBefore: .seconds(-90),
            notAfter: .seconds(-9)
        )
        let expiredPath = try self.write(expired.certificateChainPEM, to: "expired.pem")
        let expiredKey = try self.write(expired.privateKeyPEM, to: "expired-key.pem")
        let locked = "\(self.folder.path)/locked.pem"
        let lockedOld = "\(self.folder.path)/locked-old.pem"
        _ = try OpenSSLCommand.run(["pkey", "-in", key, "-aes128", "-passout", "pass:secret", "-out", locked])
        _ = try OpenSSLCommand.run(
            ["pkey", "-in", key, "-aes128", "-passout", "pass:secret", "-traditional", "-out", lockedOld]
        )
        let garbage = try self.write("nothing\n", to: "garbage.pem")
        let cases: [(String, String, [String])] = [
            ("/nowhere/c.pem", key, ["/nowhere/c.pem: No such file", "tickertape cert"]),
            (certificate, "/nowhere/k.pem", ["/nowhere/k.pem: No such file", "tickertape cert"]),
            (certificate, self.folder.path, [self.folder.path, "not a regular file"]),
            (certificate, "/dev/zero", ["/dev/zero: not a regular file"]),
            (certificate, otherKey, [otherKey, "does not belong to", certificate]),
            (certificate, rsaKey, [rsaKey, "does not belong to", certificate]),
            (certificate, locked, [locked, "encrypted with a password", "openssl pkey"]),
            (certificate, lockedOld, [lockedOld, "encrypted with a password"]),
            (certificate, certificate, ["no private key in it"]),
            (key, key, [key, "no certificate"]),
            (garbage, key, [garbage, "no PEM text", "openssl x509"]),
            (expiredPath, expiredKey, [expiredPath, "expired on 20", "clock"]),
        ]
        for (certificate, key, words) in cases {
            let text = try #require(self.refusal(certificate, key))
            #expect(words.allSatisfy(text.contains), "\(text)")
            #expect(!text.contains("\n") && !text.contains("secret"))
        }
    }

    @Test(
        "what works and should be mended is a warning: others who can read the key, an end within two weeks, a beginning"
    )
    func warned() throws {
        defer { self.folder.remove() }
        let certificate = try self.write(Certificates.localhost.certificateChainPEM, to: "certificate.pem")
        for mode in [0o640, 0o604, 0o644] {
            let key = try self.write(Certificates.localhost.privateKeyPEM, to: "key.pem", mode: mode)
            let warnings = try ServerPair.load(certificate: certificate, key: key).warnings
            #expect(warnings.count == 1)
            #expect(warnings.first?.contains("mode 0\(String(mode, radix: 8))): chmod 600 \(key)") == true)
        }
        let key = try self.write(Certificates.localhost.privateKeyPEM, to: "key.pem")
        let end = try ServerPair.load(certificate: certificate, key: key).facts.notAfter
        func warnings(now: Int64) throws -> [String] {
            try ServerPair.load(certificate: certificate, key: key, now: now).warnings
        }
        #expect(try warnings(now: end - 15 * 86_400).isEmpty)
        #expect(try warnings(now: end - 13 * 86_400).first?.contains("renew it, then send SIGHUP") == true)
        #expect(try warnings(now: end - 367 * 86_400).first?.contains("is this machine's clock right?") == true)
        #expect(throws: TLSError.self) { try warnings(now: end) }
    }
}
