import Ingest
import Logging
package import Market
package import NIOCore

/// The relay of another program, which holds the key, as a feed: its frames and the owner's gaps come from `/`, and the
/// owner's status from `/v1/stream` (``OwnerStatusReader``).
///
/// The relay passes on Finnhub's own frames, so a ``FinnhubClient`` reads them, and this program's tape numbers the
/// trades. After a break it resumes with the owner's positions (``RelayResumption``). Belongs to the tape's event loop.
package final class RelayFeed: ClientFeed<FinnhubClient> {
    /// Makes the way to a path of another program's relay.
    package typealias Connector = (_ relay: UpstreamAddress, _ path: String) throws -> any Connecting

    /// The way to a relay that cannot be used; every attempt fails.
    private struct NoConnector: Connecting {
        let failure: UpstreamFailure

        func connect(
            on loop: any EventLoop,
            reached: @escaping (any Channel) throws -> Void,
            connected: @escaping (any Channel, _ isRelay: Bool) throws -> Void
        ) -> EventLoopFuture<Void> { loop.makeFailedFuture(self.failure) }
    }

    let owner: KeyOwner
    private let relay: UpstreamAddress
    private let resumption = RelayResumption()
    private let connector: Connector
    private let connectionLost: (_ retry: @escaping () -> Void) -> Void
    private var ownerStatus: OwnerStatusReader?

    /// - Parameters:
    ///   - owner: the program that holds the key.
    ///   - relay: the address of its relay.
    ///   - connectionLost: called when the relay is lost or cannot be reached; `retry` tries again after the backoff's
    ///     wait.
    init(
        _ client: FinnhubClient,
        owner: KeyOwner,
        relay: UpstreamAddress,
        connector: @escaping Connector,
        connectionLost: @escaping (_ retry: @escaping () -> Void) -> Void
    ) {
        self.owner = owner
        self.relay = relay
        self.connector = connector
        self.connectionLost = connectionLost
        let way: any Connecting
        do {
            way = try connector(relay, "/?resume=1")
        } catch {
            way = NoConnector(failure: UpstreamFailure("it cannot be used: \(error)"))
        }
        var backoff = ReconnectBackoff.Settings()
        backoff.limit = 2_000_000_000
        backoff.floor = backoff.first
        backoff.settled = 0
        backoff.briefLimit = .max
        var keeping = ReconnectingConnection.Settings(connector: way, backoff: backoff)
        keeping.secret = client.key
        var context = client.context
        // No other program reconnects at the same time, so waits need no jitter.
        context.chance = { 1 }
        super.init(client, keeping, context)
        self.link.delegate = self
    }

    /// Whether the relay is connected.
    var isConnected: Bool { self.link.connection != nil }

    package override func abandon() {
        self.detach()
        super.abandon()
    }

    /// Starts to follow the owner's status and gaps.
    private func attach() {
        guard self.ownerStatus == nil else { return }
        self.client.relayChanged(self.relay.place)
        let ownerStatus = (try? self.connector(self.relay, "/v1/stream")).map {
            OwnerStatusReader(self.client, resumption: self.resumption, connector: $0)
        }
        self.ownerStatus = ownerStatus
        ownerStatus?.start()
    }

    private func detach() {
        self.ownerStatus?.stop()
        self.ownerStatus = nil
        self.client.relayChanged(nil)
    }
}

extension RelayFeed: ReconnectingConnectionDelegate {
    package func connectionOpened(_ channel: any Channel, isRelay: Bool) throws -> any KeptConnection {
        let connection = try self.client.connectionOpened(
            channel,
            address: self.relay.place,
            isRelayed: true,
            resumption: self.resumption,
            link: self.link
        )
        self.client.context.logger.notice(
            "Attached to another tickertape's relay",
            metadata: ["relay": "\(self.relay.place)"]
        )
        return connection
    }

    package func connectionReported(_ phase: FeedStatus.Phase, reason: String?, cause: FeedStatus.Cause?) {
        guard case .connecting = phase else {
            self.detach()
            return self.client.connectionReported(phase, reason: reason, cause: cause)
        }
        self.attach()
        let reason =
            "another tickertape (pid \(self.owner.pid)) holds the key: its relay at \(self.relay.place) has the trades"
        self.client.connectionReported(phase, reason: reason, cause: nil)
    }

    package func connectionLost(_ failure: UpstreamFailure, retry: @escaping (UpstreamFailure) -> Void) {
        self.connectionLost {
            // Every failure is temporary here, even a refusal: the relay may accept the next attempt.
            retry(
                UpstreamFailure(
                    "the relay of pid \(self.owner.pid), which holds the key: \(failure.description)",
                    cause: .relay
                )
            )
        }
    }
}
