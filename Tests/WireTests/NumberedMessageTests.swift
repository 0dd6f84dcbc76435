import Market
import NIOCore
import Testing
import Wire

@Suite("Frames with positions")
struct NumberedMessageTests {
    private static let position = TapePosition(epoch: 1_795_239_000_000, sequence: 12)

    private func text(_ message: NumberedMessage) -> String {
        var buffer = ByteBuffer()
        message.write(into: &buffer)
        return String(buffer: buffer)
    }

    @Test("hold the frame's bytes as they are, whatever their spelling")
    func frame() {
        for frame in [#"{"data":[],"type":"trade"}"#, #" {"type":"trade", "data":[ {"p":1e0} ] } "#, "{}", "x"] {
            let message = NumberedMessage.frame(ByteBuffer(string: frame), Self.position)
            #expect(self.text(message) == #"{"type":"frame","at":"1795239000000:12","frame":\#(frame)}"#)
            #expect(NumberedMessage.parse(ByteBuffer(string: self.text(message))) == message)
        }
    }

    @Test("report a position, and whether a client has missed nothing")
    func reports() {
        let messages: [NumberedMessage] = [
            .position(Self.position), .resumed(isComplete: true), .resumed(isComplete: false),
            .gap(Gap(from: 1_000_000, to: 2_000_000, reason: "lost", nextSequence: 3, epoch: 7, cause: .closed)),
        ]
        for message in messages { #expect(NumberedMessage.parse(ByteBuffer(string: self.text(message))) == message) }
        #expect(self.text(messages[0]) == #"{"type":"position","at":"1795239000000:12"}"#)
        #expect(self.text(messages[2]) == #"{"type":"resumed","complete":false}"#)
    }

    @Test("are not mistaken for other messages, cut off anywhere or changed")
    func others() {
        let whole = #"{"type":"frame","at":"7:1","frame":{}}"#
        // Without its last byte the text ends as a whole message does. A WebSocket message is never cut off.
        for count in 0..<whole.utf8.count - 1 {
            #expect(NumberedMessage.parse(ByteBuffer(bytes: whole.utf8.prefix(count))) == nil)
        }
        for text in [
            #"{"type":"ping"}"#, #"{"msg":"Invalid symbol A","type":"error"}"#, #"{"data":[],"type":"trade"}"#,
            #"{"type":"frame","at":"7","frame":{}}"#, #"{"type":"frame","at":"7:x","frame":{}}"#,
            #"{"type":"position","at":"7:1"}x"#, #"{"type":"resumed","complete":true}x"#,
            #"{"type":"position","at":"7:1"#, #"{"type":"position","at":":1"}"#, #"{"type":"position","at":"-7:1"}"#,
            #"{"type":"position","at":"7:18446744073709551616"}"#,
        ] {
            #expect(NumberedMessage.parse(ByteBuffer(string: text)) == nil, "\(text)")
        }
    }

    @Test("are asked for with the symbols and a position")
    func request() {
        let request = FinnhubRequest.resume(["A", "B"], since: Self.position)
        #expect(
            String(buffer: request.encoded())
                == #"{"type":"resume","symbols":["A","B"],"since":"1795239000000:12"}"#
        )
        #expect(FinnhubRequest.parse(request.encoded()) == request)
        let faulty = #"{"type":"resume","symbols":["A"],"since":"x"}"#
        #expect(FinnhubRequest.parse(ByteBuffer(string: faulty)) == .other("resume"))
    }
}
