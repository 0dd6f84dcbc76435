/// When a replay stood still, so that a silence can be told without it; monotonic ns.
package struct ReplayPauses: Sendable, Equatable {
    /// The most pauses that are told apart; of older ones the time alone is kept.
    static let most = 32

    private struct Pause: Sendable, Equatable {
        var from: Int64
        var to: Int64
    }

    /// Before all that is told; no sum of such is too large.
    private static let longAgo: Int64 = -(1 << 60)

    /// Those that are over, the oldest first.
    private var over: [Pause] = []
    /// When the one began that lasts.
    private var began: Int64?

    package init() {}

    /// Whether it stands still.
    package var isStill: Bool { self.began != nil }

    /// Notes whether the replay stands still.
    ///
    /// - Parameter isNews: `false` where it may have done so all the time before, as one that is seen for the first time:
    ///   what came before then has been followed by a pause only, as far as anybody can know.
    package mutating func took(isPaused: Bool, now: Int64, isNews: Bool = true) {
        if isPaused {
            self.began = self.began ?? (isNews ? now : self.over.last?.to ?? Self.longAgo)
        } else if let began = self.began {
            self.began = nil
            self.over.append(Pause(from: began, to: max(now, began)))
            guard self.over.count > Self.most else { return }
            let oldest = self.over.removeFirst()
            self.over[0].from -= oldest.to - oldest.from
        }
    }

    /// For how long it stood still since then, ns.
    package func stood(since time: Int64, now: Int64) -> Int64 {
        var sum: Int64 = 0
        for pause in self.over { sum += max(0, pause.to - max(pause.from, time)) }
        if let began = self.began { sum += max(0, now - max(began, time)) }
        return sum
    }
}
