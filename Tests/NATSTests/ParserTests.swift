import Market
import NIOCore
import TLS
import Testing

@testable import NATS

/// Reads all operations of a text that arrives in these pieces.
func operations(_ pieces: [String], limits: ServerOperationParser.Limits = .init()) throws -> [ServerOperation] {
    try operations(pieces.map { ByteBuffer(string: $0) }, limits: limits)
}

func operations(_ pieces: [ByteBuffer], limits: ServerOperationParser.Limits = .init()) throws -> [ServerOperation] {
    var parser = ServerOperationParser(limits: limits)
    var found: [ServerOperation] = []
    for piece in pieces {
        parser.take(piece)
        while let operation = try parser.next() { found.append(operation) }
    }
    return found
}

@Suite struct ServerOperationParserTests {
    private static let all = """
        INFO {"server_id":"NA","version":"2.9.10","headers":true,"max_payload":1048576,"jetstream":true,\
        "connect_urls":["10.0.0.1:4222","[::1]:4222"],"nonce":"abc","x":{"y":[1,null]},"ldm":false}\r
        +OK\r
        PING\r
        MSG a.b 9 5\r
        hello\r
        pong\r
        MSG\ta.b  12 _INBOX.x.1 0\r
        \r
        HMSG a 1 23 30\r
        NATS/1.0\r
        Header: X\r
        \r
        PAYLOAD\r
        HMSG _INBOX.x.2 2 16 16\r
        NATS/1.0 503\r
        \r
        \r
        -ERR 'Authorization Violation'\r

        """

    private func expected() -> [ServerOperation] {
        var info = ServerInformation()
        info.serverID = "NA"
        info.version = "2.9.10"
        info.supportsHeaders = true
        info.hasJetStream = true
        info.clusterAddresses = ["10.0.0.1:4222", "[::1]:4222"]
        info.nonce = "abc"
        var headers = NATSHeaders()
        headers.add("Header", "X")
        let unavailable = try? NATSHeaders(ByteBuffer(string: "NATS/1.0 503\r\n\r\n"))
        return [
            .info(info), .ok, .ping,
            .message(NATSMessage(subject: "a.b", payload: ByteBuffer(string: "hello")), subscription: 9),
            .pong,
            .message(NATSMessage(subject: "a.b", reply: "_INBOX.x.1", payload: ByteBuffer()), subscription: 12),
            .message(
                NATSMessage(subject: "a", headers: headers, payload: ByteBuffer(string: "PAYLOAD")),
                subscription: 1
            ),
            .message(
                NATSMessage(subject: "_INBOX.x.2", headers: unavailable ?? NATSHeaders(), payload: ByteBuffer()),
                subscription: 2
            ),
            .error(ServerRefusal("Authorization Violation")),
        ]
    }

    @Test("reads every operation, however the bytes are cut")
    func cuts() throws {
        let text = ByteBuffer(string: Self.all)
        #expect(try operations([text]) == self.expected())
        #expect(try operations(text.readableBytesView.map { ByteBuffer(bytes: [$0]) }) == self.expected())
        for cut in 1..<text.readableBytes {
            let first = try #require(text.getSlice(at: 0, length: cut))
            let second = try #require(text.getSlice(at: cut, length: text.readableBytes - cut))
            #expect(try operations([first, second]) == self.expected(), "cut at \(cut)")
        }
    }

