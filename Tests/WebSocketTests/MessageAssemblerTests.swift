import NIOCore
import Testing
@testable import WebSocket

@Suite struct MessageAssemblerTests {
    private func assembler(bytes: Int = 100, fragments: Int = 4) -> MessageAssembler {
        MessageAssembler(maximumBytes: bytes, maximumFragments: fragments)
    }

    @Test("A message in one frame is delivered with the very bytes that came")
    func deliversUnfragmented() {
        var assembler = self.assembler()
        let payload = ByteBuffer(string: "hello")
        #expect(assembler.frameReceived(.text, isFinal: true, payload: payload) == .deliver(.text(payload)))
        #expect(assembler.frameReceived(.binary, isFinal: true, payload: payload) == .deliver(.binary(payload)))
        #expect(assembler.frameReceived(.text, isFinal: true, payload: ByteBuffer()) == .deliver(.text(ByteBuffer())))
    }

    @Test("Fragments are joined, and the next message starts afresh")
    func joinsFragments() {
        var assembler = self.assembler()
        for _ in 0..<2 {
            #expect(assembler.frameReceived(.binary, isFinal: false, payload: ByteBuffer(bytes: [1])) == .awaitMore)
            #expect(assembler.frameReceived(.continuation, isFinal: false, payload: ByteBuffer()) == .awaitMore)
            #expect(
                assembler.frameReceived(.continuation, isFinal: true, payload: ByteBuffer(bytes: [2, 3]))
                    == .deliver(.binary(ByteBuffer(bytes: [1, 2, 3])))
            )
        }
    }

    @Test("A continuation of nothing and a message inside a message are refused")
    func refusesDisorder() {
        for final in [true, false] {
            var assembler = self.assembler()
            let empty = ByteBuffer()
            #expect(
                assembler.frameReceived(.continuation, isFinal: final, payload: empty) == .fail(.unexpectedContinuation)
            )
            #expect(assembler.frameReceived(.text, isFinal: false, payload: empty) == .awaitMore)
            #expect(assembler.frameReceived(.text, isFinal: final, payload: empty) == .fail(.interleavedMessage))
            #expect(assembler.frameReceived(.binary, isFinal: final, payload: empty) == .fail(.interleavedMessage))
        }
    }

    @Test("A message of the limit passes, one of a byte more does not, however it is cut")
    func limitsBytes() {
        for cut in 0...100 {
            var assembler = self.assembler()
            let head = ByteBuffer(repeating: 0, count: cut)
            #expect(assembler.frameReceived(.binary, isFinal: false, payload: head) == .awaitMore)
            let whole = assembler.frameReceived(
                .continuation,
                isFinal: true,
                payload: ByteBuffer(repeating: 0, count: 100 - cut)
            )
            #expect(whole == .deliver(.binary(ByteBuffer(repeating: 0, count: 100))))

            #expect(assembler.frameReceived(.binary, isFinal: false, payload: head) == .awaitMore)
            let more = assembler.frameReceived(
                .continuation,
                isFinal: true,
                payload: ByteBuffer(repeating: 0, count: 101 - cut)
            )
            #expect(more == .fail(.messageTooBig))
        }
    }

    @Test("A size over the limit is told by the header, before the payload has come")
    func limitsBytesEarly() {
        var assembler = self.assembler()
        let violation = [UInt8]().withUnsafeBytes { assembler.payloadArrived(.binary, frameBytes: 101, bytes: $0) }
        #expect(violation == .messageTooBig)
    }

    @Test("Empty fragments count towards the limit of fragments")
    func limitsFragments() {
        var assembler = self.assembler()
        #expect(assembler.frameReceived(.text, isFinal: false, payload: ByteBuffer()) == .awaitMore)
        for _ in 0..<3 {
            #expect(assembler.frameReceived(.continuation, isFinal: false, payload: ByteBuffer()) == .awaitMore)
        }
        #expect(
            assembler.frameReceived(.continuation, isFinal: true, payload: ByteBuffer()) == .fail(.tooManyFragments)
        )
    }

    @Test("Text cut into two fragments at every byte, characters included, comes whole")
    func joinsTextAtEveryByte() {
        let text = Array("aκ€𝄞z".utf8)
        for cut in 0...text.count {
            var assembler = self.assembler()
            #expect(
                assembler.frameReceived(.text, isFinal: false, payload: ByteBuffer(bytes: text[..<cut])) == .awaitMore
            )
            #expect(
                assembler.frameReceived(.continuation, isFinal: true, payload: ByteBuffer(bytes: text[cut...]))
                    == .deliver(.text(ByteBuffer(bytes: text)))
            )
        }
    }

    @Test("Bad text is refused in the fragment where it shows, binary is not looked at")
    func refusesBadText() {
        var assembler = self.assembler()
        let surrogate = ByteBuffer(bytes: [0xED, 0xA0])
        #expect(assembler.frameReceived(.text, isFinal: false, payload: surrogate) == .fail(.invalidText))
        assembler = self.assembler()
        #expect(
            assembler.frameReceived(.text, isFinal: true, payload: ByteBuffer(bytes: [0xC2])) == .fail(.invalidText)
        )
        assembler = self.assembler()
        #expect(assembler.frameReceived(.binary, isFinal: true, payload: surrogate) == .deliver(.binary(surrogate)))
    }

    @Test("Text seen on the way is not checked twice, and is refused on the way")
    func checksOnTheWay() {
        let text = Array("aκ€𝄞z".utf8)
        for cut in 0...text.count {
            var assembler = self.assembler()
            let early = text[..<cut].withUnsafeBytes {
                assembler.payloadArrived(.text, frameBytes: text.count, bytes: $0)
            }
            #expect(early == nil)
            let payload = ByteBuffer(bytes: text)
            #expect(assembler.frameReceived(.text, isFinal: true, payload: payload) == .deliver(.text(payload)))
        }
        var assembler = self.assembler()
        let early = [0xFF].withUnsafeBytes { assembler.payloadArrived(.text, frameBytes: 10, bytes: $0) }
        #expect(early == .invalidText)
    }
}
