import NIOCore
import NIOEmbedded
import Testing
@testable import WebSocket

private let kept = DeflateAgreement(fromServer: .init(), fromClient: .init())
private let forgotten = DeflateAgreement(
    fromServer: .init(keepsContext: false),
    fromClient: .init(keepsContext: false)
)

private func compressed(_ plain: [UInt8]) -> [UInt8] {
    var out = ByteBuffer()
    Deflater(forgotten.fromClient).compress(ByteBuffer(bytes: plain), into: &out)
    return Array(out.readableBytesView)
}

private func compressed(_ text: String) -> [UInt8] { compressed(Array(text.utf8)) }

/// Feeds a server's connection with these bytes, and returns the cause of its end and what the application saw.
private func closure(
    _ wire: [UInt8],
    _ change: (inout WebSocketSettings) -> Void = { _ in }
) throws -> (
    WebSocketClosure.Cause?, [Seen]
) {
    let connection = try Connection(.server, agreement: forgotten, change)
    try connection.receive(wire)
    return (connection.closure?.cause, connection.seen.filter { $0 != .inactive })
}

@Suite struct CompressedMessageTests {
    @Test("Compressed and plain messages come out the same at every cut", arguments: [WebSocketRole.client, .server])
    func readsAtEveryCut(role: WebSocketRole) throws {
        let mask = role == .server ? anyMask : nil
        let long = compressed("a€𝄞, many times: " + String(repeating: "a€𝄞", count: 40))
        let frames = [
            Frame(first: 0xC1, payload: compressed("héllo"), mask: mask), .text("plain", mask: mask),
            // In three fragments with a ping in between; only the first fragment has the bit.
            Frame(first: 0x41, payload: Array(long.prefix(5)), mask: mask), .ping([1], mask: mask),
            Frame(first: 0x00, payload: [], mask: mask),
            Frame(first: 0x80, payload: Array(long.dropFirst(5)), mask: mask),
            Frame(first: 0xC2, payload: compressed([0xFF, 0xFE]), mask: mask),
            Frame(first: 0xC1, payload: [0], mask: mask),
            .close(1000, mask: mask),
        ]
        let expected: [Seen] = [
            .text("héllo"), .text("plain"), .event(.pingReceived(ByteBuffer(bytes: [1]))),
            .text("a€𝄞, many times: " + String(repeating: "a€𝄞", count: 40)), .binary([0xFF, 0xFE]), .text(""),
            .event(.closed(WebSocketClosure(code: .normal, reason: "", cause: .peerClosed))),
        ]
        for pieces in cuts(of: frames.flatMap(\.bytes)) {
            let connection = try Connection(role, agreement: forgotten)
            for piece in pieces { try connection.receive(piece) }
            #expect(connection.seen.filter { $0 != .inactive } == expected)
        }
    }

    @Test("The mark stands on the first frame of a message and nowhere else; the other two bits never do")
    func judgesBits() throws {
        let breaches: [[UInt8]] = [
            Frame(first: 0xC9, payload: [], mask: anyMask).bytes, Frame(first: 0xC8, payload: [], mask: anyMask).bytes,
            Frame(first: 0xCA, payload: [], mask: anyMask).bytes, Frame(first: 0xA1, payload: [], mask: anyMask).bytes,
            Frame(first: 0x91, payload: [], mask: anyMask).bytes, Frame(first: 0xE1, payload: [], mask: anyMask).bytes,
            Frame(first: 0x41, payload: [0xF2], mask: anyMask).bytes
                + Frame(first: 0xC0, payload: [], mask: anyMask).bytes,
        ]
        for breach in breaches {
            #expect(try closure(breach).0 == .protocolViolation(.reservedBits), "\(breach)")
        }
        let unagreed = try Connection(.server)
        try unagreed.receive(Frame(first: 0xC1, payload: compressed("x"), mask: anyMask).bytes)
        #expect(unagreed.closure?.cause == .protocolViolation(.reservedBits))
    }

