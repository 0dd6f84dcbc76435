/// What waits to be done for alerts: bounded, a few at a time; what does not fit is counted.
struct JobQueue<Job: Sendable>: Sendable {
    /// The most that wait.
    let capacity: Int
    /// The most that run at once.
    let atOnce: Int
    private var waiting: [Job] = []
    private(set) var running = 0
    private(set) var dropped: UInt64 = 0

    init(capacity: Int, atOnce: Int) {
        self.capacity = capacity
        self.atOnce = max(1, atOnce)
    }

    var isIdle: Bool { self.waiting.isEmpty && self.running == 0 }

    /// Takes an errand; returns whether there was room.
    mutating func add(_ job: Job) -> Bool {
        guard self.waiting.count < self.capacity else {
            self.dropped &+= 1
            return false
        }
        self.waiting.append(job)
        return true
    }

    /// The next errand, if one more may run.
    mutating func start() -> Job? {
        guard self.running < self.atOnce, !self.waiting.isEmpty else { return nil }
        self.running += 1
        return self.waiting.removeFirst()
    }

    /// Notes that one that ran is over.
    mutating func ended() {
        precondition(self.running > 0, "an errand ended that never began")
        self.running -= 1
    }

    /// Forgets what waits.
    mutating func clear() { self.waiting.removeAll() }
}
