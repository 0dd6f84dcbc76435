import Glibc

/// A door bell between threads: rung from anywhere, also from a signal handler; heard in `poll`.
package final class WakeSignal: Sendable {
    /// The end to poll for `POLLIN`.
    package let descriptor: Int32
    /// The end to ring at.
    package let bell: Int32

    /// - Throws: ``SystemCallFailure`` when the process has no descriptor left.
    package init() throws(SystemCallFailure) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw SystemCallFailure(call: "pipe", number: errno) }
        for end in ends {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        (self.descriptor, self.bell) = (ends[0], ends[1])
    }

    deinit {
        close(self.descriptor)
        close(self.bell)
    }

    package func ring() {
        Self.ring(self.bell)
    }

    /// Rings by descriptor; safe in a signal handler (signal-safety(7)).
    package static func ring(_ bell: Int32) {
        var ring: UInt8 = 1
        // Fails only when the pipe is full of rings, which is as good.
        _ = write(bell, &ring, 1)
    }

    /// Forgets the rings so far.
    package func hush() {
        var rings = [UInt8](repeating: 0, count: 256)
        while read(self.descriptor, &rings, rings.count) == rings.count {}
    }
}
