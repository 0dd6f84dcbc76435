import Glibc
import NIOCore
import NIOPosix
import Testing
import TickertapeTesting

/// The built program under a test double of systemd.
@Suite("The program as a service", .serialized, .timeLimit(.minutes(5 * Patience.factor)))
struct ServiceTests {
    private static let demo = "\(RunningProgram.sources)/Sources/Tickertape/Resources/demo.jsonl"
    private static let analyze = "/usr/bin/systemd-analyze"
    private static let activate = "/usr/bin/systemd-socket-activate"

    private static func isInstalled(_ path: String) -> Bool { access(path, X_OK) == 0 }

    private func python(
        _ script: String,
        _ arguments: [String],
        environment: [String: String] = [:]
    ) throws
        -> RunningProgram
    {
        try #require(Self.isInstalled(RunningProgram.python), "scripts/test makes \(RunningProgram.python)")
        let path = "\(RunningProgram.sources)/Tests/Clients/\(script)"
        return try RunningProgram(RunningProgram.python, [path] + arguments, environment: environment)
    }

    private func connect(_ port: Int) async throws -> any Channel {
        try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).connect(host: "127.0.0.1", port: port)
            .get()
    }

    @Test("uses the inherited socket, reports its status, and refuses no client during a restart")
    func inheritedSocket() async throws {
        let manager = try self.python(
            "service_manager.py",
            [RunningProgram.tickertape, "--quiet", "--relay", "127.0.0.1:9"]
        )
        #expect(await manager.prints("listening "))
        let port = try #require(RunningProgram.number(in: manager.output, behind: "listening "))
        // The socket overrides the setting.
        #expect(await manager.printsError(of: "the relay is on ws://127.0.0.1:\(port)/"), "\(manager.errors)")
        #expect(manager.errors.contains("relay.listen (127.0.0.1:9) is not used"))
        #expect(await manager.prints("told READY=1"))
        #expect(await manager.prints("told WATCHDOG=1", times: 3))
        #expect(await manager.prints("told STATUS=live"))
        let client = try self.python("finnhub_sample.py", ["ws://127.0.0.1:\(port)/", "BINANCE:BTCUSDT"])
        #expect(!(await client.lines(1)).isEmpty)

        manager.send(signal: SIGUSR1)
        // The socket exists throughout the restart.
        var waiting: [any Channel] = []
        while !manager.output.contains("ended "), waiting.count < 1_000 {
            waiting.append(try await self.connect(port))
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(await client.ending() != nil)
        #expect(client.errors.contains("### closed ### 1001"), "\(client.errors)")
        #expect(await manager.prints("told STOPPING=1"))
        #expect(await manager.prints("ended 0"), "\(manager.output)")
        #expect(await manager.prints("told READY=1", times: 2))
        for channel in waiting { try? await channel.close() }
        let health = try RunningProgram(RunningProgram.tickertape, ["health", "--relay", "127.0.0.1:\(port)"])
        #expect(await health.ending() == .exit(0), "\(health.errors)")

        // A killed program leaves the socket, too.
        manager.send(signal: SIGUSR2)
        #expect(await manager.prints("told READY=1", times: 3))
        let again = try RunningProgram(RunningProgram.tickertape, ["health", "--relay", "127.0.0.1:\(port)"])
        #expect(await again.ending() == .exit(0), "\(again.errors)")
        manager.send(signal: SIGTERM)
        #expect(await manager.ending() == .exit(0))
        #expect(await manager.prints("ended 0", times: 2))
    }

    @Test(
        "is started by systemd-socket-activate",
        .enabled(if: Self.isInstalled(Self.activate), "no systemd-socket-activate here")
    )
    func socketActivate() async throws {
        let reserved = try ReservedPort()
        defer { reserved.giveUp() }
        let port = reserved.number
        let manager = try RunningProgram(
            Self.activate,
            ["--listen=127.0.0.1:\(port)", RunningProgram.tickertape, "--quiet", "--relay", "127.0.0.1:\(port)"]
        )
        #expect(await manager.printsError(of: "Listening on"))
        // The first connection starts it.
        let first = try await self.connect(port)
        #expect(await manager.printsError(of: "the relay is on ws://127.0.0.1:\(port)/"), "\(manager.errors)")
        let health = try RunningProgram(RunningProgram.tickertape, ["health", "--relay", "127.0.0.1:\(port)"])
        #expect(await health.ending() == .exit(0), "\(health.errors) \(manager.errors)")
        try await first.close()
        manager.send(signal: SIGTERM)
        #expect(await manager.ending() == .exit(0))
    }

    @Test("refuses a passed descriptor on which nothing can be accepted, in words, with the status for settings")
    func badDescriptor() async throws {
        // The shell's descriptor 3 is a file.
        let shell = try RunningProgram(
            "/bin/sh",
            ["-c", "LISTEN_PID=$$ LISTEN_FDS=1 exec '\(RunningProgram.tickertape)' --quiet 3</dev/null"]
        )
        #expect(await shell.ending() == .exit(78))
        #expect(shell.errors.contains("is not a stream socket"), "\(shell.errors)")
    }

    @Test("a passed socket that other machines can reach needs a token, and is warned about, as an address is")
    func openSocket() async throws {
        let script = """
            import os, socket, sys
            listening = socket.create_server(("0.0.0.0", 0))
            os.dup2(listening.fileno(), 3)
            os.set_inheritable(3, True)
            os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1")
            os.execv(sys.argv[1], sys.argv[1:])
            """
        try #require(Self.isInstalled(RunningProgram.python), "scripts/test makes \(RunningProgram.python)")
        let program = ["-c", script, RunningProgram.tickertape, "--quiet"]
        let refused = try RunningProgram(RunningProgram.python, program)
        #expect(await refused.ending() == .exit(78), "\(refused.errors)")
        #expect(refused.errors.contains("cannot listen on 0.0.0.0 without a token"), "\(refused.errors)")

        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let token = try folder.write("0123456789abcdef0123", to: "token")
        let warned = try RunningProgram(
            RunningProgram.python,
            program + ["--set", "relay.token-file=\(token)"]
        )
        #expect(await warned.printsError(of: "warning: other machines can reach the relay on 0.0.0.0:"))
        warned.send(signal: SIGTERM)
        #expect(await warned.ending() == .exit(0), "\(warned.errors)")
    }

    @Test("has units that systemd understands", .enabled(if: Self.isInstalled(Self.analyze), "no systemd-analyze here"))
    func units() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        for name in ["tickertape.socket", "tickertape.service"] {
            let unit = try TemporaryFolder.text(of: "\(RunningProgram.sources)/config/systemd/\(name)")
            // The verification includes the program's existence.
            _ = try folder.write(unit.replacing("/usr/local/bin/tickertape", with: RunningProgram.tickertape), to: name)
        }
        let verify = try RunningProgram(
            Self.analyze,
            ["verify", "\(folder.path)/tickertape.service", "\(folder.path)/tickertape.socket"]
        )
        #expect(await verify.ending() == .exit(0), "\(verify.errors)")
        #expect(!verify.errors.contains("tickertape."), "\(verify.errors)")
    }

    @Test("runs as the user that the package makes")
    func user() throws {
        let units = "\(RunningProgram.sources)/config/systemd"
        let service = try TemporaryFolder.text(of: "\(units)/tickertape.service")
        #expect(service.contains("\nUser=tickertape\n"))
        #expect(try TemporaryFolder.text(of: "\(units)/tickertape.sysusers").contains("\nu tickertape "))
        #expect(
            try TemporaryFolder.text(of: "\(units)/tickertape.tmpfiles")
                .contains("\nd /var/lib/tickertape 0700 tickertape tickertape ")
        )
    }

    @Test("is exposed at most to 1.3", .enabled(if: Self.isInstalled(Self.analyze), "no systemd-analyze here"))
    func exposure() async throws {
        let analyze = try RunningProgram(
            Self.analyze,
            [
                "security", "--offline=true", "--threshold=13", "--no-pager",
                "\(RunningProgram.sources)/config/systemd/tickertape.service",
            ]
        )
        #expect(await analyze.ending() == .exit(0), "\(analyze.output)\(analyze.errors)")
    }

    @Test("ends at once when it is asked a second time, though a client does not read")
    func secondSignal() async throws {
        let program = try RunningProgram(
            RunningProgram.tickertape,
            ["replay", Self.demo, "--speed", "max", "--wait-client", "--quiet", "--relay", "127.0.0.1:0"]
        )
        let port = try #require(await program.relayPort(), "\(program.errors)")
        let client = try self.python("finnhub_sample.py", ["ws://127.0.0.1:\(port)/", "BINANCE:BTCUSDT"])
        #expect(!(await client.lines(1)).isEmpty)
        client.send(signal: SIGSTOP)
        defer { client.send(signal: SIGKILL) }
        let asked = ContinuousClock.now
        program.send(signal: SIGTERM)
        // The first signal has been handled once connections are refused.
        while let channel = try? await self.connect(port) { try? await channel.close() }
        program.send(signal: SIGTERM)
        let ending = await program.ending()
        let took = ContinuousClock.now - asked
        // The first signal alone gives the client 4 s. Only the second can end the program with the signal's status, or
        // earlier.
        #expect(ending == .exit(128 + SIGTERM) || (ending == .exit(0) && took < .seconds(4)), "\(took)")
    }
}
