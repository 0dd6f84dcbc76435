import Glibc
import Testing
import TickertapeTesting

/// The commands that query Finnhub's REST service, against the program's mock server.
@Suite("Symbols and headlines", .serialized, .timeLimit(.minutes(5 * Patience.factor)))
struct SymbolsProgramTests {
    private static let demo = "\(RunningProgram.sources)/Sources/Tickertape/Resources/demo.jsonl"

    private func run(
        _ arguments: [String],
        _ folder: TemporaryFolder,
        key: String? = Canary.key
    ) async throws -> (RunningProgram, RunningProgram.Ending?) {
        var environment = ["XDG_CACHE_HOME": folder.path]
        if let key { environment["FINNHUB_TOKEN"] = key }
        let program = try RunningProgram(RunningProgram.tickertape, arguments, environment: environment)
        let ending = await program.ending()
        #expect(!Canary.occurs(in: program.output + program.errors))
        return (program, ending)
    }

    @Test(
        "finds symbols by name over TLS, caches the list for a day, and reports its use when the service is gone"
    )
    func service() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let server = try RunningProgram(
            RunningProgram.tickertape,
            ["serve", Self.demo, "--listen", "127.0.0.1:0", "--ca-out", "\(folder.path)/ca.pem"]
        )
        #expect(await server.printsError(of: "the authority to trust is in"))
        let port = try #require(RunningProgram.number(in: server.errors, behind: "wss://127.0.0.1:"))
        let place = ["--set", "service.url=https://127.0.0.1:\(port)/api/v1", "--ca-file", "\(folder.path)/ca.pem"]
        let (found, ending) = try await self.run(["symbols", "bitcoin"] + place, folder)
        #expect(ending == .exit(0), "\(found.errors)")
        #expect(found.output == "BINANCE:BTCUSDT  BTC/USDT  Binance BTCUSDT\n")
        let (json, _) = try await self.run(["symbols", "--format", "json", "--limit", "1"] + place, folder)
        #expect(
            json.output == #"{"symbol":"BINANCE:BTCUSDT","displaySymbol":"BTC/USDT","description":"Binance BTCUSDT"}"#
                + "\n"
        )
        #expect(json.errors.contains("these are the first 1; --limit prints more"), "\(json.errors)")
        let (both, _) = try await self.run(["symbols", "--limit", "2"] + place, folder)
        #expect(both.output.split(separator: "\n").count == 2 && !both.errors.contains("--limit"), "\(both.errors)")
        let (none, missing) = try await self.run(["symbols", "zzz"] + place, folder)
        #expect(missing == .exit(1) && none.output == "")
        #expect(none.errors.contains("nothing among 2 symbols fits \"zzz\""), "\(none.errors)")
        let (news, newsEnding) = try await self.run(["news"] + place, folder)
        #expect(newsEnding == .exit(1) && news.errors.contains("no headlines"), "\(news.errors)")
        let (stranger, refused) = try await self.run(
            ["news", "--set", "service.url=https://127.0.0.1:\(port)/api/v1"],
            folder
        )
        #expect(refused == .exit(1) && stranger.errors.contains("--ca-file"), "\(stranger.errors)")
        server.send(signal: SIGTERM)
        #expect(await server.ending() == .exit(0))
        // The list is cached, so there is no request.
        let (kept, keptEnding) = try await self.run(["symbols", "eth"] + place, folder)
        #expect(keptEnding == .exit(0) && kept.output.hasPrefix("BINANCE:ETHUSDT "), "\(kept.errors)")
        let (gone, goneEnding) = try await self.run(["symbols", "eth", "--exchange", "KRAKEN"] + place, folder)
        #expect(goneEnding == .exit(1) && gone.errors.contains("refuses connections"), "\(gone.errors)")
    }

    @Test("a wrong key ends with 77, and a wrong address names the setting")
    func refusals() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let server = try RunningProgram(
            RunningProgram.tickertape,
            ["serve", Self.demo, "--plain", "--listen", "127.0.0.1:0", "--fault", "status=401"]
        )
        let port = try #require(await server.errorText(numberBehind: "as Finnhub on ws://127.0.0.1:"))
        let url = "service.url=http://127.0.0.1:\(port)/api/v1"
        for command in ["symbols", "news"] {
            let (program, ending) = try await self.run([command, "--set", url], folder)
            #expect(ending == .exit(77) && program.errors.contains("FINNHUB_TOKEN"), "\(program.errors)")
        }
        for bad in ["http://finnhub.io/api/v1", "finnhub.io", "https://finnhub.io/?token=abc", "wss://finnhub.io"] {
            let (program, ending) = try await self.run(["news", "--set", "service.url=\(bad)"], folder)
            #expect(ending == .exit(64) && program.errors.contains("service.url"), "\(bad): \(program.errors)")
        }
        server.send(signal: SIGTERM)
        #expect(await server.ending() == .exit(0))
    }

    @Test("without a key the bundled recording is searched, or the one that is named, with a word")
    func recording() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let (bundled, ending) = try await self.run(["symbols", "Ethereum"], folder, key: nil)
        #expect(ending == .exit(0), "\(bundled.errors)")
        #expect(bundled.output.hasPrefix("BINANCE:ETHUSDT  ETH/USDT"))
        #expect(
            bundled.errors.contains("these are the symbols of the bundled recording; the list of all symbols needs")
        )
        let (named, _) = try await self.run(["symbols", "--recording", Self.demo, "--format", "csv"], folder, key: nil)
        #expect(
            named.output.hasPrefix("symbol,displaySymbol,description\r\nBINANCE:BTCUSDT,BTC/USDT,"),
            "\(named.output)"
        )
        let (news, newsEnding) = try await self.run(["news"], folder, key: nil)
        #expect(
            newsEnding == .exit(1) && news.errors.contains("no key is set: put Finnhub's API key into FINNHUB_TOKEN")
        )
        #expect(news.output == "")
    }
}