    @Test("reads the examples of the reference of the protocol")
    func reference() throws {
        // docs.nats.io, "Client Protocol".
        let text = """
            INFO {"server_id":"Zk0GQ3JBSrg3oyxCRRlE09","version":"1.2.0","proto":1,"go":"go1.10.3","host":"0.0.0.0",\
            "port":4222,"max_payload":1048576,"client_id":2392}\r
            MSG FOO.BAR 9 11\r
            Hello World\r
            MSG FOO.BAR 9 INBOX.34 11\r
            Hello World\r
            HMSG FOO.BAR 8 34 45\r
            NATS/1.0\r
            FoodGroup: vegetable\r
            \r
            Hello World\r
            HMSG FOO.BAR 9 INBOX.69 34 45\r
            NATS/1.0\r
            FoodGroup: vegetable\r
            \r
            Hello World\r
            PING\r
            PING\r
            +OK\r
            -ERR 'Stale Connection'\r

            """
        var info = ServerInformation()
        info.serverID = "Zk0GQ3JBSrg3oyxCRRlE09"
        info.version = "1.2.0"
        var headers = NATSHeaders()
        headers.add("FoodGroup", "vegetable")
        func message(reply: String? = nil, _ headers: NATSHeaders = NATSHeaders()) -> NATSMessage {
            NATSMessage(
                subject: "FOO.BAR",
                reply: reply,
                headers: headers,
                payload: ByteBuffer(string: "Hello World")
            )
        }
        #expect(
            try operations([text]) == [
                .info(info), .message(message(), subscription: 9),
                .message(message(reply: "INBOX.34"), subscription: 9), .message(message(headers), subscription: 8),
                .message(message(reply: "INBOX.69", headers), subscription: 9), .ping, .ping, .ok,
                .error(ServerRefusal("Stale Connection")),
            ]
        )
        // The page has this example without the subscription's number.
        #expect(throws: NATSViolation.malformed(operation: "HMSG")) {
            try operations(["HMSG FOO.BAR 34 45\r\nNATS/1.0\r\nFoodGroup: vegetable\r\n\r\nHello World\r\n"])
        }
        // What is in INFO behind TLS, a cluster or lame duck mode.
        let more = #"INFO {"connect_urls":["10.0.0.184:4333","192.168.129.1:4333","192.168.192.1:4333"],"ldm":true}"#
        guard case .info(let changed) = try operations([more + "\r\n"])[0] else { return #expect(Bool(false)) }
        #expect(changed.isLeaving && changed.clusterAddresses.count == 3)
    }

    @Test("gives a payload of one read without a copy, and copies one of several reads once")
    func copies() throws {
        let read = ByteBuffer(string: "MSG a 1 6\r\nabcdef\r\n")
        var parser = ServerOperationParser()
        parser.take(read)
        guard case .message(let whole, _) = try parser.next() else { return #expect(Bool(false)) }
        let start = whole.payload.withUnsafeReadableBytes { $0.baseAddress }
        #expect(start == read.withUnsafeReadableBytes { $0.baseAddress.map { $0 + 11 } })

        parser.take(ByteBuffer(string: "MSG a 1 60000\r\n"))
        #expect(try parser.next() == nil)
        for _ in 0..<60 {
            #expect(!parser.isBetweenOperations)
            parser.take(ByteBuffer(repeating: 0x61, count: 1_000))
            #expect(try parser.next() == nil)
        }
        parser.take(ByteBuffer(string: "\r\n"))
        guard case .message(let cut, _) = try parser.next() else { return #expect(Bool(false)) }
        #expect(cut.payload.readableBytes == 60_000)
        // Room for the message alone: it was never moved.
        #expect(cut.payload.capacity < 1 << 17)
        #expect(parser.isBetweenOperations)
    }

    @Test(
        "refuses what a server must not send",
        arguments: [
            ("HTTP/1.1 400 Bad Request\r\n", NATSViolation.unknownOperation),
            ("\r\n", .unknownOperation), ("PING\n", .lineEnd), ("\n", .lineEnd),
            ("MSG a 1\r\n", .malformed(operation: "MSG")), ("MSG a b 1\r\n", .malformed(operation: "MSG")),
            ("MSG a 1 -1\r\n", .malformed(operation: "MSG")),
            ("MSG a 1 b c 2\r\n", .malformed(operation: "MSG")),
            ("MSG a 1 99999999999999999999\r\n", .malformed(operation: "MSG")),
            ("HMSG a 1 5 4\r\n", .malformed(operation: "HMSG")), ("HMSG a 1 5\r\n", .malformed(operation: "HMSG")),
            ("MSG a 1 1048577\r\n", .largeMessage(bytes: 1_048_577, limit: 1_048_576)),
            ("MSG a 1 2\r\nabc\r\n", .payloadEnd),
            ("INFO {]\r\n", .malformed(operation: "INFO")),
            ("INFO {\"max_payload\":0}\r\n", .malformed(operation: "INFO")),
            (String(repeating: "M", count: 4_162), .longLine(limit: 4_160)),
            ("I" + String(repeating: " ", count: 65_537) + "\r\n", .longLine(limit: 65_536)),
        ]
    )
    func violations(text: String, violation: NATSViolation) {
        #expect(throws: violation) { try operations([text]) }
        #expect(throws: violation) { try operations(text.utf8.map { ByteBuffer(bytes: [$0]) }) }
        #expect(!violation.description.contains("\n") && violation.description.contains(#/: |; /#))
    }

    @Test(
        "gives a message whose headers cannot be read as such, and goes on",
        arguments: ["abcd", "NATS/1.0\r\nab:\r\n"]
    )
    func unreadable(block: String) throws {
        let text = "HMSG a.b 7 \(block.utf8.count) \(block.utf8.count + 2)\r\n\(block)xy\r\nPING\r\n"
        let expected = [ServerOperation.unreadable(subject: "a.b", subscription: 7), .ping]
        #expect(try operations([text]) == expected)
        #expect(try operations(text.utf8.map { ByteBuffer(bytes: [$0]) }) == expected)
    }

    @Test("the server's max_payload raises the limit of messages, up to what nats-server allows")
    func largeMessages() throws {
        for (payload, limit) in [(2 << 20, 2 << 20), (1_000, 1 << 20), (1 << 30, 64 << 20)] {
            let info = "INFO {\"max_payload\":\(payload)}\r\n"
            #expect(try operations([info + "MSG a 1 \(limit)\r\n"]).count == 1)
            #expect(throws: NATSViolation.largeMessage(bytes: limit + 1, limit: limit)) {
                try operations([info + "MSG a 1 \(limit + 1)\r\n"])
            }
        }
    }

    @Test("keeps the first servers of a long list, and takes a refusal that quotes a long subject")
    func longLines() throws {
        let urls = (0..<300).map { "\"a\($0):1\"" }.joined(separator: ",")
        let line = "INFO {\"connect_urls\":[1,\(urls)],\"ldm\":true}\r\n"
        guard case .info(let info) = try operations([line])[0] else {
            return #expect(Bool(false))
        }
        #expect(info.clusterAddresses.count == 256 && info.clusterAddresses[0] == "a0:1" && info.isLeaving)
        let subject = String(repeating: "a\\\"", count: 1_400)
        let text = "-ERR 'Permissions Violation for Publish to \"\(subject)\"'\r\n"
        guard case .error(let refusal) = try operations([text])[0] else { return #expect(Bool(false)) }
        #expect(refusal.kind == .publishing(String(repeating: "a\"", count: 1_400)))
    }

    @Test("gives nothing more after a violation, and holds nothing")
    func ends() throws {
        var parser = ServerOperationParser()
        parser.take(ByteBuffer(string: "NO\r\nPING\r\n"))
        #expect(throws: NATSViolation.unknownOperation) { try parser.next() }
        parser.take(ByteBuffer(string: "PING\r\n"))
        #expect(try parser.next() == nil)
    }

    @Test("never crashes on changed bytes, and finds the same in one piece and in many")
    func mutations() {
        var chance = SeededGenerator(seed: 4)
        let text = Array(Self.all.utf8)
        for _ in 0..<3_000 {
            var bytes = text
            for _ in 0..<Int.random(in: 1...4, using: &chance) {
                let place = Int.random(in: 0..<bytes.count, using: &chance)
                switch Int.random(in: 0..<3, using: &chance) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &chance)
                case 1: bytes.remove(at: place)
                default: bytes.insert(" 0:\r\n9".utf8.randomElement(using: &chance) ?? 0, at: place)
                }
            }
            var pieces: [ByteBuffer] = []
            var rest = ByteBuffer(bytes: bytes)
            while rest.readableBytes > 0 {
                let count = min(rest.readableBytes, Int.random(in: 1...40, using: &chance))
                pieces.append(rest.readSlice(length: count) ?? ByteBuffer())
            }
            let whole = Result { try operations([ByteBuffer(bytes: bytes)]) }
            let cut = Result { try operations(pieces) }
            switch (whole, cut) {
            case (.success(let one), .success(let other)): #expect(one == other)
            case (.failure(let one), .failure(let other)): #expect("\(one)" == "\(other)")
            default: #expect(Bool(false), "\(String(decoding: bytes, as: UTF8.self))")
            }
        }
    }
}

