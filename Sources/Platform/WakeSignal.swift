import CLinux
package import Glibc

/// What wakes a thread: rung from anywhere, also from a signal handler, and heard in `poll`.
///
/// A ring is kept until the thread waits; more of them are one.
package final class WakeSignal: Sendable {
    /// Becomes readable when it is rung (eventfd(2)).
    package let descriptor: Int32

    /// - Throws: ``SystemCallFailure`` when the process has no descriptor left.
    package init() throws(SystemCallFailure) {
        self.descriptor = tickertape_open_event()
        guard self.descriptor >= 0 else { throw SystemCallFailure(call: "eventfd", number: errno) }
    }

    deinit { close(self.descriptor) }

    /// Wakes the thread that waits, or that waits next. From any thread; never waits.
    package func ring() { Self.ring(self.descriptor) }

    /// Rings by descriptor; safe in a signal handler (signal-safety(7)).
    package static func ring(_ descriptor: Int32) {
        var one: UInt64 = 1
        // Fails only when it has been rung 2^64 times, which is as good.
        _ = write(descriptor, &one, MemoryLayout.size(ofValue: one))
    }

    /// Waits until it is rung, at most for so many ns by the monotonic clock; forgets the rings, and says whether there was one.
    @discardableResult
    package func wait(atMost nanoseconds: Int64) -> Bool {
        let (limit, isEndless) = SystemClock.monotonic().addingReportingOverflow(max(nanoseconds, 0))
        while true {
            let left = isEndless ? Int64.max : limit - SystemClock.monotonic()
            var none: [pollfd] = []
            if self.wait(with: &none, atMost: left) { return true }
            // A signal ends a wait, too.
            guard left > 0 else { return false }
        }
    }

    /// Waits until it is rung or one of `others` is ready; an interruption counts as a wake. Forgets the rings, and says
    /// whether there was one.
    ///
    /// - Parameter nanoseconds: `nil` waits without limit.
    @discardableResult
    package func wait(with others: inout [pollfd], atMost nanoseconds: Int64?) -> Bool {
        others.append(pollfd(fd: self.descriptor, events: Int16(POLLIN), revents: 0))
        SystemClock.wait(&others, nanoseconds: nanoseconds)
        guard others.removeLast().revents != 0 else { return false }
        var rings: UInt64 = 0
        return read(self.descriptor, &rings, MemoryLayout.size(ofValue: rings)) > 0
    }
}
