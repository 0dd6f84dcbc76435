/// A limit of events within a rolling window of time. Time is an argument, in ns.
struct RollingLimit: Sendable {
    private let count: Int
    private let window: Int64
    /// The times of the newest events, oldest first; at most `count`.
    private var times: [Int64] = []

    init(count: Int, window: Int64) {
        precondition(count > 0 && window > 0, "a limit of \(count) in \(window) ns")
        self.count = count
        self.window = window
    }

    /// Notes an event; returns whether it exceeds the limit. One that exceeds it counts, too.
    mutating func exceeds(now: Int64) -> Bool {
        let isFull = self.times.count == self.count
        let exceeds = isFull && now - self.times[0] < self.window
        if isFull { self.times.removeFirst() }
        self.times.append(now)
        return exceeds
    }
}
