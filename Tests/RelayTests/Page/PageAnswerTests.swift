import Foundation
import Page
import Testing
import TickertapeTesting

@Suite("The page's files", .timeLimit(.minutes(1 * Patience.factor)))
struct PageAnswerTests {
    private struct Answer {
        var status: String
        var head: String
        var body: String

        func header(_ name: String) -> String? {
            self.head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("\(name): ") }
                .map { String($0.dropFirst(name.count + 2)) }
        }
    }

    private func ask(
        _ path: String,
        _ fixture: RelayFixture,
        method: String = "GET",
        headers: String = ""
    ) async throws -> Answer {
        let client = try await RawClient.connect(to: fixture.address)
        let head = try await client.request(
            "\(method) \(path) HTTP/1.1\r\nHost: localhost:8080\r\nConnection: close\r\n\(headers)\r\n"
        )
        let body = try await client.rest()
        return Answer(status: String(head.dropFirst(9).prefix(3)), head: head, body: body)
    }

    private static var folder: URL { URL(fileURLWithPath: "\(RunningProgram.sources)/Sources/Page/Files") }

    private static func text(of file: PageFile) -> String { String(decoding: file.bytes, as: UTF8.self) }

    @Test("are all served as they are in the sources, each with its type and the policy")
    func files() async throws {
        try await RelayFixture.run { fixture in
            var names = Set(try FileManager.default.contentsOfDirectory(atPath: Self.folder.path))
            for file in PageFiles.all {
                let name = file.path == "/" ? "index.html" : String(file.path.dropFirst("/page/".count))
                #expect(names.remove(name) != nil, "\(name) is served and no file")
                let answer = try await self.ask(file.path, fixture)
                #expect(answer.status == "200")
                #expect(
                    answer.body == (try String(contentsOf: Self.folder.appendingPathComponent(name), encoding: .utf8))
                )
                #expect(answer.header("content-type") == file.contentType)
                #expect(answer.header("content-length") == "\(file.bytes.count)")
                #expect(answer.header("cache-control") == "no-cache")
                #expect(answer.header("x-content-type-options") == "nosniff")
                #expect(answer.header("referrer-policy") == "no-referrer")
                #expect(answer.header("cross-origin-opener-policy") == "same-origin")
                #expect(answer.header("permissions-policy")?.contains("camera=()") == true)
                let policy = try #require(answer.header("content-security-policy"))
                let parts = policy.split(separator: "; ").map(String.init)
                #expect(
                    parts == [
                        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'",
                        "connect-src 'self' ws://localhost:8080 wss://localhost:8080", "base-uri 'none'",
                        "form-action 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'",
                        "trusted-types 'none'",
                    ]
                )
            }
            #expect(names.isEmpty, "\(names) are not served")
        }
    }

    @Test("are sent only to a client without a current copy, and without a body to HEAD")
    func caches() async throws {
        try await RelayFixture.run { fixture in
            for path in ["/", "/page/main.js", "/page/style.css"] {
                let tag = try #require(try await self.ask(path, fixture).header("etag"))
                let again = try await self.ask(path, fixture, headers: "If-None-Match: \(tag)\r\n")
                #expect(again.status == "304" && again.body.isEmpty && again.header("etag") == tag)
                #expect(again.header("content-security-policy") != nil)
                let other = try await self.ask(path, fixture, headers: "If-None-Match: \"0\"\r\n")
                #expect(other.status == "200" && !other.body.isEmpty)
                let head = try await self.ask(path, fixture, method: "HEAD")
                #expect(head.status == "200" && head.body.isEmpty && head.header("etag") == tag)
                #expect(head.header("content-length") == "\(other.body.utf8.count)")
                let post = try await self.ask(path, fixture, method: "POST", headers: "Content-Length: 0\r\n")
                #expect(post.status == "405" && post.header("allow") == "GET, HEAD")
            }
            #expect(try await self.ask("/page/", fixture).status == "404")
            #expect(try await self.ask("/page/../main.js", fixture).status == "404")
            #expect(try await self.ask("/?token=anything", fixture).status == "200")
        }
    }

    @Test("leave a WebSocket at / to Finnhub's protocol, and are refused to foreign names and origins")
    func socket() async throws {
        try await RelayFixture.run { fixture in
            let client = try await fixture.tradesClient(Frames.btc)
            fixture.feed(Frames.trade(Frames.btc, "1"))
            #expect(try await client.frame().text == Frames.trade(Frames.btc, "1"))
            let foreign = try await self.ask("/", fixture, headers: "Origin: https://evil.example\r\n")
            #expect(foreign.status == "403")
            let stranger = try await RawClient.connect(to: fixture.address)
            let head = try await stranger.request("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n")
            #expect(head.hasPrefix("HTTP/1.1 421"))
        }
    }

    @Test("name no other host, make no HTML from text, and compute no displayed number in floating point")
    func sources() throws {
        for file in PageFiles.all {
            let text = Self.text(of: file).replacing("http://www.w3.org/2000/svg", with: "")
            for forbidden in [
                "http://", "https://", "//cdn", "@import", "innerHTML", "outerHTML", "insertAdjacentHTML",
                "document.write",
                "eval(", "new Function", "parseFloat", "toFixed", "style=", "onclick=", "<script>",
            ] {
                #expect(!text.contains(forbidden), "\(file.path) has \(forbidden)")
            }
        }
    }
}
