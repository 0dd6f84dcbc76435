import NIOCore
import NIOHTTP1
import NIOPosix
import NIOTLS
import TLS
import WebSocket

/// A client that lets the suite's fuzzing server put it through every case.
struct CaseRunner {
    private static let agent = "tickertape"

    private let host: String
    private let port: Int
    private let tls: TLSContext?

    /// - Parameter authorityFile: who vouches for a `wss` server.
    init(url: String, authorityFile: String?) throws {
        let authority = url.split(separator: "/").last.map(String.init) ?? ""
        let parts = authority.split(separator: ":")
        self.host = parts.first.map(String.init) ?? "127.0.0.1"
        self.port = parts.count > 1 ? Int(parts[1]) ?? 9001 : 9001
        if url.hasPrefix("wss:") {
            var configuration = TLSClientConfiguration()
            if let authorityFile { configuration.trust = .file(authorityFile) }
            // The suite's server is older than ALPN.
            configuration.applicationProtocols = []
            self.tls = try TLSContext(client: configuration)
        } else {
            self.tls = nil
        }
    }

    func run() async throws {
        let count = try await self.caseCount()
        for number in 1...count {
            // A case may end its connection in any way; the suite judges, not we.
            try? await self.connect("/runCase?case=\(number)&agent=\(Self.agent)") { try $0.addHandler(EchoHandler()) }
        }
        try await self.connect("/updateReports?agent=\(Self.agent)") { _ in }
        print("ran \(count) cases")
    }

    private func caseCount() async throws -> Int {
        let count = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: Int.self)
        do {
            try await self.connect("/getCaseCount") { try $0.addHandler(CountHandler(count)) }
            // A connection that ends without a count must not leave us waiting.
            count.fail(ChannelError.eof)
        } catch {
            count.fail(error)
        }
        return try await count.futureResult.get()
    }

    /// Opens a WebSocket, and returns when its connection is over.
    private func connect(
        _ target: String,
        adding: @escaping @Sendable (ChannelPipeline.SynchronousOperations) throws -> Void
    ) async throws {
        var request = WebSocketClientRequest(host: "\(self.host):\(self.port)", target: target)
        request.timeout = .seconds(60)
        if self.tls != nil {
            request.startsOn = { event in
                if case .handshakeCompleted = event as? TLSUserEvent { true } else { false }
            }
        }
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .channelInitializer { [request, tls] channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls {
                        let handler = TLSHandler(context: tls, peer: TLSPeerName(self.host))
                        try channel.pipeline.syncOperations.addHandler(handler)
                    }
                    // Before the channel is active, or the end of the TLS handshake may have passed. A failure closes the
                    // channel, which is waited for below.
                    _ = channel.upgradeToWebSocket(request, settings: suiteSettings(.client)) { channel, _ in
                        try adding(channel.pipeline.syncOperations)
                    }
                }
            }
            .connect(host: "127.0.0.1", port: self.port)
            .get()
        try await channel.closeFuture.get()
    }
}

/// Takes the number of cases from the first message.
private final class CountHandler: ChannelInboundHandler {
    typealias InboundIn = WebSocketMessage

    private let count: EventLoopPromise<Int>

    init(_ count: EventLoopPromise<Int>) {
        self.count = count
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .text(let text) = Self.unwrapInboundIn(data), let number = Int(String(buffer: text)) else { return }
        self.count.succeed(number)
    }
}
