import NIOHTTP1
import Testing
@testable import WebSocket

@Suite struct WebSocketExtensionTests {
    typealias Parameter = WebSocketExtension.Parameter

    static let correct: [(values: [String], list: [WebSocketExtension])] = [
        ([], []), ([""], []), ([" , ,, "], []),
        (["foo"], [WebSocketExtension(name: "foo")]),
        (["foo , bar", "baz"], ["foo", "bar", "baz"].map { WebSocketExtension(name: $0) }),
        (
            ["foo; a; b=1;c=\"2\" ; d = \"\\x\\3\" , bar;a"],
            [
                WebSocketExtension(
                    name: "foo",
                    parameters: [
                        Parameter(name: "a"), Parameter(name: "b", value: "1"), Parameter(name: "c", value: "2"),
                        Parameter(name: "d", value: "x3"),
                    ]
                ),
                WebSocketExtension(name: "bar", parameters: [Parameter(name: "a")]),
            ]
        ),
        (["\tx-webkit-deflate-frame\t"], [WebSocketExtension(name: "x-webkit-deflate-frame")]),
    ]

    @Test(
        "A list is read with its parameters, over several headers, empty elements passed over",
        arguments: Self.correct
    )
    func reads(values: [String], list: [WebSocketExtension]) {
        #expect(WebSocketExtension.list(values) == list)
    }

    @Test(
        "What breaks the grammar is refused",
        arguments: [
            ";", "=", "foo;", "foo; ;a", "foo;=1", "foo; a=", "foo; a==1", "foo bar", "foo; a b", "foo; a=\"1",
            "foo; a=\"\"", "foo; a=\"1 2\"", "foo; a=\"1\"2", "foo; a=\"1\\", "foo; a=\"\\\"\"", "foo/1", "fö",
            "foo; a=1 2",
            "foo, \"bar\"", "(foo)",
        ]
    )
    func refuses(value: String) {
        #expect(WebSocketExtension.list([value]) == nil)
        #expect(WebSocketExtension.list(["good", value]) == nil)
    }
}

@Suite struct DeflateNegotiationTests {
    typealias Direction = DeflateAgreement.Direction

    private func answer(_ offer: String, _ policy: DeflatePolicy = DeflatePolicy()) -> String? {
        guard let list = WebSocketExtension.list([offer]) else { return "malformed" }
        return DeflateNegotiation.accept(list, policy)?.answer.headerValue
    }

    @Test("A plain offer is accepted, and both sides keep what they had")
    func acceptsPlain() throws {
        let offers = try #require(WebSocketExtension.list(["permessage-deflate"]))
        let accepted = try #require(DeflateNegotiation.accept(offers, DeflatePolicy()))
        #expect(accepted.answer.headerValue == "permessage-deflate")
        #expect(accepted.agreement == DeflateAgreement(fromServer: Direction(), fromClient: Direction()))
    }

    /// An offer, and the answer of a server without restrictions; `nil` declines the offer.
    static let offers: [(offer: String, answer: String?)] = [
        ("permessage-deflate; client_max_window_bits", "permessage-deflate"),
        ("permessage-deflate; client_max_window_bits=10", "permessage-deflate; client_max_window_bits=10"),
        ("permessage-deflate; server_max_window_bits=9", "permessage-deflate; server_max_window_bits=9"),
        ("permessage-deflate; server_max_window_bits=\"15\"", "permessage-deflate; server_max_window_bits=15"),
        ("permessage-deflate; server_no_context_takeover", "permessage-deflate; server_no_context_takeover"),
        ("permessage-deflate; client_no_context_takeover", "permessage-deflate; client_no_context_takeover"),
        ("permessage-deflate; client_max_window_bits=8", "permessage-deflate; client_max_window_bits=8"),
        // zlib cannot compress with a window of 256 bytes.
        ("permessage-deflate; server_max_window_bits=8", nil),
        ("permessage-deflate; server_max_window_bits=8, permessage-deflate", "permessage-deflate"),
        (
            "permessage-deflate; unknown, permessage-deflate; server_no_context_takeover, permessage-deflate",
            "permessage-deflate; server_no_context_takeover"
        ),
        ("x-webkit-deflate-frame, permessage-deflate", "permessage-deflate"),
        ("x-webkit-deflate-frame", nil), ("Permessage-Deflate", nil),
        ("permessage-deflate; server_no_context_takeover=1", nil),
        ("permessage-deflate; client_no_context_takeover=true", nil),
        ("permessage-deflate; server_max_window_bits", nil), ("permessage-deflate; server_max_window_bits=7", nil),
        ("permessage-deflate; server_max_window_bits=16", nil), ("permessage-deflate; server_max_window_bits=09", nil),
        ("permessage-deflate; server_max_window_bits=1e1", nil), ("permessage-deflate; client_max_window_bits=0", nil),
        ("permessage-deflate; client_max_window_bits=16", nil), ("permessage-deflate; client_max_window_bits=-9", nil),
        ("permessage-deflate; client_max_window_bits; client_max_window_bits=9", nil),
        ("permessage-deflate; server_no_context_takeover; server_no_context_takeover", nil),
    ]

    @Test("A server takes the first offer that it can meet, and declines what breaks a rule", arguments: Self.offers)
    func answers(offer: String, answer: String?) {
        #expect(self.answer(offer) == answer)
    }

