import NIOCore
import Relay

/// The rules for a room with arbitrary submissions, each a line of the input.
enum RoomFuzz {
    static let seeds: [[UInt8]] = [
        [#"{"user":"ann","message":"hi"}"#, #"{"message":"second \ud83d\ude00"}"#, #"{"user":"ANN"}"#],
        [
            #"{"message":"no name"}"#, #"{"user":"b\u00f6b"}"#, #"{"user":"bo\u0308b","message":"x"}"#,
            #"{"user":"other"}"#,
        ],
        [
            #"{"user":null,"message":null}"#, #"{"user":7,"message":[{"a":null}]}"#, "{}", "[]", "x",
            #"{"message":"\u0000"}"#,
        ],
        [#"{"message":"a","message":"b","user":"u","user":"v","more":{"x":[1]}}"#, #"{"user":"\u202eann"}"#],
    ].map { Array($0.joined(separator: "\n").utf8) }

    static let words: [[UInt8]] =
        Mutator.jsonWords
        + [
            "\n", #""message":"#, #""user":"#, #""ann""#, "\n{\"message\":\"again\"}\n", "\\u202e", "\\u200d", "\\n",
            "\u{301}", "\u{FE0F}", "\u{1F468}\u{200D}\u{1F469}", String(repeating: "m", count: 1_001),
        ].map { Array($0.utf8) }

    static func check(_ input: [UInt8]) throws(FuzzFinding) -> Bool {
        let texts = input.split(separator: UInt8(ascii: "\n")).compactMap { String(validating: $0, as: UTF8.self) }
        return try FuzzFinding.wrapping { try Self.converse(texts) }
    }

    /// Plays a conversation; returns whether any submission was taken.
    private static func converse(_ texts: [String]) throws -> Bool {
        let bench = try RelayBench()
        let (client, other) = (try bench.webSocket("/v1/room/lobby"), try bench.webSocket("/v1/room/lobby"))
        var events: [String] = []
        var seen: [String] = []
        for text in texts {
            try client.send(text)
            let answers = try client.takeMessages()
            // A user who takes another name leaves and joins, and may send a message then.
            try FuzzFinding.require(answers.count <= 4, "\(text) brought \(answers.count) messages")
            for answer in answers {
                let isObject = WAMPSerialisation.json.rewritten(answer, as: .json) == answer
                try FuzzFinding.require(isObject, "the relay wrote \(String(buffer: answer))")
            }
            events += answers.map { String(buffer: $0) }
            seen += try other.takeMessages().map { String(buffer: $0) }
        }
        // A member's first message is the room itself. The end of a flood is seen by the others alone.
        events.removeAll { $0.hasPrefix(#"{"type":"error","#) || $0.hasPrefix(#"{"type":"room","#) }
        seen.removeAll { $0.hasPrefix(#"{"type":"room","#) }
        try FuzzFinding.require(seen.starts(with: events), "the sender saw \(events), another member \(seen)")
        bench.stop()
        client.finish()
        other.finish()
        return !events.isEmpty
    }
}
