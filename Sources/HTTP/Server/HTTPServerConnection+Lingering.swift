import NIOCore
import TLS

// The end of a connection behind its last answer, in the peer's own time and within the limits of `Lingering`.
extension HTTPServerConnection {
    /// How much of what is thrown away is read at once, in bytes: more than of requests, so that it is soon over.
    private static let readBytes = 16 << 10

    /// Ends our side, and throws away what comes until the peer has ended its own, or has had the time to do so.
    func linger(context: ChannelHandlerContext) {
        self.stopTimer()
        self.state = .lingering
        self.waiting.removeAll()
        let portions = try? context.pipeline.syncOperations.handler(type: InputPortions.self)
        let isInputOver = portions?.drop(atMost: Lingering.mostBytes) ?? false
        guard !isInputOver else { return context.close(promise: nil) }
        // Only a channel that is gone refuses this.
        try? context.channel.syncOptions?.setOption(
            .recvAllocator,
            value: FixedSizeRecvByteBufferAllocator(capacity: Self.readBytes)
        )
        context.close(mode: .output, promise: nil)
        self.readOn(context: context)
        self.awaitEnd(Lingering(self.progress(of: context)), portions, context: context)
    }

    private func awaitEnd(_ lingering: Lingering, _ portions: InputPortions?, context: ChannelHandlerContext) {
        self.timer = context.eventLoop.assumeIsolated().scheduleTask(in: Lingering.quiet) {
            var lingering = lingering
            let left = UnsentBytes.count(of: context.channel)
            guard lingering.isOver(left: left, dropped: portions?.dropped ?? 0, now: context.eventLoop.now) else {
                return self.awaitEnd(lingering, portions, context: context)
            }
            self.cut(context: context)
        }
    }

    /// Ends the connection whatever the peer does: over TLS it is not asked once more to end its side.
    func cut(context: ChannelHandlerContext) {
        let tls = try? context.pipeline.syncOperations.context(handlerType: TLSHandler.self)
        context.close(promise: nil)
        tls?.close(promise: nil)
    }
}
