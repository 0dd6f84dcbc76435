import Foundation
import TLS
import Testing
import TickertapeTesting

/// The built program with a certificate for its relay, and third-party clients.
@Suite("The program's relay over TLS", .serialized, .timeLimit(.minutes(5 * Patience.factor)))
struct RelayTLSProgramTests {
    private static let demo = "\(RunningProgram.sources)/Sources/Tickertape/Resources/demo.jsonl"
    private static let clients = "\(RunningProgram.sources)/Tests/Clients"

    private func program(_ arguments: [String]) throws -> RunningProgram {
        try RunningProgram(RunningProgram.tickertape, arguments)
    }

    private func client(_ script: String, _ arguments: [String], trusting authority: String) throws -> RunningProgram {
        try #require(access(RunningProgram.python, X_OK) == 0, "run scripts/test, which makes \(RunningProgram.python)")
        return try RunningProgram(
            RunningProgram.python,
            ["\(Self.clients)/\(script)"] + arguments,
            environment: ["WEBSOCKET_CLIENT_CA_BUNDLE": authority, "SSL_CERT_FILE": authority]
        )
    }

    /// Runs a program to its end, and returns its output.
    private func output(
        _ path: String,
        _ arguments: [String]
    ) async throws -> (text: String, ending: RunningProgram.Ending?) {
        let program = try RunningProgram(path, arguments)
        let ending = await program.ending()
        return (program.output + program.errors, ending)
    }

    private func makePair(in folder: TemporaryFolder, _ more: String...) async throws -> String {
        let (text, ending) = try await self.output(
            RunningProgram.tickertape,
            ["cert", "--out", folder.path] + more
        )
        try #require(ending == .exit(0), "\(text)")
        return text
    }

    private func start(_ folder: TemporaryFolder, _ more: [String] = []) throws -> RunningProgram {
        try self.program(
            [
                "replay", Self.demo, "--speed", "1", "--quiet", "--relay", "127.0.0.1:0", "--wait-client",
                "--set", "relay.certificate-file=\(folder.path)/certificate.pem",
                "--set", "relay.key-file=\(folder.path)/key.pem",
            ] + more
        )
    }

    private func port(of program: RunningProgram) async throws -> Int {
        try #require(await program.errorText(numberBehind: "the relay is on wss://127.0.0.1:"), "\(program.errors)")
    }

