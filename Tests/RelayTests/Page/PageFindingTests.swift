import Testing
import TickertapeTesting

/// `finding.js`, run by node.
@Suite(
    "The page's news and symbols",
    .timeLimit(.minutes(2 * Patience.factor)),
    .enabled(if: pageNode != nil, "no node here: scripts/setup --tests installs Debian's package")
)
struct PageFindingTests {
    @Test("each refusal of the relay is a sentence, with its time and what to do")
    func failures() async throws {
        let lines = try await PagePastTests().printed(
            """
            import { failureWords } from "./finding.js";
            const types = ["no-key", "key-rejected", "not-permitted", "unreachable", "unreadable-answer", "no-such-publisher"];
            for (const type of types) console.log(failureWords({ type, message: "why", cure: "what" }));
            console.log(failureWords({ type: "rate-limited", message: "why", cure: "what", retryAt: 1704067230000 }));
            console.log(failureWords({ type: "no-key", message: "no key is set", cure: "set one" }));
            console.log(failureWords({ type: "bad-query", message: "why" }));
            console.log(failureWords({ type: "constructor" }));
            console.log(failureWords({}));
            """
        )
        #expect(
            lines == [
                "No key: why: what", "Key rejected: why: what", "Not permitted: why: what",
                "Service unreachable: why: what", "Unreadable answer: why: what", "No such exchange: why: what",
                "Rate limited until 00:00:30 UTC: why: what", "No key is set: set one", "Refused: why", "Refused",
                "Refused",
            ]
        )
    }

    @Test("only web addresses become links")
    func links() async throws {
        let lines = try await PagePastTests().printed(
            #"""
            import { webAddress } from "./finding.js";
            const texts = ["https://a.example/b?c=d", "HTTP://a.example", "javascript:alert(1)", "data:text/html,x", "//a.example",
                "/v1/status", "ftp://a.example", "java\nscript:x", " https://a.example/ ", "", "blob:https://a.example/x"];
            for (const text of texts) console.log(webAddress(text));
            """#
        )
        #expect(
            lines == [
                "https://a.example/b?c=d", "http://a.example/", "null", "null", "null", "null", "null", "null",
                "https://a.example/", "null", "null",
            ]
        )
    }

    @Test("what is typed is sent percent-encoded, without empty parts, and what is before a colon is the exchange")
    func targets() async throws {
        let lines = try await PagePastTests().printed(
            """
            import { newsTarget, symbolsTarget } from "./finding.js";
            console.log(newsTarget("", ""));
            console.log(newsTarget("A & B", " bitcoin etf "));
            for (const typed of ["btc", "KRAKEN:xbt", "kraken:", ":x", "IC MARKETS:1:2"]) console.log(symbolsTarget(typed));
            """
        )
        #expect(
            lines == [
                "/v1/news?limit=100", "/v1/news?publisher=A%20%26%20B&text=bitcoin%20etf&limit=100",
                "/v1/symbols?text=btc&limit=8", "/v1/symbols?publisher=KRAKEN&text=xbt&limit=8",
                "/v1/symbols?publisher=kraken&limit=8", "/v1/symbols?text=x&limit=8",
                "/v1/symbols?publisher=IC%20MARKETS&text=1%3A2&limit=8",
            ]
        )
    }
}
