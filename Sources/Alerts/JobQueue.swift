/// The queue of jobs that alerts start. It is bounded, runs a few at a time, and counts the jobs that it drops.
struct JobQueue<Job: Sendable>: Sendable {
    /// The most jobs that wait.
    let capacity: Int
    /// The most jobs that run at once.
    let atOnce: Int
    private var waiting: [Job] = []
    private(set) var running = 0
    private(set) var dropped: UInt64 = 0

    init(capacity: Int, atOnce: Int) {
        self.capacity = capacity
        self.atOnce = max(1, atOnce)
    }

    var isIdle: Bool { self.waiting.isEmpty && self.running == 0 }

    /// Adds a job; returns whether there was space.
    mutating func add(_ job: Job) -> Bool {
        guard self.waiting.count < self.capacity else {
            self.dropped &+= 1
            return false
        }
        self.waiting.append(job)
        return true
    }

    /// Removes and returns the next job, if one more may run.
    mutating func start() -> Job? {
        guard self.running < self.atOnce, !self.waiting.isEmpty else { return nil }
        self.running += 1
        return self.waiting.removeFirst()
    }

    /// Notes that a running job has ended.
    mutating func ended() {
        precondition(self.running > 0, "a job ended that never began")
        self.running -= 1
    }

    /// Drops the waiting jobs.
    mutating func clear() { self.waiting.removeAll() }
}