@Suite struct ClientOperationTests {
    private func text(_ operation: ClientOperation) -> String {
        var buffer = ByteBuffer()
        operation.write(into: &buffer)
        return String(buffer: buffer)
    }

    @Test("writes the examples of the reference of the protocol")
    func reference() throws {
        // docs.nats.io, "Client Protocol".
        func publish(_ subject: String, _ reply: String?, _ fields: [(String, String)], _ text: String) throws -> String
        {
            var headers = NATSHeaders()
            for (name, value) in fields { headers.add(name, value) }
            return self.text(
                .publish(
                    try #require(NATSSubject(subject)),
                    reply: reply.flatMap { NATSSubject($0) },
                    headers: headers,
                    payload: ByteBuffer(string: text)
                )
            )
        }
        let inbox = "INBOX.22"
        #expect(try publish("FOO", nil, [], "Hello NATS!") == "PUB FOO 11\r\nHello NATS!\r\n")
        #expect(
            try publish("FRONT.DOOR", inbox, [], "Knock Knock") == "PUB FRONT.DOOR INBOX.22 11\r\nKnock Knock\r\n"
        )
        #expect(try publish("NOTIFY", nil, [], "") == "PUB NOTIFY 0\r\n\r\n")
        #expect(
            try publish("FOO", nil, [("Bar", "Baz")], "Hello NATS!")
                == "HPUB FOO 22 33\r\nNATS/1.0\r\nBar: Baz\r\n\r\nHello NATS!\r\n"
        )
        #expect(
            try publish("FRONT.DOOR", inbox, [("BREAKFAST", "donut"), ("LUNCH", "burger")], "Knock Knock")
                == "HPUB FRONT.DOOR INBOX.22 45 56\r\nNATS/1.0\r\nBREAKFAST: donut\r\nLUNCH: burger\r\n\r\n"
                + "Knock Knock\r\n"
        )
        #expect(
            try publish("NOTIFY", nil, [("Bar", "Baz")], "")
                == "HPUB NOTIFY 22 22\r\nNATS/1.0\r\nBar: Baz\r\n\r\n\r\n"
        )
        #expect(
            try publish("MORNING.MENU", nil, [("BREAKFAST", "donut"), ("BREAKFAST", "eggs")], "Yum!")
                == "HPUB MORNING.MENU 47 51\r\nNATS/1.0\r\nBREAKFAST: donut\r\nBREAKFAST: eggs\r\n\r\nYum!\r\n"
        )
        for (pattern, number, line) in [("FOO", UInt64(1), "SUB FOO 1"), ("foo.>", 2, "SUB foo.> 2")] {
            let pattern = try #require(NATSPattern(pattern))
            #expect(self.text(.subscribe(pattern, number: number)) == line + "\r\n")
        }
        #expect(self.text(.unsubscribe(number: 1)) == "UNSUB 1\r\n")
        #expect(self.text(.ping) + self.text(.pong) == "PING\r\nPONG\r\n")
    }

    @Test("what a client publishes is what a subscription gets, headers in their order and repeated")
    func roundTrip() throws {
        let subject = try #require(NATSSubject("a.b"))
        var headers = NATSHeaders()
        for (name, value) in [("Header1", "X"), ("header1", "x:y"), ("Header1", ""), ("Z", "é")] {
            let isAdded = headers.add(name, value)
            #expect(isAdded)
        }
        for count in [0, 1, 4_096, 70_000] {
            let payload = ByteBuffer(repeating: 0x0A, count: count)
            var written = ByteBuffer()
            ClientOperation.publish(subject, reply: subject, headers: headers, payload: payload).write(into: &written)
            // A server writes the number of the subscription behind the subject.
            let text = String(buffer: written)
            let served = "HMSG a.b 7" + text.dropFirst("HPUB a.b".count)
            let message = NATSMessage(subject: "a.b", reply: "a.b", headers: headers, payload: payload)
            #expect(try operations([served]) == [.message(message, subscription: 7)])
        }
        #expect(headers["Header1"] == "X" && headers["HEADER1"] == nil && headers.values(of: "Header1") == ["X", ""])
    }

    @Test("a CONNECT has the proof, and no description shows it")
    func connect() throws {
        var options = ConnectOptions()
        options.name = "tape \"1\""
        options.proof = .user("joe", password: Secret("s3cr3t"))
        let text = self.text(.connect(options))
        #expect(text.hasPrefix(#"CONNECT {"verbose":false,"pedantic":false,"tls_required":false,"lang":"swift""#))
        #expect(text.contains(#""name":"tape \"1\"","protocol":1,"echo":true,"headers":true,"no_responders":true"#))
        #expect(text.hasSuffix("\"user\":\"joe\",\"pass\":\"s3cr3t\"}\r\n"))
        var dumped = ""
        dump(ClientOperation.connect(options), to: &dumped)
        #expect(!dumped.contains("s3cr3t") && !"\(ClientOperation.connect(options))".contains("s3cr3t"))
        options.proof = .jwt(Secret("e.y"), signature: "sig")
        #expect(self.text(.connect(options)).hasSuffix("\"jwt\":\"e.y\",\"sig\":\"sig\"}\r\n"))
        options.proof = .token(Secret("t"))
        #expect(self.text(.connect(options)).hasSuffix("\"auth_token\":\"t\"}\r\n"))
    }
}

