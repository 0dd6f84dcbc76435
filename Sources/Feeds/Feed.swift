package import Ingest
package import Market
package import NIOCore

/// A source of trades: connects to a service, and puts what that sends on a tape that other feeds may share.
///
/// Belongs to the event loop of the tape, on which all of it is called; ``FeedService`` is the way to it from other threads.
/// It is made with the tape and the first symbols, and says what is true of it through its `FeedInput`.
package protocol Feed: AnyObject {
    /// What is true of it.
    var status: FeedStatus { get }
    /// Completes when it has ended for good, stopped or at the end of a replay; fails with ``UpstreamFailure`` where only a
    /// person can mend what is wrong.
    var finished: EventLoopFuture<Void> { get }
    /// Begins the first attempt to connect.
    func start()
    /// Ends it, with a closing handshake where there is a connection, and no further attempt.
    func stop()
    /// Ends it at once and without a word, because another feed takes its place: no closing handshake, and no attempt.
    func abandon()
    /// Asks the service for symbols, now and after every reconnect, and for others no more.
    func subscriptionsChanged(_ changes: [SubscriptionChange])
    /// Holds the service back, or lets it go on.
    func setReading(_ isReading: Bool)
    /// Gives up the connection for a new one, or makes the next attempt now; not while the service wants to be left alone.
    func renew() -> ConnectionRenewal
}
