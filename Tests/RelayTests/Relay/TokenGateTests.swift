import TLS
import NIOCore
import NIOHTTP1
import Testing
import TickertapeTesting
@testable import Measurements
@testable import HTTP
@testable import Relay

@Suite("The relay's token", .timeLimit(.minutes(1 * Patience.factor)))
struct TokenGateTests {
    private static let token = Canary.key

    private static func head(
        _ uri: String = "/",
        _ headers: HTTPHeaders = [:],
        method: HTTPMethod = .GET
    )
        -> HTTPRequestHead
    {
        HTTPRequestHead(version: .http1_1, method: method, uri: uri, headers: headers)
    }

    private static let places: [(uri: String, headers: HTTPHeaders)] = [
        ("/?token=\(Canary.percentEncoded)", [:]),
        ("/v1/stream?symbols=A&%74oken=\(Canary.percentEncoded)", [:]),
        ("/", ["Authorization": "Bearer \(Canary.key)"]), ("/", ["authorization": "bearer \(Canary.key)"]),
        ("/", ["X-Tickertape-Token": Canary.key]), ("/", ["x-finnhub-token": Canary.key]),
        ("/", ["Sec-WebSocket-Protocol": "tickertape.v1.json, bearer.\(Canary.key)"]),
        ("/?token=other", ["X-Tickertape-Token": Canary.key]),
    ]

    @Test("accepts a client that shows it, in any of its places", arguments: 0..<8)
    func letsIn(place: Int) {
        let (uri, headers) = Self.places[place]
        let gate = TokenGate(Secret(Self.token))
        let isRefused = gate.refusal(of: Self.head(uri, headers), from: .here, now: .uptimeNanoseconds(1)) != nil
        #expect(!isRefused)
        let rest = TokenPlaces.withoutToken(Self.head(uri, headers))
        let isFound = Canary.occurs(in: "\(rest)")
        #expect(!isFound && TokenPlaces.tokens(in: rest).isEmpty)
        #expect(rest.uri == (place == 1 ? "/v1/stream?symbols=A" : "/"))
        #expect(rest.headers["Sec-WebSocket-Protocol"] == (place == 6 ? ["tickertape.v1.json"] : []))
    }

    private static let wrongQueries = [
        "", "?token=", "?token", "?token=cAnary", "?token=%", "?xtoken=1", "?token=\(Canary.percentEncoded)x",
        "?token=\(Canary.percentEncoded.lowercased())", "?TOKEN=\(Canary.percentEncoded)",
    ]

