import Glibc
import NIOCore
import Testing
import TickertapeTesting
@testable import TLS

@Suite("TLS settings")
struct ConfigurationTests {
    @Test("credentials and trust are read from files")
    func files() throws {
        try Certificates.withFiles { certificate, key in
            let server = try TLSServerConfiguration(credentials: .files(certificate: certificate, key: key))
            let directory = try TemporaryFolder()
            defer { directory.remove() }
            var client = TLSClientConfiguration()
            client.trust = .file(try directory.write(Certificates.authority.certificatePEM, to: "authority.pem"))
            let pair = try MemoryPair(client: client, server: server)
            try pair.start()
            #expect(pair.client.application.seen == [.handshake("http/1.1")])
        }
    }

    @Test("a file that is not there, or holds something else, is named")
    func badFiles() throws {
        #expect(throws: TLSError(kind: .configuration, reason: "/nowhere/key.pem: No such file or directory")) {
            try Certificates.withFiles { certificate, _ in
                try TLSCredentials.files(certificate: certificate, key: "/nowhere/key.pem")
            }
        }
        var client = TLSClientConfiguration()
        client.trust = .file("/nowhere/authority.pem")
        #expect(throws: TLSError(kind: .configuration, reason: "/nowhere/authority.pem: No such file or directory")) {
            try TLSContext(client: client)
        }
        let directory = try TemporaryFolder()
        defer { directory.remove() }
        // No process writes to the pipe, and the reader must not wait for one.
        let pipe = "\(directory.path)/pipe"
        try #require(mkfifo(pipe, 0o600) == 0)
        client.trust = .file(pipe)
        #expect(throws: TLSError(kind: .configuration, reason: "\(pipe): is not a regular file")) {
            try TLSContext(client: client)
        }
        let path = try directory.write("nothing\n", to: "empty.pem")
        client.trust = .file(path)
        let error = #expect(throws: TLSError.self) { try TLSContext(client: client) }
        #expect(error?.kind == .configuration)
        #expect(error?.reason.hasPrefix("\(path): ") == true)
        #expect(error?.reason.contains("no certificate") == true, "\(error?.reason ?? "")")
    }

    @Test(
        "credentials that do not belong together, or are none, are refused",
        arguments: [
            (true, "", "no certificate"),
            (true, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", ""),
            (false, "", ""),
            (false, "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", ""),
        ]
    )
    func badCredentials(isCertificate: Bool, text: String, words: String) throws {
        var credentials = Certificates.localhost
        if isCertificate { credentials.certificateChainPEM = text } else { credentials.privateKeyPEM = text }
        let error = #expect(throws: TLSError.self) {
            try TLSContext(server: TLSServerConfiguration(credentials: credentials))
        }
        #expect(error?.kind == .configuration)
        #expect(error?.reason.contains(words.isEmpty ? ":" : words) == true)
    }

    @Test("a key of another certificate is refused in words")
    func wrongKey() throws {
        let other = try Certificates.authority.issue(names: ["localhost"])
        let mixed = TLSCredentials(
            certificateChainPEM: Certificates.localhost.certificateChainPEM,
            privateKeyPEM: other.privateKeyPEM
        )
        #expect(throws: TLSError(kind: .configuration, reason: "the private key: key values mismatch")) {
            try TLSContext(server: TLSServerConfiguration(credentials: mixed))
        }
    }

    @Test("a locked key is refused, and nobody is asked for a password")
    func lockedKey() throws {
        let locked = try OpenSSLCommand.run(
            ["pkcs8", "-topk8", "-v2", "aes-256-cbc", "-passout", "pass:secret"],
            input: Certificates.localhost.privateKeyPEM
        )
        #expect(locked.contains("ENCRYPTED"))
        var credentials = Certificates.localhost
        credentials.privateKeyPEM = locked
        let error = #expect(throws: TLSError.self) {
            try TLSContext(server: TLSServerConfiguration(credentials: credentials))
        }
        #expect(error?.kind == .configuration)
    }

    @Test("no description shows a key")
    func secrecy() throws {
        let credentials = Certificates.localhost
        let configuration = Certificates.server()
        var dumped = ""
        dump(configuration, to: &dumped)
        dump(Certificates.authority, to: &dumped)
        let all =
            "\(credentials) \(String(reflecting: credentials)) \(configuration) \(Certificates.authority)" + dumped
        #expect(!all.contains("BEGIN"))
        #expect(!all.contains("KEY"))
    }

    @Test(
        "application protocols that ALPN cannot carry are refused",
        arguments: [[""], [String(repeating: "x", count: 256)]]
    )
    func badProtocols(names: [String]) {
        var client = Certificates.client()
        client.applicationProtocols = names
        #expect(throws: TLSError.self) { try TLSContext(client: client) }
        var server = Certificates.server()
        server.applicationProtocols = names
        #expect(throws: TLSError.self) { try TLSContext(server: server) }
    }

    @Test("the environment's file and directory replace the system's")
    func environment() throws {
        let directory = try TemporaryFolder()
        defer { directory.remove() }
        let byFile = SystemTrust.find { $0 == "SSL_CERT_FILE" ? "/some/file.pem" : nil }
        #expect(byFile.file == "/some/file.pem")
        let byDirectory = SystemTrust.find { $0 == "SSL_CERT_DIR" ? directory.path : nil }
        #expect(byDirectory.directories == directory.path)
        let both = SystemTrust.find { $0 == "SSL_CERT_DIR" ? "/a:/b" : "/c.pem" }
        #expect(both == SystemTrust(file: "/c.pem", directories: "/a:/b"))
    }

    @Test("a directory counts once it has names made by rehash")
    func hashedNames() throws {
        let directory = try TemporaryFolder()
        defer { directory.remove() }
        let empty = SystemTrust(file: nil, directories: directory.path)
        _ = try directory.write("", to: "authority.pem")
        #expect(empty.isEmpty)
        _ = try directory.write(Certificates.authority.certificatePEM, to: "0123abcd.0")
        #expect(!empty.isEmpty)
        #expect(!SystemTrust(file: nil, directories: "/nowhere:\(directory.path)").isEmpty)
        #expect(empty.certificates == ["\(directory.path)/0123abcd.0"])
    }

    /// In a separate process, because the environment belongs to the whole process.
    @Test("a handshake reads nothing from the disk: the authorities of a directory are read with the configuration")
    func readsBefore() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryFolder()
            _ = try directory.write(Certificates.authority.certificatePEM, to: "0123abcd.0")
            _ = try directory.write("damaged", to: "0123abcd.1")
            setenv("SSL_CERT_DIR", directory.path, 1)
            let pair = try MemoryPair(
                client: TLSClientConfiguration(),
                server: Certificates.server(),
                peer: .host("localhost")
            )
            directory.remove()
            try pair.start()
            let isAccepted = pair.client.application.seen.contains {
                if case .handshake = $0 { true } else { false }
            }
            exit(isAccepted ? 0 : 1)
        }
    }

    @Test("errors say whether to try again")
    func transience() {
        #expect(TLSError(kind: .timedOut, reason: "").isTransient)
        #expect(TLSError(kind: .truncated, reason: "").isTransient)
        #expect(!TLSError(kind: .certificateRefused, reason: "").isTransient)
        #expect(!TLSError(kind: .configuration, reason: "").isTransient)
    }

    @Test("the authority refuses names that are none")
    func authority() {
        #expect(throws: TLSError.self) { try Certificates.authority.issue(names: ["a b"]) }
        #expect(throws: TLSError.self) { try Certificates.authority.issue(names: [""]) }
        #expect(throws: TLSError.self) { try Certificates.authority.issue(names: [], addresses: ["localhost"]) }
    }
}
