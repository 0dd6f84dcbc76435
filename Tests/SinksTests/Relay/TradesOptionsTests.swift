import NIOHTTP1
import Testing

@testable import Sinks

@Suite("What a client of Finnhub's protocol asks for in its URL")
struct TradesOptionsTests {
    @Test(
        "without a word everything is as with Finnhub",
        arguments: ["/", "/?", "/?token=abc", "/?token=a&other=1&snap", "/?=&&"]
    )
    func usual(uri: String) throws {
        #expect(try TradesRequestOptions(uri: uri) == TradesRequestOptions())
        #expect(TradesRequestOptions().overflow == .close && !TradesRequestOptions().snapshot)
    }

    @Test("what is known is read, in any order and percent-encoded")
    func known() throws {
        let options = try TradesRequestOptions(uri: "/?token=x&overflow=l%61test&snapshot=1")
        #expect(options.overflow == .latest)
        #expect(options.snapshot)
        #expect(try TradesRequestOptions(uri: "/?overflow=close&overflow=close&snapshot=0") == TradesRequestOptions())
    }

    @Test(
        "a bad value is refused",
        arguments: [
            "/?overflow=newest", "/?overflow=", "/?overflow", "/?snapshot=yes", "/?snapshot=1&snapshot=0",
            "/?overflow=%",
        ]
    )
    func bad(uri: String) {
        let refusal = #expect(throws: HTTPRefusal.self) { try TradesRequestOptions(uri: uri) }
        #expect(refusal?.status == .badRequest)
    }
}
