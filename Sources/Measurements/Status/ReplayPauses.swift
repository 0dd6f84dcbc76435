/// The pauses of a replay, so that they can be subtracted from a silence; monotonic ns.
package struct ReplayPauses: Sendable, Equatable {
    /// The largest number of pauses kept separately; older ones are merged, so that only their total length is kept.
    static let most = 32

    private struct Pause: Sendable, Equatable {
        var from: Int64
        var to: Int64
    }

    /// A time before all others whose differences still fit.
    private static let longAgo: Int64 = -(1 << 60)

    /// The pauses that are over, oldest first.
    private var over: [Pause] = []
    /// The start of the current pause.
    private var began: Int64?

    package init() {}

    /// Whether the replay is paused.
    package var isStill: Bool { self.began != nil }

    /// Takes the replay's state.
    ///
    /// - Parameter isNews: `false` if the replay may have been paused all the time before, as when a reader sees it for
    ///   the first time. The pause then counts from the end of the previous one, or from the beginning.
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

    /// Returns how long the replay was paused since a time, ns.
    package func stood(since time: Int64, now: Int64) -> Int64 {
        var sum: Int64 = 0
        for pause in self.over { sum += max(0, pause.to - max(pause.from, time)) }
        if let began = self.began { sum += max(0, now - max(began, time)) }
        return sum
    }
}