    @Test("Bad data is told with 1007, as soon as it has come")
    func refusesBadData() throws {
        let whole = Frame(first: 0xC1, payload: [0x06, 0, 0, 0, 0, 0], mask: anyMask).bytes
        let connection = try Connection(.server, agreement: forgotten)
        try connection.receive(Array(whole.prefix(7)))
        #expect(connection.closure?.cause == .protocolViolation(.invalidCompression))
        #expect(try connection.sentFrames().last?.payload.prefix(2) == [0x03, 0xEF])
        // The data ends within a block, which only the end of the message shows.
        let half = Frame(first: 0xC2, payload: [0xF2, 0x48], mask: anyMask).bytes
        #expect(try closure(half).0 == .protocolViolation(.invalidCompression))
    }

    @Test("Text is checked as it comes out, before its message has ended")
    func checksText() throws {
        let bad = compressed(Array("fine".utf8) + [0xFF] + (0..<200).map { UInt8($0 % 90) })
        let connection = try Connection(.server, agreement: forgotten)
        try connection.receive(Frame(first: 0x41, payload: Array(bad.dropLast(20)), mask: anyMask).bytes)
        #expect(connection.closure?.cause == .protocolViolation(.invalidText))
        // An incomplete scalar at the end of a message is invalid in a text, and allowed in binary data.
        let half = Frame(first: 0xC1, payload: compressed([0xE2, 0x82]), mask: anyMask).bytes
        #expect(try closure(half).0 == .protocolViolation(.invalidText))
        let binary = Frame(first: 0xC2, payload: compressed([0xE2, 0x82]), mask: anyMask).bytes
        #expect(try closure(binary) == (nil, [.binary([0xE2, 0x82])]))
    }

    @Test("The limit is that of what comes out; a bomb ends the connection with 1009")
    func holdsLimits() throws {
        let limit: (inout WebSocketSettings) -> Void = { $0.maximumMessageBytes = 10_000 }
        let fits = Frame(first: 0xC2, payload: compressed([UInt8](repeating: 1, count: 10_000)), mask: anyMask).bytes
        let large = Frame(first: 0xC2, payload: compressed([UInt8](repeating: 1, count: 10_001)), mask: anyMask).bytes
        #expect(try closure(fits, limit) == (nil, [.binary([UInt8](repeating: 1, count: 10_000))]))
        #expect(try closure(large, limit).0 == .protocolViolation(.messageTooBig))
        // Incompressible data grows a little and still fits.
        var chance = Seeded(state: 1)
        let noise = (0..<10_000).map { _ in UInt8.random(in: 0...255, using: &chance) }
        #expect(compressed(noise).count > 10_000)
        let tight = Frame(first: 0xC2, payload: compressed(noise), mask: anyMask).bytes
        #expect(try closure(tight, limit) == (nil, [.binary(noise)]))
        // An uncompressed message has no such allowance.
        let plain = Frame.binary(noise + [1], mask: anyMask).bytes
        #expect(try closure(plain, limit).0 == .protocolViolation(.messageTooBig))
        // An endless message without content: empty blocks in many fragments.
        var endless = Frame(first: 0x42, payload: [0], mask: anyMask).bytes
        for _ in 0..<30 {
            let blocks = (0..<200).flatMap { _ -> [UInt8] in [0, 0, 0xFF, 0xFF, 0] }
            endless += Frame(first: 0x00, payload: blocks, mask: anyMask).bytes
        }
        #expect(try closure(endless, limit).0 == .protocolViolation(.messageTooBig))
        let fragments = try closure(endless) { $0.maximumFragments = 10 }
        #expect(fragments.0 == .protocolViolation(.tooManyFragments))
    }