@Suite struct NATSSubjectTests {
    @Test(
        "a subject has tokens without wildcards, a pattern may have them",
        arguments: ["a", "a.b.c", "a*b", "$KV.b.k", "é.b>"]
    )
    func valid(text: String) {
        #expect(NATSSubject(text) != nil && NATSPattern(text) != nil)
    }

    @Test(
        "neither is empty, has empty tokens, or could end the line",
        arguments: [
            "", ".", ".a", "a.", "a..b", "a b", "a\tb", "a\r\nPUB x 0", "a\u{0}", "a\u{7F}",
        ]
    )
    func invalid(text: String) {
        #expect(NATSSubject(text) == nil && NATSPattern(text) == nil)
    }

    @Test("a pattern matches as the server's does")
    func matches() throws {
        for (text, subject, isMatch) in [
            ("a.b", "a.b", true), ("a.b", "a", false), ("a", "a.b", false), ("a.*", "a.b", true), ("*", "a.b", false),
            ("a.*.c", "a.b.c", true), ("a.>", "a.b.c", true), ("a.>", "a", false), (">", "a", true),
            ("a.*", "a", false),
        ] {
            let pattern = try #require(NATSPattern(text))
            #expect(pattern.matches(subject) == isMatch, "\(text) \(subject)")
            if text.contains(/[*>]/) { #expect(NATSSubject(text) == nil) }
        }
        #expect(NATSPattern(">.a") == nil && NATSPattern("a.>.b") == nil)
    }
}

@Suite struct NATSHeadersTests {
    @Test("have a status with or without a text")
    func status() throws {
        let one = try NATSHeaders(ByteBuffer(string: "NATS/1.0 404 Message Not Found\r\n\r\n"))
        #expect(one.status == .init(code: 404, description: "Message Not Found") && one.fields.isEmpty && !one.isEmpty)
        let other = try NATSHeaders(ByteBuffer(string: "NATS/1.0 100\r\nNats-Last-Stream:  7 \r\n\r\n"))
        #expect(other.status == .init(code: 100, description: "") && other["Nats-Last-Stream"] == "7")
    }

