package import Wire

/// A feed that takes changes of its subscriptions.
package protocol SubscribingFeed: AnyObject, Sendable {
    /// Takes changes in order, on the loop of the ``Subscriptions``.
    func subscriptionsChanged(_ changes: [SubscriptionChange])
}
