import NIOCore

/// The limits of WAMP's sessions and of the router, besides those of every client of the relay.
enum WAMPLimits {
    /// The most subscriptions of a session to other topics than the prices and trades of one symbol.
    static let subscriptions = 128
    /// The most wildcard subscriptions of all sessions, each of which is compared with every published topic.
    static let wildcards = 1_024
    /// The most of them that are of one session.
    static let wildcardsOfSession = 16
    static let registrations = 64
    /// The most unfinished calls that a session has made, and the most that it is to answer.
    static let pendingCalls = 64
    /// How long a call may take.
    static let callTimeout: TimeAmount = .seconds(60)
    /// How often the time of the calls is checked.
    static let callCheckInterval: TimeAmount = .seconds(1)
    /// The most elements of a list that a meta procedure returns.
    static let listed = 1_000
    /// The most trades or bars of one answer.
    static let answered = 1_000
    /// The number of trades, bars or symbols that costs as much as another request.
    static let answeredPerRequest = 64
    /// The number of bytes of a message to other clients that costs as much as another request.
    static let bytesPerRequest = 8 << 10
    /// The number of subscriptions matching a publication that costs as much as another request.
    static let subscriptionsPerRequest = 8
}