    @Test("A server with small windows and no memory says so, but never what the client cannot understand")
    func answersWithWishes() {
        var policy = DeflatePolicy.shared
        policy.outgoing.windowBits = 11
        policy.incoming.windowBits = 10
        let wishes = "permessage-deflate; server_no_context_takeover; client_no_context_takeover"
        #expect(self.answer("permessage-deflate", policy) == wishes + "; server_max_window_bits=11")
        #expect(
            self.answer("permessage-deflate; client_max_window_bits", policy)
                == wishes + "; server_max_window_bits=11; client_max_window_bits=10"
        )
        #expect(
            self.answer("permessage-deflate; client_max_window_bits=9; server_max_window_bits=9", policy)
                == wishes + "; server_max_window_bits=9; client_max_window_bits=9"
        )
    }

    @Test("A client offers what it wants")
    func offersWishes() {
        #expect(
            DeflateNegotiation.offer(DeflatePolicy()).headerValue == "permessage-deflate; client_max_window_bits"
        )
        var policy = DeflatePolicy.shared
        policy.outgoing.windowBits = 9
        policy.incoming.windowBits = 10
        #expect(
            DeflateNegotiation.offer(policy).headerValue
                == "permessage-deflate; server_no_context_takeover; client_no_context_takeover"
                + "; server_max_window_bits=10; client_max_window_bits=9"
        )
    }

    private func taken(_ answer: String, _ policy: DeflatePolicy = DeflatePolicy()) -> DeflateAgreement? {
        WebSocketExtension.list([answer])?.first.flatMap { DeflateNegotiation.take($0, to: policy) }
    }

    @Test("A client is bound by what the server answers, asked for or not")
    func takesAnswer() {
        #expect(self.taken("permessage-deflate") == DeflateAgreement(fromServer: Direction(), fromClient: Direction()))
        #expect(
            self.taken(
                "permessage-deflate; server_no_context_takeover; client_no_context_takeover; server_max_window_bits=9"
                    + "; client_max_window_bits=8"
            )
                == DeflateAgreement(
                    fromServer: Direction(windowBits: 9, keepsContext: false),
                    fromClient: Direction(windowBits: 8, keepsContext: false)
                )
        )
        var small = DeflatePolicy()
        small.outgoing.windowBits = 10
        #expect(self.taken("permessage-deflate; client_max_window_bits=12", small)?.fromClient.windowBits == 10)
        #expect(self.taken("permessage-deflate", small)?.fromClient.windowBits == 10)
    }

    @Test("An answer that grants less than was asked for, or breaks a rule, is none")
    func refusesAnswer() {
        #expect(self.taken("permessage-deflate", .shared) == nil)
        #expect(self.taken("permessage-deflate; server_no_context_takeover", .shared) != nil)
        var small = DeflatePolicy()
        small.incoming.windowBits = 12
        #expect(self.taken("permessage-deflate", small) == nil)
        #expect(self.taken("permessage-deflate; server_max_window_bits=13", small) == nil)
        #expect(self.taken("permessage-deflate; server_max_window_bits=12", small)?.fromServer.windowBits == 12)
        for parameters in [
            "client_max_window_bits", "server_max_window_bits", "server_max_window_bits=16", "unknown",
            "client_no_context_takeover; client_no_context_takeover", "server_no_context_takeover=0",
        ] {
            #expect(self.taken("permessage-deflate; \(parameters)") == nil, "\(parameters)")
        }
    }

    private static let nonce: (UInt64, UInt64) = (1, 2)

    private func verdict(_ answers: [String], _ policy: DeflatePolicy?) -> ClientHandshake.Verdict {
        var headers: HTTPHeaders = [
            "Connection": "upgrade", "Upgrade": "websocket",
            "Sec-WebSocket-Accept": HandshakeKey.accept(for: HandshakeKey.encode(Self.nonce)),
        ]
        for answer in answers { headers.add(name: "Sec-WebSocket-Extensions", value: answer) }
        let request = WebSocketClientRequest(host: "x", target: "/")
        return ClientHandshake(request, compression: policy, nonce: Self.nonce)
            .check(HTTPResponseHead(version: .http1_1, status: .switchingProtocols, headers: headers))
    }

    @Test("A client takes one extension that it has offered, once, and fails the handshake otherwise")
    func checksWholeAnswer() {
        let agreement = DeflateAgreement(fromServer: Direction(), fromClient: Direction())
        let policy = DeflatePolicy()
        #expect(self.verdict(["permessage-deflate"], policy) == .accepted(agreement))
        #expect(self.verdict([], policy) == .accepted(nil))
        #expect(self.verdict([], nil) == .accepted(nil))
        let wrongs: [([String], DeflatePolicy?)] = [
            (["permessage-deflate"], nil), (["other"], policy), (["permessage-deflate, permessage-deflate"], policy),
            (["permessage-deflate", "permessage-deflate"], policy), (["permessage-deflate; unknown"], policy),
            (["permessage-deflate;"], policy), ([";"], nil),
        ]
        for (answers, policy) in wrongs {
            guard case .invalid = self.verdict(answers, policy) else {
                Issue.record("\(answers) was taken")
                continue
            }
        }
    }
}
