import TLS
import Glibc
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Testing
import TickertapeTesting
import Wire
@testable import Feeds

@Suite("The list of symbols", .timeLimit(.minutes(2 * Patience.factor)))
struct SymbolCatalogueTests {
    private static let hour: Int64 = 3_600_000_000_000
    private static let list =
        #"[{"description":"Binance BTCUSDT","displaySymbol":"BTC/USDT","symbol":"BINANCE:BTCUSDT"}]"#

    /// A service, a folder and a clock, which several catalogues share like successive runs of a program.
    private final class Bench: Sendable {
        let folder: TemporaryFolder
        let server: RawServer
        private let clock = NIOLockedValueBox<Int64>(1_704_067_200_000_000_000)
        private let body = NIOLockedValueBox((status: "200 OK", text: SymbolCatalogueTests.list))

        init() async throws {
            self.folder = try TemporaryFolder()
            let body = self.body
            self.server = try await RawServer.start { head in
                let (status, text) = body.withLockedValue { $0 }
                let exchanges = #"["BINANCE","KRAKEN"]"#
                let answer = head.contains("/crypto/exchange") ? exchanges : text
                return .sendAndClose("HTTP/1.1 \(status)\r\nContent-Length: \(answer.utf8.count)\r\n\r\n\(answer)")
            }
        }

        var asked: Int { self.server.heads.count }

        func answers(_ status: String, _ text: String) { self.body.withLockedValue { $0 = (status, text) } }

        func passes(_ time: Int64) { self.clock.withLockedValue { $0 += time } }

        func catalogue() throws -> SymbolCatalogue {
            let address = UpstreamAddress(isEncrypted: false, host: "127.0.0.1", port: self.server.port, path: "/v1")
            let clock = self.clock
            let client = try ServiceClient(
                ServiceSettings(address: address, key: Secret(Canary.key)),
                on: MultiThreadedEventLoopGroup.singleton
            ) { clock.withLockedValue { $0 } }
            let file = SymbolListFile(directory: "\(self.folder.path)/cache", exchange: "BINANCE", service: address)
            let now: @Sendable () -> Int64 = { clock.withLockedValue { $0 } }
            let calls = ServiceCalls(client, wallClock: now)
            let exchanges = KeptAnswer<[String]>(wallClock: now) { now, _ in
                await ServiceDirectory.exchanges(calls, now)
            }
            return SymbolCatalogue(
                .service(calls, exchange: "BINANCE", exchanges: exchanges, file: file),
                wallClock: now
            )
        }

        /// The names and contents of the kept files.
        func kept() throws -> [(path: String, text: String)] {
            var files: [(String, String)] = []
            guard let folder = opendir("\(self.folder.path)/cache") else { return [] }
            defer { closedir(folder) }
            while let entry = readdir(folder) {
                let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                    String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
                }
                if name.hasPrefix(".") { continue }
                files.append(("\(self.folder.path)/cache/\(name)", try self.folder.read("cache/\(name)")))
            }
            return files
        }

