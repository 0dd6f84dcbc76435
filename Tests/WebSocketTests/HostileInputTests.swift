import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOWebSocket
import Testing
@testable import WebSocket

/// A random number generator that returns the same numbers in every run.
struct Seeded: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        self.state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = self.state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

@Suite struct HostileInputTests {
    /// Returns mostly valid frames with some inverted bits.
    private func conversation(_ role: WebSocketRole, _ chance: inout Seeded) -> [UInt8] {
        let mask = role == .server ? anyMask : nil
        let texts = ["", "plain", "κόσμε", "a€𝄞", String(repeating: "x", count: 130)]
        var bytes: [UInt8] = []
        for _ in 0..<Int.random(in: 1...8, using: &chance) {
            let text = texts.randomElement(using: &chance) ?? ""
            let isFinal = Int.random(in: 0..<3, using: &chance) > 0
            let frame: Frame =
                switch Int.random(in: 0..<8, using: &chance) {
                case 0...2: .text(text, final: isFinal, mask: mask)
                case 3: .binary(Array(text.utf8), final: isFinal, mask: mask)
                case 4, 5: .continuation(Array(text.utf8), final: isFinal, mask: mask)
                case 6: .ping([1, 2], mask: mask)
                default: .close(1000, "x", mask: mask)
                }
            bytes += frame.bytes
        }
        for _ in 0..<Int.random(in: 0...2, using: &chance) where !bytes.isEmpty {
            let index = Int.random(in: 0..<bytes.count, using: &chance)
            bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &chance)
        }
        return bytes
    }

    @Test(
        "Damaged conversations never trap, and come out the same in one piece and in any",
        arguments: [
            WebSocketRole.client, .server,
        ]
    )
    func survivesDamage(role: WebSocketRole) throws {
        var chance = Seeded(state: 7)
        for _ in 0..<500 {
            let bytes = self.conversation(role, &chance)
            let whole = try Connection(role) { $0.maximumMessageBytes = 300 }
            try whole.receive(bytes)
            let cut = try Connection(role) { $0.maximumMessageBytes = 300 }
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Int.random(in: 1...min(9, rest.count), using: &chance)
                try cut.receive(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            #expect(whole.seen == cut.seen, "\(bytes)")
            let closures = whole.seen.count { if case .event(.closed) = $0 { true } else { false } }
            #expect(closures <= 1)
        }
    }

    @Test("Noise never traps a connection or a handshake")
    func survivesNoise() throws {
        var chance = Seeded(state: 11)
        for round in 0..<1_000 {
            let bytes = (0..<Int.random(in: 1...60, using: &chance)).map { _ in
                UInt8.random(in: 0...255, using: &chance)
            }
            try Connection(round % 2 == 0 ? .client : .server).receive(bytes)
            _ = try? HTTPHeadParser.response(ByteBuffer(bytes: bytes))
            _ = CloseFrame.parse(ByteBuffer(bytes: bytes))
            let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["Transfer-Encoding": "chunked"])
            var body = RefusalBody(of: head, maximumBytes: 20)
            for byte in bytes where !body.append(ByteBuffer(bytes: [byte])) {}
            #expect(body.text.utf8.count <= 60)
        }
    }

    @Test(
        "Nothing is decoded behind a close frame or a breach",
        arguments: [
            Frame.close(1000).bytes, Frame(first: 0xF1, payload: []).bytes,
        ]
    )
    func decodesNothingBehindEnd(end: [UInt8]) throws {
        let decoder = ValidatingFrameDecoder(peer: .server, maximumPayloadBytes: 100)
        let channel = EmbeddedChannel(handler: ByteToMessageHandler(decoder))
        let text = Frame.text("x").bytes
        do { try channel.writeInbound(ByteBuffer(bytes: text + end + text)) } catch is WebSocketViolation {}
        try channel.writeInbound(ByteBuffer(bytes: text))
        var opcodes: [WebSocketOpcode] = []
        while let frame = try channel.readInbound(as: WebSocketFrame.self) { opcodes.append(frame.opcode) }
        #expect(opcodes.first == .text)
        #expect(opcodes.dropFirst().allSatisfy { $0 == .connectionClose })
        _ = try channel.finish()
    }
}
