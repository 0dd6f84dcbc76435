package import Market
package import NIOCore
package import Wire

/// A source of trades: connects to a service and puts its trades on a tape, which several feeds may share.
///
/// Belongs to the event loop of the tape; all members must be used there. ``FeedService`` is the way to it from other
/// threads. A feed is created with the tape and its first symbols, and reports its status through its `FeedInput`.
package protocol Feed: AnyObject {
    /// The current status of the feed.
    var status: FeedStatus { get }
    /// Completes when the feed has ended for good: it was stopped, or its replay is over. Fails with
    /// ``UpstreamFailure`` if only a person can correct the cause.
    var finished: EventLoopFuture<Void> { get }
    /// Begins the first attempt to connect.
    func start()
    /// Ends the feed. An open connection gets a closing handshake; no further attempt follows.
    func stop()
    /// Ends the feed at once because another feed takes its place: no closing handshake, no further attempt and no
    /// status.
    func abandon()
    /// Changes the subscriptions at the service, now and after every reconnect.
    func subscriptionsChanged(_ changes: [SubscriptionChange])
    /// Stops or resumes reading from the service.
    func setReading(_ isReading: Bool)
    /// Replaces the connection by a new one, or makes the next attempt now, unless the service has asked for a pause.
    func renew() -> ConnectionRenewal
    /// Notes the symbol whose missing trades matter most, the one on a screen; `nil` for none.
    func prefer(_ symbol: String?)
    /// Changes to another key: a connection with it takes the place of the present one with its first trade
    /// (``KeyTrial``). A change that is under way ends.
    ///
    /// - Parameter ended: called once with the outcome, which may take minutes.
    func change(to access: KeyAccess, ended: @escaping (KeyChange) -> Void)
    /// Ends a change of the key that is under way; the present key stays.
    func keepKey()
}

extension Feed {
    package func prefer(_ symbol: String?) {}

    package func change(to access: KeyAccess, ended: @escaping (KeyChange) -> Void) {
        ended(.kept("this feed cannot change its key: restart the program"))
    }

    package func keepKey() {}
}
