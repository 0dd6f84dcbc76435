import Feeds
import Logging
import Market
import MockUpstream
import NIOCore
import NIOEmbedded
import NIOHTTP1
import WebSocket
import Wire

/// The division of the mock server's bytes into the feed's reads.
package enum ReplayCutting: Sendable, Equatable {
    /// Each message is a separate read, at its recorded time.
    case messages
    /// Each message arrives in pieces of this many bytes, all at its recorded time.
    case pieces(Int)
    /// This many messages form one read, at the time of the last of them.
    case several(Int)
    /// All messages of the same time form one read.
    case instants
}

/// A connection from a mock server to the feed without a socket, and the link between their two clocks.
///
/// The mock server runs on a separate loop, whose time is set by its player. That time may run at a tenth or a thousand
/// times the recorded pace, or stand still. Everything that the server plays reaches the feed when the feed's clock,
/// which is the recording's, shows the recorded time. Both ends thus do all of their work, but at unrelated times.
final class VirtualUpstream: ReplayOutput {
    private let clock: RecordedClock
    private let pace: EmbeddedEventLoop
    private let cutting: ReplayCutting
    private let clients: MockServerClients
    private let webSocket: WebSocketSettings
    private var server: (channel: EmbeddedChannel, socket: VirtualSocket)?
    private var client: (channel: EmbeddedChannel, socket: VirtualSocket)?
    /// The number of connections made, which is also the port of the newest one.
    private var connections = 0
    /// The messages that wait for others to join the same read.
    private var held: [ByteBuffer] = []
    private var newest: Int64 = .min
    /// The end of the recording on the player's clock, ns; `nil` before the end.
    private(set) var endedAt: Int64?

    /// - Parameters:
    ///   - source: a source with one player for all clients, which reports everything to this object before it plays
    ///     it.
    ///   - webSocket: the settings of the feed's end of the connection.
    init(
        source: ReplaySource,
        settings: MockServerSettings,
        webSocket: WebSocketSettings,
        clock: RecordedClock,
        pace: EmbeddedEventLoop,
        cutting: ReplayCutting
    ) {
        self.clock = clock
        self.pace = pace
        self.cutting = cutting
        self.clients = MockServerClients(settings, source: source)
        self.webSocket = webSocket
        source.shared?.attach(self)
    }

    /// Opens a connection; returns the feed's end, which speaks WebSocket.
    func open() throws -> EmbeddedChannel {
        let address = try SocketAddress(ipAddress: "127.0.0.1", port: 443)
        self.connections += 1
        let clientAddress = try SocketAddress(ipAddress: "127.0.0.1", port: self.connections)
        let (serverSocket, clientSocket) = (VirtualSocket(), VirtualSocket())
        let server = EmbeddedChannel(loop: self.pace)
        try server.pipeline.syncOperations.addHandler(serverSocket)
        server.connect(to: clientAddress, promise: nil)
        let client = EmbeddedChannel(loop: self.clock.loop)
        try client.pipeline.syncOperations.addHandler(clientSocket)
        client.connect(to: address, promise: nil)
        client.localAddress = clientAddress
        let pace = self.pace
        let boundServer = NIOLoopBound(serverSocket, eventLoop: pace)
        clientSocket.sent = { bytes in pace.execute { boundServer.value.deliver(bytes) } }
        clientSocket.ended = { pace.execute { boundServer.value.end() } }
        serverSocket.sent = { [weak self] in self?.carry($0) }
        serverSocket.ended = { [clock] in
            clientSocket.end()
            clock.loop.run()
        }
        (self.server, self.client) = ((server, serverSocket), (client, clientSocket))
        var webSocket = WebSocketSettings(role: .server)
        webSocket.pingInterval = nil
        try server.pipeline.syncOperations.addWebSocketHandlers(webSocket)
        try server.pipeline.syncOperations.addHandler(
            self.clients.makeHandler(
                HTTPRequestHead(version: .http1_1, method: .GET, uri: "/?token=replay"),
                line: nil,
                go: self.pace.makeSucceededVoidFuture(),
                logger: Logger(label: "replay", factory: { _ in SwiftLogNoOpLogHandler() })
            )
        )
        try client.pipeline.syncOperations.addWebSocketHandlers(self.webSocket)
        return client
    }

    // MARK: The mock server's bytes

    private func carry(_ bytes: ByteBuffer) {
        switch self.cutting {
        case .messages: self.deliver(bytes)
        case .pieces(let size):
            var rest = bytes
            while rest.readableBytes > 0 {
                self.deliver(rest.readSlice(length: min(max(size, 1), rest.readableBytes)) ?? rest)
            }
        case .several(let count):
            self.held.append(bytes)
            if self.held.count >= count || self.endedAt != nil { self.release() }
        case .instants:
            self.held.append(bytes)
            if self.endedAt != nil { self.release() }
        }
    }

    private func release() {
        guard !self.held.isEmpty else { return }
        var bytes = ByteBuffer()
        for part in self.held { bytes.writeImmutableBuffer(part) }
        self.held = []
        self.deliver(bytes)
    }

    private func deliver(_ bytes: ByteBuffer) {
        self.client?.socket.deliver(bytes)
        self.clock.loop.run()
    }

    // MARK: The player's reports

    var hasRoom: Bool { true }

    /// Precedes the mock server's own handling: earlier messages are delivered first, then the feed's clock advances.
    func play(_ message: ReplayMessage) { self.goOn(to: message.frame.at) }

    func play(_ signal: RecordedSignal) { self.goOn(to: signal.at) }

    func play(_ gap: RecordedGap) { self.goOn(to: gap.at) }

    private func goOn(to recorded: Int64) {
        self.server?.channel.flush()
        if recorded > self.newest, self.cutting == .instants { self.release() }
        self.newest = max(self.newest, recorded)
        self.clock.advance(to: recorded)
    }

    func flush() {}
    func changed(_ position: ReplayPosition, movedFrom: Int64?) {}

    func ended() {
        self.server?.channel.flush()
        self.release()
        self.endedAt = Int64(self.pace.now.uptimeNanoseconds)
    }

    func broke() {}
    func failed(_ reason: String) {}
}

/// A connector that leads to a ``VirtualUpstream``.
struct VirtualConnector: Connecting {
    let upstream: NIOLoopBound<VirtualUpstream>

    func connect(
        on loop: any EventLoop,
        reached: @escaping (any Channel) throws -> Void,
        connected: @escaping (any Channel, _ isRelay: Bool) throws -> Void
    ) -> EventLoopFuture<Void> {
        let steps = NIOLoopBound((reached: reached, connected: connected), eventLoop: loop)
        // Asynchronously, as with a socket.
        return loop.submit {
            let channel = try self.upstream.value.open()
            try steps.value.reached(channel)
            try steps.value.connected(channel, false)
        }
    }
}
