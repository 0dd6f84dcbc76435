/// When a replay stood still, so that a silence can be told without it; monotonic ns.
package struct ReplayPauses: Sendable, Equatable {
    /// The most pauses that are told apart; of older ones the time alone is kept.
    static let most = 32

    private struct Pause: Sendable, Equatable {
        var from: Int64
        var to: Int64
    }

    /// Those that are over, the oldest first.
    private var over: [Pause] = []
    /// When the one began that lasts.
    private var began: Int64?

    package init() {}

    /// Takes whether the replay stands still.
    package mutating func took(isPaused: Bool, now: Int64) {
        if isPaused {
            self.began = self.began ?? now
        } else if let began = self.began {
            self.began = nil
            self.over.append(Pause(from: began, to: max(now, began)))
            guard self.over.count > Self.most else { return }
            let oldest = self.over.removeFirst()
            self.over[0].from -= oldest.to - oldest.from
        }
    }

    /// For how long it stood still since then, ns.
    func stood(since time: Int64, now: Int64) -> Int64 {
        var sum: Int64 = 0
        for pause in self.over { sum += max(0, pause.to - max(pause.from, time)) }
        if let began = self.began { sum += max(0, now - max(began, time)) }
        return sum
    }
}
