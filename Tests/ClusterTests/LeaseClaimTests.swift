import NIOCore
import Testing

@testable import Cluster

@Suite struct LeaseClaimTests {
    private let claim = LeaseClaim(.held, holder: "a\n", host: "h", token: "t-1", epoch: 1_790_000_000_000, since: "s")

    @Test("is one line of JSON, and the same when it is read")
    func line() throws {
        let json = String(buffer: self.claim.json)
        #expect(
            json
                == #"{"lease":1,"state":"held","holder":"a\n","host":"h","since":"s","epoch":1790000000000,"token":"t-1"}"#
        )
        for state in [LeaseClaim.State.held, .released, .vacant] {
            var claim = self.claim
            claim.state = state
            #expect(LeaseClaim(claim.json) == claim)
        }
        let longer = #"{"more":[{}],"also":null,"# + json.dropFirst()
        #expect(LeaseClaim(ByteBuffer(string: longer)) == self.claim)
    }

    @Test(
        "does not read what another program or version wrote",
        arguments: [
            "", "null", "[]", "{", "{}", "x",
            #"{"lease":2,"state":"held","holder":"a","host":"h","since":"s","epoch":1,"token":"t"}"#,
            #"{"lease":1,"state":"asleep","holder":"a","host":"h","since":"s","epoch":1,"token":"t"}"#,
            #"{"lease":1,"state":"held","holder":"a","host":"h","since":"s","epoch":1,"token":""}"#,
            #"{"lease":1,"state":"held","holder":"a","host":"h","since":"s","epoch":-1,"token":"t"}"#,
            #"{"lease":1,"state":"held","holder":"a","host":"h","since":"s","epoch":9007199254740992,"token":"t"}"#,
            #"{"lease":1,"state":"held","holder":1,"host":"h","since":"s","epoch":1,"token":"t"}"#,
            #"{"lease":1,"state":"held","holder":"a","host":"h","since":"s","epoch":1,"token":"t"} "x""#,
        ]
    )
    func foreign(text: String) { #expect(LeaseClaim(ByteBuffer(string: text)) == nil) }

    @Test("does not read more than its limit")
    func long() {
        var claim = self.claim
        claim.host = String(repeating: "h", count: LeaseClaim.maximumBytes)
        #expect(LeaseClaim(claim.json) == nil)
    }
}
