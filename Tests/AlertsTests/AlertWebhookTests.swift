import Market
import NIOCore
import NIOPosix
import TLS
import Testing
import TickertapeTesting
@testable import Alerts
@testable import Wire

@Suite("The webhook of alerts", .timeLimit(.minutes(2 * Patience.factor)))
struct AlertWebhookTests {
    private func webhook(
        _ url: String,
        tls: TLSClientConfiguration = Certificates.client(),
        _ log: MeterLog,
        _ change: (inout AlertWebhook.Limits) -> Void = { _ in }
    ) throws -> AlertWebhook {
        var limits = AlertWebhook.Limits()
        limits.pauses = [.milliseconds(10), .milliseconds(20)]
        change(&limits)
        return try AlertWebhook(
            try #require(WebhookAddress(url)),
            tls: tls,
            loop: MultiThreadedEventLoopGroup.singleton.next(),
            limits: limits,
            agent: "tickertape/test",
            meter: log.meter
        )
    }

    /// Checks that no part of the URL is in the text of a failure.
    private func isSecret(_ log: MeterLog) -> Bool {
        !log.warnings.all.contains { Canary.occurs(in: $0) || $0.contains("127.0.0.1") || $0.contains("localhost") }
    }

    @Test("an alert is posted as JSON, over plain HTTP and over TLS", arguments: [false, true])
    func posts(isEncrypted: Bool) async throws {
        let tls = isEncrypted ? try TLSContext(server: Certificates.server()) : nil
        let server = try await WebhookServer.start(tls: tls) { _ in .status(204) }
        let log = MeterLog("webhook")
        let scheme = isEncrypted ? "https" : "http"
        let webhook = try self.webhook("\(scheme)://localhost:\(server.port)/hook/\(Canary.percentEncoded)?a=b#c", log)
        webhook.notify(sampleAlert())
        #expect(try await log.ends(1))
        #expect(log.count("done") == 1, "\(log.warnings.all)")
        let request = try #require(server.requests.first)
        #expect(request.hasPrefix("POST /hook/\(Canary.percentEncoded)?a=b HTTP/1.1\r\n"))
        #expect(request.contains("\r\nHost: localhost:\(server.port)\r\n"))
        #expect(request.contains("\r\nContent-Type: application/json\r\n"))
        #expect(request.contains("\r\nUser-Agent: tickertape/test\r\n"))
        #expect(request.hasSuffix("\r\n\r\n" + String(buffer: AlertText.json(sampleAlert()))))
        await webhook.stop(atMost: .zero)
        try await server.stop()
    }

    @Test("an untrusted server gets no alert and no further attempt, and no part of the URL is shown")
    func certificate() async throws {
        let server = try await WebhookServer.start(tls: try TLSContext(server: Certificates.server())) { _ in
            .status(200)
        }
        let log = MeterLog("webhook")
        let webhook = try self.webhook(
            "https://localhost:\(server.port)/\(Canary.percentEncoded)",
            tls: TLSClientConfiguration(),
            log
        )
        webhook.notify(sampleAlert())
        #expect(try await log.ends(1))
        #expect(log.count("failed") == 1)
        #expect(server.requests.isEmpty)
        #expect(log.warnings.all.first?.hasPrefix("alert webhook: the server's certificate is refused") == true)
        #expect(self.isSecret(log), "\(log.warnings.all)")
        try await server.stop()
    }

    @Test(
        "a temporary failure is retried twice, a permanent one is reported at once",
        arguments: [
            (WebhookServer.Answer.status(500), 3, "the server answered 500, at 3 attempts"),
            (.status(429), 3, "the server answered 429, at 3 attempts"),
            (.status(404), 1, "the server answered 404; check the URL"),
            (.status(302), 1, "the server answered 302, a redirect, which is not followed; set the new URL"),
            (.close, 3, "the connection broke off before an answer, at 3 attempts"),
            (.bytes("SSH-2.0-OpenSSH_9.6\r\n"), 1, "the server does not speak HTTP"),
        ]
    )
    func refuses(answer: WebhookServer.Answer, attempts: Int, words: String) async throws {
        let server = try await WebhookServer.start { _ in answer }
        let log = MeterLog("webhook")
        let webhook = try self.webhook("http://127.0.0.1:\(server.port)/\(Canary.percentEncoded)", log)
        webhook.notify(sampleAlert())
        #expect(try await log.ends(1))
        #expect(log.count("failed") == 1)
        #expect(server.requests.count == attempts)
        #expect(log.warnings.all == ["alert webhook: \(words)"])
        #expect(self.isSecret(log))
        try await server.stop()
    }

    @Test("a server that succeeds at last has the alert")
    func recovers() async throws {
        let server = try await WebhookServer.start { $0 < 3 ? .status(503) : .status(200, body: "ok") }
        let log = MeterLog("webhook")
        let webhook = try self.webhook("http://127.0.0.1:\(server.port)", log)
        webhook.notify(sampleAlert())
        #expect(try await log.ends(1))
        #expect(log.count("done") == 1 && server.requests.count == 3)
        #expect(server.requests.first?.hasPrefix("POST / HTTP/1.1") == true)
        try await server.stop()
    }

