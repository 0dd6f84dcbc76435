import CLinux
package import Glibc

/// A signal that wakes a thread from any other thread or a signal handler; the thread waits for it in `poll`.
///
/// A signal is kept until the thread waits. Several of them count as one.
package final class WakeSignal: Sendable {
    /// The eventfd, which is readable after ``ring()`` (eventfd(2)).
    package let descriptor: Int32

    /// - Throws: ``SystemCallFailure`` if the process has no descriptor left.
    package init() throws(SystemCallFailure) {
        self.descriptor = tickertape_open_event()
        guard self.descriptor >= 0 else { throw SystemCallFailure(call: "eventfd", number: errno) }
    }

    deinit { close(self.descriptor) }

    /// Wakes the thread that waits, or that waits next. May be called on any thread; never waits.
    package func ring() { Self.ring(self.descriptor) }

    /// Wakes by descriptor; safe in a signal handler (signal-safety(7)).
    package static func ring(_ descriptor: Int32) {
        var one: UInt64 = 1
        // Fails only if the counter is at its maximum; the thread then wakes anyway.
        _ = write(descriptor, &one, MemoryLayout.size(ofValue: one))
    }

    /// Waits for a signal, at most `nanoseconds` by the monotonic clock. Clears the signal, and returns whether there
    /// was one.
    @discardableResult
    package func wait(atMost nanoseconds: Int64) -> Bool {
        let (limit, isEndless) = SystemClock.monotonic().addingReportingOverflow(max(nanoseconds, 0))
        while true {
            let left = isEndless ? Int64.max : limit - SystemClock.monotonic()
            var none: [pollfd] = []
            if self.wait(with: &none, atMost: left) { return true }
            // A system signal can end the wait too early.
            guard left > 0 else { return false }
        }
    }

    /// Waits for a signal or until one of `others` is ready; a system signal also ends the wait. Clears the signal, and
    /// returns whether there was one.
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
