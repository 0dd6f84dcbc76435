import NIOCore
import NIOEmbedded
import Testing
@testable import WebSocket

@Suite struct HandlerRuleTests {
    /// A violation in a client's bytes to our server, and the error that it must cause.
    static let breaches: [(bytes: [UInt8], violation: WebSocketViolation)] = [
        (Frame.text("x").bytes, .unmaskedFrame),
        (Frame(first: 0xC1, payload: [], mask: anyMask).bytes, .reservedBits),
        (Frame(first: 0xA1, payload: [], mask: anyMask).bytes, .reservedBits),
        (Frame(first: 0x91, payload: [], mask: anyMask).bytes, .reservedBits),
        (Frame(first: 0xC9, payload: [], mask: anyMask).bytes, .reservedBits),
        (Frame(first: 0x83, payload: [], mask: anyMask).bytes, .unknownOpcode(3)),
        (Frame(first: 0x87, payload: [], mask: anyMask).bytes, .unknownOpcode(7)),
        (Frame(first: 0x8B, payload: [], mask: anyMask).bytes, .unknownOpcode(11)),
        (Frame(first: 0x8F, payload: [], mask: anyMask).bytes, .unknownOpcode(15)),
        (Frame(first: 0x09, payload: [], mask: anyMask).bytes, .fragmentedControlFrame),
        (Frame(first: 0x0A, payload: [], mask: anyMask).bytes, .fragmentedControlFrame),
        (Frame(first: 0x08, payload: [], mask: anyMask).bytes, .fragmentedControlFrame),
        (Frame.ping(Array(repeating: 1, count: 126), mask: anyMask).bytes, .longControlFrame),
        (Frame.pong(Array(repeating: 1, count: 70_000), mask: anyMask).bytes, .longControlFrame),
        (Frame.continuation([1], final: true, mask: anyMask).bytes, .unexpectedContinuation),
        (
            Frame.text("a", final: false, mask: anyMask).bytes + Frame.text("b", mask: anyMask).bytes,
            .interleavedMessage
        ),
        ([0x82, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 0] + anyMask, .invalidLength),
        ([0x82, 0xFF] + Array(repeating: 0xFF, count: 8) + anyMask, .invalidLength),
        ([0x82, 0xFF, 0x7F] + Array(repeating: 0xFF, count: 7) + anyMask, .messageTooBig),
        ([0x82, 0xFE, 0, 125] + anyMask, .invalidLength),
        ([0x82, 0xFF, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF] + anyMask, .invalidLength),
        ([0x82, 0xFF, 0, 0, 0, 0, 0, 0x10, 0, 1] + anyMask, .messageTooBig),
        (Frame(first: 0x81, payload: [0x61, 0xFF], mask: anyMask).bytes, .invalidText),
        (Frame(first: 0x81, payload: [0xE2, 0x82], mask: anyMask).bytes, .invalidText),
        (Frame(first: 0x88, payload: [3], mask: anyMask).bytes, .invalidClose),
        (Frame.close(999, mask: anyMask).bytes, .invalidClose),
        (Frame.close(1004, mask: anyMask).bytes, .invalidClose),
        (Frame.close(1005, mask: anyMask).bytes, .invalidClose),
        (Frame.close(1006, mask: anyMask).bytes, .invalidClose),
        (Frame.close(1015, mask: anyMask).bytes, .invalidClose),
        (Frame.close(2999, mask: anyMask).bytes, .invalidClose),
        (Frame.close(5000, mask: anyMask).bytes, .invalidClose),
        (Frame(first: 0x88, payload: [0x03, 0xE8, 0xC0, 0x80], mask: anyMask).bytes, .invalidCloseReason),
    ]

    @Test("A breach is told with its code, wherever the bytes are cut", arguments: Self.breaches)
    func tellsBreach(bytes: [UInt8], violation: WebSocketViolation) throws {
        let pieces = bytes.count < 200 ? cuts(of: bytes) : [[bytes]]
        for pieces in pieces {
            let connection = try Connection(.server)
            for piece in pieces { try connection.receive(piece) }
            let close = try #require(try connection.sentFrames().last)
            #expect(close.first == 0x88)
            #expect(close.payload.prefix(2) == Frame.close(violation.closeCode.rawValue).payload.prefix(2))
            #expect(connection.closure?.cause == .protocolViolation(violation))
            #expect(connection.seen.last == .inactive)
        }
    }

    @Test("A client fails a masked frame, and masks its own close frame")
    func clientRefusesMask() throws {
        let connection = try Connection(.client)
        try connection.receive(Frame.text("x", mask: anyMask).bytes)
        let close = try #require(try connection.sentFrames().last)
        #expect(close.mask != nil)
        #expect(close.payload.prefix(2) == [0x03, 0xEA])
        #expect(connection.closure?.cause == .protocolViolation(.maskedFrame))
    }

