import HTTP
import MockUpstream
import NIOCore
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
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let tls { try pipeline.addHandler(TLSHandler(context: tls, peer: nil)) }
                    try HTTPServerConnection.addHandlers(to: pipeline, self.service(deadlines: deadlines.value))
                }
            }
            .bind(host: "127.0.0.1", port: self.port)
            .get()
        try await server.closeFuture.get()
    }

    private func service(deadlines: DeadlineWheel) -> MockService {
        var settings = suiteSettings(.server)
        switch self.way {
        case .channel:
            return MockService(webSocket: settings) { channel, _, _ in
                try channel.pipeline.syncOperations.addHandler(EchoHandler())
            }
        case .relay:
            // With one wheel for the deadlines of a loop, as in the relay.
            settings.compression = .shared
            return MockService(webSocket: settings, wheel: deadlines) { channel, _, agreement in
                let echo = FramedEchoHandler(isEncrypted: self.isEncrypted, agreement: agreement)
                try channel.pipeline.syncOperations.addHandler(echo)
            }
        }
    }

    private static func makeContext() throws -> TLSContext {
        let credentials = try CertificateAuthority(name: "conformance").issue(names: ["localhost"])
        return try TLSContext(server: TLSServerConfiguration(credentials: credentials))
    }
}
