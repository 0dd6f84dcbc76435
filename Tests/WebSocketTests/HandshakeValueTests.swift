import NIOCore
import NIOHTTP1
import Testing
@testable import WebSocket

@Suite struct HandshakeValueTests {
    @Test("SHA-1 gives the digests of its standard, at every padding")
    func digests() {
        func hex(_ text: String) -> String {
            SHA1.digest(text.utf8).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        }
        #expect(hex("") == "da39a3ee5e6b4b0d3255bfef95601890afd80709")
        #expect(hex("abc") == "a9993e364706816aba3e25717850c26c9cd0d89d")
        #expect(
            hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")
                == "84983e441c3bd26ebaae4aa1f95129e5e54670f1"
        )
        #expect(hex(String(repeating: "a", count: 55)) == "c1c8bbdc22796e28c0e15163d20899b65621d65a")
        #expect(hex(String(repeating: "a", count: 64)) == "0098ba824b5c16427bd7a1122a5a442a25ec644d")
    }

    @Test("The accept value is that of RFC 6455's own example")
    func accepts() {
        #expect(HandshakeKey.accept(for: "dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        #expect(HandshakeKey.encode((0, 0)) == "AAAAAAAAAAAAAAAAAAAAAA==")
        #expect(HandshakeKey.isValid(Substring(HandshakeKey.encode((.max, 1)))))
        #expect(!HandshakeKey.isValid("dGhlIHNhbXBsZSBub25jZQ="))
        #expect(!HandshakeKey.isValid("dGhlIHNhbXBsZSBub25j"))
        #expect(!HandshakeKey.isValid("dGhlIHNhbXBsZSBub25 ZQ=="))
    }

    static let badHeads = [
        "HTTP/1.1\r\n", "HTTP/2 200 OK\r\n", "HTTP/1.1 20 OK\r\n", "HTTP/1.1 abc OK\r\n", "HTTP/1.1 099 OK\r\n", "\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n", "HTTP/1.1 200 OK\r\n: empty\r\n", "HTTP/1.1 200 OK\r\nA : b\r\n",
        "HTTP/1.1 200 OK\r\n folded: x\r\n", "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n", "HTTP/1.1 200 OK\nA: b\r\n",
        "HTTP/1.1 200 OK\r\nA: b\rc\r\n", "HTTP/1.1 200 OK\r\nA: \u{0}\r\n", "HTTP/1.1 200 O\u{1}K\r\n",
    ]

    @Test("A malformed response head is refused", arguments: Self.badHeads)
    func refusesHead(text: String) {
        #expect(throws: HTTPHeadParser.Malformed.self) { try HTTPHeadParser.response(ByteBuffer(string: text)) }
    }

    @Test("A head is found at every cut, and what is behind it is given back")
    func findsHead() {
        let head = "HTTP/1.1 200 OK\r\nA:  b \r\nA: c\r\n"
        for pieces in cuts(of: Array("\(head)\r\nrest\r\n\r\n".utf8)) {
            var reader = HTTPHeadReader(maximumBytes: head.utf8.count + 2)
            var rest: [UInt8]?
            for piece in pieces {
                if rest != nil {
                    rest? += piece
                } else if case .complete(let found, let behind) = reader.append(ByteBuffer(bytes: piece)) {
                    #expect(String(buffer: found) == head)
                    rest = Array(behind.readableBytesView)
                }
            }
            #expect(rest == Array("rest\r\n\r\n".utf8))
        }
        let parsed = try? HTTPHeadParser.response(ByteBuffer(string: head))
        #expect(parsed?.headers["a"] == ["b", "c"])
    }

    @Test("A head over the limit is told, whether its end has come or not")
    func limitsHead() {
        let head = "HTTP/1.1 200 OK\r\n\r\n"
        var reader = HTTPHeadReader(maximumBytes: head.utf8.count - 1)
        #expect(reader.append(ByteBuffer(string: head)) == .tooLarge)
        reader = HTTPHeadReader(maximumBytes: 8)
        #expect(reader.append(ByteBuffer(string: "12345678")) == .needsMoreBytes)
        #expect(reader.append(ByteBuffer(string: "9")) == .tooLarge)
    }

    static let bodies: [(headers: HTTPHeaders, wire: String, text: String, isWhole: Bool)] = [
        (["Content-Length": "5"], "helloXX", "hello", true), (["Content-Length": "0"], "", "", true),
        (["Content-Length": "9"], "hello", "hello", false), ([:], "until the end", "until the end", false),
        (["Transfer-Encoding": "chunked"], "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n", "abcde", true),
        (["Transfer-Encoding": "Chunked"], "3\r\nabc\r\n2\r\nd", "abcd", false),
        (["Transfer-Encoding": "chunked"], "zz\r\nabc", "", true),
        ([:], String(repeating: "x", count: 200), String(repeating: "x", count: 100), true),
        (["Content-Length": "200"], String(repeating: "x", count: 200), String(repeating: "x", count: 100), true),
        (
            ["Transfer-Encoding": "chunked"], "96\r\n" + String(repeating: "x", count: 150) + "\r\n0\r\n\r\n",
            String(repeating: "x", count: 100), true
        ),
        (["Content-Length": "-1"], "abc", "abc", false),
        (["Transfer-Encoding": "chunked"], "ffffffffffffffff\r\nabc", "", true),
        (["Transfer-Encoding": "chunked"], "7fffffffffffffff\r\nabc", "abc", false),
    ]

    @Test("A refusal's body is read in every framing, at every cut, within its limit", arguments: Self.bodies)
    func readsBody(headers: HTTPHeaders, wire: String, text: String, isWhole: Bool) {
        let head = HTTPResponseHead(version: .http1_1, status: .forbidden, headers: headers)
        for pieces in cuts(of: Array(wire.utf8)) {
            var body = RefusalBody(of: head, maximumBytes: 100)
            var isDone = false
            for piece in pieces where !isDone { isDone = body.append(ByteBuffer(bytes: piece)) }
            if pieces.isEmpty { isDone = body.append(ByteBuffer()) }
            #expect(isDone == isWhole)
            #expect(body.text == text)
        }
    }
}

