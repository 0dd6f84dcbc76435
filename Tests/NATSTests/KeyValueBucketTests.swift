import NIOCore
import Testing
import Wire

@testable import NATS

@Suite struct KeyValueBucketTests {
    private static let getType = #""type":"io.nats.jetstream.api.v1.stream_msg_get_response","#
    private static let createType = #""type":"io.nats.jetstream.api.v1.stream_create_response","#

    private func answer(_ text: String) -> NATSMessage {
        NATSMessage(subject: "_INBOX.a.1", payload: ByteBuffer(string: text))
    }

    private func refusal(_ number: Int, _ text: String, type: String = "", code: Int = 400) -> NATSMessage {
        self.answer(#"{\#(type)"error":{"code":\#(code),"err_code":\#(number),"description":"\#(text)"}}"#)
    }

    @Test("makes the requests of ADR-8")
    func requests() throws {
        let bucket = try #require(KeyValueBucket("leases-1"))
        let creation = bucket.creation(firstRevision: 1_795_936_868_671_000)
        #expect(creation.subject.text == "$JS.API.STREAM.CREATE.KV_leases-1")
        let json = String(buffer: creation.payload)
        for member in [
            #""name":"KV_leases-1","subjects":["$KV.leases-1.>"]"#, #""max_msgs_per_subject":1"#,
            #""max_age":0"#, #""storage":"file""#, #""discard":"new""#, #""allow_rollup_hdrs":true"#,
            #""deny_delete":true"#, #""allow_direct":true"#, #""first_seq":1795936868671000"#,
        ] {
            #expect(json.contains(member))
        }
        let put = try #require(bucket.put("a.b", ByteBuffer(string: "v"), expecting: 7))
        #expect(put.subject.text == "$KV.leases-1.a.b" && String(buffer: put.payload) == "v")
        #expect(put.headers.fields == [.init(name: "Nats-Expected-Last-Subject-Sequence", value: "7")])
        let get = try #require(bucket.get("k"))
        #expect(get.subject.text == "$JS.API.STREAM.MSG.GET.KV_leases-1")
        #expect(String(buffer: get.payload) == #"{"last_by_subj":"$KV.leases-1.k"}"#)
    }

    @Test("has no name and no key that would be another subject", arguments: ["", "a b", "a*", "a>", "é", "a\r\n"])
    func names(text: String) throws {
        #expect(KeyValueBucket(text) == nil && KeyValueBucket("a.b") == nil)
        let bucket = try #require(KeyValueBucket("b"))
        #expect(bucket.get(text) == nil && bucket.put(text, ByteBuffer(), expecting: 0) == nil)
        #expect(bucket.get(".a") == nil && bucket.put("a..b", ByteBuffer(), expecting: 1) == nil)
    }

    @Test("reads an entry, a deleted one and the marker of a removed one")
    func entries() throws {
        let bucket = try #require(KeyValueBucket("b"))
        for (headers, isDeleted) in [
            ("", false), ("KV-Operation: DEL\r\n", true), ("KV-Operation: PURGE\r\n", true),
            ("Nats-Marker-Reason: MaxAge\r\n", true), ("Token: x\r\n", false),
        ] {
            var block = ByteBuffer()
            Base64.write(ByteBuffer(string: "NATS/1.0\r\n\(headers)\r\n").readableBytesView, into: &block)
            let stored = self.answer(
                #"{\#(Self.getType)"message":{"subject":"$KV.b.k","seq":9,"hdrs":"\#(String(buffer: block))","#
                    + #""data":"djE=","time":"2026-01-01T00:00:00Z"}}"#
            )
            let entry = KeyValueBucket.Entry(revision: 9, value: ByteBuffer(string: "v1"), isDeleted: isDeleted)
            #expect(try bucket.entry(stored, of: "k") == entry)
        }
        let missing = self.refusal(10_037, "no message found", type: Self.getType, code: 404)
        #expect(try bucket.entry(missing, of: "k") == nil)
        #expect(try bucket.revision(self.answer(#"{"stream":"KV_b","seq":12}"#)) == 12)
        try bucket.created(self.answer(#"{\#(Self.createType)"config":{"name":"KV_b","max_age":0},"did_create":true}"#))
    }

    @Test("tells another revision from a failure, each with its cure")
    func refusals() throws {
        let bucket = try #require(KeyValueBucket("b"))
        for (number, isOther) in [(10_071, true), (10_164, true), (10_077, false)] {
            let late = self.refusal(number, "wrong last sequence: 5")
            let failure = #expect(throws: JetStreamFailure.self) { try bucket.revision(late) }
            guard case .refused(let refusal) = failure else { return #expect(Bool(false)) }
            #expect(refusal.isOtherRevision == isOther && refusal.code == 400)
        }
        for (number, words) in [(10_058, "delete it"), (10_059, "does not exist"), (10_039, "enable it"), (1, "(1)")] {
            let failure = #expect(throws: JetStreamFailure.self) {
                try bucket.created(self.refusal(number, "x", type: Self.createType))
            }
            #expect(failure?.description.contains(words) == true)
        }
    }

    @Test("takes no answer to another question, and none about another stream or key")
    func unrelated() throws {
        let bucket = try #require(KeyValueBucket("b"))
        for text in [
            #"{"stream":"KV_c","seq":12}"#, #"{"seq":12}"#, #"{\#(Self.getType)"stream":"KV_b","seq":12}"#,
            #"{"stream":"KV_c","seq":0,"error":{"code":400,"err_code":10071,"description":"x"}}"#,
        ] {
            #expect(throws: JetStreamFailure.unrelated) { try bucket.revision(self.answer(text)) }
        }
        for text in [
            #"{\#(Self.getType)"message":{"subject":"$KV.b.other","seq":9,"data":"djE="}}"#,
            #"{\#(Self.getType)"message":{"seq":9,"data":"djE="}}"#,
            #"{"message":{"subject":"$KV.b.k","seq":9,"data":"djE="}}"#,
        ] {
            #expect(throws: JetStreamFailure.unrelated) { try bucket.entry(self.answer(text), of: "k") }
        }
        // A refusal of another question does not say that the key is free, or that the write failed.
        let missing = self.refusal(10_037, "no message found")
        #expect(throws: JetStreamFailure.unrelated) { try bucket.entry(missing, of: "k") }
        let late = self.refusal(10_071, "x", type: Self.getType)
        #expect(throws: JetStreamFailure.unrelated) { try bucket.revision(late) }
        #expect(throws: JetStreamFailure.unrelated) {
            try bucket.created(self.answer(#"{\#(Self.createType)"config":{"name":"KV_c"}}"#))
        }
    }

    @Test(
        "trusts no answer that it cannot read",
        arguments: [
            "", "{}", "[]", #"{"seq":-1}"#, #"{"seq":"1"}"#, #"{TYPE"message":{"seq":0}}"#,
            #"{TYPE"message":{"subject":"$KV.b.k","seq":1,"data":"*"}}"#,
            #"{TYPE"message":{"subject":"$KV.b.k","seq":1,"hdrs":"AAAA"}}"#, #"{"seq":1"#, #"{"type":1}"#,
        ]
    )
    func malformed(text: String) throws {
        let bucket = try #require(KeyValueBucket("b"))
        #expect(throws: JetStreamFailure.self) {
            try bucket.revision(self.answer(text.replacing("TYPE", with: Self.getType)))
        }
        #expect(throws: JetStreamFailure.self) {
            try bucket.entry(self.answer(text.replacing("TYPE", with: Self.getType)), of: "k")
        }
        #expect(throws: JetStreamFailure.self) {
            try bucket.created(self.answer(text.replacing("TYPE", with: Self.createType)))
        }
    }
}
