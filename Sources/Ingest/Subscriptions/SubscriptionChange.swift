/// One change of what a feed is asked for.
package enum SubscriptionChange: Sendable, Equatable {
    case subscribe(String)
    case unsubscribe(String)
}

/// A feed that can be asked for symbols.
package protocol SubscribingFeed: AnyObject, Sendable {
    /// Takes changes in order, on the loop of the ``Subscriptions``.
    func subscriptionsChanged(_ changes: [SubscriptionChange])
}
