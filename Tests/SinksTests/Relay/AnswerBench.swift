import Logging
import Market
import NIOCore
import NIOEmbedded
import NIOHTTP1

@testable import Sinks

/// A connection whose peer takes bytes only when the test lets it.
struct AnswerBench {
    let channel = EmbeddedChannel()
    let refusals = Calls()
    let gate = SocketGate()
    let handler: HTTPHandler

    /// The head of a request that is refused at once.
    static let refused = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/", headers: ["Host": "evil.example"])

    /// - Parameter asks: whether the peer has sent a request that is refused.
    init(asks: Bool = true) throws {
        self.gate.isOpen = false
        var settings = RelaySettings()
        settings.stallTimeout = .seconds(8)
        settings.handshakeTimeout = .seconds(2)
        let sources = RelayRouter.Sources(
            reading: { throw HTTPRefusal.failed },
            snapshot: { throw HTTPRefusal.failed },
            symbolSnapshot: { _ in throw HTTPRefusal.failed },
            trades: { _, _ in throw HTTPRefusal.failed },
            bars: { _, _ in throw HTTPRefusal.failed },
            past: nil,
            instruments: Instruments(),
            version: "",
            replay: nil
        )
        let refusals = self.refusals
        let host = HTTPHandler.Host(
            settings: settings,
            gate: RequestGate(boundAddress: "127.0.0.1", allowedOrigins: []),
            router: RelayRouter(
                sources: sources,
                logger: Logger(label: "relay", factory: { _ in SwiftLogNoOpLogHandler() })
            ),
            refused: { refusals.add($0) },
            admit: { .tooManyClients },
            makeClient: { _, _ throws(HTTPRefusal) in throw HTTPRefusal.failed }
        )
        self.handler = HTTPHandler(host)
        try self.channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        try self.channel.pipeline.syncOperations.addHandlers([
            self.gate, HTTPResponseEncoder(), self.handler,
        ])
        guard asks else { return }
        try self.channel.writeInbound(HTTPServerRequestPart.head(Self.refused))
        try self.channel.writeInbound(HTTPServerRequestPart.end(nil))
    }

    /// Answers a request as the router does.
    func answer(_ body: String) throws {
        self.handler.stopTimer()
        self.handler.state = .answering
        let headers: HTTPHeaders = ["Content-Length": "\(body.utf8.count)"]
        let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: headers)
        let context = try self.channel.pipeline.syncOperations.context(handler: self.handler)
        self.handler.send(head, ByteBuffer(string: body), context: context)
    }

    /// The peer takes all that waits.
    func take() {
        self.gate.isOpen = true
        self.channel.flush()
    }

    func text() throws -> String {
        var text = ""
        while let part = try self.channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: part) }
        return text
    }
}