    // By index: the test runner prints the arguments, and the token must not be printed.
    @Test("refuses a client with none, half of it, more than it, or another one", arguments: Self.wrongQueries.indices)
    func keepsOut(index: Int) throws {
        let query = Self.wrongQueries[index]
        let gate = TokenGate(Secret(Self.token))
        let refusal = try #require(
            gate.refusal(of: Self.head("/\(query)"), from: .here, now: .uptimeNanoseconds(1))
        )
        #expect(refusal.status == .unauthorized)
        #expect(refusal.headers["WWW-Authenticate"].first?.hasPrefix("Bearer") == true)
        for path in [
            "/readyz", "/metrics", "/v1/status", "/v1/snapshot", "/v1/stream", "/livez/", "/livezz", "//livez",
        ] {
            #expect(gate.refusal(of: Self.head(path), from: .here, now: .uptimeNanoseconds(1)) != nil, "\(path)")
        }
    }

    @Test("is not required for /livez, nor for a page's preflight request")
    func exempts() {
        let gate = TokenGate(Secret(Self.token))
        for head in [Self.head("/livez"), Self.head("/livez?x"), Self.head("/v1/status", method: .OPTIONS)] {
            #expect(gate.refusal(of: head, from: .here, now: .uptimeNanoseconds(1)) == nil)
        }
    }

    @Test("cannot be guessed at speed: one address has sixty guesses and then one a second, others are not held up")
    func limitsGuesses() throws {
        let gate = TokenGate(Secret(Self.token))
        let start = NIODeadline.uptimeNanoseconds(5)
        func ask(_ token: String, _ address: PeerAddress, after seconds: Int64 = 0) -> UInt? {
            gate.refusal(of: Self.head("/?token=\(token)"), from: address, now: start + .seconds(seconds))?.status.code
        }
        let attacker = PeerAddress.version4(1)
        for _ in 0..<60 { #expect(ask("guess", attacker) == 401) }
        #expect(ask("guess", attacker) == 429)
        // Not even the right token is checked, since guessing could go on otherwise.
        #expect(ask(Canary.percentEncoded, attacker) == 429)
        #expect(ask(Canary.percentEncoded, .version4(2)) == nil)
        #expect(ask("guess", attacker, after: 1) == 401)
        #expect(ask("guess", attacker, after: 1) == 429)
        #expect(ask(Canary.percentEncoded, attacker, after: 61) == nil)
        #expect(ask("", attacker, after: 61) == 401)
    }

    @Test("wrong tokens of one program of this machine do not lock out another one")
    func locksNoneOutHere() {
        let gate = TokenGate(Secret(Self.token))
        let now = NIODeadline.uptimeNanoseconds(5)
        func ask(_ token: String) -> UInt? {
            gate.refusal(of: Self.head("/?token=\(token)"), from: .here, now: now)?.status.code
        }
        for _ in 0..<60 { #expect(ask("guess") == 401) }
        #expect(ask("guess") == 429)
        #expect(ask(Canary.percentEncoded) == nil)
        #expect(ask("guess") == 429)
    }

    @Test("stores a bounded number of addresses, and those with the most guesses the longest")
    func isBounded() {
        var limit = GuessLimit()
        let now = NIODeadline.uptimeNanoseconds(1)
        for _ in 0..<60 { limit.wrong(from: .version6(7), now: now) }
        for address in 0..<20_000 { limit.wrong(from: .version4(UInt32(address)), now: now) }
        #expect(limit.count <= GuessLimit.maximumAddresses)
        #expect(limit.wait(of: .version6(7), now: now) != nil)
        #expect(limit.wait(of: .version4(19_999), now: now) == nil)
    }

    @Test("is in no description, dump or mirror")
    func isHidden() {
        let token = Secret(Self.token)
        var dumped = ""
        dump(token, to: &dumped)
        var settings = RelaySettings()
        settings.token = token
        let isFound = Canary.occurs(in: "\(token) \(dumped) \(settings) \(String(reflecting: settings))")
        #expect(!isFound)
        #expect(token == Secret(Self.token) && token != Secret("another"))
    }

    @Test("is required on loopback too; every refusal is one line and counted, and the answers hold no token")
    func overTheWire() async throws {
        let instruments = Instruments()
        try await RelayFixture.run(instruments: instruments) {
            $0.token = Secret(Self.token)
            $0.allowedOrigins = ["https://good.example"]
        } body: { fixture in
            for path in ["/", "/v1/stream", "/?token=wrong"] {
                let client = try await RawClient.connect(to: fixture.address)
                let head = try await client.request(RawClient.upgrade(path))
                #expect(head.hasPrefix("HTTP/1.1 401 Unauthorized\r\n"), "\(head)")
                #expect(try await client.rest().contains(#"{"type":"token-"#))
            }
            let query = try await RawClient.open("/?token=\(Canary.percentEncoded)", at: fixture.address)
            try await query.subscribe(Frames.btc)
            try await fixture.settle(query)
            let header = try await RawClient.open(
                at: fixture.address,
                headers: "Authorization: Bearer \(Canary.key)\r\n"
            )
            try await fixture.settle(header)
            fixture.feed(Frames.trade(Frames.btc, "1"))
            #expect(try await query.frame().text == Frames.trade(Frames.btc, "1"))
            let alive = try await RawClient.connect(to: fixture.address)
            #expect(try await alive.request("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n").hasPrefix("HTTP/1.1 200"))
            // A page of an allowed origin may read why it was refused.
            let page = try await RawClient.connect(to: fixture.address)
            let refused = try await page.request(
                "HEAD /v1/status HTTP/1.1\r\nHost: localhost\r\nOrigin: https://good.example\r\n\r\n"
            )
            #expect(refused.contains("401") && refused.contains("ccess-Control-Allow-Origin: https://good.example"))
            #expect(try await page.rest().isEmpty, "a HEAD is answered without a body")
            let status = try await RawClient.connect(to: fixture.address)
            _ = try await status.request(
                "GET /v1/status HTTP/1.1\r\nHost: localhost\r\nX-Finnhub-Token: \(Canary.key)\r\nConnection: close\r\n\r\n"
            )
            let body = try await status.rest()
            #expect(body.contains(#""refusals":{"token-missing":3,"token-wrong":1}"#), "\(body)")
            let metrics = try await RawClient.connect(to: fixture.address)
            _ = try await metrics.request(
                "GET /metrics?token=\(Canary.percentEncoded) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
            )
            let text = try await metrics.rest()
            #expect(text.contains(#"tickertape_relay_refusals_total{type="token-wrong"} 1"#))
            let isFound = Canary.occurs(in: text + body)
            #expect(!isFound)
        }
    }

    @Test("a browser's offer of it as a subprotocol is not echoed")
    func subprotocol() async throws {
        try await RelayFixture.run {
            $0.token = Secret("abcdefghijklmnop")
        } body: { fixture in
            let client = try await RawClient.connect(to: fixture.address)
            let head = try await client.request(
                RawClient.upgrade("/", headers: "Sec-WebSocket-Protocol: bearer.abcdefghijklmnop\r\n")
            )
            #expect(head.hasPrefix("HTTP/1.1 101 ") && !head.contains("bearer"), "\(head)")
        }
    }
}
