import Glibc
import Market
import NIOCore
import NIOPosix
import Testing
import TickertapeTesting
@testable import Feeds

/// A connection that ends on its way to the WebSocket, by FIN or by RST. The failure depends on the step alone.
@Suite("A connection that breaks on its way", .timeLimit(.minutes(1 * Patience.factor)))
struct BrokenStepTests {
    /// Answers the first bytes with the first text, the next with the second, and so on, and then ends the connection.
    private final class Ending: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private var answers: ArraySlice<String>
        private let resets: Bool

        init(after answers: [String], resets: Bool) {
            self.answers = answers[...]
            self.resets = resets
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let channel = context.channel
            if let answer = self.answers.popFirst() {
                channel.writeAndFlush(ByteBuffer(string: answer), promise: nil)
            } else if self.resets, let socket = channel as? any SocketOptionProvider {
                socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).whenComplete { _ in channel.close(promise: nil) }
            } else {
                // A full close could reset the connection if bytes have not been read.
                channel.close(mode: .output, promise: nil)
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }

    /// One attempt at a server that ends the connection after these answers.
    private func failure(
        after answers: [String],
        resets: Bool,
        change: @escaping (inout ConnectorSettings, Int) -> Void
    ) async throws -> UpstreamFailure {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Ending(after: answers, resets: resets))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(server.localAddress?.port)
        let reported = try await Attempt.run(port: port) { change(&$0, port) }
        try await server.close()
        var failure = try #require(reported)
        failure.description = failure.description.replacing("127.0.0.1:\(port)", with: "PROXY")
        return failure
    }

    private static func proxied(_ settings: inout ConnectorSettings, _ port: Int) {
        settings.address = UpstreamAddress(isEncrypted: true, host: "ws.finnhub.io", port: 443)
        settings.dial.proxy = ProxyServer(host: "127.0.0.1", port: port, credentials: nil)
    }

    @Test("in the TLS handshake: its cause is TLS", arguments: [false, true])
    func handshake(resets: Bool) async throws {
        let failure = try await self.failure(after: [], resets: resets) { settings, _ in
            settings.address.isEncrypted = true
        }
        #expect(failure.cause == .tls && failure.disposition == .retry, "\(failure)")
        #expect(failure.description.hasPrefix("TLS handshake interrupted"), "\(failure)")
    }

    @Test("in the proxy's answer: the proxy is named, in the same words", arguments: [false, true])
    func proxy(resets: Bool) async throws {
        let failure = try await self.failure(after: [], resets: resets, change: Self.proxied)
        #expect(failure.description == "the proxy PROXY closed the connection without an answer")
        let other = try await self.failure(after: [], resets: !resets, change: Self.proxied)
        #expect(failure == other)
    }

    @Test("in the handshake through a proxy: its cause is TLS, and the proxy is named, too", arguments: [false, true])
    func behindProxy(resets: Bool) async throws {
        let failure = try await self.failure(
            after: ["HTTP/1.1 200 Connection established\r\n\r\n"],
            resets: resets,
            change: Self.proxied
        )
        #expect(failure.cause == .tls, "\(failure)")
        #expect(failure.description.hasPrefix("TLS handshake interrupted"), "\(failure)")
        #expect(failure.description.hasSuffix(" (through the proxy PROXY)"), "\(failure)")
    }

    @Test("instead of the WebSocket: its cause is the upgrade", arguments: [false, true])
    func upgrade(resets: Bool) async throws {
        let failure = try await self.failure(after: [], resets: resets) { _, _ in }
        #expect(failure.cause == .upgrade, "\(failure)")
        #expect(failure.description.contains("instead of opening a WebSocket"), "\(failure)")
    }
}
