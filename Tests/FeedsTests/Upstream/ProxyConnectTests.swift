import NIOCore
import NIOHTTP1
import TLS
import Testing
import TickertapeTesting
@testable import Feeds

/// Tests of connections through an HTTP proxy on loopback, to a service with another name.
@Suite("Connecting through a proxy", .timeLimit(.minutes(1 * Patience.factor)))
struct ProxyConnectTests {
    private static let login = ProxyServer.Credentials(user: "me", password: "pa:ss wörd")

    /// One attempt to reach `wss://ws.finnhub.io`, which a test can reach only through a proxy.
    private func attempt(
        proxy port: Int,
        credentials: ProxyServer.Credentials? = nil,
        change: (inout ConnectorSettings) -> Void = { _ in }
    ) async throws -> UpstreamFailure? {
        let nobody = NameResolver { _, _ throws(NameFailure) in throw .unknown }
        let connector = try Attempt.connector(host: "ws.finnhub.io", port: 443, resolver: nobody) { settings in
            settings.address.isEncrypted = true
            settings.dial.proxy = ProxyServer(host: "127.0.0.1", port: port, credentials: credentials)
            change(&settings)
        }
        return try await Attempt.run(connector)
    }

    private func refusal(
        _ answer: RawServer.Answer,
        credentials: ProxyServer.Credentials? = nil,
        change: (inout ConnectorSettings) -> Void = { _ in }
    ) async throws -> UpstreamFailure {
        let proxy = try await RawServer.start { _ in answer }
        let failure = try await self.attempt(proxy: proxy.port, credentials: credentials, change: change)
        try await proxy.stop()
        var reported = try #require(failure)
        #expect(reported.disposition == .retry)
        for secret in ["pa:ss", "wörd", "bWU6cGE6c3Mgd8O2cmQ=", Attempt.key] {
            #expect(!reported.description.contains(secret))
        }
        reported.description = reported.description.replacing("127.0.0.1:\(proxy.port)", with: "PROXY")
        return reported
    }

