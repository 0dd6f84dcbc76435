import NIOCore

/// The handler of a connection that hangs or is cut before the WebSocket is open; it takes the place of the next
/// protocol.
///
/// It reads and discards input, so that the client's end is noticed.
final class OpeningFaultHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The action at the stage.
    enum Outcome {
        case hang
        case drop
        case reset
    }

    /// The first bytes of a record of 122 bytes with a ServerHello of 118 (RFC 8446, 4.1.3 and 5.1).
    private static let halfServerHello = ByteBuffer(
        bytes: [0x16, 0x03, 0x03, 0x00, 0x7a, 0x02, 0x00, 0x00, 0x76, 0x03, 0x03] + Array(repeating: 0x5a, count: 20)
    )

    let stage: Fault.Stage
    private let outcome: Outcome
    private let line: FaultyLine
    private var isReached = false

    init(stage: Fault.Stage, outcome: Outcome, line: FaultyLine) {
        self.stage = stage
        self.outcome = outcome
        self.line = line
    }

    /// Whether it takes the place of TLS.
    var isBelowTLS: Bool {
        switch self.stage {
        case .tcp, .tls: true
        case .upgrade, .data: false
        }
    }

    func channelActive(context: ChannelHandlerContext) {
        switch self.stage {
        case .tcp: self.reached(context)
        case .tls, .upgrade, .data: break
        }
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.reached(context)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func reached(_ context: ChannelHandlerContext) {
        guard !self.isReached else { return }
        self.isReached = true
        switch self.stage {
        case .tcp, .upgrade, .data: break
        case .tls: context.writeAndFlush(self.wrapOutboundOut(Self.halfServerHello), promise: nil)
        }
        switch self.outcome {
        case .hang: break
        case .drop: self.line.drop()
        case .reset: self.line.reset()
        }
    }
}
