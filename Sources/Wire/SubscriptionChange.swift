/// One change of a feed's subscriptions, and the request for it in the words of no venue.
package enum SubscriptionChange: Sendable, Equatable {
    case subscribe(String)
    case unsubscribe(String)

    package var symbol: String {
        switch self {
        case .subscribe(let symbol), .unsubscribe(let symbol): symbol
        }
    }
}
