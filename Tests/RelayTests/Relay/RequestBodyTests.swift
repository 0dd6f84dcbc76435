import NIOCore
import Relay
import Testing
import TickertapeTesting

/// Requests with announced, delayed or padded bodies.
@Suite("Bodies of requests", .timeLimit(.minutes(2 * Patience.factor)))
struct RequestBodyTests {
    private static func post(_ path: String, _ headers: String...) -> String {
        "POST \(path) HTTP/1.1\r\nHost: localhost\r\n" + headers.map { "\($0)\r\n" }.joined() + "\r\n"
    }

    /// Sends a request without its body; returns the status and the refusal's type, which must not wait for the body.
    private func answer(to request: String, _ fixture: RelayFixture) async throws -> String {
        let client = try await RawClient.connect(to: fixture.address)
        let status = try await client.request(request).dropFirst("HTTP/1.1 ".count).prefix(3)
        let type = try await client.rest().dropFirst(#"{"type":""#.count).prefix { $0 != "\"" }
        return "\(status) \(type)"
    }

    @Test("a length over the limit is refused at once, also one beyond any machine's numbers")
    func refusesLength() async throws {
        try await RelayFixture.run {
            $0.handshakeTimeout = .hours(1)
        } body: { fixture in
            for length in ["65537", "4000000000", "9223372036854775807"] {
                let request = Self.post("/v1/replay", "Content-Length: \(length)")
                let answer = try await self.answer(to: request, fixture)
                #expect(answer == "413 body-too-large", "\(length)")
            }
            let get = "GET /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: 65537\r\n\r\n"
            let answer = try await self.answer(to: get, fixture)
            #expect(answer == "413 body-too-large")
        }
    }

    @Test("the lines of chunks count: an extension without an end is refused, and so are many of them")
    func countsExtensions() async throws {
        try await RelayFixture.run {
            $0.handshakeTimeout = .hours(1)
        } body: { fixture in
            let head = Self.post("/v1/replay", "Transfer-Encoding: chunked")
            let endless = head + "1;" + String(repeating: "x", count: 80_000)
            #expect(try await self.answer(to: endless, fixture) == "413 body-too-large")
            let many = head + String(repeating: "1;\(String(repeating: "x", count: 1_000))\r\nx\r\n", count: 80)
            #expect(try await self.answer(to: many, fixture) == "413 body-too-large")
            let trailers =
                head + "0\r\n" + String(repeating: "X: \(String(repeating: "x", count: 500))\r\n", count: 200)
            #expect(try await self.answer(to: trailers, fixture).hasPrefix("4"))
            // A small extension changes nothing.
            let client = try await RawClient.connect(to: fixture.address)
            let small = head + "2;x=y\r\n{}\r\n0\r\n\r\n"
            #expect(try await client.request(small).hasPrefix("HTTP/1.1 409 "))
        }
    }

    @Test("a client that waits for 100 Continue gets it, and then its answer")
    func goesOn() async throws {
        try await RelayFixture.run { fixture in
            let client = try await RawClient.connect(to: fixture.address)
            for expectation in ["100-continue", "100-Continue"] {
                let request = Self.post("/v1/replay", "Content-Length: 2", "Expect: \(expectation)")
                #expect(try await client.request(request) == "HTTP/1.1 100 Continue\r\n\r\n")
                let head = try await client.request("{}")
                #expect(head.hasPrefix("HTTP/1.1 409 "))
                _ = try await client.text(of: head)
            }
            // Without a body the relay waits for nothing.
            let head = try await client.request(Self.post("/v1/replay", "Content-Length: 0", "Expect: 100-continue"))
            #expect(head.hasPrefix("HTTP/1.1 409 "))
        }
    }

    @Test("if the body would change nothing, the answer comes at once, and the connection ends")
    func answersAtOnce() async throws {
        try await RelayFixture.run {
            $0.handshakeTimeout = .hours(1)
        } body: { fixture in
            let wait = ["Content-Length: 5", "Expect: 100-continue"]
            for (request, answer) in [
                (Self.post("/livez", wait[0], wait[1]), "405 method-not-allowed"),
                (Self.post("/v1/replay", "Content-Length: 70000", wait[1]), "413 body-too-large"),
                (Self.post("/v1/replay", wait[0], wait[1], "Origin: https://evil.example"), "403 origin-not-allowed"),
                (Self.post("/v1/replay", wait[0], "Expect: wonders"), "417 expectation-failed"),
                (Self.post("/v1/replay", wait[0], wait[1], "Expect: wonders"), "417 expectation-failed"),
            ] {
                #expect(try await self.answer(to: request, fixture) == answer)
            }
            let client = try await RawClient.connect(to: fixture.address)
            let head = try await client.request(
                "GET /livez HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\(wait[1])\r\n\r\n"
            )
            #expect(head.hasPrefix("HTTP/1.1 200 ") && head.lowercased().contains("connection: close"))
            #expect(try await client.rest() == "ok\n")
        }
    }

    @Test("HTTP/1.0 has no 100 Continue: the answer comes after the body")
    func ignoresInOldVersion() async throws {
        try await RelayFixture.run { fixture in
            let client = try await RawClient.connect(to: fixture.address)
            let request = Self.post("/v1/replay", "Content-Length: 2", "Expect: 100-continue")
                .replacing("HTTP/1.1", with: "HTTP/1.0")
            #expect(try await client.request(request + "{}").hasPrefix("HTTP/1.1 409 "))
        }
    }

    @Test("a request in the absolute form is answered where it names this relay, and refused where it does not")
    func absoluteForm() async throws {
        try await RelayFixture.run { fixture in
            func ask(_ line: String) -> String { "\(line) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n" }
            for target in ["http://localhost/livez", "HTTP://127.0.0.1:8080/livez?x", "https://[::1]/livez"] {
                let client = try await RawClient.connect(to: fixture.address)
                #expect(try await client.request(ask("GET \(target)")).hasPrefix("HTTP/1.1 200 "), "\(target)")
            }
            for line in [
                "GET http://evil/", "GET http://evil/livez", "GET http://localhost@evil/", "GET http://evil@localhost/",
                "GET http://localhost.evil:80/livez", "GET ftp://localhost/livez", "CONNECT evil:443",
                "OPTIONS http://evil/v1/snapshot",
            ] {
                #expect(try await self.answer(to: ask(line), fixture) == "421 host-not-allowed", "\(line)")
            }
            let upgrade = RawClient.upgrade("http://evil/v1/stream")
            #expect(try await self.answer(to: upgrade, fixture) == "421 host-not-allowed")
            let client = try await RawClient.open("http://localhost/?token=x", at: fixture.address)
            try await fixture.settle(client)
        }
    }
}
