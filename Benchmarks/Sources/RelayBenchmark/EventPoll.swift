import CLoad
import Glibc

/// A set of descriptors with indices, and the wait for any of them.
final class EventPoll {
    private let descriptor: Int32
    private var ready = [UInt32](repeating: 0, count: 64)

    init() throws {
        self.descriptor = event_poll_make()
        guard self.descriptor >= 0 else { throw BenchmarkFailure.call("epoll") }
    }

    deinit { close(self.descriptor) }

    func add(_ descriptor: Int32, as number: Int) throws {
        guard event_poll_add(self.descriptor, descriptor, UInt32(number)) == 0 else {
            throw BenchmarkFailure.call("epoll_ctl")
        }
    }

    func remove(_ descriptor: Int32) throws {
        guard event_poll_remove(self.descriptor, descriptor) == 0 else { throw BenchmarkFailure.call("epoll_ctl") }
    }

    /// Waits until a descriptor is readable, for at most this many nanoseconds. Returns at most 64 indices, so that a
    /// sender on the same thread is never late for long.
    func wait(nanoseconds: Int64) throws -> ArraySlice<UInt32> {
        let count = event_poll_wait(self.descriptor, &self.ready, Int32(self.ready.count), max(nanoseconds, 0))
        guard count >= 0 else { throw BenchmarkFailure.call("epoll_wait") }
        return self.ready[..<Int(count)]
    }
}
