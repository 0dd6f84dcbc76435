import NIOCore
import NIOEmbedded
import NIOHTTP1
@testable import WebSocket

/// An item that the application sees, in order.
enum Seen: Equatable {
    case text(String)
    case binary([UInt8])
    case event(WebSocketEvent)
    case readComplete
    case inactive
    case error(String)
}

/// The application at the end of a pipeline, which records what it sees.
final class Witness: ChannelInboundHandler {
    typealias InboundIn = WebSocketMessage

    var seen: [Seen] = []
    var writabilityChanges = 0

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        self.writabilityChanges += 1
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch Self.unwrapInboundIn(data) {
        case .text(let text): self.seen.append(.text(String(buffer: text)))
        case .binary(let bytes): self.seen.append(.binary(Array(bytes.readableBytesView)))
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        self.seen.append(.readComplete)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? WebSocketEvent { self.seen.append(.event(event)) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.seen.append(.inactive)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.seen.append(.error("\(error)"))
    }
}

/// A connection on an embedded channel, fed with bytes; the test advances its clock.
final class Connection {
    let channel: EmbeddedChannel
    let witness = Witness()
    let role: WebSocketRole

    init(
        _ role: WebSocketRole,
        agreement: DeflateAgreement? = nil,
        _ change: (inout WebSocketSettings) -> Void = { _ in }
    ) throws {
        var settings = WebSocketSettings(role: role)
        change(&settings)
        self.role = role
        self.channel = EmbeddedChannel()
        try self.channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        try self.channel.pipeline.syncOperations.addWebSocketHandlers(settings, agreement: agreement)
        try self.channel.pipeline.syncOperations.addHandler(self.witness)
    }

    deinit {
        _ = try? self.channel.finish()
    }

    /// The mask that this side's peer uses.
    var peerMask: [UInt8]? { self.role == .server ? anyMask : nil }

    /// Messages and events without the ends of reads.
    var seen: [Seen] { self.witness.seen.filter { $0 != .readComplete } }

    var closure: WebSocketClosure? {
        self.seen.lazy.compactMap { if case .event(.closed(let closure)) = $0 { closure } else { nil } }.first
    }

    func receive(_ bytes: [UInt8]) throws {
        guard self.channel.isActive else { return }
        try self.channel.writeInbound(ByteBuffer(bytes: bytes))
    }

    /// Receives a valid frame of the peer, masked as its role requires.
    func receive(_ frame: Frame) throws {
        var frame = frame
        frame.mask = self.peerMask
        try self.receive(frame.bytes)
    }

    func send(_ output: WebSocketOutput) -> EventLoopFuture<Void> {
        let future = self.channel.writeAndFlush(output)
        self.channel.embeddedEventLoop.run()
        return future
    }

    /// Returns the bytes sent since the last call.
    func sentBytes() throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let buffer = try self.channel.readOutbound(as: ByteBuffer.self) { bytes += buffer.readableBytesView }
        return bytes
    }

    func sentFrames() throws -> [Frame] {
        Frame.parse(try self.sentBytes()) ?? []
    }

    func advance(_ time: TimeAmount) {
        self.channel.embeddedEventLoop.advanceTime(by: time)
    }
}

/// Returns every split of the bytes into two pieces, and the split into single bytes.
func cuts(of bytes: [UInt8]) -> [[[UInt8]]] {
    (0...bytes.count).map { [Array(bytes[..<$0]), Array(bytes[$0...])] } + [bytes.map { [$0] }]
}
