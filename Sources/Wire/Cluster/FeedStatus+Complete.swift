package import Market

extension FeedStatus.Phase {
    /// Whether the tape of a feed in this phase has all trades so far. In every other phase an interruption may be open
    /// whose gap is published later.
    package var isComplete: Bool {
        switch self {
        case .live, .late: true
        case .connecting, .waiting, .stale, .reconnecting, .rateLimited, .keyRejected, .keyInUse, .noSuchSymbol,
            .notPermitted, .ended, .stopped:
            false
        }
    }
}
