import Testing
@testable import Market

@Suite("Percent-encoded text")
struct PercentTextTests {
    @Test("all bytes but unreserved characters are escaped, and decoding gives the text again")
    func encodes() {
        let texts = [
            ("", ""), ("azAZ09-._~", "azAZ09-._~"), ("BINANCE:BTC USD", "BINANCE%3ABTC%20USD"),
            ("a+b=c&d/?#%", "a%2Bb%3Dc%26d%2F%3F%23%25"),
            ("\u{0}\u{F}\u{7F}", "%00%0F%7F"), ("é€", "%C3%A9%E2%82%AC"),
        ]
        for (plain, encoded) in texts {
            #expect(PercentText.encoded(plain) == encoded)
            #expect(PercentText.decoded(encoded) == plain)
        }
    }

    @Test("both cases of digits are decoded, a plus sign stays, and malformed text is refused")
    func decodes() {
        #expect(PercentText.decoded("%e2%82%AC+%2b") == "€++")
        for text in ["%", "50%", "%2", "%2%", "%%", "%+f", "% 1", "%0x", "%g0", "%ff", "%C3"] {
            #expect(PercentText.decoded(text) == nil, "\(text)")
        }
    }

    @Test("a part of a query is a name and a value, with or without an equals sign")
    func pairs() throws {
        for (text, name, value) in [
            ("a=b", "a", "b"), ("a", "a", ""), ("a=", "a", ""), ("=b", "", "b"), ("a=b=c", "a", "b=c"),
            ("a%3D=%26", "a=", "&"),
        ] {
            let pair = try #require(PercentText.pair(text[...]))
            #expect(pair == (name, value), "\(text)")
        }
        #expect(PercentText.pair("a%=b") == nil && PercentText.pair("a=%b") == nil)
    }
}
