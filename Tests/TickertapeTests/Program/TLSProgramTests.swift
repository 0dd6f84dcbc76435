import Glibc
import TLS
import Testing
import TickertapeTesting

/// The output about TLS: the built program against a scripted Finnhub with a certificate of the tests' authority.
@Suite("The program and the certificates", .serialized, .timeLimit(.minutes(5 * Patience.factor)))
struct TLSProgramTests {
    /// Runs the program against the server until `body` returns.
    private func withProgram(
        _ settings: [String],
        _ body: (RunningProgram, ScriptedFinnhub) async throws -> Void
    ) async throws {
        let server = try await ScriptedFinnhub.start(credentials: Certificates.localhost) { _ in .play([]) }
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let authority = try folder.write(Certificates.authority.certificatePEM, to: "authority.pem")
        let program = try RunningProgram(
            RunningProgram.tickertape,
            [
                "--upstream", "wss://localhost:\(server.port)", "--ca-file", authority, "--relay", "off",
                "--format", "plain", "--set", "reconnect.min=10ms", "--set", "reconnect.max=100ms",
            ] + settings.flatMap { ["--set", $0] },
            environment: ["FINNHUB_TOKEN": "averysecretkey", "XDG_STATE_HOME": folder.path]
        )
        try await body(program, server)
        program.send(signal: SIGTERM)
        #expect(await program.ending(atMost: .seconds(20)) == .exit(0))
        #expect(!(program.output + program.errors).contains("averysecretkey"))
        try await server.stop()
    }

    /// Returns the number of the first connection with an upgrade request; `nil` if the program ends before one.
    private func firstOpened(_ server: ScriptedFinnhub, by program: RunningProgram) async -> Int? {
        let opening = Task { () -> Int? in
            for await case .opened(let connection, _) in server.events { return connection }
            return nil
        }
        let end = Task {
            _ = await program.ending()
            opening.cancel()
        }
        defer { end.cancel() }
        return await opening.value
    }

    @Test("refuses a revoked certificate, and accepts it once the file has a list that does not name it")
    func revoked() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let revoking = RevocationListTemplate(revoking: [Certificates.localhost.certificateChainPEM])
        let list = try folder.write(revoking.sign(by: Certificates.authority), to: "crl.pem")
        try await self.withProgram(["tls.crl-file=\(list)"]) { program, server in
            #expect(
                await program.printsError(
                    of: "certificate refused: revoked (CRL): do not trust this service until"
                )
            )
            _ = try folder.write(RevocationListTemplate().sign(by: Certificates.authority), to: "crl.pem")
            // At least the first connection ended in the handshake.
            #expect(try #require(await self.firstOpened(server, by: program)) > 0)
        }
    }

    @Test("refuses a key that is not pinned, naming it, and accepts it when it is")
    func pinned() async throws {
        let own = try PublicKeyPin(certificatePEM: Certificates.localhost.certificateChainPEM)
        let other = "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
        try await self.withProgram(["tls.pin=\(other)"]) { program, _ in
            #expect(await program.printsError(of: "its public key is not one of those pinned, but \(own)"))
            #expect(program.errors.contains("add it to tls.pin"))
        }
        try await self.withProgram(["tls.pin=\(other), \(own)"]) { program, server in
            #expect(await self.firstOpened(server, by: program) == 0)
        }
    }

    @Test("refuses a certificate without an OCSP answer where one is required")
    func required() async throws {
        try await self.withProgram(["tls.ocsp=required"]) { program, _ in
            #expect(
                await program.printsError(
                    of: "certificate refused: no OCSP answer is stapled to it: tls.ocsp: stapled works without it"
                )
            )
        }
    }

    @Test("ends with 78 before anything is opened when the CRL file cannot be used, and names the setting")
    func badList() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let garbage = try folder.write("nothing\n", to: "crl.pem")
        let authority = try folder.write(Certificates.authority.certificatePEM, to: "authority.pem")
        for (path, words) in [
            (garbage, "TLS setting: \(garbage): no CRL in it (tls.crl-file)"),
            ("/nowhere/crl.pem", "TLS setting: /nowhere/crl.pem: No such file or directory (tls.crl-file)"),
        ] {
            let program = try RunningProgram(
                RunningProgram.tickertape,
                [
                    "record", "--set", "tls.crl-file=\(path)", "--ca-file", authority, "--relay", "off",
                    "\(folder.path)/new.jsonl",
                ],
                environment: ["FINNHUB_TOKEN": "x"]
            )
            #expect(await program.ending() == .exit(78))
            #expect(program.errors.contains(words), "\(program.errors)")
            #expect(access("\(folder.path)/new.jsonl", F_OK) != 0)
        }
    }
}
