import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import TLS

/// A server for tests of the webhook: it keeps each request and answers as planned.
final class WebhookServer: Sendable {
    enum Answer: Sendable {
        case status(Int, body: String = "")
        /// These bytes; the connection stays open.
        case bytes(String)
        /// A good status, and a body that never ends.
        case endless
        case silence
        case close
    }

    let port: Int
    private let channel: any Channel
    private let seen: NIOLockedValueBox<[String]>

    static func start(
        tls: TLSContext? = nil,
        answer: @escaping @Sendable (_ number: Int) -> Answer
    ) async throws -> WebhookServer {
        let seen = NIOLockedValueBox<[String]>([])
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls {
                        try channel.pipeline.syncOperations.addHandler(TLSHandler(context: tls, peer: nil))
                    }
                    try channel.pipeline.syncOperations.addHandler(Handler(seen: seen, answer: answer))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return WebhookServer(channel: channel, seen: seen)
    }

    private init(channel: any Channel, seen: NIOLockedValueBox<[String]>) {
        self.channel = channel
        self.port = channel.localAddress?.port ?? 0
        self.seen = seen
    }

    /// The whole requests that came, in order.
    var requests: [String] { self.seen.withLockedValue { $0 } }

    func stop() async throws { try await self.channel.close().get() }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        let seen: NIOLockedValueBox<[String]>
        let answer: @Sendable (Int) -> Answer
        var text = ""

        init(seen: NIOLockedValueBox<[String]>, answer: @escaping @Sendable (Int) -> Answer) {
            self.seen = seen
            self.answer = answer
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            self.text += String(buffer: Self.unwrapInboundIn(data))
            guard let end = self.text.firstRange(of: "\r\n\r\n"), self.text[end.upperBound...].hasSuffix("}") else {
                return
            }
            let request = self.text
            self.text = ""
            let number = self.seen.withLockedValue { seen in
                seen.append(request)
                return seen.count
            }
            switch self.answer(number) {
            case .status(let status, let body):
                self.send(context, "HTTP/1.1 \(status) X\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
            case .bytes(let text): self.send(context, text)
            case .endless:
                self.send(context, "HTTP/1.1 200 OK\r\n\r\n")
                self.flood(context.channel)
            case .silence: break
            case .close: context.close(promise: nil)
            }
        }

        private func send(_ context: ChannelHandlerContext, _ text: String) {
            context.writeAndFlush(Self.wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
        }

        private func flood(_ channel: any Channel) {
            let piece = ByteBuffer(repeating: UInt8(ascii: "x"), count: 8_192)
            channel.writeAndFlush(piece).assumeIsolated().whenSuccess { self.flood(channel) }
        }
    }
}
