/// A message of a client (WAMP, 3.4). Options without effect here are left out.
enum WAMPRequest: Equatable {
    /// Whom a publication reaches, and whether it is acknowledged (WAMP, 14.4.2 and 14.4.3).
    struct PublishOptions: Equatable {
        var isAcknowledged = false
        /// Whether the publisher gets no event, even if it has subscribed.
        var excludesPublisher = true
        var excluded: Set<UInt64> = []
        /// The only sessions that may get an event; `nil` for all.
        var eligible: Set<UInt64>?
    }

    struct CallOptions: Equatable {
        var receivesProgress = false
        /// The caller's limit of time, ms; `nil` for the relay's.
        var timeout: Int64?
    }

    /// What becomes of a canceled call (WAMP, 14.2.4).
    enum CancelMode: String {
        case skip, kill, killnowait
    }

    case hello(realm: String, WAMPDictionary)
    case abort
    case goodbye
    case subscribe(UInt64, topic: String, match: WAMPMatch?)
    case unsubscribe(UInt64, subscription: UInt64)
    case publish(UInt64, PublishOptions, topic: String, WAMPPayload)
    case register(UInt64, procedure: String, isUsual: Bool)
    case unregister(UInt64, registration: UInt64)
    case call(UInt64, CallOptions, procedure: String, WAMPPayload)
    case cancel(UInt64, CancelMode)
    case yield(UInt64, isProgress: Bool, WAMPPayload)
    /// The failure of an invocation.
    case failed(UInt64, WAMPFailure)
}
