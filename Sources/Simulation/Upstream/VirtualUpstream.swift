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

/// The connections from a mock server to the feeds without sockets, and the link between their two clocks.
///
/// The mock server runs on a separate loop, whose time is set by its player. That time may run at a tenth or a thousand
/// times the recorded pace, or stand still. Everything that the server plays reaches the feed when the feed's clock,
/// which is the recording's, shows the recorded time. Both ends thus do all of their work, but at unrelated times.
final class VirtualUpstream: ReplayOutput {
    private let clock: RecordedClock
    private let pace: EmbeddedEventLoop
    private let cutting: ReplayCutting
    private let table: MockServerClients
    /// The mock server's ends of the connections, and the feeds'. The place of one, counted from 1, is also its port.
    private var servers: [EmbeddedChannel] = []
    private var clients: [VirtualSocket] = []
    /// The messages that wait for others to join the same read, with the places of their connections.
    private var held: [(connection: Int, bytes: ByteBuffer)] = []
    private var newest: Int64 = .min
    /// What the server has sent on the connection that opens, before the feed's end could read; `nil` once it can.
    private var early: [(connection: Int, bytes: ByteBuffer)]?
    /// The end of the recording on the player's clock, ns; `nil` before the end.
    private(set) var endedAt: Int64?

    /// - Parameters:
    ///   - source: a source with one player for all clients, which reports everything to this object before it plays
    ///     it.
    init(
        source: ReplaySource,
        settings: MockServerSettings,
        clock: RecordedClock,
        pace: EmbeddedEventLoop,
        cutting: ReplayCutting
    ) {
        self.clock = clock
        self.pace = pace
        self.cutting = cutting
        self.table = MockServerClients(settings, source: source)
        source.shared?.attach(self)
    }

    /// Opens a connection; returns the feed's end, which speaks WebSocket.
    ///
    /// - Parameters:
    ///   - target: the path and query of the request.
    ///   - webSocket: the settings of the feed's end.
    func open(_ target: String, _ webSocket: WebSocketSettings) throws -> EmbeddedChannel {
        let address = try SocketAddress(ipAddress: "127.0.0.1", port: 443)
        let connection = self.servers.count
        let clientAddress = try SocketAddress(ipAddress: "127.0.0.1", port: connection + 1)
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
        serverSocket.sent = { [weak self] in self?.carry($0, on: connection) }
        serverSocket.ended = { [clock] in
            clientSocket.end()
            clock.loop.run()
        }
        self.early = []
        self.servers.append(server)
        self.clients.append(clientSocket)
        var serverSettings = WebSocketSettings(role: .server)
        serverSettings.pingInterval = nil
        try server.pipeline.syncOperations.addWebSocketHandlers(serverSettings)
        try server.pipeline.syncOperations.addHandler(
            self.table.makeHandler(
                HTTPRequestHead(version: .http1_1, method: .GET, uri: target),
                line: nil,
                go: self.pace.makeSucceededVoidFuture(),
                logger: Logger(label: "replay", factory: { _ in SwiftLogNoOpLogHandler() })
            )
        )
        try client.pipeline.syncOperations.addWebSocketHandlers(webSocket)
        return client
    }

    // MARK: The mock server's bytes

    /// Passes on what the server has sent at the opening, as a venue sends its status.
    func opened() {
        let early = self.early ?? []
        self.early = nil
        for (connection, bytes) in early { self.carry(bytes, on: connection) }
    }

    private func carry(_ bytes: ByteBuffer, on connection: Int) {
        guard self.early == nil else {
            self.early?.append((connection, bytes))
            return
        }
        switch self.cutting {
        case .messages: self.deliver(bytes, on: connection)
        case .pieces(let size):
            var rest = bytes
            while rest.readableBytes > 0 {
                let piece = rest.readSlice(length: min(max(size, 1), rest.readableBytes)) ?? rest
                self.deliver(piece, on: connection)
            }
        case .several(let count):
            self.held.append((connection, bytes))
            if self.held.count >= count || self.endedAt != nil { self.release() }
        case .instants:
            self.held.append((connection, bytes))
            if self.endedAt != nil { self.release() }
        }
    }

    /// Delivers what waits: neighbours of one connection as one read.
    private func release() {
        let held = self.held
        self.held = []
        var rest = held[...]
        while let first = rest.first {
            var bytes = ByteBuffer()
            while let next = rest.first, next.connection == first.connection {
                bytes.writeImmutableBuffer(next.bytes)
                rest.removeFirst()
            }
            self.deliver(bytes, on: first.connection)
        }
    }

    private func deliver(_ bytes: ByteBuffer, on connection: Int) {
        self.clients[connection].deliver(bytes)
        self.clock.loop.run()
    }

    // MARK: The player's reports

    var hasRoom: Bool { true }

    /// Precedes the mock server's own handling: earlier messages are delivered first, then the feed's clock advances.
    func play(_ message: ReplayMessage) { self.goOn(to: message.frame.at) }

    func play(_ signal: RecordedSignal) { self.goOn(to: signal.at) }

    func play(_ gap: RecordedGap) { self.goOn(to: gap.at) }

    func play(_ outcome: GapOutcome) { for server in self.servers { server.flush() } }

    private func goOn(to recorded: Int64) {
        for server in self.servers { server.flush() }
        if recorded > self.newest, self.cutting == .instants { self.release() }
        self.newest = max(self.newest, recorded)
        self.clock.advance(to: recorded)
    }

    func flush() {}
    func changed(_ position: ReplayPosition, movedFrom: Int64?) {}

    func ended() {
        for server in self.servers { server.flush() }
        self.release()
        self.endedAt = Int64(self.pace.now.uptimeNanoseconds)
    }

    func broke() {}
    func failed(_ reason: String) {}
}

/// A connector that leads to a ``VirtualUpstream``.
struct VirtualConnector: Connecting {
    let upstream: NIOLoopBound<VirtualUpstream>
    /// The path and query of its requests.
    let target: String
    let webSocket: WebSocketSettings

    func connect(
        on loop: any EventLoop,
        reached: @escaping (any Channel) throws -> Void,
        connected: @escaping (any Channel, _ isRelay: Bool) throws -> Void
    ) -> EventLoopFuture<Void> {
        let steps = NIOLoopBound((reached: reached, connected: connected), eventLoop: loop)
        // Asynchronously, as with a socket.
        return loop.submit {
            let channel = try self.upstream.value.open(self.target, self.webSocket)
            try steps.value.reached(channel)
            try steps.value.connected(channel, false)
            self.upstream.value.opened()
        }
    }
}
