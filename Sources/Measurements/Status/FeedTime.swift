package import Market

/// The time that a feed was live, and the time that it was not, by reason.
///
/// A value without a clock; times are monotonic ns. Every moment since the start counts once, so the sum of all times
/// is the time since the start.
package struct FeedTime: Sendable, Equatable {
    /// The states in which the feed is not live and that have no cause, and then all causes. The set is bounded, so
    /// that each has a series from the start.
    package static let reasons: [String] = {
        let states = FeedStatus.Phase.words.filter { $0 != FeedStatus.Phase.live.word }
        return states + FeedStatus.Cause.allCases.map(\.word).filter { !states.contains($0) }
    }()

    /// The time in the state `live`, ns.
    package private(set) var live: Int64 = 0
    /// The time in all other states by ``reason(of:)``, ns.
    package private(set) var notLive: [String: Int64] = [:]
    /// The reason for which the feed is not live now; `nil` while it is.
    private var reason: String? = FeedStatus.Phase.connecting.word
    /// The time until which everything is counted.
    private var counted: Int64

    /// - Parameter now: the start, from which on the feed connects.
    package init(now: Int64) { self.counted = now }

    /// Returns why the data of a status is not live: the cause of the interruption, or the state without one; `nil` if
    /// it is live.
    package static func reason(of status: FeedStatus) -> String? {
        switch status.phase {
        case .live: nil
        case .connecting, .waiting, .reconnecting: status.cause?.word ?? status.word
        case .late, .stale, .rateLimited, .keyRejected, .keyInUse, .noSuchSymbol, .notPermitted, .ended, .stopped:
            status.word
        }
    }

    package mutating func statusChanged(_ status: FeedStatus, now: Int64) {
        self.count(self.reason, until: now)
        self.reason = Self.reason(of: status)
    }

    /// Counts the time up to now.
    ///
    /// - Parameters:
    ///   - effective: the status that takes the age of the data into account. A feed that hangs still calls itself
    ///     live.
    ///   - length: how long that status has lasted, ns.
    package mutating func timePassed(now: Int64, effective: FeedStatus, length: Int64) {
        if self.reason == nil, let silent = Self.reason(of: effective) {
            self.count(nil, until: now - max(length, 0))
            self.count(silent, until: now)
        } else {
            self.count(self.reason, until: now)
        }
    }

    private mutating func count(_ reason: String?, until now: Int64) {
        let passed = now - self.counted
        guard passed > 0 else { return }
        self.counted = now
        if let reason { self.notLive[reason, default: 0] += passed } else { self.live += passed }
    }
}

extension FeedTime {
    /// Writes the seconds.
    package func write(to text: inout PrometheusText) {
        text.single(
            MetricName.liveSeconds,
            .counter,
            "Seconds in which the feed was live.",
            Double(self.live) / 1e9
        )
        text.family(
            MetricName.notLiveSeconds,
            .counter,
            "Seconds in which the feed was not live, by the cause of the interruption or, without one, by the state."
        )
        for reason in Self.reasons {
            text.sample(MetricName.notLiveSeconds, [("reason", reason)], Double(self.notLive[reason] ?? 0) / 1e9)
        }
    }
}
