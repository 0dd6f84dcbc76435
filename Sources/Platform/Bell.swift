import Glibc

/// A bell between two threads: one waits until the other rings it, at most until a time.
///
/// It waits by the monotonic clock, as NIO's `ConditionLock` does not: where somebody sets the wall clock back by an hour,
/// what waits for the disk must not wait for an hour.
///
/// Unchecked, because the compiler does not know what a mutex of pthread guards.
package final class Bell: @unchecked Sendable {
    // Only touched by the calls of pthread, and under the mutex.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var isRung = false

    package init() {
        self.mutex.initialize(to: pthread_mutex_t())
        self.condition.initialize(to: pthread_cond_t())
        var attributes = pthread_condattr_t()
        let results = [
            pthread_mutex_init(self.mutex, nil),
            pthread_condattr_init(&attributes),
            pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC),
            pthread_cond_init(self.condition, &attributes),
        ]
        precondition(results.allSatisfy { $0 == 0 }, "no memory for a lock: \(results)")
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(self.condition)
        pthread_mutex_destroy(self.mutex)
        self.condition.deallocate()
        self.mutex.deallocate()
    }

    /// Wakes the one who waits, or who waits next.
    package func ring() {
        pthread_mutex_lock(self.mutex)
        self.isRung = true
        pthread_cond_signal(self.condition)
        pthread_mutex_unlock(self.mutex)
    }

    /// Waits until it rings, at most for so many nanoseconds; returns whether it rang.
    @discardableResult
    package func wait(atMost nanoseconds: Int64) -> Bool {
        var end = timespec()
        clock_gettime(CLOCK_MONOTONIC, &end)
        let sum = Int64(end.tv_nsec) + max(0, nanoseconds) % 1_000_000_000
        end.tv_sec += Int(max(0, nanoseconds) / 1_000_000_000 + sum / 1_000_000_000)
        end.tv_nsec = Int(sum % 1_000_000_000)
        pthread_mutex_lock(self.mutex)
        defer { pthread_mutex_unlock(self.mutex) }
        while !self.isRung {
            // ETIMEDOUT, or an error that another wait would meet again.
            guard pthread_cond_timedwait(self.condition, self.mutex, &end) == 0 else { break }
        }
        defer { self.isRung = false }
        return self.isRung
    }
}
