import Market

/// The relay of another program that holds the key.
package struct Attachment: Sendable, Equatable {
    package var owner: KeyOwner
    /// The relay's address, as a person writes it.
    package var via: String
}

extension FeedStatus.Phase {
    /// Whether it says more than the trades that arrive through the relay.
    var overrules: Bool {
        switch self {
        // A program that stops is about to be followed by this one.
        case .waiting, .live, .stopped: false
        case .connecting, .late, .stale, .reconnecting, .rateLimited, .keyRejected, .keyInUse, .noSuchSymbol,
            .notPermitted, .ended:
            true
        }
    }
}