@Suite struct ClientHandshakeTests {
    private let handshake: ClientHandshake = {
        var request = WebSocketClientRequest(host: "example.org", target: "/?token=secret")
        request.subprotocols = ["one", "two"]
        return ClientHandshake(request, nonce: (1, 2))
    }()

    private func answer(_ change: (inout HTTPHeaders) -> Void = { _ in }, status: Int = 101) -> HTTPResponseHead {
        var headers: HTTPHeaders = [
            "Connection": "upgrade", "Upgrade": "websocket",
            "Sec-WebSocket-Accept": HandshakeKey.accept(for: HandshakeKey.encode((1, 2))),
        ]
        change(&headers)
        return HTTPResponseHead(version: .http1_1, status: .init(statusCode: status), headers: headers)
    }

    @Test("A correct answer is accepted, in any case of letters and among other words")
    func accepts() {
        #expect(self.handshake.check(self.answer()) == .accepted(nil))
        let shouted = self.answer {
            $0.replaceOrAdd(name: "CONNECTION", value: "keep-alive, UPGRADE")
            $0.replaceOrAdd(name: "upgrade", value: "WebSocket")
            $0.add(name: "sec-websocket-protocol", value: "two")
        }
        #expect(self.handshake.check(shouted) == .accepted(nil))
    }

    @Test("Another status is a refusal")
    func refuses() {
        for status in [200, 301, 401, 403, 429, 500, 524] {
            #expect(self.handshake.check(self.answer(status: status)) == .refused)
        }
    }

    @Test("A 101 of HTTP/1.0, which has none, is invalid")
    func refusesOldVersion() {
        var head = self.answer()
        head.version = .http1_0
        #expect(self.handshake.check(head) == .invalid("a 101 of HTTP/1.0"))
    }

