import TLS
import Feeds
import Testing
@testable import Tickertape

@Suite("The proxy")
struct ProxyTests {
    private let folder = ScratchFolder()

    private func load(
        _ yaml: String = "",
        environment: [String: String] = [:],
        flag: String? = nil,
        mode: UInt32 = 0o600
    ) throws -> LoadedSettings {
        var flags = GivenFlags()
        flags.configFile = self.folder.file("config.yaml", yaml, mode: mode)
        if let flag { flags.add(.upstreamProxy, [flag], flag: "--set upstream.proxy") }
        return try Settings.load(flags: flags, environment: environment)
    }

    /// Returns `HOST:PORT` of the proxy to Finnhub, or to another address.
    private func proxy(
        _ environment: [String: String],
        yaml: String = "",
        to url: String = "wss://ws.finnhub.io"
    ) throws -> String? {
        let settings = try self.load(yaml, environment: environment).settings
        return try settings.dial(to: UpstreamAddress(url)).proxy.map { "\($0)" }
    }

    private func failure(_ body: () throws -> Any?) -> OperatorError {
        do {
            return OperatorError("nothing was thrown: \(String(describing: try body()))", status: .success)
        } catch {
            return error as? OperatorError ?? OperatorError("\(error)", status: .failure)
        }
    }

    @Test("is that of the environment, small letters first, the one for https before the one for all")
    func variables() throws {
        #expect(try self.proxy([:]) == nil)
        #expect(try self.proxy(["HTTPS_PROXY": "http://a:1"]) == "a:1")
        #expect(try self.proxy(["HTTPS_PROXY": "http://a:1", "https_proxy": "http://b:2"]) == "b:2")
        #expect(try self.proxy(["ALL_PROXY": "c:3", "HTTPS_PROXY": "http://a:1"]) == "a:1")
        #expect(try self.proxy(["ALL_PROXY": "c:3"]) == "c:3")
        #expect(try self.proxy(["all_proxy": " c:3 ", "ALL_PROXY": "d:4", "https_proxy": " "]) == "c:3")
        #expect(try self.proxy(["HTTP_PROXY": "http://a:1", "http_proxy": "http://a:1"]) == nil)
    }

    @Test("is never taken to this machine, nor without TLS")
    func loopback() throws {
        let environment = ["HTTPS_PROXY": "http://a:1", "HTTP_PROXY": "http://a:1", "ALL_PROXY": "http://a:1"]
        for url in [
            "wss://localhost", "wss://127.0.0.1:8443", "wss://127.9.9.9", "wss://[::1]:8443", "ws://127.0.0.1:1",
            "ws://localhost:1",
        ] {
            #expect(try self.proxy(environment, to: url) == nil, "\(url)")
            #expect(try self.proxy([:], yaml: "upstream.proxy: http://a:1", to: url) == nil, "\(url)")
        }
    }

