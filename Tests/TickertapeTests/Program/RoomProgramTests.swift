import Glibc
import Testing
import TickertapeTesting

/// The rooms of the built program, with clients in Python and JavaScript.
@Suite("Rooms of the program", .serialized, .timeLimit(.minutes(5 * Patience.factor)))
struct RoomProgramTests {
    private func python(_ arguments: [String]) throws -> RunningProgram {
        let path = RunningProgram.python
        try #require(access(path, X_OK) == 0, "\(path) is missing: run scripts/test, which makes it")
        return try RunningProgram(path, arguments)
    }

    private func relay(_ arguments: [String] = []) async throws -> (program: RunningProgram, port: Int) {
        let program = try RunningProgram(
            RunningProgram.tickertape,
            ["--demo", "--quiet", "--relay", "127.0.0.1:0", "--set", "relay.rooms=true"] + arguments
        )
        let port = try #require(await program.relayPort(), "\(program.errors)")
        return (program, port)
    }

    private func stop(_ program: RunningProgram) async {
        program.send(signal: SIGINT)
        #expect(await program.ending() != nil)
    }

    /// Lets a user send messages; returns what it got.
    private func say(_ messages: [String], as user: String, port: Int) async throws -> [String] {
        let script = "\(RunningProgram.sources)/Tests/Clients/room_client.py"
        let client = try self.python([script, "ws://127.0.0.1:\(port)/v1/room/lobby", user] + messages)
        #expect(await client.ending() == .exit(0), "\(client.output) \(client.errors)")
        return client.output.split(separator: "\n").map(String.init)
    }

    @Test("users get their messages back, and after a restart a room has its messages and their numbers go on")
    func restart() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let settings = ["--set", "state.directory=off", "--record"]
        let (first, port) = try await self.relay(settings + ["\(folder.path)/1.jsonl"])
        #expect(first.errors.contains("/v1/stream and /v1/room/NAME"))
        let got = try await self.say(["one", "two ü"], as: "ann", port: port)
        #expect(got.count == 4 && got[0].contains(#""users":[],"messages":[]"#), "\(got)")
        #expect(got[1].contains(#""type":"joined""#) && got[2].contains(#""id":1,"#) && got[3].contains(#""id":2,"#))
        await self.stop(first)
        let (second, secondPort) = try await self.relay(settings + ["\(folder.path)/2.jsonl"])
        let later = try await self.say(["three"], as: "bob", port: secondPort)
        let room = try #require(later.first)
        #expect(room.contains(#""users":[]"#) && room.contains(#""message":"one"},{"id":2,"#), "\(room)")
        #expect(room.contains(#""user":"ann","userId":1,"message":"two ü"}]"#), "\(room)")
        #expect(later.last?.contains(#""id":3,"#) == true, "\(later)")
        await self.stop(second)
    }

    @Test("a program that takes over the relay has all messages of the one before, and their numbers go on")
    func takeover() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let server = try await ScriptedFinnhub.start { _ in .play([]) }
        func start(_ file: String, port: Int) throws -> RunningProgram {
            try RunningProgram(
                RunningProgram.tickertape,
                [
                    "--quiet", "--upstream", "ws://127.0.0.1:\(server.port)", "--relay", "127.0.0.1:\(port)",
                    "--set", "relay.rooms=true", "--record", "\(folder.path)/\(file)",
                ],
                environment: [
                    "FINNHUB_TOKEN": "averysecretkey", "XDG_STATE_HOME": folder.path, "XDG_RUNTIME_DIR": folder.path,
                ]
            )
        }
        let first = try start("1.jsonl", port: 0)
        let port = try #require(await first.relayPort(), "\(first.errors)")
        let second = try start("2.jsonl", port: port)
        #expect(await second.printsError(of: "is that of another tickertape"), "\(second.errors)")
        #expect(try await self.say(["one"], as: "ann", port: port).count == 3)
        await self.stop(first)
        #expect(await second.printsError(of: "the relay is on ws://127.0.0.1:\(port)/"), "\(second.errors)")
        let later = try await self.say(["two"], as: "bob", port: port)
        #expect(later.first?.contains(#""message":"one"}]"#) == true, "\(later)")
        #expect(later.last?.contains(#""id":2,"#) == true, "\(later)")
        await self.stop(second)
        try await server.stop()
    }

    @Test("beside another program that writes the history the relay listens, and says that it keeps no messages")
    func besides() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let settings = ["--set", "state.directory=off", "--record"]
        let (first, _) = try await self.relay(settings + ["\(folder.path)/1.jsonl"])
        let (second, port) = try await self.relay(settings + ["\(folder.path)/2.jsonl"])
        let warning = "messages of rooms are not kept, since another tickertape writes the history"
        #expect(second.errors.contains(warning), "\(second.errors)")
        #expect(try await self.say(["one"], as: "ann", port: port).count == 3)
        await self.stop(second)
        #expect(!second.errors.contains("are missing in the history"), "\(second.errors)")
        await self.stop(first)
    }

    @Test("the page's examples in Python and JavaScript work as they are printed, and get each other's messages")
    func examples() async throws {
        let page = try TemporaryFolder.text(of: "\(RunningProgram.sources)/docs/rooms.md")
        func code(_ language: String, _ port: Int) throws -> String {
            let start = try #require(page.firstRange(of: "```\(language)\n"))
            let end = try #require(page[start.upperBound...].firstRange(of: "```"))
            return String(page[start.upperBound..<end.lowerBound]).replacing(
                "127.0.0.1:8080",
                with: "127.0.0.1:\(port)"
            )
        }
        let (program, port) = try await self.relay()
        let ann = try self.python(["-c", try code("python", port)])
        #expect(await ann.prints("ann: hello from Python"), "\(ann.errors)")
        // The package ws where node has no WebSocket yet.
        let prefix = "globalThis.WebSocket ??= require('ws');\n"
        let bob = try RunningProgram(
            "/usr/bin/node",
            ["-e", prefix + (try code("javascript", port))],
            environment: ["NODE_PATH": "/usr/share/nodejs"]
        )
        #expect(await bob.prints("bob: hello from JavaScript"), "\(bob.errors)")
        #expect(bob.output.contains("ann: hello from Python"), "the message before it came")
        #expect(await ann.prints("bob: hello from JavaScript"), "\(ann.errors)")
        for client in [ann, bob] {
            client.send(signal: SIGKILL)
            _ = await client.ending()
        }
        await self.stop(program)
    }
}
