package import Market
package import NIOCore
package import Wire

/// A feed whose frames a ``FeedClient`` reads: one connection, opened again after each end.
///
/// Belongs to the tape's event loop. The subclass is the connection's delegate and names the peer.
package class ClientFeed<Client: FeedClient>: Feed {
    let client: Client
    let link: ReconnectingConnection

    init(_ client: Client, _ settings: ReconnectingConnection.Settings, _ context: FeedContext) {
        self.client = client
        self.link = ReconnectingConnection(settings, context)
    }

    init(_ client: Client, taking link: ReconnectingConnection) {
        self.client = client
        self.link = link
    }

    package var status: FeedStatus { self.client.status }

    package var finished: EventLoopFuture<Void> { self.link.finished.futureResult }

    package func start() {
        self.client.publishChanges()
        self.link.start()
    }

    package func stop() { self.link.stop() }

    package func abandon() { self.link.abandon() }

    package func setReading(_ isReading: Bool) { self.link.setReading(isReading) }

    package func renew() -> ConnectionRenewal { self.link.renew() }

    package func prefer(_ symbol: String?) {}

    package func subscriptionsChanged(_ changes: [SubscriptionChange]) { self.client.subscriptionsChanged(changes) }
}
