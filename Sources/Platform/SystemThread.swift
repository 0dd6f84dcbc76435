import CLinux
import Glibc

/// The operating system's threads.
package enum SystemThread {
    private final class Work {
        let body: () -> Void
        init(_ body: @escaping () -> Void) { self.body = body }
    }

    /// Runs `body` on a new detached thread; returns 0, or the error number if no thread can be created.
    package static func start(_ body: @escaping @Sendable () -> Void) -> Int32 {
        let work = Unmanaged.passRetained(Work(body))
        var thread = pthread_t()
        let failure = pthread_create(
            &thread,
            nil,
            { context in
                guard let context else { return nil }
                Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body()
                return nil
            },
            work.toOpaque()
        )
        guard failure == 0 else {
            work.release()
            return failure
        }
        pthread_detach(thread)
        return 0
    }

    /// Names the calling thread, and adds `niceness` to that of the main thread. On Linux each thread has its own
    /// niceness.
    static func describe(name: String, niceness: Int32) {
        tickertape_name_thread(name)
        let kind = __priority_which_t(PRIO_PROCESS.rawValue)
        _ = setpriority(kind, 0, getpriority(kind, id_t(getpid())) + niceness)
    }
}
