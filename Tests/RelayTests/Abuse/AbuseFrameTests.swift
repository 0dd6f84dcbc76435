import NIOCore
import Relay
import Testing
import TickertapeTesting
import WebSocket
@testable import Measurements

/// Frames that break the protocol or a limit, while ten other clients are not disturbed.
@Suite("Abuse by frames", .timeLimit(.minutes(1 * Patience.factor)))
struct AbuseFrameTests {
    private static let mask: [UInt8] = [0, 0, 0, 0]

    private static func text(_ payload: [UInt8], first: UInt8 = 0x81) -> [UInt8] {
        [first, 0x80 | UInt8(payload.count)] + Self.mask + payload
    }

    private static let breaches: [(what: String, bytes: [UInt8], code: String)] = [
        ("a frame without a mask", [0x81, 0x01, 0x61], "1002"),
        ("a reserved bit", [0xA1, 0x81] + mask + [0x61], "1002"),
        ("the compression bit where none was agreed on", [0xC1, 0x81] + mask + [0x61], "1002"),
        ("an unknown opcode", [0x83, 0x80] + mask, "1002"),
        ("an unknown control opcode", [0x8B, 0x80] + mask, "1002"),
        ("a ping in two parts", [0x09, 0x80] + mask, "1002"),
        ("a close in two parts", [0x08, 0x80] + mask, "1002"),
        ("a ping of 126 bytes", [0x89, 0xFE, 0x00, 0x7E] + mask, "1002"),
        ("a close frame of one byte", [0x88, 0x81] + mask + [0x03], "1002"),
        ("a continuation of nothing", [0x80, 0x80] + mask, "1002"),
        ("a new message in the middle of one", [0x01, 0x80] + mask + [0x81, 0x80] + mask, "1002"),
        ("a message over the limit", [0x81, 0xFF, 0, 0, 0, 0, 0, 1, 0, 1] + mask, "1009"),
        ("a length of 2^62", [0x81, 0xFF, 0x40, 0, 0, 0, 0, 0, 0, 0] + mask, "1009"),
        ("a length of 2^63", [0x81, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 0] + mask, "1002"),
        ("a length of 2^64 - 1", [0x82, 0xFF] + [UInt8](repeating: 0xFF, count: 8) + mask, "1002"),
        ("a length in more bytes than it needs", [0x81, 0xFE, 0x00, 0x01] + mask + [0x61], "1002"),
        ("text that is no UTF-8", text([0xC0, 0x80]), "1007"),
        ("text that ends in the middle of a character", text([0xE2, 0x82]), "1007"),
        ("half a surrogate pair", text([0xED, 0xA0, 0x80]), "1007"),
        ("a binary message", text([0x7B, 0x7D], first: 0x82), "1003"),
    ]

    @Test("a breach ends its own connection with the right code, on both endpoints")
    func breaches() async throws {
        let instruments = Instruments()
        try await RelayFixture.run(instruments: instruments) { fixture in
            try await Bystanders.watch(fixture) {
                for path in ["/", "/v1/stream"] {
                    for (what, bytes, code) in Self.breaches {
                        let client = try await RawClient.open(path, at: fixture.address)
                        try await client.channel.writeAndFlush(ByteBuffer(bytes: bytes))
                        let closure = try await self.closure(of: client)
                        #expect(closure.hasPrefix(code), "\(what): \(closure)")
                        // The server may have closed it first.
                        try? await client.close()
                    }
                }
            }
        }
        let counted = instruments.refusals.all.first { $0.type == "websocket-violation" }?.number ?? 0
        // All except the binary messages, which are valid but unsupported.
        #expect(counted == UInt64(2 * (Self.breaches.count - 1)))
    }

    /// Returns the next close frame; `/v1/stream` has sent other messages before it.
    private func closure(of client: RawClient) async throws -> String {
        while true {
            if let closure = try await client.frame().closure { return closure }
        }
    }

    @Test("a frame that is cut in half costs nothing, and a message in too many pieces ends its connection")
    func pieces() async throws {
        try await RelayFixture.run { fixture in
            try await Bystanders.watch(fixture) {
                for length in 1..<7 {
                    let client = try await RawClient.open(at: fixture.address)
                    try await client.channel.writeAndFlush(ByteBuffer(bytes: Self.text([0x7B]).prefix(length)))
                    try await client.close()
                }
                let client = try await RawClient.open(at: fixture.address)
                var pieces = ByteBuffer(bytes: [0x01, 0x80] + Self.mask)
                for _ in 0..<2_000 { pieces.writeBytes([0x00, 0x80] + Self.mask) }
                try await client.channel.writeAndFlush(pieces)
                #expect(try await self.closure(of: client).hasPrefix("1009"))
                // A message whose pieces together pass the limit.
                let large = try await RawClient.open(at: fixture.address)
                let piece = [UInt8](repeating: 0x61, count: 32_000)
                var bytes = ByteBuffer()
                for opcode in [0x01, 0x00, 0x00] as [UInt8] {
                    bytes.writeMultipleIntegers(opcode, UInt8(0xFE), UInt16(piece.count))
                    bytes.writeBytes(Self.mask + piece)
                }
                try await large.channel.writeAndFlush(bytes)
                #expect(try await self.closure(of: large).hasPrefix("1009"))
            }
        }
    }

    @Test("a decompression bomb ends only its sender, before it has unfolded")
    func bombs() async throws {
        try await RelayFixture.run({ $0.compression = .on }) { fixture in
            try await Bystanders.watch(fixture) {
                for size in [200_000, 50_000_000] {
                    let bomber = try await RawClient.connect(to: fixture.address)
                    let head = try await bomber.request(
                        RawClient.upgrade("/", headers: "Sec-WebSocket-Extensions: permessage-deflate\r\n")
                    )
                    #expect(head.contains("permessage-deflate"))
                    var payload = ByteBuffer()
                    Deflater(.init(keepsContext: false)).compress(
                        ByteBuffer(repeating: 0x20, count: size),
                        into: &payload
                    )
                    try #require(payload.readableBytes < 64 << 10)
                    var frame = ByteBuffer()
                    if payload.readableBytes < 126 {
                        frame.writeMultipleIntegers(UInt8(0xC1), UInt8(0x80 | payload.readableBytes))
                    } else {
                        frame.writeMultipleIntegers(UInt8(0xC1), UInt8(0xFE), UInt16(payload.readableBytes))
                    }
                    frame.writeBytes(Self.mask)
                    frame.writeBuffer(&payload)
                    try await bomber.channel.writeAndFlush(frame)
                    #expect(try await self.closure(of: bomber).hasPrefix("1009"))
                }
            }
        }
    }
}
