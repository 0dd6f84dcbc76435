import Glibc
import NIOConcurrencyHelpers
import Platform

/// The thread that compresses a recording's complete files and removes old ones, at the lowest priority.
final class SegmentMaintenance: Sendable {
    private let names: SegmentNames
    private let settings: NIOLockedValueBox<RecorderSettings>
    private let clock: RecorderClock
    private let printError: @Sendable (String) -> Void
    private let thread = WorkQueue("segments", niceness: 19)
    private let isFinished = NIOLockedValueBox(false)
    private let newest: NIOLockedValueBox<String>
    private let source: String?
    /// Foreign files that have been reported already.
    private let strangers = NIOLockedValueBox<Set<String>>([])

    /// - Parameter source: where the frames come from; a file with another source belongs to another recording.
    init(
        names: SegmentNames,
        source: String?,
        newest: String,
        settings: RecorderSettings,
        clock: RecorderClock,
        printError: @escaping @Sendable (String) -> Void
    ) {
        self.names = names
        self.source = source
        self.newest = NIOLockedValueBox(newest)
        self.settings = NIOLockedValueBox(settings)
        self.clock = clock
        self.printError = printError
    }

    /// Submits the due work to the thread.
    ///
    /// - Parameter newest: the file that is being written, if that has changed.
    func look(newest: String? = nil) {
        if let newest { self.newest.withLockedValue { $0 = newest } }
        self.thread.submit { self.work() }
    }

    /// Changes how long files are kept, and removes those that are kept no longer.
    func keep(age: Int64?, bytes: Int64?) {
        self.settings.withLockedValue { ($0.keepAge, $0.keepBytes) = (age, bytes) }
        self.look()
    }

    private func work() {
        let care = SegmentUpkeep(self.names, source: .some(self.source))
        let isFinished = { self.isFinished.withLockedValue { $0 } }
        let settings = self.settings.withLockedValue { $0 }
        let removes = settings.keepAge != nil || settings.keepBytes != nil
        guard settings.compresses || removes, !isFinished() else { return }
        for path in care.strangers() where self.strangers.withLockedValue({ $0.insert(path).inserted }) {
            self.printError(
                "recording: \(path) is named like a file of this recording but is not one; it is left alone"
            )
        }
        if settings.compresses {
            for problem in care.pack(isCancelled: isFinished) { self.printError("recording: \(problem)") }
        }
        guard removes, !isFinished() else { return }
        _ = care.removeOld(
            now: self.clock.wall(),
            age: settings.keepAge,
            bytes: settings.keepBytes,
            newest: self.newest.withLockedValue { $0 }
        )
    }

    /// Cancels the work in progress at the next block; the next start continues it.
    func stop() { self.isFinished.withLockedValue { $0 = true } }

    /// Stops, and waits for the thread's end, at most `limit`.
    func finish(within limit: Duration) async {
        self.stop()
        await self.thread.finish(within: limit)
    }
}