    @Test("What grows too far is refused though it fits, but not below 8 KiB")
    func holdsRatio() throws {
        let strict: (inout WebSocketSettings) -> Void = {
            $0.compression = .shared
            $0.maximumMessageBytes = 1 << 20
        }
        let bomb = Frame(first: 0xC2, payload: compressed([UInt8](repeating: 1, count: 20_000)), mask: anyMask).bytes
        #expect(try closure(bomb, strict).0 == .protocolViolation(.excessiveCompression))
        #expect(WebSocketViolation.excessiveCompression.closeCode == .tooBig)
        #expect(try closure(bomb).0 == nil)
        let small = Frame(first: 0xC2, payload: compressed([UInt8](repeating: 1, count: 8_192)), mask: anyMask).bytes
        #expect(try closure(small, strict).0 == nil)
    }

    @Test("A connection that keeps contexts understands its like, message after message", arguments: [true, false])
    func talks(keepsContext: Bool) throws {
        let agreement = keepsContext ? kept : forgotten
        let client = try Connection(.client, agreement: agreement)
        let server = try Connection(.server, agreement: agreement)
        let text = String(repeating: "All that glitters is not gold. ", count: 20)
        var sizes: [Int] = []
        for _ in 0..<3 {
            for message in [text, "", "short", text] {
                try client.send(.text(ByteBuffer(string: message))).wait()
                let wire = try client.sentBytes()
                sizes.append(wire.count)
                try server.receive(wire)
                #expect(server.seen.last == .text(message))
                try server.send(.binary(ByteBuffer(string: message))).wait()
                try client.receive(try server.sentBytes())
                #expect(client.seen.last == .binary(Array(message.utf8)))
            }
        }
        #expect(sizes[0] < text.utf8.count / 4)
        #expect(keepsContext ? sizes[3] < sizes[0] / 2 : sizes[3] == sizes[0])
    }

    @Test("What would not become smaller travels as it is, unless the peer's window must see it")
    func sendsPlain() throws {
        var chance = Seeded(state: 1)
        let noise = ByteBuffer(bytes: (0..<500).map { _ in UInt8.random(in: 0...255, using: &chance) })
        let free = try Connection(.server, agreement: forgotten)
        try free.send(.binary(noise)).wait()
        try free.send(.text(ByteBuffer(string: "short"))).wait()
        #expect(try free.sentFrames().map(\.first) == [0x82, 0x81])
        let bound = try Connection(.server, agreement: kept)
        try bound.send(.binary(noise)).wait()
        #expect(try bound.sentFrames().map(\.first) == [0xC2])
        // zlib cannot make this window.
        var tiny = kept
        tiny.fromServer.windowBits = 8
        let mute = try Connection(.server, agreement: tiny)
        try mute.send(.text(ByteBuffer(string: String(repeating: "x", count: 1_000)))).wait()
        #expect(try mute.sentFrames().map(\.first) == [0x81])
    }

    @Test("Control frames are never compressed")
    func leavesControlFrames() throws {
        let connection = try Connection(.server, agreement: kept)
        try connection.receive(Frame.ping(Array(repeating: 1, count: 125)))
        connection.advance(.seconds(20))
        try connection.send(.close(.normal, reason: String(repeating: "x", count: 120))).wait()
        #expect(try connection.sentFrames().map(\.first) == [0x8A, 0x89, 0x88])
    }

    @Test("Frames for many are compressed each for itself, the small ones not at all")
    func compressesFrames() throws {
        var frames = ByteBuffer()
        let long = String(repeating: #"{"data":[{"p":1}],"type":"trade"}"#, count: 20)
        for text in [long, "short", "", long] { WebSocketFraming.serverText(ByteBuffer(string: text), into: &frames) }
        let compressor = FrameCompressor(windowBits: 9)
        let result = compressor.compress(frames)
        #expect(compressor.compress(frames) == result)
        let parsed = try #require(Frame.parse(Array(result.readableBytesView)))
        #expect(parsed.map(\.first) == [0xC1, 0x81, 0x81, 0xC1])
        #expect(parsed[0].payload == parsed[3].payload)
        let client = try Connection(
            .client,
            agreement: DeflateAgreement(fromServer: .init(windowBits: 9, keepsContext: false), fromClient: .init())
        )
        try client.receive(Array(result.readableBytesView))
        #expect(client.seen == [.text(long), .text("short"), .text(""), .text(long)])
    }
}
