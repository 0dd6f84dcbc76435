import NIOCore
import NIOHTTP1
import NIOPosix
import TLS
import WebSocket

/// A server for the suite's fuzzing client.
struct EchoServer {
    /// The way of an echo.
    enum Way {
        /// Messages, down the channel's pipeline.
        case channel
        /// Whole frames, as the relay sends them.
        case relay
    }

    var way: Way
    var port: Int
    var isEncrypted: Bool

    func run() async throws {
        let tls = self.isEncrypted ? try Self.makeContext() : nil
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let deadlines = try await loop.submit { NIOLoopBound(DeadlineWheel(loop: loop), eventLoop: loop) }.get()
        let server = try await ServerBootstrap(group: loop)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                do {
                    if let tls { try channel.pipeline.syncOperations.addHandler(TLSHandler(context: tls, peer: nil)) }
                    switch self.way {
                    case .channel:
                        return Self.configure(channel)
                    case .relay:
                        try RelayUpgrade.configure(channel, isEncrypted: self.isEncrypted, deadlines: deadlines.value)
                        return channel.eventLoop.makeSucceededVoidFuture()
                    }
                } catch {
                    return channel.eventLoop.makeFailedFuture(error)
                }
            }
            .bind(host: "127.0.0.1", port: self.port)
            .get()
        try await server.closeFuture.get()
    }

    private static func configure(_ channel: any Channel) -> EventLoopFuture<Void> {
        channel.configureWebSocketServer(
            settings: suiteSettings(.server),
            handshakeTimeout: .seconds(10),
            decide: { _ in .accept([:]) },
            upgraded: { channel, _ in try channel.pipeline.syncOperations.addHandler(EchoHandler()) }
        )
    }

    private static func makeContext() throws -> TLSContext {
        let credentials = try CertificateAuthority(name: "conformance").issue(names: ["localhost"])
        return try TLSContext(server: TLSServerConfiguration(credentials: credentials))
    }
}
