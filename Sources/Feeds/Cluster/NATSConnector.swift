package import NATS
package import NIOCore
package import TLS
import WebSocket

/// The way of a NATS client to its servers: names, addresses and trust as for every upstream, without a proxy.
package final class NATSConnector: NATSTransport {
    private let dial: DialSettings
    private let readIdentity: @Sendable (any EventLoop) -> EventLoopFuture<NATSIdentity?>
    private let wallClock: @Sendable () -> Int64
    /// Has the trusted certificates.
    private let trust: UpstreamConnector

    /// - Parameters:
    ///   - identity: reads the identity for an attempt, off the loop; the future fails with one line for people.
    ///   - wallClock: ns since 1970.
    package init(
        _ dial: DialSettings,
        identity: @escaping @Sendable (any EventLoop) -> EventLoopFuture<NATSIdentity?>,
        wallClock: @escaping @Sendable () -> Int64
    ) {
        self.dial = dial
        self.readIdentity = identity
        self.wallClock = wallClock
        let any = UpstreamAddress(isEncrypted: true, host: "localhost", port: ServerAddress.standardPort)
        self.trust = Self.connector(to: any, dial, wallClock)
    }

    private static func connector(
        to address: UpstreamAddress,
        _ dial: DialSettings,
        _ wallClock: @escaping @Sendable () -> Int64
    ) -> UpstreamConnector {
        let settings = ConnectorSettings(
            address: address,
            target: "",
            dial: dial,
            webSocket: WebSocketSettings(role: .client)
        )
        return UpstreamConnector(readingLater: settings, sockets: SocketPathConnector(), wallClock: wallClock)
    }

    package func identity(on loop: any EventLoop) -> EventLoopFuture<NATSIdentity?> { self.readIdentity(loop) }

    package func connect(
        to address: ServerAddress,
        within limit: TimeAmount,
        on loop: any EventLoop
    ) -> EventLoopFuture<any Channel> {
        // NATS begins in plain text, whatever follows.
        let upstream = UpstreamAddress(isEncrypted: false, host: address.host, port: address.port)
        var dial = self.dial
        dial.tcpTimeout = min(dial.tcpTimeout, limit)
        dial.dnsTimeout = min(dial.dnsTimeout, limit)
        return Self.connector(to: upstream, dial, self.wallClock).reach(on: loop)
    }

    package func tlsContext(on loop: any EventLoop) -> EventLoopFuture<TLSContext> {
        self.trust.tlsContext(on: loop).flatMapThrowing { context in
            guard let context else { preconditionFailure("an encrypted address without TLS") }
            return context
        }
    }
}
