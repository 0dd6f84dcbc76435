import TLS
import HTTP
import Feeds
import NIOCore
import Testing
@testable import Tickertape

@Suite("How values are written")
struct SyntaxTests {
    @Test(
        "a duration is a number with a unit, exact to the nanosecond",
        arguments: [
            ("100ms", 100_000_000), ("0.5s", 500_000_000), ("2m", 120_000_000_000), ("1h", 3_600_000_000_000),
            ("0", 0), ("0s", 0), ("7ns", 7), ("3us", 3_000), ("1.000000001s", 1_000_000_001),
            ("1_000ms", 1_000_000_000),
        ] as [(String, Int64)]
    )
    func durations(text: String, nanoseconds: Int64) throws {
        let duration = try Syntax<TimeAmount>.duration.read(text)
        #expect(duration.nanoseconds == nanoseconds)
        #expect(try Syntax<TimeAmount>.duration.read(Syntax<TimeAmount>.duration.write(duration)) == duration)
    }

    @Test(
        "an invalid duration is refused",
        arguments: [
            "", "100", "ms", "-1s", "1 s", "1S", "1d", ".5s", "1.s", "1.2.3s", "0.5ns", "1e3s", "99999999999h", "1s ",
            "9223372036854775807s", "99999999999999999999s", "٣s", "1,5s", "_1s", "1_s", "0x1s", "inf", "1.1_1s",
        ]
    )
    func notDurations(text: String) {
        #expect(throws: ParseError.self) { try Syntax<TimeAmount>.duration.read(text) }
    }

    @Test(
        "a size is a number of bytes with or without a unit",
        arguments: [
            ("1MiB", 1 << 20), ("64KiB", 65_536), ("1kB", 1_000), ("512", 512), ("512B", 512), ("1.5KiB", 1_536),
        ]
    )
    func sizes(text: String, bytes: Int) throws {
        #expect(try Syntax<Int>.size.read(text) == bytes)
        #expect(try Syntax<Int>.size.read(Syntax<Int>.size.write(bytes)) == bytes)
    }

    @Test("an invalid size is refused", arguments: ["", "MiB", "-1", "1mib", "1 MiB", "0.0001KiB", "9999999999GiB"])
    func notSizes(text: String) {
        #expect(throws: ParseError.self) { try Syntax<Int>.size.read(text) }
    }

    @Test(
        "a text like a key is not repeated, and the rest of a message is",
        arguments: [
            ("Unexpected argument 'KEY'", "Unexpected argument 'WITHHELD'"), ("--KEY: no", "--WITHHELD: no"),
            ("KEY", "WITHHELD"), ("--set KEY=1, KEYKEY", "--set WITHHELD=1, WITHHELD"),
            ("cannot read KEY.jsonl", "cannot read WITHHELD.jsonl"), ("wss://h/?x=KEY", "wss://h/?x=WITHHELD"),
            // A file name after a slash stays; numbers, long words and short ones are not keys.
            ("cannot read /nix/store/KEY/file", "cannot read /nix/store/KEY/file"), ("./KEY KEY", "./KEY WITHHELD"),
            ("12345678901234567890", "12345678901234567890"),
            ("abcdefghijklmnopqrstuvwxyz", "abcdefghijklmnopqrstuvwxyz"),
            ("a1a1a1a1a1a1a1a1a1a", "a1a1a1a1a1a1a1a1a1a"), ("", ""), ("é1\r\n", "é1\r\n"),
        ]
    )
    func likeKeys(text: String, safe: String) {
        let key = "c0a1b2c3d4e5f6g7h8i9"
        let safe = safe.replacing("KEY", with: key).replacing("WITHHELD", with: KeyLikeness.placeholder)
        #expect(KeyLikeness.withheld(text.replacing("KEY", with: key)) == safe)
    }

    @Test("a key is no symbol, and is not repeated")
    func keyAsSymbol() throws {
        let error = #expect(throws: ParseError.self) { try Syntax<String>.symbol.read("c0a1b2c3d4e5f6g7h8i9") }
        #expect(error?.echoes == false)
        for symbol in ["BINANCE:BTCUSDT", "DERIBIT:BTC-28JUN24-60000-C", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "1INCHUSDT"] {
            #expect(try Syntax<String>.symbol.read(symbol) == symbol)
        }
    }

    @Test("a value outside its range is refused with the range")
    func range() {
        let error = #expect(throws: ParseError.self) { try Syntax<Int>.count.within(1...10).read("11") }
        #expect(error?.reason == "is out of range; it may be 1 to 10")
    }

    @Test(
        "an endpoint is HOST:PORT, with an IPv6 address in brackets",
        arguments: [
            ("127.0.0.1:8080", "127.0.0.1", 8080), ("[::1]:0", "::1", 0), ("localhost:65535", "localhost", 65_535),
        ]
    )
    func endpoints(text: String, host: String, port: Int) {
        let endpoint = Endpoint(text)
        #expect(endpoint == Endpoint(host: host, port: port))
        #expect(endpoint?.description == text)
    }