    @Test(
        "refuse a malformed block",
        arguments: [
            "", "NATS/1.0", "NATS/1.0\r\n", "NATS/1.1\r\n\r\n", "NATS/1.0\n\n", "NATS/1.0 99\r\n\r\n",
            "NATS/1.0503\r\n\r\n",
            "NATS/1.0 5033\r\n\r\n", "NATS/1.0\r\na b: c\r\n\r\n", "NATS/1.0\r\n: c\r\n\r\n",
            "NATS/1.0\r\na: b\r\n\r\nc",
        ]
    )
    func malformed(text: String) {
        #expect(throws: MalformedHeaders.self) { try NATSHeaders(ByteBuffer(string: text)) }
    }

    @Test("take no name or value that would break the block")
    func refused() {
        var headers = NATSHeaders()
        for (name, value) in [("", "a"), ("a b", "c"), ("a:", "c"), ("a", "b\r\nc: d"), ("a", "b\n"), ("é", "a")] {
            let isAdded = headers.add(name, value)
            #expect(!isAdded)
        }
        #expect(headers.isEmpty)
    }
}

@Suite struct ServerRefusalTests {
    @Test("is known by the server's words in any case")
    func kinds() {
        for (words, kind, isHarmless) in [
            ("Authorization Violation", ServerRefusal.Kind.authorization, false),
            ("User Authentication Expired", .expired, false), ("Stale Connection", .staleConnection, false),
            ("Slow Consumer", .slowConsumer, false), ("Maximum Payload Violation", .maximumPayload, false),
            ("maximum connections exceeded", .maximumConnections, false), ("Invalid Subject", .subject, true),
            ("Permissions Violation for Publish to \"a.b\"", .publishing("a.b"), true),
            ("Permissions Violation for Subscription to \"a.>\" using queue \"q\"", .subscribing("a.>"), true),
            (#"Permissions Violation for Publish to "a\"\\é""#, .publishing(#"a"\é"#), true),
            ("Unknown Protocol Operation", .other, true),
        ] {
            let refusal = ServerRefusal(words)
            #expect(refusal.kind == kind && refusal.isHarmless == isHarmless, "\(words)")
            #expect(refusal.description.contains(words) && refusal.description.contains("; "))
        }
        // The others of the reference of the protocol, behind which the server closes the connection.
        for words in [
            "Attempted To Connect To Route Port", "Authorization Timeout", "Invalid Client Protocol",
            "Maximum Control Line Exceeded", "Parser Error", "Secure Connection - TLS Required",
        ] { #expect(ServerRefusal(words).kind == .other, "\(words)") }
        #expect(!ServerRefusal("a\u{1B}[2Jb").text.contains("\u{1B}"))
    }
}