    @Test("Messages before a breach in the same read are delivered, those behind it are not")
    func keepsOrderAtBreach() throws {
        let connection = try Connection(.server)
        let good = Frame.text("before", mask: anyMask).bytes
        try connection.receive(good + Frame.text("unmasked").bytes + good)
        #expect(connection.seen.first == .text("before"))
        #expect(!connection.seen.dropFirst().contains(.text("before")))
    }

    @Test(
        "Bad text ends a message that is still on its way, masked or not",
        arguments: [WebSocketRole.client, .server]
    )
    func failsTextEarly(role: WebSocketRole) throws {
        let connection = try Connection(role)
        var whole = Frame.text(String(repeating: "a", count: 1_000))
        whole.payload[500] = 0xFF
        whole.mask = connection.peerMask
        let headerBytes = whole.bytes.count - 1_000
        for byte in whole.bytes[..<(headerBytes + 500)] { try connection.receive([byte]) }
        #expect(connection.closure == nil)
        try connection.receive([whole.bytes[headerBytes + 500]])
        #expect(connection.closure?.cause == .protocolViolation(.invalidText))
    }

    @Test("A conversation comes out the same at every cut", arguments: [WebSocketRole.client, .server])
    func survivesEveryCut(role: WebSocketRole) throws {
        let mask = role == .server ? anyMask : nil
        let frames: [Frame] = [
            .text("héllo", mask: mask), .text("", mask: mask), .text("a€", final: false, mask: mask),
            .ping([1, 2, 3], mask: mask), .continuation(Array("𝄞".utf8)[..<2].map(\.self), final: false, mask: mask),
            .pong([9], mask: mask), .continuation(Array("𝄞".utf8)[2...].map(\.self), final: true, mask: mask),
            .binary(Array(repeating: 7, count: 300), mask: mask), .close(1000, "bye", mask: mask),
        ]
        let expected: [Seen] = [
            .text("héllo"), .text(""), .event(.pingReceived(ByteBuffer(bytes: [1, 2, 3]))),
            .event(.pongReceived(ByteBuffer(bytes: [9]))), .text("a€𝄞"),
            .binary(Array(repeating: 7, count: 300)),
            .event(.closed(WebSocketClosure(code: .normal, reason: "bye", cause: .peerClosed))),
        ]
        for pieces in cuts(of: frames.flatMap(\.bytes)) {
            let connection = try Connection(role)
            for piece in pieces { try connection.receive(piece) }
            #expect(connection.seen.filter { $0 != .inactive } == expected)
            let sent = try connection.sentFrames()
            #expect(sent.map(\.first) == [0x8A, 0x88])
            #expect(sent.map(\.payload) == [[1, 2, 3], [0x03, 0xE8]])
            #expect(sent.allSatisfy { ($0.mask != nil) == (role == .client) })
        }
    }

    @Test("Masks come off at every length and alignment")
    func unmasksEveryLength() throws {
        let connection = try Connection(.server)
        for length in 0..<70 {
            let payload = (0..<length).map { UInt8($0) }
            try connection.receive(Frame.binary(payload, mask: anyMask).bytes)
            #expect(connection.seen.last == .binary(payload))
        }
    }

    @Test("Limits hold: a message of the limit passes, one more byte or fragment does not")
    func holdsLimits() throws {
        let limits: (inout WebSocketSettings) -> Void = {
            $0.maximumMessageBytes = 1_000
            $0.maximumFragments = 3
        }
        var connection = try Connection(.server, limits)
        try connection.receive(Frame.binary(Array(repeating: 1, count: 1_000)))
        #expect(connection.seen == [.binary(Array(repeating: 1, count: 1_000))])
        try connection.receive(Frame.binary(Array(repeating: 1, count: 1_001)))
        #expect(connection.closure?.cause == .protocolViolation(.messageTooBig))
        #expect(connection.closure?.code == .tooBig)

        connection = try Connection(.server, limits)
        try connection.receive(Frame.text("", final: false))
        for _ in 0..<2 { try connection.receive(Frame.continuation([], final: false)) }
        #expect(connection.closure == nil)
        try connection.receive(Frame.continuation([], final: false))
        #expect(connection.closure?.cause == .protocolViolation(.tooManyFragments))
    }

    @Test("A limit below a control frame's size does not refuse control frames")
    func controlFramesIgnoreMessageLimit() throws {
        let connection = try Connection(.server) { $0.maximumMessageBytes = 10 }
        try connection.receive(Frame.ping(Array(repeating: 5, count: 125)))
        #expect(try connection.sentFrames().map(\.payload) == [Array(repeating: 5, count: 125)])
        try connection.receive(Frame.binary(Array(repeating: 5, count: 11)))
        #expect(connection.closure?.cause == .protocolViolation(.messageTooBig))
    }
}
