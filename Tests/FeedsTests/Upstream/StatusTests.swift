import Market
import NIOHTTP1
import Testing
@testable import Feeds

@Suite("The meaning of an answer that is not 101")
struct StatusTests {
    private func failure(_ status: Int, _ headers: HTTPHeaders = [:], body: String = "") -> UpstreamFailure {
        UpstreamFailure(status: .init(statusCode: status), headers: headers, body: body, now: Attempt.now)
    }

    static let statuses: [(status: Int, body: String, words: String)] = [
        (
            200, "<html><title>Welcome</title>",
            "answered HTTP 200 instead of opening a WebSocket: a page of HTML, \"Welcome\""
        ),
        (200, "hello", "answered HTTP 200 instead of opening a WebSocket: hello"),
        (204, "", "answered HTTP 204 instead of opening a WebSocket"),
        (302, "", "redirects (HTTP 302), which is not followed"),
        (400, "bad", "does not understand the request (HTTP 400: bad)"),
        (404, "", "has nothing at this path (HTTP 404)"), (426, "", "requires another protocol (HTTP 426)"),
        (418, "teapot", "refused the connection (HTTP 418: teapot)"),
        (500, "", "is down (HTTP 500)"),
        (502, " \n<HTML><TITLE>502</TITLE>", "is down (HTTP 502: a page of HTML, \"502\")"),
        (503, "", "is down (HTTP 503)"), (504, "", "is down (HTTP 504)"),
        (520, "error code: 520", "got a broken answer"), (521, "", "refused by it (HTTP 521)"),
        (522, "", "cannot connect to it in time (HTTP 522)"), (523, "", "has no way to it (HTTP 523)"),
        (524, "<html>", "got no answer from it in time (HTTP 524)"), (525, "", "TLS (HTTP 525)"),
    ]

    @Test("is classified, and retried by the backoff", arguments: Self.statuses)
    func named(status: Int, body: String, words: String) {
        let failure = self.failure(status, body: body)
        #expect(failure.description.contains(words), "\(failure)")
        #expect(failure.disposition == .retry)
        #expect(failure.retryAfter == nil)
    }

    @Test("401 and 403 of the service are about the key, and say which setting to change")
    func key() {
        for status in [401, 403] {
            let failure = self.failure(status, body: #"{"error":"Invalid API key"}"#)
            #expect(failure.disposition == .keyRejected)
            #expect(failure.description.contains("FINNHUB_TOKEN"))
            #expect(failure.description.contains(#"HTTP \#(status): {"error":"Invalid API key"}"#))
        }
    }

    @Test("a relay's refusal is quoted as text, not as JSON; one about the token names the setting")
    func relay() {
        let plain = self.failure(
            400,
            body: #"{"type":"tls-required","message":"this port speaks TLS","cure":"use https:// or wss://"}"# + "\n"
        )
        #expect(plain.description.contains("(HTTP 400: this port speaks TLS; use https:// or wss://)"), "\(plain)")
        let missing = self.failure(401, body: #"{"type":"token-missing","message":"m","cure":"c"}"#)
        #expect(missing.description == "the relay requires its token (HTTP 401): set relay.token-file as for the relay")
        let wrong = self.failure(401, body: #"{"type":"token-wrong","message":"m","cure":"c"}"#)
        #expect(wrong.description.contains("does not accept this token"))
        #expect(missing.disposition == .retry && wrong.disposition == .retry)
        for other in [#"{"message":"m"}"#, #"{"message":"m","cure":7}"#, #"{"message":"m","cure":"c""#] {
            #expect(self.failure(400, body: other).description.contains("(HTTP 400: \(other))"))
        }
    }

    @Test("a refusal by the edge says nothing about the key")
    func edge() {
        let page = #"<html><title>Access denied</title><span class="cf-error-code">1020</span>"#
        #expect(
            self.failure(403, body: page)
                == UpstreamFailure(
                    "the edge in front of the service refuses this program by one of its rules (HTTP 403, Cloudflare error 1020)",
                    cause: .refusedStatus
                )
        )
        #expect(self.failure(403, body: "error code: 1006").description.contains("has banned this machine's address"))
        #expect(self.failure(403, ["cf-mitigated": "challenge"], body: "<html>").disposition == .retry)
        let limited = self.failure(429, ["Retry-After": "30"], body: "error code: 1015")
        #expect(limited.disposition == .rateLimited(retryAfter: 30_000_000_000))
        #expect(limited.description.contains("too many connections from this machine"))
        for body in [
            "error code: 9999", "error code: ", "error code: 10150", "error code: x",
            "error code: 999999999999999999999",
        ] {
            #expect(self.failure(403, body: body).disposition == .keyRejected, "\(body)")
        }
    }

    @Test("429 waits as long as it asks for, and otherwise by the backoff")
    func rateLimited() {
        let waits: [(String?, Int64?)] = [
            ("17", 17), ("Mon, 01 Jan 2024 00:00:42 GMT", 42), ("999999999999999999999", 259_200), (nil, nil),
            ("-5", nil),
            ("0", nil), ("later", nil),
        ]
        for (text, seconds) in waits {
            let failure = self.failure(429, text.map { ["Retry-After": $0] } ?? [:], body: "API limit reached.")
            let wait = seconds.map { $0 * 1_000_000_000 }
            #expect(failure.disposition == .rateLimited(retryAfter: wait))
            #expect(failure.retryAfter == wait)
            #expect(
                failure.description
                    == "too many connections (HTTP 429: API limit reached.); is the key in use elsewhere?"
            )
        }
        #expect(self.failure(429, body: "Please sign up for a free account").description.hasSuffix("is the key set?"))
    }

    @Test("a redirect is named by its host alone, and not at all without a valid host")
    func redirects() {
        let places: [(String, String?)] = [
            ("https://example.com/?token=s3cr3t", "https://example.com"),
            ("//example.com?token=s3cr3t", "//example.com"),
            ("wss://s3cr3t:s3cr3t@example.com:8443#s3cr3t", "wss://example.com:8443"),
            ("http://[::1]:80/s3cr3t", "http://[::1]:80"),
            ("https://example.com\\s3cr3t", "https://example.com"), ("/?token=s3cr3t", nil), ("", nil),
            ("https://", nil),
            ("https://a b/s3cr3t", nil), ("javascript://s3cr3t", nil), ("https://\u{1b}[2J", nil),
            ("/login?next=https://x.test/s3cr3t", nil), ("https://" + String(repeating: "a", count: 254), nil),
        ]
        for (location, host) in places {
            #expect(AnswerText.redirection(["Location": location]) == host, "\(location)")
            #expect(!self.failure(302, ["Location": location]).description.contains("s3cr3t"), "\(location)")
        }
    }

    @Test("any body becomes one short printable line")
    func bodies() {
        #expect(AnswerText.line(of: "\u{FEFF}\r\n  one\r\ntwo") == "one")
        #expect(AnswerText.line(of: "a\u{1b}[31mb\u{9b}c\u{202e}d\u{0}e") == "a␛[31mb\u{FFFD}c\u{FFFD}d␀e")
        #expect(AnswerText.line(of: String(repeating: "x", count: 5_000)).count == 120)
        #expect(AnswerText.line(of: "<html>") == "a page of HTML")
        #expect(AnswerText.line(of: "<title") == "a page of HTML")
        #expect(AnswerText.line(of: "<title>" + String(repeating: "x", count: 5_000)).count < 110)
        #expect(AnswerText.line(of: "") == "")
    }
}