    @Test("a server that never answers costs its time limit only, and an endless answer is not read to its end")
    func slow() async throws {
        let server = try await WebhookServer.start { $0 == 1 ? .endless : .silence }
        let log = MeterLog("webhook")
        let webhook = try self.webhook("http://127.0.0.1:\(server.port)", log) {
            $0.pauses = []
            $0.atOnce = 1
            // This also holds for the exchange that succeeds.
            $0.time = .seconds(5)
        }
        webhook.notify(sampleAlert())
        #expect(try await log.ends(1))
        #expect(log.count("done") == 1)
        webhook.notify(sampleAlert())
        #expect(try await log.ends(2))
        #expect(log.warnings.all == ["alert webhook: the server took too long"])
        try await server.stop()
    }

    @Test("a refused connection and an unknown name are reported without the name")
    func unreachable() async throws {
        let server = try await WebhookServer.start { _ in .silence }
        let port = server.port
        try await server.stop()
        for host in ["127.0.0.1", "localhost"] {
            let log = MeterLog("webhook")
            let webhook = try self.webhook("http://\(host):\(port)/\(Canary.percentEncoded)", log) { $0.pauses = [] }
            webhook.notify(sampleAlert())
            #expect(try await log.ends(1))
            #expect(log.warnings.all == ["alert webhook: the server cannot be reached"])
        }
    }

    @Test("the queue is bounded, and at the end requests under way are cut")
    func bounded() async throws {
        let server = try await WebhookServer.start { _ in .silence }
        let log = MeterLog("webhook")
        let webhook = try self.webhook("http://127.0.0.1:\(server.port)", log) {
            $0.atOnce = 2
            $0.waiting = 3
        }
        for _ in 0..<9 { webhook.notify(sampleAlert()) }
        #expect(try await log.ends(4))
        #expect(log.count("dropped") == 4)
        await webhook.stop(atMost: .milliseconds(20))
        webhook.notify(sampleAlert())
        #expect(try await log.ends(7))
        #expect(log.count("dropped") == 5 && log.count("failed") == 2)
        try await server.stop()
    }

    @Test("an alert during a stop is left out, though earlier ones are still under way")
    func stopping() async throws {
        let server = try await WebhookServer.start { _ in .silence }
        let log = MeterLog("webhook")
        let webhook = try self.webhook("http://127.0.0.1:\(server.port)", log) {
            $0.pauses = []
            $0.atOnce = 1
            $0.waiting = 1_000_000
        }
        webhook.notify(sampleAlert())
        let stop = Task { await webhook.stop(atMost: .seconds(60) * Patience.factor) }
        let end = ContinuousClock.now + .seconds(30) * Patience.factor
        while log.count("dropped") == 0, ContinuousClock.now < end {
            webhook.notify(sampleAlert())
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(log.count("dropped") > 0)
        // The alert under way was not cut.
        #expect(log.count("failed") == 0)
        stop.cancel()
        await stop.value
        try await server.stop()
    }

    @Test("a URL is parsed, and an invalid one is refused")
    func addresses() throws {
        let slack = try #require(WebhookAddress("HTTPS://hooks.example.com/services/T0/B0?x=1#frag"))
        #expect(slack.isEncrypted && slack.host == "hooks.example.com" && slack.port == 443)
        #expect(slack.target == "/services/T0/B0?x=1" && slack.authority == "hooks.example.com")
        let six = try #require(WebhookAddress("http://[::1]:8080?x"))
        #expect(six.host == "::1" && six.port == 8_080 && six.target == "/?x" && six.authority == "[::1]:8080")
        #expect(six.isLoopback && !slack.isLoopback)
        #expect(WebhookAddress("http://127.hooks.example.com/")?.isLoopback == false)
        for (text, host, port) in [
            ("http://h:00443/", "h", 443), ("http://h_1.-:65535?", "h_1.-", 65_535), ("http://[h]:1", "h", 1),
            ("http://[1.2.3.4]", "1.2.3.4", 80),
        ] {
            let address = WebhookAddress(text)
            #expect(address?.host == host && address?.port == port, "\(text)")
        }
        for bad in [
            "", "ftp://x", "https://", "https:///x", "https://user:pass@host/", "https://host:0/", "https://host:99999",
            "https://host:/", "https://ho st/", "https://host/\r\nX: y", "https://höst/", "https://[::1",
            "http://[::1]x", "http://[]/", "http://[::1]:/", "http://[::1]:0/", "http://[::g%1]/", "http://::1/",
            "http://h:65536/", "http://h:+1/", "http://h:000443/",
            "http://[" + String(repeating: ":", count: 254) + "]/",
            "host/path", "https://" + String(repeating: "a", count: 254) + "/",
            "https://h/" + String(repeating: "a", count: 2_048),
        ] {
            #expect(WebhookAddress(bad) == nil, "\(bad.prefix(50))")
        }
        var dumped = ""
        dump(slack, to: &dumped)
        #expect("\(slack) \(dumped)".contains("services") == false)
    }
}
