import NIOCore
import NIOEmbedded
import WebSocket

/// The rules for a WebSocket client with arbitrary bytes from its server after the 101.
enum ClientFuzz {
    private static let maximumMessageBytes = 4_096

    static let seeds: [[UInt8]] = {
        let trade = Array(FinnhubSeeds.frames[0].utf8)
        let long = Array(FinnhubSeeds.frames[1].utf8)
        let ping = Self.frame(0x89, [1, 2, 3])
        return [
            Self.frame(0x81, trade) + Self.frame(0x81, Array(#"{"type":"ping"}"#.utf8)),
            Self.frame(0x81, long) + ping + Self.frame(0x88, [0x03, 0xE8] + Array("bye".utf8)),
            // A fragmented message with a ping in between; empty fragments.
            Self.frame(0x01, Array(trade.prefix(20))) + ping + Self.frame(0x00, Array(trade[20..<40]))
                + Self.frame(0x80, Array(trade[40...])),
            Self.frame(0x02, []) + Self.frame(0x00, []) + Self.frame(0x80, [0xFF]) + Self.frame(0x8A, []),
            Self.frame(0x81, Array("κόσμε €𝄞".utf8)) + Self.frame(0x82, Array(repeating: 7, count: 300)),
            Self.frame(0x88, []), Self.frame(0x88, [0x0F, 0xA0]),
        ]
    }()

    static let words: [[UInt8]] =
        [
            [0x81, 0x00], [0x01, 0x01], [0x80, 0x00], [0x00, 0x00], [0x89, 0x00], [0x89, 0x7D], [0x8A, 0x00],
            [0x88, 0x00],
            [0x88, 0x02, 0x03, 0xE8], [0x88, 0x02, 0x03, 0xED], [0x88, 0x01, 0x03], [0x81, 0x80, 1, 2, 3, 4],
            [0xC1, 0x00],
            [0x83, 0x00], [0x8B, 0x00], [0x09, 0x00], [0x81, 126, 0, 1], [0x81, 126, 0xFF, 0xFF],
            [0x81, 127, 0, 0, 0, 0, 0, 1, 0, 0], [0x81, 127, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
            [0x81, 127, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [0x82, 127, 0, 0, 0, 0, 0, 0, 0, 2],
            [0xC3], [0xED, 0xA0, 0x80], [0xF0, 0x9F, 0x98], [0x98, 0x80], [0x00, 0x01, 0x41],
        ] + [Array(#"{"type":"ping"}"#.utf8)]

    private static func frame(_ first: UInt8, _ payload: [UInt8]) -> [UInt8] {
        payload.count < 126
            ? [first, UInt8(payload.count)] + payload
            : [first, 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)] + payload
    }

    static func check(_ input: [UInt8]) throws(FuzzFinding) -> Bool {
        let whole = try Self.converse([input])
        let cut = try Self.converse(input.pieces)
        try FuzzFinding.require(whole == cut, "whole it is \(whole), in pieces \(cut)")
        return whole.contains {
            switch $0 {
            case .text, .binary: true
            case .event: false
            }
        }
    }

    /// Plays a conversation, and returns what the application received.
    private static func converse(_ pieces: [[UInt8]]) throws(FuzzFinding) -> [FuzzWitness.Sight] {
        let channel = EmbeddedChannel()
        let witness = FuzzWitness(maximumMessageBytes: Self.maximumMessageBytes)
        var sent = 0
        var received = 0
        do {
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
            var settings = WebSocketSettings(role: .client)
            settings.maximumMessageBytes = Self.maximumMessageBytes
            settings.maximumFragments = 16
            try channel.pipeline.syncOperations.addWebSocketHandlers(settings)
            try channel.pipeline.syncOperations.addHandler(witness)
            for piece in pieces where channel.isActive {
                received += piece.count
                try channel.writeInbound(ByteBuffer(bytes: piece))
                while let bytes = try channel.readOutbound(as: ByteBuffer.self) { sent += bytes.readableBytes }
            }
            // Every wait has a limit: without a pong, the connection closes within a minute.
            channel.embeddedEventLoop.advanceTime(by: .seconds(60))
            try FuzzFinding.require(!channel.isActive, "a connection without a pong is open after a minute")
            _ = try channel.finish(acceptAlreadyClosed: true)
        } catch {
            throw (error as? FuzzFinding) ?? FuzzFinding("\(error) was thrown")
        }
        // Each byte of a ping costs at most one byte of a pong, with a header of 6 bytes for one of 2; a close frame
        // may follow.
        try FuzzFinding.require(sent <= 4 * received + 256, "\(received) bytes made \(sent)")
        try FuzzFinding.require(witness.finding == nil, witness.finding ?? "")
        return witness.seen
    }
}

/// The application at the end of a client's pipeline, which records messages and rule violations.
final class FuzzWitness: ChannelInboundHandler {
    typealias InboundIn = WebSocketMessage

    /// An event that the application received.
    enum Sight: Equatable {
        case text(ByteBuffer)
        case binary(ByteBuffer)
        case event(WebSocketEvent)
    }

    private let maximumMessageBytes: Int
    private(set) var seen: [Sight] = []
    private(set) var finding: String?
    private var isClosed = false

    init(maximumMessageBytes: Int) { self.maximumMessageBytes = maximumMessageBytes }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if self.isClosed { self.finding = "a message behind the end" }
        switch Self.unwrapInboundIn(data) {
        case .text(let text):
            if String(validating: text.readableBytesView, as: UTF8.self) == nil {
                self.finding = "text that is no UTF-8"
            }
            self.take(.text(text), text.readableBytes)
        case .binary(let bytes):
            self.take(.binary(bytes), bytes.readableBytes)
        }
    }

    private func take(_ sight: Sight, _ count: Int) {
        if count > self.maximumMessageBytes { self.finding = "a message of \(count) bytes" }
        self.seen.append(sight)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard let event = event as? WebSocketEvent else { return }
        if case .closed = event {
            if self.isClosed { self.finding = "a second end" }
            self.isClosed = true
        }
        self.seen.append(.event(event))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.finding = "the error \(error) came up"
    }
}
