import HTTP
package import Logging
package import Market
import NIOConcurrencyHelpers
package import NIOCore
package import TLS
import WebSocket
package import Wire

/// A client of one room of a relay: one connection, opened again until it is stopped. Belongs to one event loop.
package final class RoomConnection {
    package struct Settings: Sendable {
        /// Returns the relay's address at the time of an attempt, as for ``StreamSubscriber``; `nil` while there is no
        /// relay. May be called on any thread.
        package var relay: @Sendable () -> UpstreamAddress?
        package var dial = DialSettings()
        /// The token for the relay, if it requires one.
        package var token: Secret?
        package var backoff = ReconnectBackoff.Settings.ofRelayClient

        package init(relay: @escaping @Sendable () -> UpstreamAddress?) { self.relay = relay }
    }

    /// An event of the connection; events come on its loop, in order.
    package enum Event: Sendable, Equatable {
        /// A message of the relay. The first one of each connection is the state of the room.
        case update(RoomUpdate)
        /// The connection is lost or cannot be made, for this reason; the next attempt follows.
        case lost(String)
    }

    private let room: String
    private let link: ReconnectingConnection
    private let event: (Event) -> Void
    /// The handler of the newest connection.
    private weak var handler: StreamHandler?

    /// Makes a connection that has not started.
    package init(
        _ room: String,
        _ settings: Settings,
        loop: any EventLoop,
        logger: Logger,
        wallClock: @escaping @Sendable () -> Int64,
        chance: @escaping @Sendable () -> Double = { Double.random(in: 0...1) },
        event: @escaping (Event) -> Void
    ) {
        self.room = room
        self.event = event
        var keeping = ReconnectingConnection.Settings(
            connector: RoomConnector(room: room, settings: settings, wallClock: wallClock),
            backoff: settings.backoff
        )
        keeping.secret = settings.token
        self.link = ReconnectingConnection(
            keeping,
            FeedContext(loop: loop, wallClock: wallClock, chance: chance, logger: logger)
        )
        self.link.delegate = self
    }

    /// Completes after ``stop()``, when the connection has ended.
    package var finished: EventLoopFuture<Void> { self.link.finished.futureResult }

    package func start() { self.link.start() }

    /// Leaves the room; no further attempt follows.
    package func stop() { self.link.stop() }

    /// Submits to the room, if it is connected. The relay answers by an event of the room, or by an error.
    package func submit(_ request: RoomRequest) { self.handler?.send(request.encoded()) }
}

extension RoomConnection: StreamHandlerDelegate {
    func textArrived(_ text: ByteBuffer) {
        if let update = RoomUpdate(text, of: self.room) { self.event(.update(update)) }
    }

    func ended(_ ending: ConnectionEnding, tradedFor: Int64) {
        self.link.connectionEnded(UpstreamFailure(ending), tradedFor: tradedFor)
    }
}

extension RoomConnection: ReconnectingConnectionDelegate {
    package func connectionOpened(_ channel: any Channel, isRelay: Bool) throws -> any KeptConnection {
        let handler = StreamHandler(self)
        try channel.pipeline.syncOperations.addHandler(handler)
        self.handler = handler
        return handler
    }

    package func connectionReported(_ phase: FeedStatus.Phase, reason: String?, cause: FeedStatus.Cause?) {
        switch phase {
        case .reconnecting, .rateLimited: self.event(.lost(reason ?? phase.word))
        // No other phase follows a failure of this connection.
        case .connecting, .waiting, .live, .late, .stale, .keyRejected, .keyInUse, .noSuchSymbol, .notPermitted,
            .ended, .stopped:
            break
        }
    }

    package func connectionLost(_ failure: UpstreamFailure, retry: @escaping (UpstreamFailure) -> Void) {
        var failure = failure
        if failure.isOfUnknownPath {
            failure.description =
                "the relay has no rooms: relay.rooms: true in its settings turns them on, unless its version is older"
        }
        // Every failure is temporary here, even a refusal: the relay may accept the next attempt.
        if failure.disposition == .keyRejected { failure.disposition = .retry }
        retry(failure)
    }
}

/// The way to a room of the relay that there is at the time of the attempt.
final class RoomConnector: Connecting {
    /// For all rooms, so that a disk that hangs holds one thread, however often a room is entered.
    private static let sockets = SocketPathConnector()

    private let room: String
    private let settings: RoomConnection.Settings
    private let wallClock: @Sendable () -> Int64
    /// The connector of the newest attempt.
    private let newest = NIOLockedValueBox<(address: UpstreamAddress, connector: UpstreamConnector)?>(nil)

    init(room: String, settings: RoomConnection.Settings, wallClock: @escaping @Sendable () -> Int64) {
        self.room = room
        self.settings = settings
        self.wallClock = wallClock
    }

    func connect(
        on loop: any EventLoop,
        reached: @escaping (any Channel) throws -> Void,
        connected: @escaping (any Channel, _ isRelay: Bool) throws -> Void
    ) -> EventLoopFuture<Void> {
        guard let relay = self.settings.relay() else {
            return loop.makeFailedFuture(UpstreamFailure("the relay is not open", cause: .relay))
        }
        guard let address = relay.besideStream else {
            return loop.makeFailedFuture(
                UpstreamFailure("the path of \(relay) is not /v1/stream, which has rooms beside it", cause: .relay)
            )
        }
        return self.connector(to: address).connect(on: loop, reached: reached, connected: connected)
    }

    /// Returns the connector to an address: the present one while the relay stays there, so that trust files are not
    /// read again and TLS sessions are resumed.
    func connector(to address: UpstreamAddress) -> UpstreamConnector {
        self.newest.withLockedValue { newest in
            if let newest, newest.address == address { return newest.connector }
            let path = address.path == "/" ? "" : address.path
            var settings = ConnectorSettings(
                address: address,
                target: "\(path)/v1/room/\(PercentText.encoded(self.room))",
                dial: self.settings.dial,
                webSocket: WebSocketSettings(role: .client)
            )
            settings.relayToken = self.settings.token
            let connector = UpstreamConnector(readingLater: settings, sockets: Self.sockets, wallClock: self.wallClock)
            newest = (address, connector)
            return connector
        }
    }
}
