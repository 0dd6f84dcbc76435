import NIOCore
import NIOHTTP1
import NIOPosix
import WebSocket

/// A server for the suite's fuzzing client.
struct EchoServer {
    var port: Int

    func run() async throws {
        let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.configureWebSocketServer(
                    settings: suiteSettings(.server),
                    handshakeTimeout: .seconds(10),
                    decide: { _ in .accept([:]) },
                    upgraded: { channel, _ in try channel.pipeline.syncOperations.addHandler(EchoHandler()) }
                )
            }
            .bind(host: "127.0.0.1", port: self.port)
            .get()
        try await server.closeFuture.get()
    }
}
