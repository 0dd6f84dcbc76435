import Glibc
import Testing
import TickertapeTesting

/// `/v1/news` and `/v1/symbols` of the built program, with a service behind it.
@Suite("News and symbols of the program's relay", .serialized, .timeLimit(.minutes(5 * Patience.factor)))
struct DirectoryProgramTests {
    /// Starts a program with a key that follows a silent market, and asks this service.
    private func program(
        _ market: ScriptedFinnhub,
        service: String,
        _ folder: TemporaryFolder
    ) throws -> RunningProgram {
        try RunningProgram(
            RunningProgram.tickertape,
            [
                "run", "--quiet", "--upstream", "ws://127.0.0.1:\(market.port)", "--relay", "127.0.0.1:0", "--symbol",
                "BINANCE:BTCUSDT", "--set", "service.url=\(service)",
            ],
            environment: ["FINNHUB_TOKEN": Canary.key, "XDG_CACHE_HOME": folder.path]
        )
    }

    /// Returns the status and the body of an answer.
    private func ask(_ path: String, port: Int) async throws -> (status: String, body: String) {
        let curl = try RunningProgram(
            "/usr/bin/env",
            ["curl", "-s", "-w", "%{http_code}", "http://127.0.0.1:\(port)\(path)"]
        )
        #expect(await curl.ending() == .exit(0), "\(path)")
        let lines = curl.output.split(separator: "\n").map(String.init)
        #expect(!Canary.occurs(in: curl.output))
        return (lines.last ?? "", lines.first ?? "")
    }

