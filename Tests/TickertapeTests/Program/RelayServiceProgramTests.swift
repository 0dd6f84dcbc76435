import Foundation
import NIOCore
import NIOPosix
import Testing
import TickertapeTesting

/// The relay of the whole program: its clients, its addresses, and the program's messages about them.
@Suite("The program's relay and its listeners", .serialized, .timeLimit(.minutes(3 * Patience.factor)))
struct RelayServiceProgramTests {
    private static let trade =
        #"{"data":[{"c":null,"p":61837.63,"s":"BINANCE:BTCUSDT","t":1723161255342,"v":0.02}],"type":"trade"}"#

    private func run(
        _ server: ScriptedFinnhub,
        _ folder: TemporaryFolder,
        _ arguments: [String],
        command: [String] = ["run"]
    ) throws -> RunningProgram {
        try RunningProgram(
            RunningProgram.tickertape,
            command + ["--upstream", "ws://127.0.0.1:\(server.port)", "--format", "plain"] + arguments,
            environment: [
                "FINNHUB_TOKEN": "averysecretkey", "XDG_STATE_HOME": folder.path, "XDG_RUNTIME_DIR": folder.path,
            ]
        )
    }

    private func stop(_ programs: RunningProgram...) async {
        for program in programs { program.send(signal: SIGTERM) }
        for program in programs { #expect(await program.ending(atMost: .seconds(10)) == .exit(0), "\(program.errors)") }
    }

    @Test("an address for other machines needs a token, and without one nothing is opened: exit status 78, one line")
    func needsToken() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let server = try await ScriptedFinnhub.start { _ in .play([.send(Self.trade)]) }
        for relay in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
            let program = try self.run(server, folder, ["--relay", relay])
            #expect(await program.ending() == .exit(78))
            #expect(program.errors.contains("relay.token-file"), "\(program.errors)")
            #expect(program.errors.split(separator: "\n").count == 1, "\(program.errors)")
        }
        let short = folder.path + "/short"
        try Data("only15character".utf8).write(to: URL(fileURLWithPath: short))
        chmod(short, 0o600)
        let program = try self.run(server, folder, ["--relay", "0.0.0.0:0", "--set", "relay.token-file=\(short)"])
        #expect(await program.ending() == .exit(64))
        #expect(program.errors.contains("shorter than 16 characters"), "\(program.errors)")
        #expect(!program.errors.contains("only15"))
        try await server.stop()
    }

    @Test("with one it listens, warns of Finnhub's terms, and other programs of this user find it by the same token")
    func withToken() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let server = try await ScriptedFinnhub.start { _ in .play([.send(Self.trade)]) }
        let file = folder.path + "/token"
        // The remaining files of the folder are searched for the token.
        defer { unlink(file) }
        try Data("\(Canary.key)\n".utf8).write(to: URL(fileURLWithPath: file))
        chmod(file, 0o600)
        let token = ["--set", "relay.token-file=\(file)"]
        let first = try self.run(server, folder, ["--relay", "0.0.0.0:0", "--log-level", "trace"] + token)
        let reported = await first.errorText(numberBehind: "the relay is on ws://0.0.0.0:")
        let port = try #require(reported, "\(first.errors)")
        #expect(first.errors.contains("warning: other machines can reach the relay"), "\(first.errors)")
        #expect(first.errors.contains("redistribute"))
        #expect(await first.lines(1).count >= 1)

        let watch = try RunningProgram(
            RunningProgram.tickertape,
            ["watch", "ws://127.0.0.1:\(port)", "--format", "plain"] + token
        )
        #expect(!(await watch.lines(1)).isEmpty, "\(watch.errors)")
        let byConfig = try RunningProgram(
            RunningProgram.tickertape,
            ["watch", "--set", "relay.listen=0.0.0.0:\(port)", "--format", "plain"] + token
        )
        #expect(!(await byConfig.lines(1)).isEmpty, "\(byConfig.errors)")
        let stranger = try RunningProgram(
            RunningProgram.tickertape,
            ["watch", "ws://127.0.0.1:\(port)", "--format", "plain"]
        )
        #expect(await stranger.printsError(of: "401"), "\(stranger.errors)")
        let health = try RunningProgram(RunningProgram.tickertape, ["health", "--relay", "0.0.0.0:\(port)"])
        #expect(await health.ending() == .exit(0), "\(health.errors)")
        // Another program with the key uses the relay of the first.
        let second = try self.run(server, folder, ["--relay", "off"] + token)
        #expect(await second.follows(relay: "127.0.0.1:\(port)"), "\(second.errors)")
        await self.stop(second, watch, byConfig, first)
        stranger.send(signal: SIGTERM)
        _ = await stranger.ending(atMost: .seconds(10))
        for text in [first.errors, first.output, watch.errors, watch.output, stranger.errors, second.errors] {
            let isFound = Canary.occurs(in: text)
            #expect(!isFound)
        }
        try await server.stop()
    }

    @Test("a socket file alone serves clients, watch, the health check and other programs with the key")
    func socketFile() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let server = try await ScriptedFinnhub.start { _ in .play([.send(Self.trade)]) }
        let path = "\(folder.path)/relay.sock"
        let place = ["--relay", "off", "--set", "relay.unix-socket=\(path)"]
        let first = try self.run(server, folder, place)
        #expect(await first.printsError(of: "the relay is on ws+unix:\(path):/"), "\(first.errors)")
        #expect(await first.lines(1).count >= 1)
        let watch = try RunningProgram(RunningProgram.tickertape, ["watch", "ws+unix:\(path)", "--format", "plain"])
        #expect(!(await watch.lines(1)).isEmpty, "\(watch.errors)")
        let health = try RunningProgram(
            RunningProgram.tickertape,
            ["health", "--relay", "off", "--set", "relay.unix-socket=\(path)"]
        )
        #expect(await health.ending() == .exit(0), "\(health.errors)")
        #expect(health.output.contains("200"))
        let second = try self.run(server, folder, ["--relay", "off"])
        // Only the start of a long path is shown.
        #expect(await second.follows(relay: String(folder.path.prefix(20))), "\(second.errors)")
        await self.stop(second, watch, first)
        #expect(!FileManager.default.fileExists(atPath: path))
        try await server.stop()
    }
}
