import NIOCore
import NIOEmbedded
import Relay

/// The rules for the decoders of WAMP and for a session with arbitrary messages, the relay being a broker.
///
/// An input is a sequence of messages. In every serialisation its session gets those that its WebSocket would pass on.
/// An input that begins with the separator sends its HELLO itself.
enum WAMPFuzz {
    /// The byte between two messages: MessagePack has no such code, UTF-8 no such byte, and CBOR marks dates with it.
    private static let separator: UInt8 = 0xC1
    /// The most bytes that one message or trade brings its client, whatever its own size.
    private static let answerLimit = 256 << 10

    private static let conversations: [[String]] = [
        [
            #"[32,1,{},"tickertape.price.A"]"#, #"[32,2,{"match":"prefix"},"tickertape."]"#,
            #"[32,3,{"match":"wildcard"},"tickertape..A"]"#, "[34,4,1]", "[34,5,1]", #"[6,{},"wamp.close.normal"]"#,
            #"[32,6,{},"com.late"]"#,
        ],
        [
            #"[32,1,{"match":"prefix"},"com."]"#,
            #"[16,2,{"acknowledge":true,"exclude_me":false},"com.a",[1,-2,0.5,"x",null,true],{"k":[{}]}]"#,
            #"[16,3,{"exclude":[1],"eligible":[9007199254740992]},"com.é",["\u0000AQI="]]"#,
            #"[16,4,{"acknowledge":true},"tickertape.room.lobby",[],{"user":"ann","message":"hi"}]"#,
        ],
        [
            #"[64,1,{},"com.p"]"#, #"[48,2,{"receive_progress":true,"timeout":5},"com.p",[1],{"a":2}]"#,
            #"[70,1,{"progress":true},[1]]"#, #"[70,1,{},[3]]"#, #"[48,3,{},"com.p"]"#, #"[49,3,{"mode":"kill"}]"#,
            #"[8,68,2,{},"com.error",["no"]]"#, "[66,4,1]", #"[70,9,{}]"#,
        ],
        [
            #"[48,1,{},"tickertape.snapshot",["A"]]"#, #"[48,2,{},"tickertape.trades",["A",5]]"#,
            #"[48,3,{},"tickertape.bars",[],{"symbol":"A","width":"1s"}]"#, #"[48,4,{},"tickertape.symbols"]"#,
            #"[48,5,{},"wamp.subscription.match",["com.x"]]"#, #"[48,6,{},"wamp.session.get",[1]]"#,
            #"[48,7,{},"tickertape.room",["lobby"]]"#,
        ],
        [
            "", #"[1,"tickertape",{"roles":{"callee":{"features":{"call_canceling":true}}}}]"#,
            #"[32,1,{},"tickertape.status"]"#,
        ],
        ["", #"[32,1,{},"tickertape.status"]"#], [#"[1,"tickertape",{"roles":{"caller":{}}}]"#], [#"[3,{},"a.b"]"#],
    ]

    static let seeds: [[UInt8]] = WAMPSerialisation.allCases.flatMap { serialisation in
        Self.conversations.map { messages in
            Array(messages.map { Self.bytes($0, serialisation) }.joined(separator: [Self.separator]))
        }
    }

    static let words: [[UInt8]] =
        [
            [Self.separator], [0x9F], [0xFF], [0x7F], [0x5F], [0xBF], [0xDD, 0xFF, 0xFF, 0xFF, 0xFF],
            [0xC6, 0, 0, 0, 9],
            [0x9B, 0, 0, 0, 1, 0, 0, 0, 0], [0xCF, 0, 0x20, 0, 0, 0, 0, 0, 1], [0xFB, 0x7F, 0xF0, 0, 0, 0, 0, 0, 0],
            [0xF9, 0x7C, 0x01], [0xC2, 0x41, 1], [0x80], [0x90], [0xA0], [0x60], [0x40], [0xC0],
        ]
        + conversations.joined().flatMap { message in WAMPSerialisation.allCases.map { Self.bytes(message, $0) } }
        + ["match", "prefix", "wildcard", "tickertape.", "com.p", "..", "e\u{301}", "9007199254740993"].map {
            Array($0.utf8)
        }
        + Mutator.jsonWords

    private static func bytes(_ json: String, _ serialisation: WAMPSerialisation) -> [UInt8] {
        let message = WAMPSerialisation.json.rewritten(ByteBuffer(string: json), as: serialisation)
        return message.map { Array($0.readableBytesView) } ?? []
    }

    static func check(_ input: [UInt8]) throws(FuzzFinding) -> Bool {
        let messages = input.split(separator: Self.separator, omittingEmptySubsequences: false)
        var isAnswered = false
        for serialisation in WAMPSerialisation.allCases {
            var taken: [ByteBuffer] = []
            for message in messages {
                // The WebSocket has checked the text of JSON.
                if serialisation == .json, String(validating: message, as: UTF8.self) == nil { continue }
                taken.append(ByteBuffer(bytes: message))
            }
            for message in taken { try Self.rewrite(message, serialisation) }
            let isGreeted = messages.first?.isEmpty == false
            if try FuzzFinding.wrapping({ try Self.converse(taken, serialisation, isGreeted: isGreeted) }) {
                isAnswered = true
            }
        }
        return isAnswered
    }

    /// Checks that a value which was read is written in every serialisation so that it is read as the same value again.
    private static func rewrite(_ message: ByteBuffer, _ serialisation: WAMPSerialisation) throws(FuzzFinding) {
        for other in WAMPSerialisation.allCases {
            guard let written = serialisation.rewritten(message, as: other) else { return }
            // A key may begin with NUL in JSON only.
            guard let again = other.rewritten(written, as: other) else {
                try FuzzFinding.require(other != serialisation, "what \(other) has written cannot be read: \(written)")
                continue
            }
            try FuzzFinding.require(again == written, "\(written) written again in \(other) is \(again)")
        }
    }

    /// Plays a conversation; returns whether the client got an answer that is no error.
    private static func converse(
        _ messages: [ByteBuffer],
        _ serialisation: WAMPSerialisation,
        isGreeted: Bool
    ) throws -> Bool {
        let bench = try RelayBench()
        let client = try bench.webSocket("/wamp", subprotocol: serialisation.subprotocol)
        let other = try bench.webSocket("/wamp", subprotocol: WAMPSerialisation.json.subprotocol)
        let hello = #"[1,"tickertape",{"roles":{"callee":{}}}]"#
        try other.send(hello)
        for prefix in ["com.", "tickertape."] { try other.send(#"[32,1,{"match":"prefix"},"\#(prefix)"]"#) }
        if isGreeted {
            try client.send(ByteBuffer(bytes: Self.bytes(hello, serialisation)), isBinary: serialisation != .json)
            _ = try client.takeMessages()
        }
        var isAnswered = false
        for message in messages where message.readableBytes > 0 {
            try client.send(message, isBinary: serialisation != .json)
            if try Self.judge(client.takeMessages(), serialisation, cause: message) { isAnswered = true }
        }
        bench.play()
        _ = try Self.judge(client.takeMessages(), serialisation, cause: ByteBuffer())
        // The other session is as it was, and every wait ends.
        _ = try other.takeMessages()
        try other.send(#"[48,1,{},"wamp.subscription.list"]"#)
        let answers = try other.takeMessages().map { String(buffer: $0) }
        try FuzzFinding.require(answers.contains { $0.hasPrefix("[50,1,") }, "the other session got \(answers)")
        bench.loop.advanceTime(by: .seconds(70))
        _ = try Self.judge(client.takeMessages(), serialisation, cause: ByteBuffer())
        bench.stop()
        client.finish()
        other.finish()
        return isAnswered
    }

    /// Checks what a message or a trade has brought its client; returns whether it is more than errors.
    private static func judge(
        _ answers: [ByteBuffer],
        _ serialisation: WAMPSerialisation,
        cause: ByteBuffer
    ) throws -> Bool {
        let bytes = answers.reduce(0) { $0 + $1.readableBytes }
        let limit = Self.answerLimit + 4 * cause.readableBytes
        try FuzzFinding.require(bytes <= limit, "\(cause.readableBytes) bytes brought \(bytes)")
        var isAnswered = false
        for answer in answers {
            guard let json = serialisation.rewritten(answer, as: .json) else {
                throw FuzzFinding("the relay wrote \(answer), which its decoder does not read")
            }
            let text = String(buffer: json)
            if !text.hasPrefix("[3,"), !text.hasPrefix("[8,") { isAnswered = true }
        }
        return isAnswered
    }
}
