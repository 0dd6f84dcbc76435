package import Logging
package import NIOCore

/// The pause of a listening socket when the system has no descriptor or memory for another connection.
///
/// Without the pause the loop would retry the same connection at full speed.
package final class AcceptHandler: ChannelDuplexHandler {
    package typealias InboundIn = any Channel
    package typealias OutboundIn = Never

    private static let rest: TimeAmount = .milliseconds(250)

    private let logger: Logger
    private var isResting = false
    private var isReadHeld = false

    package init(logger: Logger) { self.logger = logger }

    package func read(context: ChannelHandlerContext) {
        if self.isResting { self.isReadHeld = true } else { context.read() }
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard !self.isResting else { return }
        self.isResting = true
        self.logger.warning("A connection could not be accepted", metadata: ["error": "\(error)"])
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.rest) {
            self.isResting = false
            guard self.isReadHeld else { return }
            self.isReadHeld = false
            context.read()
        }
    }
}
