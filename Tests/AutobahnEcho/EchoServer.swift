import NIOCore
import NIOHTTP1
import NIOPosix
import TLS
import WebSocket

/// A server for the suite's fuzzing client.
struct EchoServer {
    var port: Int
    var isEncrypted: Bool

    func run() async throws {
        let tls = self.isEncrypted ? try Self.makeContext() : nil
        let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                do {
                    if let tls { try channel.pipeline.syncOperations.addHandler(TLSHandler(context: tls, peer: nil)) }
                } catch {
                    return channel.eventLoop.makeFailedFuture(error)
                }
                return channel.configureWebSocketServer(
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

    private static func makeContext() throws -> TLSContext {
        let credentials = try CertificateAuthority(name: "conformance").issue(names: ["localhost"])
        return try TLSContext(server: TLSServerConfiguration(credentials: credentials))
    }
}