        func end() async throws {
            try await self.server.stop()
            self.folder.remove()
        }
    }

    @Test("is requested once a day, whatever the number of searches and starts")
    func daily() async throws {
        let bench = try await Bench()
        let first = try bench.catalogue()
        // All at once, as when a person types.
        async let one = first.search("bitcoin")
        async let other = first.search("btc")
        #expect(try await one.get().symbols.map(\.symbol) == ["BINANCE:BTCUSDT"])
        #expect(try await other.get().note == nil)
        #expect(bench.asked == 1)
        bench.passes(23 * Self.hour)
        #expect(try await bench.catalogue().search("btc").get().symbols.count == 1)
        #expect(bench.asked == 1)
        bench.passes(2 * Self.hour)
        bench.answers("200 OK", Self.list.replacing("BTC", with: "ETH"))
        #expect(try await bench.catalogue().search("eth").get().symbols.count == 1)
        #expect(try await first.search("eth").get().symbols.count == 1)
        #expect(bench.asked == 2)
        #expect(try bench.kept().count == 1)
        for file in try bench.kept() { #expect(!Canary.occurs(in: file.text)) }
        try await bench.end()
    }

    @Test("a search without a match says so, with the number of symbols")
    func nothing() async throws {
        let bench = try await Bench()
        let found = try await bench.catalogue().search("zzz").get()
        #expect(found.symbols.isEmpty && found.note == "nothing among 1 symbols fits \"zzz\"")
        try await bench.end()
    }

    @Test("when the service is down an old list is used with a note, and without one the failure is reported")
    func down() async throws {
        let bench = try await Bench()
        bench.answers("503 No", "")
        let first = try bench.catalogue()
        guard case .failure(let failure) = await first.search("btc") else { throw ChannelError.eof }
        #expect(failure.kind == .unreachable)
        // Further typing causes no further requests.
        _ = await first.search("btcu")
        #expect(bench.asked == 1)
        bench.passes(20_000_000_000)
        bench.answers("200 OK", Self.list)
        #expect(try await first.search("btc").get().note == nil)
        bench.passes(50 * Self.hour)
        bench.answers("503 No", "")
        let late = try await bench.catalogue().search("btc").get()
        #expect(late.symbols.count == 1)
        #expect(late.note == "the list is 2 days old: the service is down (HTTP 503): try again later")
        try await bench.end()
    }

    @Test(
        "a list on disk that is damaged, truncated, of another kind, from the future or a link is requested again",
        arguments: ["flip", "cut", "empty", "garbage", "binary", "future", "link", "folder", "huge"]
    )
    func abuse(_ how: String) async throws {
        let bench = try await Bench()
        _ = try await bench.catalogue().search("btc").get()
        let file = try #require(try bench.kept().first)
        let name = String(file.path.split(separator: "/").last ?? "")
        func replace(_ text: String) throws { _ = try bench.folder.write(text, to: "cache/\(name)") }
        switch how {
        case "flip": try replace(file.text.replacing("BTC/USDT", with: "BTC/USDX"))
        case "cut": try replace(String(file.text.dropLast(5)))
        case "empty": try replace("")
        case "garbage": try replace("tickertape symbols 1 x y\n[]")
        case "binary":
            let descriptor = open(file.path, O_WRONLY | O_TRUNC)
            _ = write(descriptor, [0xff, 0xfe, 0x0a, 0x80] as [UInt8], 4)
            close(descriptor)
        case "future": bench.passes(-100 * Self.hour)
        case "link":
            unlink(file.path)
            symlink(try bench.folder.write(file.text, to: "elsewhere"), file.path)
        case "folder":
            unlink(file.path)
            mkdir(file.path, 0o700)
        default: truncate(file.path, 1 << 30)
        }
        let found = try await bench.catalogue().search("btc").get()
        #expect(found.symbols.map(\.displaySymbol) == ["BTC/USDT"])
        #expect(bench.asked == 2)
        // A folder in the place of the file is no failure. It is reported, since then each start asks the service.
        #expect(found.note == nil)
        #expect((found.diskProblem != nil) == (how == "folder"), "\(found.diskProblem ?? "")")
        try await bench.end()
    }

    @Test("a folder that others can write to is not used, and a note says so")
    func folder() async throws {
        let bench = try await Bench()
        mkdir("\(bench.folder.path)/cache", 0o777)
        chmod("\(bench.folder.path)/cache", 0o777)
        let found = try await bench.catalogue().search("btc").get()
        #expect(found.symbols.count == 1)
        #expect(found.diskProblem?.contains("others can write to") == true)
        // Clients of the relay get no names of folders.
        #expect(found.note == nil && found.remark == found.diskProblem)
        #expect(try bench.kept().isEmpty)
        try await bench.end()
    }

    @Test("an exchange that the service does not know is reported with those that it knows")
    func exchanges() async throws {
        let bench = try await Bench()
        bench.answers("200 OK", "[]")
        guard case .failure(let failure) = try await bench.catalogue().search("btc") else { throw ChannelError.eof }
        #expect(
            failure.description
                == "the service lists no symbols for the exchange BINANCE: choose one of BINANCE, KRAKEN"
        )
        bench.answers("200 OK", "<html><title>Log in</title>")
        bench.passes(Self.hour)
        guard case .failure(let page) = try await bench.catalogue().search("btc") else { throw ChannelError.eof }
        #expect(
            page.description.hasPrefix(
                "the answer is not a list of symbols but a page of HTML, \"Log in\": is service.url right"
            )
        )
        #expect(try bench.kept().isEmpty)
        try await bench.end()
    }

    @Test("without a key the symbols of a recording are searched, and a note says so")
    func recording() async throws {
        let catalogue = SymbolCatalogue(.recording(symbols: ["BINANCE:BTCUSDT", "X:Y"], name: "the recording r.jsonl"))
        { 0 }
        let found = try await catalogue.search("bitcoin").get()
        #expect(found.symbols.map(\.symbol) == ["BINANCE:BTCUSDT"])
        #expect(found.note?.hasPrefix("these are the symbols of the recording r.jsonl;") == true)
        let nothing = try await catalogue.search("solana").get()
        #expect(nothing.note?.hasPrefix("nothing among 2 symbols fits \"solana\"; these are") == true)
    }
}