    static let wrongs: [(name: String, value: String?)] = [
        ("Upgrade", nil), ("Upgrade", "h2c"), ("Connection", nil), ("Connection", "close"),
        ("Sec-WebSocket-Accept", nil),
        ("Sec-WebSocket-Accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), ("Sec-WebSocket-Extensions", "permessage-deflate"),
        ("Sec-WebSocket-Protocol", "three"), ("Sec-WebSocket-Protocol", ""), ("Sec-WebSocket-Protocol", "one, two"),
    ]

    @Test("An answer that breaks a rule is invalid", arguments: Self.wrongs)
    func findsWrong(name: String, value: String?) {
        let head = self.answer {
            $0.remove(name: name)
            if let value { $0.add(name: name, value: value) }
        }
        guard case .invalid = self.handshake.check(head) else {
            Issue.record("\(name): \(value ?? "missing") was taken")
            return
        }
    }

    @Test("Two accept values or two subprotocols are invalid")
    func refusesDoubles() {
        for name in ["Sec-WebSocket-Accept", "Sec-WebSocket-Protocol"] {
            let head = self.answer {
                $0.replaceOrAdd(name: "Sec-WebSocket-Protocol", value: "one")
                $0.add(name: name, value: $0.first(name: name) ?? "")
            }
            #expect(self.handshake.check(head) != .accepted(nil))
        }
    }

    @Test("What could smuggle a header or a second request is refused, without repeating it")
    func refusesSmuggling() throws {
        func error(_ change: (inout WebSocketClientRequest) -> Void) -> WebSocketUpgradeError? {
            var request = WebSocketClientRequest(host: "example.org", target: "/")
            change(&request)
            do throws(WebSocketUpgradeError) {
                _ = try ClientHandshake(request, nonce: (0, 0)).encoded(allocator: ByteBufferAllocator())
                return nil
            } catch { return error }
        }
        #expect(error { _ in } == nil)
        #expect(error { $0.target = "/ HTTP/1.1\r\nX: y" } == .invalidRequest("target"))
        #expect(error { $0.target = "" } == .invalidRequest("target"))
        #expect(error { $0.host = "a\r\nb" } == .invalidRequest("host"))
        #expect(error { $0.headers = [("A", "b\r\nC: d")] } == .invalidRequest("header"))
        #expect(error { $0.headers = [("A:", "b")] } == .invalidRequest("header"))
        #expect(error { $0.subprotocols = ["a,b"] } == .invalidRequest("subprotocol"))
    }

    @Test("Neither the description nor a dump of a request shows its target or headers")
    func hidesSecrets() {
        var request = WebSocketClientRequest(host: "example.org", target: "/?token=s3cr3t")
        request.headers = [("X-Token", "s3cr3t")]
        var dumped = ""
        dump(request, to: &dumped)
        for text in [dumped, "\(request)", String(reflecting: request)] { #expect(!text.contains("s3cr3t")) }
    }
}

@Suite struct WebSocketServerHandshakeTests {
    private func request(
        _ method: HTTPMethod = .GET,
        _ change: (inout HTTPHeaders) -> Void = { _ in }
    ) -> HTTPRequestHead {
        var headers: HTTPHeaders = [
            "Host": "x", "Connection": "keep-alive, Upgrade", "Upgrade": "WebSocket", "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        ]
        change(&headers)
        return HTTPRequestHead(version: .http1_1, method: method, uri: "/", headers: headers)
    }

    private func status(_ head: HTTPRequestHead) -> UInt? {
        if case .failure(let refusal) = WebSocketServerHandshake.check(head) { refusal.status.code } else { nil }
    }

    @Test("A correct request is accepted with the headers of the 101")
    func accepts() throws {
        let accepted = try WebSocketServerHandshake.check(self.request()).get()
        #expect(accepted.responseHeaders["Sec-WebSocket-Accept"] == ["s3pPLMBiTxaQ9kYGzzhZRbK+xOo="])
        #expect(accepted.responseHeaders["Upgrade"] == ["websocket"])
    }

    @Test("Wrong requests get the status that fits")
    func refuses() {
        #expect(self.status(self.request(.POST)) == 405)
        #expect(self.status(self.request { $0.remove(name: "Upgrade") }) == 426)
        #expect(self.status(self.request { $0.replaceOrAdd(name: "Sec-WebSocket-Version", value: "8") }) == 426)
        #expect(self.status(self.request { $0.remove(name: "Sec-WebSocket-Version") }) == 426)
        #expect(self.status(self.request { $0.remove(name: "Connection") }) == 400)
        #expect(self.status(self.request { $0.remove(name: "Host") }) == 400)
        #expect(self.status(self.request { $0.add(name: "Host", value: "y") }) == 400)
        #expect(self.status(self.request { $0.remove(name: "Sec-WebSocket-Key") }) == 400)
        #expect(self.status(self.request { $0.replaceOrAdd(name: "Sec-WebSocket-Key", value: "short") }) == 400)
        #expect(
            self.status(self.request { $0.add(name: "Sec-WebSocket-Key", value: "dGhlIHNhbXBsZSBub25jZQ==") }) == 400
        )
        var old = self.request()
        old.version = .http1_0
        #expect(self.status(old) == 400)
    }
}
