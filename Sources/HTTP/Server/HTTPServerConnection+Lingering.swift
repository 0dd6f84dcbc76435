import NIOCore
import TLS

// The end of a connection after its last response, at the peer's pace and within the limits of `Lingering`.
extension HTTPServerConnection {
    /// The size of a read of discarded input, in bytes; larger than for requests, so that it ends sooner.
    private static let readBytes = 16 << 10

    /// Closes the sending side, and discards input until the peer closes its side or the limits of ``Lingering`` end.
    func linger(context: ChannelHandlerContext) {
        self.stopTimer()
        self.state = .lingering
        self.waiting.removeAll()
        let portions = try? context.pipeline.syncOperations.handler(type: InputPortions.self)
        let isInputOver = portions?.drop(atMost: Lingering.maximumBytes) ?? false
        guard !isInputOver else { return context.close(promise: nil) }
        // Only a closed channel refuses this.
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

    /// Closes the connection without waiting for the peer. Over TLS, the second close starts below the TLS handler, so
    /// that it does not wait for the peer's close_notify.
    func cut(context: ChannelHandlerContext) {
        let tls = try? context.pipeline.syncOperations.context(handlerType: TLSHandler.self)
        context.close(promise: nil)
        tls?.close(promise: nil)
    }
}
