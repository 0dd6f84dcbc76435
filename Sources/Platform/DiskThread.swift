import CLinux
import Glibc

/// A thread that writes files beside the feed.
package enum DiskThread {
    /// How far such a thread stands behind those that carry prices, where the processor does not suffice for all.
    ///
    /// Linux gives each thread a niceness of its own. A tenth of a share is a hundred times what a writer needs.
    package static let niceness: Int32 = 10

    /// Names the calling thread, and ranks it.
    ///
    /// - Parameter name: for `top -H` and the like; 15 bytes at most.
    package static func begin(_ name: String, niceness: Int32 = Self.niceness) {
        tickertape_name_thread(name)
        _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, niceness)
    }

    /// How long a stop waits for a disk: one that stalls for some seconds must not cost the end of a recording, and one that
    /// hangs may do so for minutes.
    package static let patience = Duration.seconds(8)

    /// Waits for work that a disk may hold up, at most for so long; `nil` where it takes longer, and goes on.
    ///
    /// A cancelled task waits all the same: what is queued must be in the files however the program ends.
    package static func answer<Answer: Sendable>(
        within limit: Duration,
        _ work: @escaping @Sendable () async -> Answer
    ) async -> Answer? {
        let (answers, answer) = AsyncStream.makeStream(of: Answer?.self)
        Task.detached { answer.yield(await work()) }
        let timer = Task.detached {
            try await Task.sleep(for: limit)
            answer.yield(nil)
        }
        defer { timer.cancel() }
        return await Task.detached { await answers.first { _ in true } ?? nil }.value
    }
}