    @Test("cert makes a pair that openssl verifies, with a key for its owner alone, and never replaces one unasked")
    func makes() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let reported = try await self.makePair(
            in: folder,
            "--name",
            "ticker.lan",
            "--name",
            "192.168.1.7",
            "--days",
            "90"
        )
        let certificate = "\(folder.path)/certificate.pem"
        let key = "\(folder.path)/key.pem"
        let facts = try CertificateFacts(certificatePEM: folder.read("certificate.pem"))
        for words in [facts.fingerprint, "\(facts.pin)", "certificate-file: \(certificate)", "key-file: \(key)"] {
            #expect(reported.contains(words), "\(reported)")
        }
        #expect(!reported.contains("PRIVATE"))
        let mode = try FileManager.default.attributesOfItem(atPath: key)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 2)

        for name in [
            ["-verify_hostname", "ticker.lan"], ["-verify_hostname", "localhost"], ["-verify_ip", "192.168.1.7"],
            ["-verify_ip", "::1"],
        ] {
            let strict = ["verify", "-x509_strict", "-purpose", "sslserver", "-CAfile", certificate] + name
            let (text, ending) = try await self.output("/usr/bin/openssl", strict + [certificate])
            #expect(ending == .exit(0), "\(text)")
        }
        let foreign = ["verify", "-CAfile", certificate, "-verify_hostname", "other.lan", certificate]
        #expect(try await self.output("/usr/bin/openssl", foreign).ending != .exit(0))
        let text = try await self.output("/usr/bin/openssl", ["x509", "-in", certificate, "-noout", "-text"]).text
        for words in ["CA:FALSE", "TLS Web Server Authentication", "prime256v1", "IP Address:192.168.1.7"] {
            #expect(text.contains(words), "\(text)")
        }

        let again = try await self.output(RunningProgram.tickertape, ["cert", "--out", folder.path])
        #expect(again.ending == .exit(1) && again.text.contains("exists already"), "\(again)")
        #expect(try CertificateFacts(certificatePEM: folder.read("certificate.pem")) == facts)
        _ = try await self.makePair(in: folder, "--force")
        #expect(try CertificateFacts(certificatePEM: folder.read("certificate.pem")) != facts)
        for (arguments, status) in [
            (["--name", "not a name"], Int32(64)), (["--days", "0"], 64), (["--days", "9000"], 64),
            (["--out", "/nowhere"], 1),
        ] {
            #expect(try await self.output(RunningProgram.tickertape, ["cert"] + arguments).ending == .exit(status))
        }
    }

    @Test("`health` and the webhook speak no cipher without AEAD, but one that `tls.ciphers` names")
    func ciphers() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        _ = try await self.makePair(in: folder)
        let (authority, key) = ("\(folder.path)/certificate.pem", "\(folder.path)/key.pem")
        let cipher = "ECDHE-ECDSA-AES128-SHA256"
        let server = try self.client("webhook_server.py", [authority, key, cipher], trusting: authority)
        let port = try #require(await server.lines(1).first.flatMap { RunningProgram.number(in: $0, behind: "port ") })
        let health = [
            "health", "--relay", "127.0.0.1:\(port)", "--set", "relay.certificate-file=\(authority)", "--set",
            "relay.key-file=\(key)",
        ]
        let url = try folder.write("https://localhost:\(port)/hook\n", to: "url")
        chmod(url, 0o600)
        let alert = [
            "replay", Self.demo, "--relay", "off", "--quiet", "--speed", "max", "--alert", "BTCUSDT below 59990 once",
            "--set", "alerts.webhook-file=\(url)", "--set", "alerts.webhook-ca-file=\(authority)",
        ]
        let allowed = ["--set", "tls.ciphers=\(cipher)"]
        let strict = try await self.output(RunningProgram.tickertape, health)
        #expect(strict.ending == .exit(1), "\(strict)")
        let loose = try await self.output(RunningProgram.tickertape, health + allowed)
        #expect(loose.ending == .exit(0), "\(loose)")
        let refused = try await self.output(RunningProgram.tickertape, alert)
        #expect(refused.text.contains("webhook") && server.output.split(separator: "\n").count == 1, "\(refused)")
        let sent = try await self.output(RunningProgram.tickertape, alert + allowed)
        #expect(await server.lines(2, atMost: .seconds(20)).count == 2, "\(sent)")
        server.send(signal: SIGTERM)
    }

    @Test("the relay offers with TLS 1.2 the ciphers that `tls.ciphers` names and no other, also after SIGHUP")
    func ownCiphers() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        _ = try await self.makePair(in: folder)
        let (standard, other) = ("ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES128-SHA256")
        for (settings, offered, missing) in [
            ([], standard, other), (["--set", "tls.ciphers=\(other)"], other, standard),
        ] as [([String], String, String)] {
            let program = try self.start(folder, settings)
            let port = try await self.port(of: program)
            for isReloaded in [false, true] {
                if isReloaded {
                    program.send(signal: SIGHUP)
                    #expect(await program.printsError(of: "the certificate is the same as before"), "\(program.errors)")
                }
                for (cipher, result) in [(offered, offered), (missing, "(NONE)")] {
                    let session = try await self.output(
                        "/usr/bin/openssl",
                        [
                            "s_client", "-connect", "127.0.0.1:\(port)", "-CAfile", "\(folder.path)/certificate.pem",
                            "-verify_return_error", "-tls1_2", "-cipher", cipher,
                        ]
                    )
                    #expect(session.text.contains("Cipher is \(result)\n"), "\(session.text)")
                    #expect((session.ending == .exit(0)) == (cipher == offered), "\(session)")
                }
            }
            program.send(signal: SIGTERM)
            #expect(await program.ending(atMost: .seconds(10)) == .exit(0), "\(program.errors)")
        }
    }

    @Test("Finnhub's Python sample, /v1/stream, `watch`, `health` and openssl s_client work over wss with a CA file")
    func serves() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        _ = try await self.makePair(in: folder, "--name", "ticker.lan")
        let authority = "\(folder.path)/certificate.pem"
        let program = try self.start(folder)
        let port = try await self.port(of: program)
        #expect(!program.errors.contains("warning"), "\(program.errors)")

        let sample = try self.client(
            "finnhub_sample.py",
            ["wss://localhost:\(port)/", "BINANCE:BTCUSDT"],
            trusting: authority
        )
        #expect(await sample.lines(1).first?.contains("\"data\"") == true, "\(sample.errors)")
        let stream = try self.client("stream_client.py", ["wss://127.0.0.1:\(port)/v1/stream"], trusting: authority)
        #expect(await stream.lines(1).first?.contains("message") == true, "\(stream.errors)")
        let strict = try self.client(
            "tls_handshake.py",
            ["127.0.0.1", "\(port)", authority, "ticker.lan"],
            trusting: authority
        )
        #expect(await strict.lines(1).first?.hasPrefix("TLSv1.3 http/1.1 ") == true, "\(strict.errors)")
        let watch = try self.program([
            "watch", "wss://localhost:\(port)", "--ca-file", authority, "--format", "plain",
        ])
        #expect(await watch.lines(3).contains { $0.contains("BINANCE:BTCUSDT") }, "\(watch.output) \(watch.errors)")
        let distrusting = try self.program(["watch", "wss://localhost:\(port)", "--format", "json"])
        #expect(
            await distrusting.lines(2, atMost: .seconds(20)).joined().contains("unknown CA"),
            "\(distrusting.output) \(distrusting.errors)"
        )
        let health = try await self.output(
            RunningProgram.tickertape,
            ["health", "--relay", "127.0.0.1:\(port)"] + [
                "--set", "relay.certificate-file=\(authority)", "--set", "relay.key-file=\(folder.path)/key.pem",
            ]
        )
        #expect(health.ending == .exit(0), "\(health)")
        let session = try await self.output(
            "/usr/bin/openssl",
            ["s_client", "-connect", "127.0.0.1:\(port)", "-CAfile", authority, "-verify_return_error", "-tls1_2"]
        )
        #expect(session.text.contains("Verify return code: 0 (ok)"), "\(session.text)")
        #expect(sample.output.contains("\"data\"") && !sample.errors.contains("closed"))

        program.send(signal: SIGTERM)
        #expect(await program.ending(atMost: .seconds(10)) == .exit(0))
        #expect(await sample.printsError(of: "### closed ### 1001"), "\(sample.errors)")
    }

    @Test(
        "SIGHUP gives new connections the new certificate, keeps clients, survives a bad pair, and never ends a service"
    )
    func reloads() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        _ = try await self.makePair(in: folder)
        let authority = "\(folder.path)/certificate.pem"
        let first = try folder.read("certificate.pem")
        let program = try self.start(folder)
        let port = try await self.port(of: program)
        let sample = try self.client(
            "finnhub_sample.py",
            ["wss://localhost:\(port)/", "BINANCE:BTCUSDT"],
            trusting: authority
        )
        #expect(!(await sample.lines(1)).isEmpty, "\(sample.errors)")

        _ = try await self.makePair(in: folder, "--force")
        let second = try CertificateFacts(certificatePEM: folder.read("certificate.pem"))
        program.send(signal: SIGHUP)
        #expect(
            await program.printsError(
                of: "new connections get the certificate with the fingerprint \(second.fingerprint)"
            ),
            "\(program.errors)"
        )
        #expect(program.errors.contains("SIGHUP: loaded the settings again: nothing has changed"), "\(program.errors)")
        let new = try self.client("tls_handshake.py", ["localhost", "\(port)", authority], trusting: authority)
        let digest = second.fingerprint.replacingOccurrences(of: ":", with: "").lowercased()
        #expect(await new.lines(1).first?.contains(digest) == true, "\(new.errors)")

        _ = try folder.write(first, to: "certificate.pem")
        program.send(signal: SIGHUP)
        #expect(await program.printsError(of: "the new certificate is not used, the one before stays"))
        let same = try folder.write(first, to: "first.pem")
        let old = try self.client("tls_handshake.py", ["localhost", "\(port)", same], trusting: same)
        #expect(await old.ending() != .exit(0))
        let count = sample.output.utf8.count
        #expect(await sample.lines(sample.output.split(separator: "\n").count + 1).count > 1)
        #expect(sample.output.utf8.count > count && !sample.errors.contains("closed"))
        program.send(signal: SIGTERM)
        #expect(await program.ending(atMost: .seconds(10)) == .exit(0))
    }

    @Test("a service without a certificate and a config file reports at SIGHUP that nothing has changed, and continues")
    func nothingToReload() async throws {
        let program = try self.program(["replay", Self.demo, "--quiet", "--relay", "127.0.0.1:0"])
        _ = try #require(await program.relayPort(), "\(program.errors)")
        program.send(signal: SIGHUP)
        #expect(
            await program.printsError(of: "SIGHUP: loaded the settings again: nothing has changed"),
            "\(program.errors)"
        )
        program.send(signal: SIGTERM)
        #expect(await program.ending(atMost: .seconds(10)) == .exit(0))
    }

    @Test("half a pair, or one that cannot be used, ends the program with 78 and one line")
    func refused() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        _ = try await self.makePair(in: folder)
        let certificate = "relay.certificate-file=\(folder.path)/certificate.pem"
        for (settings, status, words) in [
            ([certificate], Int32(64), "has no effect without relay.key-file"),
            (["relay.key-file=\(folder.path)/key.pem"], 64, "has no effect without relay.certificate-file"),
            ([certificate, "relay.key-file=/nowhere/key.pem"], 78, "/nowhere/key.pem: No such file or directory: "),
            ([certificate, "relay.key-file=\(folder.path)/certificate.pem"], 78, "no private key in it"),
        ] {
            let (text, ending) = try await self.output(
                RunningProgram.tickertape,
                ["replay", Self.demo, "--quiet", "--relay", "127.0.0.1:0"] + settings.flatMap { ["--set", $0] }
            )
            #expect(ending == .exit(status), "\(text)")
            #expect(text.contains(words) && text.split(separator: "\n").count == 1, "\(text)")
        }
    }
}
