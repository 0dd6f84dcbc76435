import NIOCore
import Testing

@testable import NATS

@Suite struct KeyValueBucketTests {
    private func answer(_ text: String, _ change: (inout NATSMessage) -> Void = { _ in }) -> NATSMessage {
        var message = NATSMessage(subject: "_INBOX.a.1", payload: ByteBuffer(string: text))
        change(&message)
        return message
    }

    private func refusal(_ number: Int, _ text: String, code: Int = 400) -> String {
        #"{"type":"x","error":{"code":\#(code),"err_code":\#(number),"description":"\#(text)"}}"#
    }

    @Test("makes the requests of ADR-8")
    func requests() throws {
        var bucket = try #require(KeyValueBucket("leases-1"))
        bucket.timeToLive = .seconds(15)
        let creation = bucket.creation
        #expect(creation.subject.text == "$JS.API.STREAM.CREATE.KV_leases-1")
        let json = String(buffer: creation.payload)
        for member in [
            #""name":"KV_leases-1","subjects":["$KV.leases-1.>"]"#, #""max_msgs_per_subject":1"#,
            #""max_age":15000000000"#, #""storage":"file""#, #""discard":"new""#, #""allow_rollup_hdrs":true"#,
            #""deny_delete":true"#, #""allow_direct":true"#,
        ] {
            #expect(json.contains(member))
        }
        let put = try #require(bucket.put("a.b", ByteBuffer(string: "v"), expecting: 7))
        #expect(put.subject.text == "$KV.leases-1.a.b" && String(buffer: put.payload) == "v")
        #expect(put.headers.fields == [.init(name: "Nats-Expected-Last-Subject-Sequence", value: "7")])
        #expect(bucket.put("k", ByteBuffer(), expecting: nil)?.headers.isEmpty == true)
        #expect(bucket.delete("k", expecting: 8)?.headers["KV-Operation"] == "DEL")
        let get = try #require(bucket.get("k"))
        #expect(get.subject.text == "$JS.API.STREAM.MSG.GET.KV_leases-1")
        #expect(String(buffer: get.payload) == #"{"last_by_subj":"$KV.leases-1.k"}"#)
        #expect(bucket.getDirectly("k")?.subject.text == "$JS.API.DIRECT.GET.KV_leases-1.$KV.leases-1.k")
    }

    @Test("has no name and no key that would be another subject", arguments: ["", "a b", "a*", "a>", "é", "a\r\n"])
    func names(text: String) throws {
        #expect(KeyValueBucket(text) == nil && KeyValueBucket("a.b") == nil)
        let bucket = try #require(KeyValueBucket("b"))
        #expect(bucket.get(text) == nil && bucket.put(text, ByteBuffer(), expecting: 0) == nil)
        #expect(bucket.getDirectly(".a") == nil && bucket.delete("a..b", expecting: nil) == nil)
    }

    @Test("reads the answers of both kinds of get")
    func entries() throws {
        let stored = self.answer(
            #"{"type":"io.nats.jetstream.api.v1.stream_msg_get_response","message":{"subject":"$KV.b.k","seq":9,"#
                + #""hdrs":"TkFUUy8xLjANCktWLU9wZXJhdGlvbjogREVMDQoNCg==","data":"djE=","time":"2026-01-01T00:00:00Z"}}"#
        )
        let deleted = KeyValueBucket.Entry(revision: 9, value: ByteBuffer(string: "v1"), isDeleted: true)
        #expect(try KeyValueBucket.entry(stored) == deleted)
        #expect(try KeyValueBucket.entry(self.answer(self.refusal(10_037, "no message found", code: 404))) == nil)
        let direct = self.answer("v1") {
            $0.headers.add("Nats-Stream", "KV_b")
            $0.headers.add("Nats-Sequence", "9")
        }
        #expect(
            try KeyValueBucket.directEntry(direct)
                == KeyValueBucket.Entry(revision: 9, value: ByteBuffer(string: "v1"), isDeleted: false)
        )
        let missing = try NATSHeaders(ByteBuffer(string: "NATS/1.0 404 Message Not Found\r\n\r\n"))
        #expect(try KeyValueBucket.directEntry(self.answer("") { $0.headers = missing }) == nil)
        #expect(try KeyValueBucket.revision(self.answer(#"{"stream":"KV_b","seq":12}"#)) == 12)
    }

    @Test("tells another revision from a failure, each with its cure")
    func refusals() throws {
        let late = self.answer(self.refusal(10_071, "wrong last sequence: 5"))
        let failure = #expect(throws: JetStreamFailure.self) { try KeyValueBucket.revision(late) }
        guard case .refused(let refusal) = failure else { return #expect(Bool(false)) }
        #expect(refusal.isOtherRevision && refusal.code == 400)
        for (number, words) in [(10_058, "delete it"), (10_059, "does not exist"), (10_039, "enable it"), (1, "(1)")] {
            let failure = #expect(throws: JetStreamFailure.self) {
                try KeyValueBucket.created(self.answer(self.refusal(number, "x")))
            }
            #expect(failure?.description.contains(words) == true)
        }
    }

    @Test(
        "trusts no answer that it cannot read",
        arguments: [
            "", "{}", "[]", #"{"seq":-1}"#, #"{"seq":"1"}"#, #"{"message":{"seq":0}}"#,
            #"{"message":{"seq":1,"data":"*"}}"#,
            #"{"message":{"seq":1,"hdrs":"AAAA"}}"#, #"{"seq":1"#,
        ]
    )
    func malformed(text: String) {
        #expect(throws: JetStreamFailure.malformed) { try KeyValueBucket.revision(self.answer(text)) }
        #expect(throws: JetStreamFailure.malformed) { try KeyValueBucket.entry(self.answer(text)) }
        #expect(throws: JetStreamFailure.malformed) { try KeyValueBucket.directEntry(self.answer(text)) }
    }
}
