import Foundation
import Testing
import TickertapeTesting

@Suite("A replay as fast as it goes, from outside", .timeLimit(.minutes(5 * Patience.factor)))
struct BrakeProgramTests {
    /// Returns a recording of 6 MB in 3,000 messages, and its number of trades. It far exceeds the buffers of sockets
    /// and of the relay's clients. The prices count up from 1.
    private static func recording() -> (text: String, trades: Int) {
        var text = ""
        var number = 0
        for message in 0..<3_000 {
            let trades = (0..<25).map { _ in
                number += 1
                return #"{\"c\":null,\"p\":\#(number),\"s\":\"A\",\"t\":\#(1_723_161_255_000 + message),\"v\":1}"#
            }
            text +=
                #"{"at":\#(message * 1_000),"frame":"{\"data\":["# + trades.joined(separator: ",")
                + #"],\"type\":\"trade\"}"}"# + "\n"
        }
        return (text, number)
    }

    @Test("waits for the slowest reader of its relay, who gets every trade in order")
    func slowReader() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let (text, number) = Self.recording()
        let path = try folder.write(text, to: "a.jsonl")
        let program = try RunningProgram(
            RunningProgram.tickertape,
            ["replay", path, "--speed", "max", "--wait-client", "--quiet", "--relay", "127.0.0.1:0"]
        )
        let port = try #require(await program.relayPort(), "\(program.errors)")
        let reader = try RunningProgram(
            "/usr/bin/env",
            ["python3", "\(RunningProgram.sources)/Tests/Clients/slow_reader.py", "\(port)", "A", "500"]
        )
        #expect(await reader.ending(atMost: .seconds(120)) == .exit(0), "\(reader.errors)")
        #expect(
            reader.output.contains("\"trades\": \(number),") && reader.output.contains("\"inOrder\": true"),
            "\(reader.output)"
        )
        #expect(await program.ending(atMost: .seconds(30)) == .exit(0), "\(program.errors)")
        #expect(program.errors.contains("\(number) trades"), "\(program.errors)")
    }

    /// The report of one reader.
    private struct Reported: Decodable {
        var query: String
        var before: Int
        var trades: Int
        var missed: Int
        var shown: Int
        var inOrder: Bool
        var code: Int?
        var reason: String?
        var newest: String?
    }

    @Test(
        "the counts of the stream's readers add up in every mode, at any reading speed",
        arguments: [false, true]
    )
    func addsUp(isEncrypted: Bool) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = "\(folder.path)/market.jsonl"
        let writer = try RunningProgram(
            RunningProgram.tickertape,
            ["simulate", "--write", path, "--rate", "2000", "--duration", "40s", "--burst", "500@5s"]
        )
        #expect(await writer.ending() == .exit(0), "\(writer.errors)")
        var settings: [String] = []
        if isEncrypted {
            let cert = try RunningProgram(RunningProgram.tickertape, ["cert", "--out", folder.path])
            #expect(await cert.ending() == .exit(0), "\(cert.errors)")
            settings = [
                "--set", "relay.certificate-file=\(folder.path)/certificate.pem",
                "--set", "relay.key-file=\(folder.path)/key.pem",
            ]
        }
        // A reader that the machine keeps waiting has not gone.
        settings += ["--set", "relay.pong-timeout=\(10 * Patience.factor)s"]
        for pace in ["fast", "slow", "pause"] {
            let program = try RunningProgram(
                RunningProgram.tickertape,
                ["replay", path, "--speed", "max", "--wait-client", "--quiet", "--relay", "127.0.0.1:0"] + settings
            )
            let address = "the relay is on \(isEncrypted ? "wss" : "ws")://127.0.0.1:"
            let port = try #require(await program.errorText(numberBehind: address), "\(program.errors)")
            let lossless = ["symbols=*&delivery=all", "symbols=*&delivery=all&overflow=close"]
            let others = [
                "symbols=*&delivery=all&overflow=latest", "symbols=*", "symbols=*&overflow=close",
                "symbols=*&every=100ms",
            ]
            let readers = try RunningProgram(
                "/usr/bin/env",
                [
                    "python3", "\(RunningProgram.sources)/Tests/Clients/adding_reader.py", "\(port)", pace,
                    isEncrypted ? "\(folder.path)/certificate.pem" : "-",
                ] + lossless + others
            )
            #expect(await readers.ending(atMost: .seconds(120)) == .exit(0), "\(readers.errors)")
            #expect(await program.ending(atMost: .seconds(30)) == .exit(0), "\(program.errors)")
            let all = try #require(RunningProgram.number(in: program.errors, behind: "replayed "), "\(program.errors)")
            #expect(all > 60_000)
            let reported = try readers.output.split(separator: "\n").map {
                try JSONDecoder().decode(Reported.self, from: Data($0.utf8))
            }
            #expect(reported.count == lossless.count + others.count)
            let newest = Set(reported.filter { $0.code == 1001 }.compactMap(\.newest))
            #expect(newest.count == 1, "\(reported)")
            for reported in reported {
                let closing = reported.reason.flatMap { RunningProgram.number(in: $0, behind: "too slow: ") } ?? 0
                let sum =
                    (reported.query.contains("all") ? reported.trades : reported.shown) + reported.missed + closing
                    + reported.before
                // A client that is closed for being slow has received all trades until then.
                #expect(reported.code == 1001 ? sum == all : sum <= all, "\(pace): \(reported) of \(all)")
                #expect(reported.inOrder)
                guard lossless.contains(reported.query) else { continue }
                #expect(
                    reported.code == 1001 && reported.missed == 0 && reported.trades == all,
                    "\(pace): \(reported) of \(all)"
                )
            }
        }
    }

    @Test("a mock server continues when a client that let its socket fill reads again", arguments: [false, true])
    func mockServer(isEncrypted: Bool) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let (text, number) = Self.recording()
        let path = try folder.write(text, to: "a.jsonl")
        let authority = "\(folder.path)/ca.pem"
        let server = try RunningProgram(
            RunningProgram.tickertape,
            ["serve", path, "--speed", "max", "--listen", "127.0.0.1:0"]
                + (isEncrypted ? ["--ca-out", authority] : ["--plain"])
        )
        #expect(await server.printsError(of: "Ctrl-C stops"))
        let address = "\(isEncrypted ? "wss" : "ws")://127.0.0.1:"
        let port = try #require(RunningProgram.number(in: server.errors, behind: address), "\(server.errors)")
        let reader = try RunningProgram(
            "/usr/bin/env",
            ["python3", "\(RunningProgram.sources)/Tests/Clients/slow_reader.py", "\(port)", "A", "500"]
                + (isEncrypted ? [authority] : [])
        )
        #expect(await reader.ending(atMost: .seconds(60)) == .exit(0), "\(reader.errors)")
        #expect(
            reader.output.contains("\"trades\": \(number),") && reader.output.contains("\"inOrder\": true"),
            "\(reader.output)"
        )
        server.send(signal: SIGTERM)
        #expect(await server.ending() == .exit(0))
    }

    @Test("ends without a word when it is stopped while it begins again and again")
    func stoppedLoop() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let line =
            #"{"at":0,"frame":"{\"data\":[{\"c\":null,\"p\":1,\"s\":\"A\",\"t\":1,\"v\":1}],\"type\":\"trade\"}"}"#
            + "\n"
        let path = try folder.write(line, to: "a.jsonl")
        let program = try RunningProgram(
            RunningProgram.tickertape,
            ["replay", path, "--loop", "--speed", "max", "--quiet", "--relay", "127.0.0.1:0"]
        )
        _ = try #require(await program.relayPort(), "\(program.errors)")
        try await Task.sleep(for: .seconds(1))
        program.send(signal: SIGTERM)
        #expect(await program.ending(atMost: .seconds(30)) == .exit(0))
        #expect(!program.errors.contains("EventLoop"), "\(program.errors.suffix(300))")
    }
}