    @Test(
        "an invalid endpoint is refused",
        arguments: [
            "", ":", "8080", "localhost", "localhost:", "localhost:65536", "localhost:+1", "::1:80", "[::1]", "[::1]80",
            "[::1", "[]:1", "[localhost]:1", "a b:1", "a:1:2", "a/b:1", "user@host:1", "localhost: 1", "é:1",
        ]
    )
    func notEndpoints(text: String) {
        #expect(Endpoint(text) == nil)
    }

    @Test("an address to listen on has a host and a port, and all addresses are reached by the loopback one")
    func listen() throws {
        #expect(try Syntax<Endpoint>.endpoint.read("[::1]:9").isLoopback)
        let all = try Syntax<Endpoint>.endpoint.read("0.0.0.0:8080")
        #expect(!all.isLoopback && all.fromHere == Endpoint(host: "127.0.0.1", port: 8080))
        #expect(Endpoint(host: "::", port: 1).fromHere == Endpoint(host: "::1", port: 1))
        #expect(Endpoint(host: "192.0.2.7", port: 1).fromHere == Endpoint(host: "192.0.2.7", port: 1))
        #expect(throws: ParseError.self) { try Syntax<Endpoint>.endpoint.read("8080") }
    }

    @Test("a name of this machine is a host without a port")
    func hostNames() throws {
        #expect(try Syntax<String>.hostName.read("Ticker.LAN") == "ticker.lan")
        #expect(try Syntax<String>.hostName.read("[2001:DB8::7]") == "2001:db8::7")
        #expect(Syntax<String>.hostName.write("2001:db8::7") == "[2001:db8::7]")
        for text in ["", "ticker.lan:80", "http://ticker.lan", "a b", "2001:db8::7"] {
            #expect(throws: ParseError.self, "\(text)") { try Syntax<String>.hostName.read(text) }
        }
    }

    @Test(
        "a stream's address has a scheme, a host, a port and a path",
        arguments: [
            ("wss://ws.finnhub.io", true, "ws.finnhub.io", 443, "/"),
            ("WSS://h:8443/a/b?x=1", true, "h", 8443, "/a/b?x=1"),
            ("ws://127.0.0.1:8080/v1/stream", false, "127.0.0.1", 8080, "/v1/stream"),
            ("ws://[::1]:8080", false, "::1", 8080, "/"),
            ("wss://h?x", true, "h", 443, "/?x"),
        ]
    )
    func addresses(text: String, isEncrypted: Bool, host: String, port: Int, path: String) throws {
        let url = try UpstreamAddress(text)
        #expect(url.isEncrypted == isEncrypted)
        #expect(url.host == host)
        #expect(url.port == port)
        #expect(url.path == path)
        #expect(try UpstreamAddress(url.description) == url)
    }

    @Test("unencrypted traffic goes to this machine only, and the refusal has the reason")
    func unencrypted() {
        for text in ["ws://ws.finnhub.io", "ws://10.0.0.1:80/", "ws://127.0.0.1.evil.example/", "ws://0.0.0.0"] {
            let error = #expect(throws: ParseError.self) { try UpstreamAddress(text) }
            #expect(error?.reason.contains("not encrypted") == true, "\(text)")
        }
    }

    @Test("a key in the address is refused without repeating it")
    func keyInAddress() {
        for text in ["wss://ws.finnhub.io/?token=abc", "wss://ws.finnhub.io?TOKEN=abc", "wss://user:abc@ws.finnhub.io"]
        {
            let error = #expect(throws: ParseError.self) { try UpstreamAddress(text) }
            #expect(error?.echoes == false)
            #expect(error?.reason.contains("abc") == false)
        }
    }

    @Test(
        "an invalid stream address is refused",
        arguments: [
            "", "finnhub.io", "http://finnhub.io", "wss://", "wss:///path", "wss://h:0", "wss://h:65536", "wss://h:",
            "wss://h#f", "wss://h/ x", "wss://h/\n", "wss://é", "wss://[::1", "ftp://h", "wss://h h", "://h",
        ]
    )
    func notAddresses(text: String) {
        #expect(throws: ParseError.self) { try UpstreamAddress(text) }
    }

    @Test("no way of printing shows a secret")
    func secret() {
        let secret = Secret("c0ffee")
        var dumped = ""
        dump(["key": Optional(secret)], to: &dumped)
        var settings = Settings()
        settings.token = secret
        dump(settings, to: &dumped)
        for text in [
            "\(secret)", String(describing: secret), String(reflecting: secret), String(reflecting: [secret]), dumped,
            "\(settings)", String(reflecting: settings),
            String(describing: Mirror(reflecting: secret).children.map(\.value)),
        ] {
            #expect(!text.contains("c0ffee"))
        }
        #expect(secret.reveal() == "c0ffee")
    }
}
