import Foundation
import Testing
import TickertapeTesting

/// The built program's checks, against servers of this machine.
@Suite("`tickertape doctor`", .serialized, .timeLimit(.minutes(5 * Patience.factor)))
struct DoctorProgramTests {
    private static let demo = "\(RunningProgram.sources)/Sources/Tickertape/Resources/demo.jsonl"

    /// A line of `doctor --json`.
    private struct Check: Decodable {
        var check: String
        var state: String
        var measured: String
        var cure: String?
    }

    /// The result of one run.
    private struct Diagnosis {
        var ending: RunningProgram.Ending?
        var checks: [Check]
        var errors: String

        /// Returns the state and the words of the first check with a name.
        subscript(_ name: String) -> Check? { self.checks.first { $0.check == name } }
    }

    private func doctor(
        _ folder: TemporaryFolder,
        _ arguments: [String],
        key: String? = Canary.key,
        more: [String: String] = [:]
    ) async throws -> Diagnosis {
        var environment = [
            "XDG_STATE_HOME": folder.path, "XDG_RUNTIME_DIR": folder.path, "TICKERTAPE_RECORD_DIRECTORY": folder.path,
        ]
        environment["FINNHUB_TOKEN"] = key
        environment.merge(more) { $1 }
        let program = try RunningProgram(
            RunningProgram.tickertape,
            ["doctor", "--json"] + arguments,
            environment: environment
        )
        let ending = await program.ending()
        #expect(!Canary.occurs(in: program.output) && !Canary.occurs(in: program.errors))
        let checks = try program.output.split(separator: "\n").map {
            try JSONDecoder().decode(Check.self, from: Data($0.utf8))
        }
        for check in checks where check.state == "failure" { #expect(check.cure?.isEmpty == false, "\(check)") }
        return Diagnosis(ending: ending, checks: checks, errors: program.errors)
    }

    /// Starts a stand-in of Finnhub; returns it with its port.
    private func serve(_ arguments: [String]) async throws -> (program: RunningProgram, port: Int) {
        let server = try RunningProgram(
            RunningProgram.tickertape,
            ["serve", Self.demo, "--listen", "127.0.0.1:0"] + arguments
        )
        #expect(await server.printsError(of: "Ctrl-C stops"))
        let scheme = arguments.contains("--plain") ? "ws" : "wss"
        return (server, try #require(RunningProgram.number(in: server.errors, behind: "\(scheme)://127.0.0.1:")))
    }

    private static func attempts(_ folder: TemporaryFolder) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".attempts") }
    }

    @Test("connects only with --connect, and then sees the upgrade and the first trade, as the ladder counts it")
    func connect() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let (server, port) = try await self.serve(["--plain"])
        let arguments = ["--upstream", "ws://127.0.0.1:\(port)", "--relay", "127.0.0.1:0"]
        let without = try await self.doctor(folder, arguments)
        #expect(without["tcp-ipv4"]?.state == "ok" && without["tls"]?.state == "note")
        #expect(without["upgrade"]?.measured == "not tried: --connect tries it, and makes an attempt that counts")
        #expect(try Self.attempts(folder).isEmpty)
        let with = try await self.doctor(folder, arguments + ["--connect"])
        #expect(with["upgrade"]?.state == "ok" && with["first-trade"]?.state == "ok", "\(with.checks)")
        #expect(with["owner"]?.measured == "no program of this user holds the key")
        #expect(try Self.attempts(folder).count == 1)
        #expect(with["disk"]?.state != "failure" && with["rights"]?.state == "ok", "\(with.checks)")
        #expect(!(try FileManager.default.contentsOfDirectory(atPath: folder.path)).contains { $0.contains("doctor") })
        server.send(signal: SIGTERM)
        #expect(await server.ending() == .exit(0))
    }

    @Test("a refused port is a failure with status 2, and nothing after it is tried")
    func refused() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let reserved = try ReservedPort()
        defer { reserved.giveUp() }
        let begun = ContinuousClock.now
        let found = try await self.doctor(
            folder,
            ["--upstream", "ws://127.0.0.1:\(reserved.number)", "--relay", "off", "--connect"]
        )
        #expect(found.ending == .exit(2) && ContinuousClock.now - begun < .seconds(20) * Patience.factor)
        #expect(found["tcp-ipv4"]?.state == "failure")
        #expect(found["tcp-ipv4"]?.measured.contains("refuses connections") == true, "\(found.checks)")
        #expect(found["tls"]?.measured == "not reached")
        #expect(found["upgrade"]?.measured == "not tried: the steps before it fail")
        #expect(found["port"]?.state == "note" && found.errors.contains("1 failure"))
        #expect(try Self.attempts(folder).isEmpty)
    }

    @Test("a certificate of an unknown authority is a failure that names the cure, which helps")
    func certificate() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let authority = "\(folder.path)/ca.pem"
        let (server, port) = try await self.serve(["--ca-out", authority])
        let arguments = ["--upstream", "wss://127.0.0.1:\(port)", "--relay", "127.0.0.1:0"]
        let found = try await self.doctor(folder, arguments)
        #expect(found.ending == .exit(2) && found["tls"]?.state == "failure", "\(found.checks)")
        #expect(found["tls"]?.cure?.contains("--ca-file") == true)
        let cured = try await self.doctor(folder, arguments + ["--ca-file", authority])
        #expect(cured["tls"]?.state == "ok" || cured["tls"]?.measured.contains("chain good") == true, "\(cured.checks)")
        #expect(cured["tls"]?.measured.hasPrefix("TLSv1.3 with ") == true)
        server.send(signal: SIGTERM)
        #expect(await server.ending() == .exit(0))
    }

    /// A web server whose clock is an hour behind; it prints its port.
    private static let slowClock = """
        import http.server, time
        class Handler(http.server.BaseHTTPRequestHandler):
            def date_time_string(self, timestamp=None):
                return super().date_time_string(time.time() - 3600)
            def do_HEAD(self):
                self.send_response(200)
                self.end_headers()
        server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        print("port", server.server_port, flush=True)
        server.serve_forever()
        """

    @Test("a clock that is an hour off is a failure, and a right one is not")
    func clock() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let off = try RunningProgram("/usr/bin/python3", ["-u", "-c", Self.slowClock])
        #expect(await off.prints("port "), "\(off.errors)")
        let port = try #require(RunningProgram.number(in: off.output, behind: "port "))
        let (server, upstream) = try await self.serve(["--plain"])
        let arguments = ["--upstream", "ws://127.0.0.1:\(upstream)", "--relay", "off"]
        let wrong = try await self.doctor(folder, arguments + ["--set", "service.url=http://127.0.0.1:\(port)/api/v1"])
        #expect(wrong.ending == .exit(2) && wrong["clock"]?.state == "failure", "\(wrong.checks)")
        #expect(wrong["clock"]?.measured.contains(" s ahead of 127.0.0.1") == true, "\(wrong.checks)")
        #expect(wrong["clock"]?.cure?.contains("NTP") == true)
        let service = try await FileService(in: folder, [:])
        let right = try await self.doctor(folder, arguments + ["--set", "service.url=\(service.url)"])
        #expect(right["clock"]?.state == "ok", "\(right.checks)")
        server.send(signal: SIGTERM)
        #expect(await server.ending() == .exit(0))
    }

    @Test("a running program with the key is asked, and no second connection is made")
    func owner() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let (server, port) = try await self.serve(["--plain"])
        let arguments = ["--upstream", "ws://127.0.0.1:\(port)"]
        let owner = try RunningProgram(
            RunningProgram.tickertape,
            ["run", "--format", "plain", "--relay", "127.0.0.1:0"] + arguments,
            environment: ["FINNHUB_TOKEN": Canary.key, "XDG_STATE_HOME": folder.path, "XDG_RUNTIME_DIR": folder.path]
        )
        let relay = try #require(await owner.relayPort())
        #expect(await owner.printsError(of: "live"))
        let found = try await self.doctor(folder, arguments + ["--connect", "--relay", "127.0.0.1:\(relay)"])
        let name = "the tickertape with process id \(owner.processIdentifier)"
        #expect(found["upgrade"]?.measured.hasPrefix("\(name) at 127.0.0.1:\(relay) says ") == true, "\(found.checks)")
        #expect(found["owner"]?.measured == "\(name) holds the key, and shares it at 127.0.0.1:\(relay)")
        #expect(found["port"]?.measured.contains("a tickertape ") == true && found["port"]?.state == "ok")
        let attempts = try #require(try Self.attempts(folder).first)
        let newest = try TemporaryFolder.text(of: "\(folder.path)/\(attempts)").split(separator: "\n").first {
            $0.hasPrefix("recent-ns=")
        }
        #expect(newest?.contains(",") == false, "\(newest ?? "")")
        // It still has the key.
        owner.send(signal: SIGTERM)
        #expect(await owner.ending() == .exit(0))
        server.send(signal: SIGTERM)
        #expect(await server.ending() == .exit(0))
    }

    @Test("another program on the relay's port is a failure")
    func takenPort() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let (server, port) = try await self.serve(["--plain"])
        let arguments = ["--upstream", "ws://127.0.0.1:\(port)", "--relay", "127.0.0.1:\(port)"]
        let found = try await self.doctor(folder, arguments)
        #expect(found["port"]?.state == "failure", "\(found.checks)")
        #expect(found["port"]?.cure?.contains("ss -ltnp 'sport = :\(port)'") == true)
        server.send(signal: SIGTERM)
        #expect(await server.ending() == .exit(0))
    }

    @Test("a relay whose token is missing here is a warning with the cure, and its ports are known with it")
    func foreignToken() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let reserved = try ReservedPort()
        defer { reserved.giveUp() }
        let token = try folder.write("0123456789abcdef0123456789abcdef\n", to: "token")
        #expect(chmod(token, 0o600) == 0)
        let reservedLines = try ReservedPort()
        defer { reservedLines.giveUp() }
        let lines = reservedLines.number
        let relay = try RunningProgram(
            RunningProgram.tickertape,
            [
                "--quiet", "--relay", "127.0.0.1:0", "--set", "relay.token-file=\(token)", "--set",
                "lines.listen=127.0.0.1:\(lines)",
            ]
        )
        let port = try #require(await relay.relayPort(), "\(relay.errors)")
        let arguments = ["--upstream", "ws://127.0.0.1:\(reserved.number)", "--relay", "127.0.0.1:\(port)"]
        let without = try await self.doctor(folder, arguments)
        #expect(without["port"]?.state == "warning", "\(without.checks)")
        #expect(
            without["port"]?.measured.contains("is a relay's, and it requires a token (HTTP 401)") == true,
            "\(without.checks)"
        )
        #expect(without["port"]?.cure == "set relay.token-file as the relay has it", "\(without.checks)")
        let with = try await self.doctor(
            folder,
            arguments + ["--set", "relay.token-file=\(token)", "--set", "lines.listen=127.0.0.1:\(lines)"]
        )
        let ports = with.checks.filter { $0.check == "port" }
        #expect(ports.map(\.state) == ["ok", "ok"], "\(with.checks)")
        let words = "127.0.0.1:\(lines) (lines.listen): the tickertape at 127.0.0.1:\(port) listens there"
        #expect(ports.last?.measured == words, "\(with.checks)")
        #expect(with["port"]?.measured.hasSuffix("(demo)") == true, "\(with.checks)")
        relay.send(signal: SIGTERM)
        #expect(await relay.ending() == .exit(0))
    }

    @Test("a key file that cannot be read is a failure, and the other checks go on")
    func unreadableKey() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let reserved = try ReservedPort()
        defer { reserved.giveUp() }
        let found = try await self.doctor(
            folder,
            ["--token-file", folder.path, "--upstream", "ws://127.0.0.1:\(reserved.number)", "--relay", "off"],
            key: nil
        )
        #expect(found.ending == .exit(2) && found["settings"]?.state == "failure", "\(found.checks)")
        #expect(found["settings"]?.measured.contains("is a folder") == true)
        #expect(found["rights"]?.state == "failure" && found["descriptors"] != nil)
        let broken = try await self.doctor(folder, ["--set", "relay.max-clients=many"])
        #expect(broken.ending == .exit(2) && broken.checks.map(\.check) == ["settings"])
    }

    @Test("a pause after a refusal is not broken by --connect")
    func penalty() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let (server, port) = try await self.serve(["--plain", "--fault", "status=429,retry-after=60"])
        let arguments = ["--upstream", "ws://127.0.0.1:\(port)", "--relay", "off", "--connect"]
        let first = try await self.doctor(folder, arguments)
        #expect(
            first["upgrade"]?.state == "failure" && first["upgrade"]?.measured.contains("429") == true,
            "\(first.checks)"
        )
        let second = try await self.doctor(folder, arguments)
        #expect(second["penalties"]?.state == "warning", "\(second.checks)")
        #expect(second["upgrade"]?.measured == "not tried: an attempt now would add to the penalties")
        // Both runs look for the port, and the first one connects.
        #expect(!server.errors.contains("connection 4"), "\(server.errors)")
        server.send(signal: SIGTERM)
        #expect(await server.ending() == .exit(0))
    }

    // MARK: Proxies

    /// Runs doctor with a proxy, and checks that it ends in time.
    private func doctor(_ folder: TemporaryFolder, proxy: String, _ arguments: [String] = []) async throws -> Diagnosis
    {
        let begun = ContinuousClock.now
        let found = try await self.doctor(
            folder,
            ["--relay", "off", "--upstream", "wss://ws.finnhub.io"] + arguments,
            more: ["HTTPS_PROXY": proxy]
        )
        #expect(ContinuousClock.now - begun < .seconds(20) * Patience.factor, "\(found.checks)")
        #expect(!found.checks.contains { "\($0)".contains("hidden") }, "\(found.checks)")
        return found
    }

    @Test("a proxy that opens a tunnel is good, and what is behind it is judged by itself")
    func goodProxy() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let (server, upstream) = try await self.serve([])
        let (proxy, port) = try await ConnectProxy.start(.tunnel(to: upstream))
        defer { proxy.send(signal: SIGKILL) }
        let found = try await self.doctor(folder, proxy: "http://127.0.0.1:\(port)")
        let words = "127.0.0.1:\(port) (HTTPS_PROXY) opens a tunnel to ws.finnhub.io"
        #expect(found["proxy"]?.state == "ok" && found["proxy"]?.measured == words, "\(found.checks)")
        let dns = "the proxy 127.0.0.1 is an address and needs no lookup; the proxy resolves ws.finnhub.io"
        #expect(found["dns"]?.measured == dns, "\(found.checks)")
        #expect(found["tcp-ipv4"]?.measured.hasPrefix("the proxy 127.0.0.1 answers in ") == true, "\(found.checks)")
        #expect(found["tls"]?.state == "failure", "\(found.checks)")
        #expect(found["tls"]?.measured.contains("certificate refused") == true, "\(found.checks)")
        server.send(signal: SIGTERM)
        #expect(await server.ending() == .exit(0))
    }

    @Test(
        "a proxy that opens none is the failure, with the reason",
        arguments: [
            (.login, "asks for a user and password (HTTP 407)"),
            (.silence, "did not connect to ws.finnhub.io port 443 within 4 s: no answer came"),
        ] as [(ConnectProxy, String)]
    )
    func refusingProxy(mode: ConnectProxy, words: String) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let (proxy, port) = try await ConnectProxy.start(mode)
        defer { proxy.send(signal: SIGKILL) }
        let found = try await self.doctor(folder, proxy: "http://127.0.0.1:\(port)", ["--connect"])
        #expect(found.ending == .exit(2) && found["proxy"]?.state == "failure", "\(found.checks)")
        #expect(found["proxy"]?.measured.hasPrefix("the proxy 127.0.0.1:\(port) \(words)") == true, "\(found.checks)")
        let cure = "correct HTTPS_PROXY, or add ws.finnhub.io to NO_PROXY to connect without the proxy"
        #expect(found["proxy"]?.cure == cure, "\(found.checks)")
        #expect(found["tls"]?.measured == "not reached", "\(found.checks)")
        #expect(found["upgrade"]?.measured == "not tried: the steps before it fail", "\(found.checks)")
        #expect(found["clock"]?.state == "warning", "\(found.checks)")
        #expect(found["clock"]?.measured.contains("the proxy 127.0.0.1:\(port) \(words.prefix(7))") == true)
    }

    @Test("a tunnel in which nothing comes is a failure of TLS, not of the proxy")
    func emptyTunnel() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let (proxy, port) = try await ConnectProxy.start(.emptyTunnel)
        defer { proxy.send(signal: SIGKILL) }
        let found = try await self.doctor(folder, proxy: "http://127.0.0.1:\(port)")
        #expect(found["proxy"]?.state == "ok" && found["tls"]?.state == "failure", "\(found.checks)")
    }

    @Test("a proxy that is not there, and one that is not HTTP, are failures that name the variable")
    func missingProxy() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let reserved = try ReservedPort()
        defer { reserved.giveUp() }
        let place = "127.0.0.1:\(reserved.number)"
        let dead = try await self.doctor(folder, proxy: "http://me:hidden@\(place)")
        #expect(dead.ending == .exit(2) && dead["tcp-ipv4"]?.state == "failure", "\(dead.checks)")
        #expect(dead["tcp-ipv4"]?.measured.hasPrefix("the proxy \(place) refuses connections") == true)
        #expect(dead["tcp-ipv4"]?.cure == "does the proxy run, and is HTTPS_PROXY right?", "\(dead.checks)")
        #expect(dead["proxy"]?.measured == "not reached", "\(dead.checks)")
        let foreign = try await self.doctor(folder, proxy: "socks5://me:hidden@\(place)")
        #expect(foreign["proxy"]?.state == "failure", "\(foreign.checks)")
        #expect(foreign["proxy"]?.measured.hasPrefix("HTTPS_PROXY: is a SOCKS proxy") == true, "\(foreign.checks)")
        #expect(foreign["key"]?.state != "failure" && foreign["dns"]?.measured == "not reached", "\(foreign.checks)")
        #expect(foreign["upgrade"]?.measured == "not tried: the settings are wrong", "\(foreign.checks)")
        #expect(foreign["penalties"]?.measured == "not known, since the settings allow no connection")
    }

    // MARK: Other users

    @Test("a live tickertape whose lock is elsewhere is asked, and no connection is made beside it")
    func foreignOwner() async throws {
        let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
        defer {
            folder.remove()
            other.remove()
        }
        let (server, port) = try await self.serve(["--plain"])
        let arguments = ["--upstream", "ws://127.0.0.1:\(port)"]
        let owner = try RunningProgram(
            RunningProgram.tickertape,
            ["run", "--format", "plain", "--relay", "127.0.0.1:0"] + arguments,
            environment: ["FINNHUB_TOKEN": Canary.key, "XDG_STATE_HOME": other.path, "XDG_RUNTIME_DIR": other.path]
        )
        let relay = try #require(await owner.relayPort())
        #expect(await owner.printsError(of: "live"))
        let found = try await self.doctor(folder, arguments + ["--connect", "--relay", "127.0.0.1:\(relay)"])
        let upgrade = try #require(found["upgrade"]?.measured)
        #expect(upgrade.hasPrefix("the tickertape at 127.0.0.1:\(relay) says "), "\(found.checks)")
        #expect(upgrade.hasSuffix(", maybe with another key: `--connect --relay off` tries this one"), "\(upgrade)")
        #expect(found["owner"]?.measured.hasPrefix("no program of this user holds the key") == true)
        #expect(try Self.attempts(folder).isEmpty)
        owner.send(signal: SIGTERM)
        #expect(await owner.ending() == .exit(0))
        server.send(signal: SIGTERM)
        #expect(await server.ending() == .exit(0))
    }

    @Test("folders for lock and state that cannot be used are named, and the key is not called free")
    func unusableFolders() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let reserved = try ReservedPort()
        defer { reserved.giveUp() }
        let file = try folder.write("", to: "file")
        let found = try await self.doctor(
            folder,
            [
                "--upstream", "ws://127.0.0.1:\(reserved.number)", "--relay", "off", "--set",
                "state.runtime-directory=\(file)", "--set", "state.directory=\(file)",
            ]
        )
        #expect(found["owner"]?.state == "warning", "\(found.checks)")
        #expect(found["owner"]?.measured.contains("\(file) is not a folder (state.runtime-directory)") == true)
        #expect(found["penalties"]?.measured.contains("\(file) is not a folder (state.directory)") == true)
        #expect(found["rights"]?.state == "warning", "\(found.checks)")
    }
}