    @Test("a tunnel carries TLS and the WebSocket; the proxy resolves the service's name, and the key stays inside TLS")
    func tunnel() async throws {
        let credentials = try Certificates.authority.issue(names: ["ws.finnhub.io"], addresses: [])
        let service = try await ScriptedFinnhub.start(credentials: credentials) { _ in .play([]) }
        let port = service.port
        let proxy = try await RawServer.start { _ in
            .tunnel("HTTP/1.0 200 Connection established\r\nContent-Length: 99\r\nVia: 1.1 x\r\n\r\n", to: port)
        }
        #expect(try await self.attempt(proxy: proxy.port) == nil)
        #expect(try await self.attempt(proxy: proxy.port, credentials: Self.login) == nil)
        let plain = "CONNECT ws.finnhub.io:443 HTTP/1.1\r\nHost: ws.finnhub.io:443\r\n"
        #expect(
            proxy.heads == [plain + "\r\n", plain + "Proxy-Authorization: Basic bWU6cGE6c3Mgd8O2cmQ=\r\n\r\n"]
        )
        try await proxy.stop()
        try await service.stop()
        var targets: [String] = []
        for await case .opened(_, let target) in service.events { targets.append(target) }
        #expect(targets == ["/?token=\(Attempt.key)", "/?token=\(Attempt.key)"])
    }

    @Test("ws, which goes to this machine only, never takes a proxy")
    func plain() async throws {
        let service = try await ScriptedFinnhub.start { _ in .play([]) }
        let failure = try await Attempt.run(port: service.port) {
            $0.dial.proxy = ProxyServer(host: "127.0.0.1", port: 1)
        }
        #expect(failure == nil)
        try await service.stop()
    }

    @Test("a failure behind the proxy names the proxy, too")
    func behind() async throws {
        let stranger = try CertificateAuthority(name: "stranger").issue(names: ["ws.finnhub.io"], addresses: [])
        let service = try await ScriptedFinnhub.start(credentials: stranger) { _ in .play([]) }
        let untrusted = try await self.refusal(.tunnel("HTTP/1.1 200 OK\r\n\r\n", to: service.port))
        #expect(untrusted.description.contains("certificate refused"), "\(untrusted)")
        #expect(untrusted.description.hasSuffix(" (through the proxy PROXY)"), "\(untrusted)")
        try await service.stop()

        let known = try Certificates.authority.issue(names: ["ws.finnhub.io"], addresses: [])
        let down = try await ScriptedFinnhub.start(credentials: known) { _ in .refuse(status: .badGateway) }
        let refused = try await self.refusal(.tunnel("HTTP/1.1 200 OK\r\n\r\n", to: down.port))
        #expect(refused.description == "the service is down (HTTP 502) (through the proxy PROXY)")
        try await down.stop()
    }

    static let statuses: [(answer: String, words: String)] = [
        (
            "403 Forbidden\r\nContent-Length: 2\r\n\r\nno",
            "does not allow connections to ws.finnhub.io port 443 (HTTP 403: no)"
        ),
        (
            "502 Bad Gateway\r\n\r\n<html><title>ERR_DNS_FAIL</title>",
            "cannot connect to ws.finnhub.io port 443 (HTTP 502: a page of HTML, \"ERR_DNS_FAIL\")"
        ),
        ("504 Gateway Timeout\r\n\r\n", "cannot connect to ws.finnhub.io port 443 (HTTP 504)"),
        ("405 Method Not Allowed\r\n\r\n", "does not pass connections on (HTTP 405): is it an HTTP proxy?"),
        (
            "302 Found\r\nLocation: http://login.test/?x=y\r\n\r\n",
            "redirects to http://login.test instead of connecting (HTTP 302): is a login needed?"
        ),
        ("418 Teapot\r\n\r\n", "did not connect to ws.finnhub.io port 443 (HTTP 418)"),
        (
            "407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"x\"\r\n\r\n",
            "asks for a user and password (HTTP 407): put them into HTTPS_PROXY or upstream.proxy, as http://USER:PASSWORD@HOST:PORT"
        ),
        (
            "407 Nope\r\nProxy-Authenticate: NTLM\r\nProxy-Authenticate: Negotiate x\r\n\r\n",
            "asks for a login (ntlm, negotiate) that this program does not speak (HTTP 407)"
        ),
    ]

    @Test("a proxy's refusal is named as the proxy's, with the remedy", arguments: Self.statuses)
    func refusals(answer: String, words: String) async throws {
        #expect(try await self.refusal(.sendAndClose("HTTP/1.1 \(answer)")).description == "the proxy PROXY \(words)")
    }

    @Test("credentials that the proxy rejects are reported, but not shown")
    func wrongLogin() async throws {
        let failure = try await self.refusal(
            .sendAndClose("HTTP/1.1 407 No\r\nProxy-Authenticate: basic\r\n\r\n"),
            credentials: Self.login
        )
        #expect(
            failure.description
                == "the proxy PROXY does not accept the user and password of HTTPS_PROXY or upstream.proxy (HTTP 407)"
        )
    }

    @Test("a proxy's Retry-After is obeyed")
    func retryAfter() async throws {
        let failure = try await self.refusal(.sendAndClose("HTTP/1.1 503 Busy\r\nRetry-After: 9\r\n\r\n"))
        #expect(failure.retryAfter == 9_000_000_000)
    }

    @Test("an answer that hangs, drips, never ends, is not HTTP or is followed by a page has its own explanation")
    func hostile() async throws {
        let target = "did not connect to ws.finnhub.io port 443 within"
        #expect(
            try await self.refusal(.silence) { $0.dial.upgradeTimeout = .milliseconds(300) }.description
                == "the proxy PROXY \(target) 300 ms: no answer came"
        )
        #expect(
            try await self.refusal(
                // Long enough for a first byte on a busy machine, but far too short for the last one.
                .drip("HTTP/1.1 200 Connection established\r\n\r\n", every: .milliseconds(200)),
                change: { $0.dial.upgradeTimeout = .milliseconds(2_500) }
            )
            .description == "the proxy PROXY \(target) 2500 ms: its answer began and did not end"
        )
        #expect(
            try await self.refusal(.endless("X: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n"))
                .description
                == "the header of the answer of the proxy PROXY is too large"
        )
        #expect(
            try await self.refusal(.send("SSH-2.0-OpenSSH_9.6\r\n\r\n")).description
                == "the answer of the proxy PROXY is not that of an HTTP proxy: malformed status line"
        )
        #expect(
            try await self.refusal(.send("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>")).description
                == "the answer of the proxy PROXY is not that of an HTTP proxy: it says 200, then sends unexpected bytes"
        )
        #expect(
            try await self.refusal(.close).description == "the proxy PROXY closed the connection without an answer"
        )
    }

    @Test("a proxy that cannot be reached is named as the missing part")
    func unreachable() async throws {
        let closed = try #require(BlackHole.closedPort("127.0.0.1")?.port)
        #expect(
            try await self.attempt(proxy: closed)?.description
                == "the proxy 127.0.0.1:\(closed) refuses connections: check HTTPS_PROXY or upstream.proxy"
        )
        let hole = try #require(BlackHole("127.0.0.1"))
        let port = try #require(hole.address.port)
        #expect(
            try await self.attempt(proxy: port) { $0.dial.tcpTimeout = .milliseconds(100) }?.description
                == "no answer from the proxy 127.0.0.1:\(port) within 100 ms: is the network up?"
        )
        #expect(
            try await self.attempt(proxy: 1) { $0.dial.proxy?.host = "proxy.test" }?.description
                == "the proxy's name proxy.test is unknown: check the network and HTTPS_PROXY or upstream.proxy"
        )
    }

    @Test("no description or dump of a proxy shows its user or password")
    func hidden() {
        let proxy = ProxyServer(host: "::1", port: 3_128, credentials: Self.login)
        var dumped = ""
        dump(proxy, to: &dumped)
        dump(Self.login, to: &dumped)
        let texts = [
            dumped, "\(proxy)", String(reflecting: proxy), "\(Self.login)", String(reflecting: Optional(Self.login)),
        ]
        for text in texts { #expect(!text.contains("wörd") && !text.contains("me\""), "\(text)") }
        #expect("\(proxy)" == "[::1]:3128")
    }
}
