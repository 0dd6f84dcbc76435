import NIOHTTP1
import Testing
@testable import Relay

@Suite("The check of Host and Origin")
struct RequestGateTests {
    private func refusal(_ headers: HTTPHeaders, bound: String = "127.0.0.2") -> UInt? {
        let gate = RequestGate(boundAddress: bound, allowedOrigins: [])
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/", headers: headers)
        return gate.refusal(of: head)?.status.code
    }

    @Test(
        "our names are accepted, with any port",
        arguments: ["localhost", "LocalHost:1", "127.0.0.1:65535", "[::1]", "[::1]:80", "127.0.0.2:9"]
    )
    func letsIn(host: String) {
        #expect(self.refusal(["Host": host]) == nil)
    }

    @Test(
        "other names are not",
        arguments: [
            "", "example.org", "localhost.example.org", "127.0.0.3", "localhost:x", "localhost:123456",
            "localhost:80:80", "::1", "[::1", "[::1]x", "[::2]", "user@localhost", "localhost ", "localhost/",
        ]
    )
    func keepsOut(host: String) {
        #expect(self.refusal(["Host": host]) == 421)
    }

    @Test("an allowed origin with its scheme's default port equals the one that browsers send without it")
    func impliesPorts() {
        func isLetIn(_ origin: String, allowed: String) -> Bool {
            let gate = RequestGate(boundAddress: "127.0.0.1", allowedOrigins: [allowed])
            let headers: HTTPHeaders = ["Host": "localhost", "Origin": origin]
            let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/", headers: headers)
            return gate.refusal(of: head) == nil
        }
        #expect(isLetIn("https://good.example", allowed: "https://Good.example:443"))
        #expect(isLetIn("http://good.example", allowed: "http://good.example:80"))
        #expect(!isLetIn("https://good.example", allowed: "https://good.example:80"))
        #expect(!isLetIn("https://good.example", allowed: "https://good.example:8443"))
        #expect(!isLetIn("http://good.example", allowed: "https://good.example:443"))
    }

    @Test("an IPv6 listening address is a name too")
    func knowsIPv6() {
        #expect(self.refusal(["Host": "[fd00::5]:80"], bound: "fd00::5") == nil)
    }

    @Test(
        "a name from the settings is ours, and its pages are; at a Unix socket Host is not checked, Origin is"
    )
    func otherNames() {
        func refusal(_ gate: RequestGate, _ headers: HTTPHeaders) -> UInt? {
            gate.refusal(of: HTTPRequestHead(version: .http1_1, method: .GET, uri: "/", headers: headers))?.status.code
        }
        let lan = RequestGate(boundAddress: "192.0.2.7", hostNames: ["Ticker.lan", "2001:db8::7"], allowedOrigins: [])
        for host in ["192.0.2.7", "ticker.lan:8080", "TICKER.LAN", "[2001:db8::7]:1"] {
            #expect(refusal(lan, ["Host": host]) == nil, "\(host)")
            #expect(refusal(lan, ["Host": host, "Origin": "http://\(host)"]) == nil, "\(host)")
        }
        #expect(refusal(lan, ["Host": "192.0.2.8"]) == 421)
        let file = RequestGate(boundAddress: nil, allowedOrigins: [])
        #expect(refusal(file, ["Host": "whatever"]) == nil)
        #expect(refusal(file, [:]) == 400)
        #expect(refusal(file, ["Host": "localhost", "Origin": "https://evil.example"]) == 403)
    }

    @Test("a request has one Host and at most one Origin")
    func counts() {
        #expect(self.refusal([:]) == 400)
        #expect(self.refusal(HTTPHeaders([("Host", "localhost"), ("host", "localhost")])) == 400)
        #expect(self.refusal(["Host": "localhost", "Origin": "http://localhost", "origin": "http://localhost"]) == 403)
    }

    @Test(
        "pages of other machines are refused",
        arguments: [
            "null", "", "file://", "localhost", "http://example.org", "http://localhost@example.org",
            "http://localhost/x",
            "ftp://localhost", "http://127.0.0.1.example.org", "chrome-extension://localhost",
        ]
    )
    func refusesOrigins(origin: String) {
        #expect(self.refusal(["Host": "localhost", "Origin": origin]) == 403)
    }
}
