import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Synchronization
import TLS
import TickertapeTesting
import WebSocket
@testable import Feeds

/// One attempt of a connector, and its result.
struct Attempt {
    /// 2024-01-01T00:00:00Z.
    static let now: Int64 = 1_704_067_200_000_000_000
    static let key = "s3cr3t-key"

    /// A connector to `ws://HOST:PORT/?token=…`, or to `wss` if the settings say so.
    static func connector(
        host: String = "127.0.0.1",
        port: Int,
        resolver: NameResolver = .system,
        sockets: SocketPathConnector = SocketPathConnector(),
        change: (inout ConnectorSettings) -> Void = { _ in }
    ) throws -> UpstreamConnector {
        var dial = DialSettings()
        dial.dnsTimeout = .seconds(30)
        dial.tcpTimeout = .seconds(30)
        dial.upgradeTimeout = .seconds(30)
        dial.tls = Certificates.client()
        var settings = ConnectorSettings(
            address: UpstreamAddress(isEncrypted: false, host: host, port: port),
            target: Secret(Self.key).target(path: "/"),
            dial: dial,
            webSocket: WebSocketSettings(role: .client)
        )
        change(&settings)
        return try UpstreamConnector(settings, resolver: resolver, sockets: sockets) { Self.now }
    }

    /// Connects once and closes again; returns the failure, or `nil` for an open WebSocket.
    static func run(_ connector: UpstreamConnector) async throws -> UpstreamFailure? {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        do {
            try await loop.flatSubmit {
                connector.connect(
                    on: loop,
                    reached: { _ in },
                    connected: { channel, _ in channel.eventLoop.execute { channel.close(promise: nil) } }
                )
            }.get()
            return nil
        } catch let failure as UpstreamFailure {
            return failure
        }
    }

    /// Connects once and closes again; returns whether the server identifies itself as a relay.
    static func findsRelay(_ connector: UpstreamConnector) async throws -> Bool {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let found = NIOLockedValueBox(false)
        try await loop.flatSubmit {
            connector.connect(
                on: loop,
                reached: { _ in },
                connected: { channel, isRelay in
                    found.withLockedValue { $0 = isRelay }
                    channel.eventLoop.execute { channel.close(promise: nil) }
                }
            )
        }.get()
        return found.withLockedValue { $0 }
    }

    /// Connects once to a server on raw bytes.
    static func run(
        port: Int,
        change: (inout ConnectorSettings) -> Void = { _ in }
    ) async throws -> UpstreamFailure? {
        try await Self.run(Self.connector(port: port, change: change))
    }

    /// A resolver that knows the addresses of one name.
    static func resolver(_ addresses: [SocketAddress]) -> NameResolver {
        NameResolver { _, _ throws(NameFailure) in addresses }
    }
}