    @Test("are found by publisher and by text, and the service is asked once for all clients")
    func found() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let service = try await FileService(in: folder, FileService.samples)
        let market = try await ScriptedFinnhub.start { _ in .play([]) }
        let program = try self.program(market, service: service.url, folder)
        let port = try #require(await program.relayPort(), "\(program.errors)")
        let all = try await self.ask("/v1/news", port: port)
        #expect(all.status == "200")
        #expect(all.body.contains(#""matches":3,"publishers":["CNBC","Reuters"],"headlines":[{"id":3,"#), "\(all)")
        #expect(all.body.contains(#""headline":"Ether falls","publisher":"CNBC","summary":"","url":null}"#), "\(all)")
        let one = try await self.ask("/v1/news?publisher=reuters&text=funds%20BITCOIN", port: port)
        #expect(
            one.body.hasSuffix(
                #""matches":1,"publishers":["CNBC","Reuters"],"headlines":[{"id":1,"time":1700000000000,"#
                    + #""headline":"Bitcoin rises","publisher":"Reuters","summary":"Funds buy","#
                    + #""url":"https://a.example/1"}]}"#
            ),
            "\(one)"
        )
        let usual = try await self.ask("/v1/symbols?text=btc", port: port)
        #expect(usual.body.hasPrefix(#"{"publisher":"BINANCE","fetched":"#), "\(usual)")
        #expect(
            usual.body.hasSuffix(
                #""note":null,"matches":1,"publishers":["BINANCE","KRAKEN"],"symbols":[{"symbol":"BINANCE:BTCUSDT","#
                    + #""displaySymbol":"BTC/USDT","description":"Bitcoin"}]}"#
            ),
            "\(usual)"
        )
        let other = try await self.ask("/v1/symbols?publisher=Kraken&limit=1", port: port)
        #expect(other.body.contains(#""matches":2,"#) && other.body.contains("KRAKEN:BTCUSDT"), "\(other)")
        let unknown = try await self.ask("/v1/symbols?publisher=NOWHERE", port: port)
        #expect(unknown.status == "404")
        #expect(
            unknown.body
                == #"{"type":"no-such-publisher","message":"the service lists no symbols for the exchange NOWHERE","#
                + #""cure":"choose one of BINANCE, KRAKEN"}"#,
            "\(unknown)"
        )
        #expect(service.requests(of: "/news?") == 1 && service.requests(of: "/crypto/exchange") == 1)
        #expect(service.requests(of: "/crypto/symbol?") == 2, "\(service.program.errors)")
        // The command finds the same, and uses the kept list of symbols.
        for (arguments, expected) in [
            (["news", "funds", "--publisher", "REUTERS", "--format", "csv"], "<b>Funds</b> wait,http://a.example/3"),
            (["symbols", "btc", "--exchange", "kraken"], "KRAKEN:BTCUSDT"),
        ] {
            let command = try RunningProgram(
                RunningProgram.tickertape,
                arguments + ["--set", "service.url=\(service.url)"],
                environment: ["FINNHUB_TOKEN": Canary.key, "XDG_CACHE_HOME": folder.path]
            )
            #expect(await command.ending() == .exit(0) && command.output.contains(expected), "\(command.errors)")
        }
        #expect(service.requests(of: "/crypto/symbol?") == 2)
        for each in [program, service.program] { each.send(signal: SIGTERM) }
        #expect(await program.ending() == .exit(0))
        #expect(!Canary.occurs(in: program.output + program.errors))
        try await market.stop()
    }

    @Test(
        "a failure of the service has its type and what to do",
        arguments: [
            ("status=401", "503", "key-rejected", "check FINNHUB_TOKEN"),
            ("status=403", "403", "not-permitted", "finnhub.io/pricing"),
            ("status=429,retry-after=3600", "503", "rate-limited", "wait until "),
            ("status=404", "502", "unreadable-answer", "check service.url"),
            ("", "502", "unreachable", "refuses connections"),
        ]
    )
    func failures(_ fault: String, _ status: String, _ type: String, _ words: String) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let demo = "\(RunningProgram.sources)/Sources/Tickertape/Resources/demo.jsonl"
        var url = "http://127.0.0.1:9/api/v1"
        var server: RunningProgram?
        if !fault.isEmpty {
            let started = try RunningProgram(
                RunningProgram.tickertape,
                ["serve", demo, "--plain", "--listen", "127.0.0.1:0", "--fault", fault]
            )
            let port = try #require(await started.errorText(numberBehind: "as Finnhub on ws://127.0.0.1:"))
            url = "http://127.0.0.1:\(port)/api/v1"
            server = started
        }
        let market = try await ScriptedFinnhub.start { _ in .play([]) }
        let program = try self.program(market, service: url, folder)
        let port = try #require(await program.relayPort(), "\(program.errors)")
        for path in ["/v1/news", "/v1/symbols"] {
            let answer = try await self.ask(path, port: port)
            #expect(answer.status == status, "\(answer)")
            #expect(answer.body.hasPrefix(#"{"type":"\#(type)","message":""#), "\(answer)")
            #expect(answer.body.contains(words), "\(answer)")
            #expect(answer.body.contains(#","retryAt":"#) == (type == "rate-limited"), "\(answer)")
        }
        for each in [program, server].compactMap(\.self) { each.send(signal: SIGTERM) }
        #expect(await program.ending() == .exit(0))
        try await market.stop()
    }

    @Test("without a key there are no news, and the symbols are those of the recording that is played")
    func keyless() async throws {
        let program = try RunningProgram(
            RunningProgram.tickertape,
            ["--demo", "--quiet", "--relay", "127.0.0.1:0"]
        )
        let port = try #require(await program.relayPort(), "\(program.errors)")
        let news = try await self.ask("/v1/news", port: port)
        #expect(news.status == "503")
        #expect(news.body.hasPrefix(#"{"type":"no-key","message":"no key is set","cure":"put Finnhub's API key"#))
        let symbols = try await self.ask("/v1/symbols?text=bitcoin", port: port)
        #expect(symbols.status == "200" && symbols.body.contains(#""symbol":"BINANCE:BTCUSDT""#), "\(symbols)")
        #expect(
            symbols.body.contains(#""note":"these are the symbols of the recording; the list of all"#),
            "\(symbols)"
        )
        program.send(signal: SIGTERM)
        #expect(await program.ending() == .exit(0))
    }
}
