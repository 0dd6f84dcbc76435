import Glibc
import Testing
import TickertapeTesting

/// Several programs with the same key, and a program that restarts repeatedly.
@Suite("Programs that share a key", .serialized, .timeLimit(.minutes(5 * Patience.factor)))
struct OwnershipTests {
    private static let trade =
        #"{"data":[{"c":null,"p":61837.63,"s":"BINANCE:BTCUSDT","t":1723161255342,"v":0.02}],"type":"trade"}"#

    private func start(
        _ server: ScriptedFinnhub,
        _ folder: TemporaryFolder,
        relay: String,
        _ command: [String] = ["run", "--format", "plain"]
    ) throws -> RunningProgram {
        try RunningProgram(
            RunningProgram.tickertape,
            command + ["--upstream", "ws://127.0.0.1:\(server.port)", "--relay", relay],
            environment: [
                "FINNHUB_TOKEN": "averysecretkey", "XDG_STATE_HOME": folder.path, "XDG_RUNTIME_DIR": folder.path,
            ]
        )
    }

    /// Returns the number of connections to the service so far.
    private func handshakes(_ server: ScriptedFinnhub) async throws -> Int {
        try await server.stop()
        var count = 0
        for await case .opened in server.events { count += 1 }
        return count
    }

    private func stop(_ programs: RunningProgram...) async {
        for program in programs { program.send(signal: SIGTERM) }
        for program in programs { #expect(await program.ending(atMost: .seconds(10)) == .exit(0), "\(program.errors)") }
    }

    @Test("use the first one's relay, and when that is killed, the next takes over the key, the address and the tape")
    func takeover() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let server = try await ScriptedFinnhub.start { _ in .play([.send(Self.trade)]) }
        let first = try self.start(server, folder, relay: "127.0.0.1:0")
        let port = try #require(await first.relayPort(), "\(first.errors)")
        #expect(await first.printsError(of: "live"))
        let second = try self.start(server, folder, relay: "127.0.0.1:\(port)")
        #expect(await second.follows(relay: "127.0.0.1:\(port)"))
        #expect(second.errors.contains("another tickertape (pid \(first.processIdentifier)) holds the key"))
        #expect(second.errors.contains("the relay on ws://127.0.0.1:\(port) is that of another tickertape"))
        // A program that follows the owner records the owner's trades.
        let elsewhere = try self.start(
            server,
            folder,
            relay: "127.0.0.1:0",
            ["record", "--format", "plain", "\(folder.path)/recording.jsonl"]
        )
        #expect(await elsewhere.follows(relay: "127.0.0.1:\(port)"))
        #expect(await elsewhere.relayPort() != nil)

        // The one with the same address must take over.
        await self.stop(elsewhere)
        let begin = ContinuousClock.now
        first.send(signal: SIGKILL)
        #expect(
            await second.printsError(of: "the tickertape that held the key (pid \(first.processIdentifier)) has gone")
        )
        #expect(await second.printsError(of: "the relay is on ws://127.0.0.1:\(port)/"))
        let took = ContinuousClock.now - begin
        #expect(took < .seconds(30) * Patience.factor, "\(took)")
        #expect(await second.printsError(of: "gap of"))
        let third = try self.start(server, folder, relay: "127.0.0.1:\(port)")
        #expect(await third.printsError(of: "another tickertape (pid \(second.processIdentifier)) holds the key"))
        // The waiting program stops first, since it would otherwise take over.
        await self.stop(third)
        await self.stop(second)
        #expect(try await self.handshakes(server) == 2)
        for text in [first.errors, second.errors, third.errors, elsewhere.errors, first.output, second.output] {
            #expect(!text.contains("averysecretkey"))
        }
    }

    @Test("make one connection when they start at the same instant")
    func sameInstant() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let server = try await ScriptedFinnhub.start { _ in .play([.send(Self.trade)]) }
        let programs = try (0..<3).map { _ in try self.start(server, folder, relay: "127.0.0.1:0") }
        // A follower that receives the owner's only trade late reports "late".
        let words = ["Z waiting", "Z late via"]
        for program in programs { #expect(await program.printsError(ofAny: words), "\(program.errors)") }
        for program in programs { #expect(await program.relayPort() != nil, "\(program.errors)") }
        #expect(programs.count { $0.errors.contains("via") } == 2)
        // The followers stop first, so that none takes over.
        for program in programs where program.errors.contains("via") { await self.stop(program) }
        for program in programs where !program.errors.contains("via") { await self.stop(program) }
        #expect(try await self.handshakes(server) == 1)
    }

    @Test("give a hint about an owner without a relay, and take over when it stops")
    func noRelay() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let server = try await ScriptedFinnhub.start { _ in .play([.send(Self.trade)]) }
        let first = try self.start(server, folder, relay: "off")
        #expect(await first.printsError(of: "live"))
        let second = try self.start(server, folder, relay: "127.0.0.1:0")
        #expect(await second.printsError(of: "holds this key and has no relay: stop it, or start it with --relay"))
        #expect(second.errors.contains("key-in-use"))
        #expect(await second.relayPort() != nil)
        await self.stop(first)
        #expect(await second.printsError(of: "live"))
        await self.stop(second)
        #expect(try await self.handshakes(server) == 2)
    }

    @Test("killed and started 20 times within 20 s, a program makes at most 6 handshakes")
    func restarts() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let server = try await ScriptedFinnhub.start { _ in .play([.send(Self.trade)]) }
        let begin = ContinuousClock.now
        for _ in 0..<20 {
            let program = try self.start(server, folder, relay: "off")
            // On a busy machine the start takes a second.
            #expect(await program.printsError(of: "connecting"), "\(program.errors)")
            // The lifetime of the program; there is no event to wait for.
            try await Task.sleep(for: .milliseconds(900))
            program.send(signal: SIGKILL)
            #expect(await program.ending() == .signal(SIGKILL))
        }
        let took = ContinuousClock.now - begin
        // The times at which attempts are allowed; a slow machine passes more than six of them.
        let allowed = [0, 0.5, 1.5, 3.5, 7.5, 15.5, 31.5, 63.5, 123.5].count { took >= .seconds($0) }
        let handshakes = try await self.handshakes(server)
        #expect(handshakes <= allowed, "\(handshakes) in \(took)")
        #expect(handshakes >= 2)
    }

    @Test(
        "a damaged file of attempts is replaced with a warning that names it, and no key is in any file's name or text"
    )
    func damagedState() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let server = try await ScriptedFinnhub.start { _ in .play([.send(Self.trade)]) }
        let first = try self.start(server, folder, relay: "off")
        #expect(await first.printsError(of: "live"))
        await self.stop(first)
        let list = try RunningProgram("/bin/ls", ["\(folder.path)/tickertape"])
        let name = try #require(await list.lines(1).first { $0.hasSuffix(".attempts") })
        #expect(!(try folder.read("tickertape/\(name)")).contains("averysecretkey"))
        _ = try folder.write("garbage", to: "tickertape/\(name)")
        let second = try self.start(server, folder, relay: "off")
        #expect(await second.printsError(of: "live"))
        #expect(second.errors.contains("warning: \(folder.path)/tickertape/\(name) cannot be used and is replaced"))
        await self.stop(second)
        #expect(try folder.read("tickertape/\(name)").hasPrefix("tickertape-attempts 1\n"))
        _ = try await self.handshakes(server)
    }
}
