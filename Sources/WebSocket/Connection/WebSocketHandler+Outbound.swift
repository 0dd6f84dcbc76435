package import NIOCore
import NIOWebSocket

// The outbound half: the application's messages on their way to the frame encoder.
extension WebSocketHandler {
    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard self.closing.isOpen else {
            promise?.fail(WebSocketWriteError.closing)
            return
        }
        switch Self.unwrapOutboundIn(data) {
        case .framed(let bytes):
            self.framedOutput.writeFrames(bytes, promise: promise)
        case .text(let payload):
            self.writeMessage(.text, payload, context: context, promise: promise)
        case .binary(let payload):
            self.writeMessage(.binary, payload, context: context, promise: promise)
        case .close(let code, let reason):
            guard code.mayBeSent else {
                promise?.fail(WebSocketWriteError.forbiddenCloseCode(code))
                return
            }
            let now = context.eventLoop.now
            let action = self.closing.closeAsked(code, reason: reason, now: now, sendProgress: self.sendProgress)
            self.perform(action, context: context, promise: promise)
        }
    }

    package func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if mode == .all { self.perform(self.closing.transportEnded(locally: true), context: context) }
        context.close(mode: mode, promise: promise)
    }

    private func writeMessage(
        _ opcode: WebSocketOpcode,
        _ payload: ByteBuffer,
        context: ChannelHandlerContext,
        promise: EventLoopPromise<Void>?
    ) {
        let compressed = self.compressor?.compress(payload)
        self.write(
            opcode,
            compressed ?? payload,
            isCompressed: compressed != nil,
            context: context,
            promise: promise
        )
    }

    /// Writes one complete frame, masked on a client.
    func write(
        _ opcode: WebSocketOpcode,
        _ payload: ByteBuffer,
        isCompressed: Bool = false,
        context: ChannelHandlerContext,
        promise: EventLoopPromise<Void>?
    ) {
        let key: WebSocketMaskingKey? = self.closing.role == .client ? .random() : nil
        let frame = WebSocketFrame(fin: true, rsv1: isCompressed, opcode: opcode, maskKey: key, data: payload)
        context.write(Self.wrapOutboundOut(frame), promise: promise)
    }
}