    @Test("follows the setting, and ignores the environment")
    func setting() throws {
        let environment = ["HTTPS_PROXY": "http://a:1", "NO_PROXY": "*"]
        #expect(try self.proxy(environment, yaml: "upstream.proxy: auto") == nil)
        #expect(try self.proxy(["HTTPS_PROXY": "http://a:1"], yaml: "upstream.proxy: none") == nil)
        #expect(try self.proxy(["HTTPS_PROXY": "socks5://a:1"], yaml: "upstream.proxy: none") == nil)
        #expect(try self.proxy(environment, yaml: "upstream.proxy: http://b:2") == "b:2")
        #expect(
            try self.proxy(["TICKERTAPE_UPSTREAM_PROXY": "c:3", "HTTPS_PROXY": "a:1"], yaml: "upstream.proxy: b:2")
                == "c:3"
        )
    }

    @Test("an address has a host, and may have a scheme, a port and a login")
    func addresses() throws {
        for (text, host, port) in [
            ("http://proxy.test:3128", "proxy.test", 3_128), ("HTTP://proxy.test/", "proxy.test", 80),
            ("proxy.test", "proxy.test", 80), ("proxy:3128", "proxy", 3_128), ("http://[::1]:8", "::1", 8),
            ("http://10.0.0.1", "10.0.0.1", 80), ("http://@proxy:1", "proxy", 1),
        ] {
            let proxy = try ProxyURL(text)
            #expect(proxy.host == host && proxy.port == port && proxy.login == nil, "\(text)")
        }
        for (text, user, password) in [
            ("http://me:secret@proxy:1", "me", "secret"), ("http://me@proxy:1", "me", ""),
            ("me:p%40ss%3Aw%C3%B6rd@proxy:1", "me", "p@ss:wörd"), ("http://me:p@ss@proxy:1", "me", "p@ss"),
            ("http://:only@proxy", "", "only"), ("http://me:a:b@proxy", "me", "a:b"),
        ] {
            let login = try #require(try ProxyURL(text).login)
            #expect(login.user.reveal() == user && login.password.reveal() == password, "\(text)")
        }
    }

    @Test(
        "an unusable proxy is refused with the reason, and never repeated",
        arguments: [
            ("socks5://s3cr3t@a:1", "SOCKS"), ("socks5h://a", "SOCKS"), ("https://s3cr3t:x@a:1", "TLS itself"),
            ("ftp://s3cr3t@a", "not a proxy's address"), ("http://", "no valid host"), ("http://a:0", "no valid port"),
            ("http://a:66000", "no valid port"), ("http://a:b:s3cr3t", "no valid port"),
            ("http://s3 cr3t@a", "characters"),
            ("http://a/s3cr3t", "after its port"), ("http://a?s3cr3t", "after its port"),
            ("http://s3cr3t%@a", "%XX"), ("http://s3cr3t%4g@a", "%XX"), ("http://s3cr3t%0d%0aX@a", "%XX"),
            ("http://s3cr3t%3a@a", "%XX"), ("http://s3cr3t%ff@a", "%XX"), ("http://s3cr3t%+1@a", "%XX"),
            ("http://[::1", "no valid host"), ("s3cr3t@", "no valid host"),
            ("http://s3cr3t" + String(repeating: "x", count: 3_000), "characters"),
        ]
    )
    func refused(text: String, words: String) {
        let inEnvironment = self.failure { try self.proxy(["HTTPS_PROXY": text]) }
        #expect(inEnvironment.status == .configuration)
        #expect(inEnvironment.message.hasPrefix("HTTPS_PROXY: "))
        let inFile = self.failure { try self.load("upstream:\n  proxy: '\(text)'") }
        #expect(inFile.status == .configuration)
        #expect(inFile.message.hasPrefix("upstream.proxy (from "))
        for error in [inEnvironment, inFile] {
            #expect(error.message.contains(words), "\(error)")
            #expect(!error.message.contains("s3cr3t"))
        }
    }

    @Test("a variable that is not needed is not judged")
    func notNeeded() throws {
        #expect(try self.proxy(["HTTPS_PROXY": "socks5://a:1", "NO_PROXY": "finnhub.io"]) == nil)
        #expect(try self.proxy(["HTTPS_PROXY": "socks5://a:1"], to: "ws://127.0.0.1:1") == nil)
    }

    static let lists: [(list: String, host: String, isCovered: Bool)] = [
        ("*", "anything.test", true), ("*", "10.0.0.1", true), ("", "a.test", false), (",, ,", "a.test", false),
        ("a.test", "a.test", true), ("a.test", "A.TEST.", true), ("A.test.", "x.a.test", true),
        ("a.test", "xa.test", false), ("a.test", "test", false), (".a.test", "x.a.test", true),
        (".a.test", "a.test", true), ("*.a.test", "x.a.test", true), ("*.a.test", "b.test", false),
        ("b.test,a.test", "a.test", true), ("b.test  a.test", "a.test", true), ("b.test ,\ta.test", "a.test", true),
        ("a.test:443", "a.test", true), ("a.test:80", "a.test", false), (".a.test:443", "x.a.test", true),
        ("a.test:x", "a.test", false), ("10.0.0.1", "10.0.0.1", true), ("10.0.0.1", "10.0.0.2", false),
        ("10.0.0.1:443", "10.0.0.1", true), ("10.0.0.1:80", "10.0.0.1", false), ("0.1", "10.0.0.1", false),
        ("10.0.0.0/8", "10.200.3.4", true), ("10.0.0.0/8", "11.0.0.1", false), ("10.0.0.0/8", "10.a.test", false),
        ("10.1.2.0/23", "10.1.3.255", true), ("10.1.2.0/23", "10.1.4.0", false), ("0.0.0.0/0", "9.9.9.9", true),
        ("0.0.0.0/0", "fd00::1", false), ("10.0.0.0/33", "10.0.0.0", false), ("10.0.0.0/", "10.0.0.0", false),
        ("10.0.0.0/-1", "10.0.0.0", false), ("fd00::1", "fd00:0:0::1", true), ("[fd00::1]", "fd00::1", true),
        ("[fd00::1]:443", "fd00::1", true), ("[fd00::1]:80", "fd00::1", false), ("fd00::/16", "fd00:1::2", true),
        ("fd00::/16", "fd01::2", false), ("::/0", "10.0.0.1", false), ("http://a.test", "a.test", false),
        (".", "a.test", false), ("*.", "a.test", false),
    ]

    @Test("NO_PROXY names hosts, those below them, ports, addresses and ranges", arguments: Self.lists)
    func exclusions(list: String, host: String, isCovered: Bool) {
        #expect(ProxyExclusions(list).covers(host: host, port: 443) == isCovered)
    }

    @Test("NO_PROXY is heard, in small letters first")
    func noProxy() throws {
        let proxy = ["HTTPS_PROXY": "http://a:1"]
        #expect(try self.proxy(proxy.merging(["NO_PROXY": ".finnhub.io"]) { $1 }) == nil)
        #expect(try self.proxy(proxy.merging(["NO_PROXY": "finnhub.io", "no_proxy": "x.test"]) { $1 }) == "a:1")
        #expect(try self.proxy(proxy.merging(["no_proxy": "ws.finnhub.io:443"]) { $1 }) == nil)
    }

    @Test("a login shows in no listing, description or dump, and may not stand in the arguments")
    func secrets() throws {
        let url = "http://us3r:s3cr3t@proxy.test:3128"
        for loaded in [
            try self.load("upstream:\n  proxy: \(url)"), try self.load(environment: ["HTTPS_PROXY": url]),
            try self.load(environment: ["TICKERTAPE_UPSTREAM_PROXY": url]),
        ] {
            var dumped = ""
            dump(loaded, to: &dumped)
            let server = try #require(try loaded.settings.dial(to: .finnhub).proxy)
            #expect(server.credentials == ProxyServer.Credentials(user: "us3r", password: "s3cr3t"))
            dump(server, to: &dumped)
            let lines = ConfigCommand.listing(loaded).joined(separator: "\n")
            #expect(lines.contains("http://<redacted>@proxy.test:3128"))
            for text in [dumped, lines, "\(loaded)", "\(server)"] {
                #expect(!text.contains("s3cr3t") && !text.contains("us3r"), "\(text)")
            }
        }
        let argument = self.failure { try self.load(flag: url) }
        #expect(argument.status == .usage)
        #expect(argument.message.hasPrefix("--set upstream.proxy: every user of this machine can see"))
        #expect(!argument.message.contains("s3cr3t"))
        #expect(try self.load(flag: "proxy.test:3128").settings.proxyChoice == .through(ProxyURL("proxy.test:3128")))
    }

    @Test("a login in a file that others can read is warned about")
    func openFile() throws {
        let yaml = "upstream:\n  proxy: http://me:secret@proxy:1"
        #expect(try self.load(yaml).warnings.isEmpty)
        let warnings = try self.load(yaml, mode: 0o644).warnings
        #expect(warnings.count == 1 && warnings[0].contains("holds a proxy's password"), "\(warnings)")
        #expect(try self.load("upstream:\n  proxy: http://proxy:1", mode: 0o644).warnings.isEmpty)
    }

    @Test("`config` shows the effect of auto")
    func listing() throws {
        func line(_ environment: [String: String]) throws -> String? {
            ConfigCommand.listing(try self.load(environment: environment)).first { $0.hasPrefix("upstream.proxy:") }
        }
        #expect(try line([:]) == "upstream.proxy: auto (default); no proxy")
        #expect(try line(["https_proxy": "a:1"]) == "upstream.proxy: auto (default); http://a:1 (from https_proxy)")
        #expect(try line(["ALL_PROXY": "socks5://a"])?.contains("; ALL_PROXY: is a SOCKS proxy") == true)
    }
}
