import Foundation
import TLS
import Testing
import TickertapeTesting

@Suite("The built program while the disk of a small file hangs", .serialized, .timeLimit(.minutes(3 * Patience.factor)))
struct StateDiskTests {
    private static let clients = "\(RunningProgram.sources)/Tests/Clients"

    private func python(
        _ script: String,
        _ arguments: [String],
        environment: [String: String] = [:]
    ) throws -> RunningProgram {
        try #require(access(RunningProgram.python, X_OK) == 0, "scripts/test makes \(RunningProgram.python)")
        return try RunningProgram(
            RunningProgram.python,
            ["\(Self.clients)/\(script)"] + arguments,
            environment: environment
        )
    }

    /// Makes a certificate in a folder; returns its digest as `tls_handshake.py` prints it.
    private func makeCertificate(in folder: TemporaryFolder) async throws -> String {
        let maker = try RunningProgram(RunningProgram.tickertape, ["cert", "--force", "--out", folder.path])
        try #require(await maker.ending() == .exit(0), "\(maker.errors)")
        return try CertificateFacts(certificatePEM: folder.read("certificate.pem")).fingerprint
            .replacing(":", with: "").lowercased()
    }

    /// Connects with TLS; returns what the client says of the certificate, or why it refuses it.
    private func handshake(_ port: Int, trusting authority: String) async throws -> String {
        let client = try self.python("tls_handshake.py", ["localhost", "\(port)", authority])
        #expect(await client.ending() != nil)
        return client.output + client.errors
    }

    @Test("at SIGHUP: trades flow, new clients get the old certificate, later ones the new one, and a stop ends")
    func reload() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let disk = try await PreloadedDisk(in: folder)
        let old = try await self.makeCertificate(in: folder)
        let authority = try folder.write(folder.read("certificate.pem"), to: "old.pem")
        let program = try RunningProgram(
            RunningProgram.tickertape,
            [
                "replay", "\(RunningProgram.sources)/Sources/Tickertape/Resources/demo.jsonl", "--quiet", "--loop",
                "--relay", "127.0.0.1:0", "--set", "relay.certificate-file=\(folder.path)/certificate.pem", "--set",
                "relay.key-file=\(folder.path)/key.pem",
            ],
            environment: disk.environment
        )
        let port = try #require(
            await program.errorText(numberBehind: "the relay is on wss://127.0.0.1:"),
            "\(program.errors)"
        )
        let client = try self.python(
            "finnhub_sample.py",
            ["wss://localhost:\(port)/", "BINANCE:BTCUSDT"],
            environment: ["WEBSOCKET_CLIENT_CA_BUNDLE": authority, "SSL_CERT_FILE": authority]
        )
        #expect(!(await client.lines(1)).isEmpty, "\(client.errors)")
        let new = try await self.makeCertificate(in: folder)

        try disk.begin("hang-certificate")
        program.send(signal: SIGHUP)
        #expect(try await disk.hangs("certificate"), "\(program.errors)")
        let count = client.output.split(separator: "\n").count
        #expect(await client.lines(count + 20).count >= count + 20, "\(client.errors)")
        let warning = "SIGHUP: the disk of the certificate has not answered for 2 s; the new one is used when it does"
        #expect(await program.printsError(of: warning), "\(program.errors)")
        #expect(try await self.handshake(port, trusting: authority).contains(old))

        try disk.end("hang-certificate")
        let end = ContinuousClock.now + .seconds(20) * Patience.factor
        var seen = ""
        repeat {
            seen = try await self.handshake(port, trusting: "\(folder.path)/certificate.pem")
        } while !seen.contains(new) && .now < end
        #expect(seen.contains(new), "\(seen)")
        #expect(!client.errors.contains("closed"), "\(client.errors)")

        try disk.begin("hang-certificate")
        program.send(signal: SIGHUP)
        program.send(signal: SIGTERM)
        #expect(await program.ending(atMost: .seconds(10)) == .exit(0), "\(program.errors)")
    }

    @Test("under the watchlist: trades flow, symbols can be added, and the program ends without having stored it")
    func watchlist() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let disk = try await PreloadedDisk(in: folder)
        let trade: @Sendable (String, Int) -> String = { symbol, price in
            let now = Int(Date().timeIntervalSince1970 * 1_000)
            return #"{"data":[{"c":null,"p":\#(price),"s":"\#(symbol)","t":\#(now),"v":1}],"type":"trade"}"#
        }
        let server = try await ScriptedFinnhub.start { _ in .play([]) }
        let service = Task {
            for await case .received(let connection, let text) in server.events {
                for (symbol, price) in [("X:A", 101), ("X:B", 202), ("X:C", 303)] where text.contains(symbol) {
                    server.send(trade(symbol, price), on: connection)
                }
            }
        }
        try disk.begin("hang-watchlist")
        let steps = [
            "size:100x30", "wait:high 101 ", "key:+X:B\\r", "wait:B +202 ", "wait:A +104 ", "key:+X:C\\r",
            "wait:C +303 ", "key:q", "exit:0", "restored",
        ]
        let screen = try self.python(
            "screen.py",
            steps + ["--", RunningProgram.tickertape, "--upstream", "ws://127.0.0.1:\(server.port)", "--relay", "off"],
            environment: disk.environment.merging([
                "FINNHUB_TOKEN": "averysecretkey", "TICKERTAPE_SYMBOLS": "X:A", "XDG_STATE_HOME": folder.path,
                "TICKERTAPE_TEST_PATIENCE": "\(Patience.factor)",
            ]) { $1 }
        )
        #expect(await screen.prints("ok wait:B +202 "), "\(screen.output) \(screen.errors)")
        #expect(try await disk.hangs("watchlist"))
        server.send(trade("X:A", 104), on: 0)
        #expect(await screen.ending() == .exit(0), "\(screen.output.suffix(4_000)) \(screen.errors)")
        // The draft beside the file was not synced.
        let names = try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/tickertape")
        #expect(names.contains { $0.hasPrefix("watchlist.") } && !names.contains("watchlist"), "\(names)")
        try await server.stop()
        await service.value
    }
}
