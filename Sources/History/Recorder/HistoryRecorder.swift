import Glibc
package import Market
import NIOConcurrencyHelpers
import Platform
import Recordings
package import Wire

/// The recorder of what survives a restart. It reads the tape, and twice a second its own thread writes bars and the
/// index of the recording into the database.
///
/// The feed only queues, within bounds. What a slow or full disk does not take is reported and counted. It stays in
/// memory while there is space; bars that lack trades are marked incomplete.
package final class HistoryRecorder: TapeReader {
    /// The result of a run's history.
    package struct Report: Sendable, Equatable {
        /// The trades that were taken, and those that are in no bar of the database.
        package var trades: UInt64 = 0
        package var lost: UInt64 = 0
        /// The number of transactions.
        package var commits: UInt64 = 0
        /// The gaps that found no space in the queue.
        package var lostGaps: UInt64 = 0
        /// The messages of rooms that found no space.
        package var lostMessages: UInt64 = 0
        /// Whether the disk took everything up to the end.
        package var isWhole = true
    }

    /// The bounds of the queues, and the interval of the transactions.
    package struct Limits: Sendable {
        /// The most trades between the feed and the thread; 56 bytes each.
        package var waitingTrades = 250_000
        /// The most pieces of bars that the disk has not taken; some 300 bytes each.
        package var waitingPieces = 100_000
        /// The most messages of rooms between the relay and the thread.
        package var waitingMessages = HistoryBatch.maximumRecords
        /// The pause between two transactions, in seconds.
        package var pause: Double = 0.5

        package init() {}
    }

    enum Entry {
        /// The trades are among ``Waiting/trades``.
        case run(WaitingTrades.Run)
        case hole(HistoryBatch.Hole)
        /// A hole with ids is filled, or stays for good.
        case settled(GapOutcome)
        /// A file of the recording is complete, and another one has begun.
        case completed(String, newest: String)
        case lost(UInt64, from: Int64, to: Int64)
        case status(FeedStatus)
    }

    /// The queued entries and trades, which the thread takes at once.
    struct Waiting {
        var entries: [Entry] = []
        var trades = WaitingTrades()
    }

    private struct Queue {
        var waiting = Waiting()
        /// The memory of the last ones that were taken, for the next.
        var spare: Waiting?
        var lost: (count: UInt64, from: Int64, to: Int64)?
        var roomRecords: [RoomRecord] = []
        /// The number of trades that found no space in the queue, that of gaps, and that of messages.
        var overflowed: UInt64 = 0
        var lostGaps: UInt64 = 0
        var lostMessages: UInt64 = 0
        /// The calls that wait for the end of the next round.
        var waits: [@Sendable () -> Void] = []
        var isFinished = false

        mutating func take(_ batch: TapeBatch) {
            self.waiting.trades.append(batch.countedTrades)
            if let last = self.waiting.entries.indices.last, case .run(var run) = self.waiting.entries[last],
                run.epoch == batch.epoch, run.first + UInt64(run.count) == batch.firstSequence
            {
                run.count += batch.trades.count
                run.ended = batch.received
                run.symbols = batch.symbols
                self.waiting.entries[last] = .run(run)
                return
            }
            self.waiting.entries.append(
                .run(
                    WaitingTrades.Run(
                        epoch: batch.epoch,
                        first: batch.firstSequence,
                        count: batch.trades.count,
                        begun: batch.received,
                        ended: batch.received,
                        symbols: batch.symbols
                    )
                )
            )
        }

        mutating func takeOut() -> Waiting {
            var taken = self.spare ?? Waiting()
            self.spare = nil
            swap(&taken, &self.waiting)
            return taken
        }
    }

    private struct Shown {
        var store: HistoryStore
        var report = Report()
        var period: FeedPeriod?
    }

    private let limits: Limits
    private let notify: @Sendable (String) -> Void
    private let queue = NIOLockedValueBox(Queue())
    /// Wakes the thread before its pause ends.
    private let wake: WakeSignal
    /// Held while the disk works. The thread waits for it, and those threads of readers that find a damaged database or
    /// ask for the lock.
    private let writer: NIOLockedValueBox<HistoryWriter>
    /// The state of the writer after its last transaction, for other threads.
    private let shown: NIOLockedValueBox<Shown>
    private let thread = WorkQueue("history", niceness: 10)
    private let readers = WorkQueue("history-reader", threads: 2)

    /// Opens the database and begins to write.
    ///
    /// - Parameters:
    ///   - path: the database's path. While another program holds `PATH.lock` beside it, this one only reads.
    ///   - recording: returns the file that takes the newest frames, if there is one.
    ///   - wallClock: ns since 1970.
    ///   - monotonic: ns of a clock that stands still while the machine sleeps.
    ///   - notify: takes one line for a person, on any thread.
    /// - Throws: ``HistoryFailure``.
    package init(
        path: String,
        limits: Limits = Limits(),
        recording: @escaping @Sendable () -> String?,
        wallClock: @escaping @Sendable () -> Int64,
        monotonic: @escaping @Sendable () -> Int64 = SystemClock.monotonic,
        notify: @escaping @Sendable (String) -> Void
    ) throws(HistoryFailure) {
        do throws(SystemCallFailure) {
            self.wake = try WakeSignal()
            try self.thread.start()
            try self.readers.start()
        } catch {
            throw HistoryFailure(.world, "\(error)")
        }
        self.limits = limits
        self.notify = notify
        let lock = try HistoryLock(path: path)
        let store = try HistoryStore.opening(path, now: wallClock(), notify: notify)
        self.shown = NIOLockedValueBox(Shown(store: store))
        self.writer = NIOLockedValueBox(
            HistoryWriter(
                store: store,
                lock: lock,
                waitingPieces: limits.waitingPieces,
                recording: recording,
                wallClock: wallClock,
                monotonic: monotonic,
                notify: notify
            )
        )
        self.thread.submit { self.work() }
    }

    // MARK: The tape

    package func read(_ batch: TapeBatch) {
        guard !batch.trades.isEmpty else { return }
        self.queue.withLockedValue { queue in
            guard !queue.isFinished else { return }
            guard queue.waiting.trades.count + batch.trades.count <= self.limits.waitingTrades else {
                let count = UInt64(batch.trades.count)
                queue.overflowed += count
                queue.lost = (
                    (queue.lost?.count ?? 0) + count, queue.lost?.from ?? batch.received, batch.received
                )
                return
            }
            Self.reportLost(&queue)
            queue.take(batch)
        }
    }

    package func statusChanged(_ status: FeedStatus) {
        self.queue.withLockedValue { queue in
            guard !queue.isFinished, queue.waiting.entries.count < self.limits.waitingTrades else { return }
            queue.waiting.entries.append(.status(status))
        }
    }

    package func gapFound(_ gap: Gap) {
        self.queue.withLockedValue { queue in
            guard !queue.isFinished else { return }
            guard queue.waiting.entries.count < self.limits.waitingTrades else {
                queue.lostGaps += 1
                return
            }
            Self.reportLost(&queue)
            queue.waiting.entries.append(
                .hole(
                    HistoryBatch.Hole(
                        symbol: gap.symbol,
                        from: gap.from,
                        to: gap.to,
                        reason: gap.reason,
                        missing: gap.missing,
                        isAwaited: !gap.movesClock
                    )
                )
            )
        }
    }

    package func gapSettled(_ outcome: GapOutcome) {
        self.queue.withLockedValue { queue in
            // Without it the bars stay incomplete.
            guard !queue.isFinished, queue.waiting.entries.count < self.limits.waitingTrades else { return }
            queue.waiting.entries.append(.settled(outcome))
        }
    }

    /// Notes that files of the recording are complete, so that they enter the index. May be called on any thread; does
    /// not wait for a disk.
    ///
    /// - Parameter newest: the file that is written now.
    package func completed(_ paths: [String], newest: String) {
        self.queue.withLockedValue { queue in
            guard !queue.isFinished, queue.waiting.entries.count < self.limits.waitingTrades else { return }
            for path in paths { queue.waiting.entries.append(.completed(path, newest: newest)) }
        }
    }

    /// Takes what is kept of rooms. May be called on any thread; does not wait for a disk.
    package func take(_ record: RoomRecord) {
        self.queue.withLockedValue { queue in
            guard !queue.isFinished else { return }
            guard queue.roomRecords.count < self.limits.waitingMessages else {
                if record.isMessage { queue.lostMessages += 1 }
                return
            }
            queue.roomRecords.append(record)
        }
    }

    /// Queues the number of dropped trades at its place among the others.
    private static func reportLost(_ queue: inout Queue) {
        guard let lost = queue.lost else { return }
        queue.lost = nil
        queue.waiting.entries.append(.lost(lost.count, from: lost.from, to: lost.to))
    }

    // MARK: The thread

    private func work() {
        var isFinished = false
        var hasLostGaps = false
        while !isFinished {
            self.wake.wait(atMost: Int64(self.limits.pause * 1_000_000_000))
            var (waiting, roomRecords, waits, lostGaps) = self.queue.withLockedValue { queue in
                isFinished = queue.isFinished
                if isFinished { Self.reportLost(&queue) }
                defer { (queue.roomRecords, queue.waits) = ([], []) }
                return (queue.takeOut(), queue.roomRecords, queue.waits, queue.lostGaps)
            }
            if lostGaps > 0, !hasLostGaps {
                hasLostGaps = true
                self.notify("the history lacks gaps of the feed, because the disk is too slow for them")
            }
            self.writer.withLockedValue { writer in
                writer.timePassed()
                for entry in waiting.entries { writer.take(entry, &waiting.trades) }
                for record in roomRecords { writer.take(record) }
                writer.commit(isLast: isFinished)
                self.shown.withLockedValue { shown in
                    shown = Shown(store: writer.store, report: writer.report, period: writer.period)
                }
            }
            waiting.entries.removeAll(keepingCapacity: true)
            waiting.trades.clear()
            self.queue.withLockedValue { [waiting] in $0.spare = waiting }
            for wait in waits { wait() }
        }
    }

    /// The numbers of trades and transactions so far. May be read on any thread; does not wait for a disk.
    package var report: Report {
        let (trades, gaps, messages) = self.queue.withLockedValue { ($0.overflowed, $0.lostGaps, $0.lostMessages) }
        var report = self.shown.withLockedValue { $0.report }
        report.lost += trades
        report.lostGaps = gaps
        report.lostMessages += messages
        return report
    }

    /// The period in which the feed is now, as far as this program writes it; `nil` if another one writes the history.
    package var period: FeedPeriod? { self.shown.withLockedValue { $0.period } }

    /// The longest time for which the end of a period may be unwritten while a program runs, ns.
    package static let periodInterval = RunPeriods.interval

    /// Waits until the thread has processed everything that is queued now. Blocks, so it must not run on an event loop.
    package func waitUntilWritten() {
        let written = ConditionLock(value: false)
        let mustWait = self.queue.withLockedValue { queue in
            guard !queue.isFinished else { return false }
            queue.waits.append {
                written.lock()
                written.unlock(withValue: true)
            }
            return true
        }
        guard mustWait else { return }
        self.wake.ring()
        written.lock(whenValue: true)
        written.unlock()
    }

    /// Writes everything that is queued, and closes the database; waits for the disk at most for `limit` in each of two
    /// steps.
    package func finish(within limit: Duration = WorkQueue.patience) async -> Report {
        self.queue.withLockedValue { $0.isFinished = true }
        self.wake.ring()
        // This follows the thread's last round.
        let report = await self.thread.answer(within: limit) {
            self.writer.withLockedValue { writer in
                writer.close()
                return writer.report
            }
        }
        guard let report else {
            var report = self.report
            report.isWhole = false
            return report
        }
        self.shown.withLockedValue { $0.report = report }
        // A reader may still search a recording on the same disk.
        await self.readers.finish(within: limit)
        return self.report
    }

    // MARK: Reading

    /// The interval of checks whether the other program has ended.
    private static let lockInterval = Duration.milliseconds(50)

    /// The result of ``claim(within:)``.
    package enum Claim: Sendable {
        /// This program writes the history. What is read from now on is complete.
        case mine
        /// Another program does.
        case others
        /// The disk is too slow to say it.
        case unanswered
        /// The task was cancelled.
        case cancelled
    }

    /// Waits until no other program writes the history, at most for `limit`.
    package func claim(within limit: Duration) async -> Claim {
        let end = ContinuousClock.now + limit
        while !Task.isCancelled {
            let left = max(end - ContinuousClock.now, .zero)
            let isMine = await self.readers.answer(within: left + Self.lockInterval) {
                self.writer.withLockedValue { $0.mayWrite() }
            }
            if isMine == true { return .mine }
            if ContinuousClock.now >= end { return isMine == nil ? .unanswered : .others }
            try? await Task.sleep(for: Self.lockInterval)
        }
        return .cancelled
    }

    /// Asks the database on a reader thread, two questions at a time. A database that proves damaged is moved aside,
    /// and the new one is asked.
    ///
    /// - Parameter limit: the wait after which an error is thrown; `nil` waits as long as the disk takes.
    package func ask<Answer: Sendable>(
        within limit: Duration? = nil,
        _ question: @escaping @Sendable (HistoryStore) throws -> Answer
    ) async throws -> Answer {
        let store = self.shown.withLockedValue { $0.store }
        let answer = { @Sendable () -> Result<Answer, any Error> in
            Result {
                do {
                    return try question(store)
                } catch let failure as HistoryFailure where failure.kind == .damaged {
                    return try question(try self.replacing(store, failure))
                }
            }
        }
        guard let limit else {
            return try await withCheckedThrowingContinuation { continuation in
                self.readers.submit { continuation.resume(with: answer()) }
            }
        }
        guard let result = await self.readers.answer(within: limit, answer) else {
            throw HistoryFailure(.world, "the disk does not answer")
        }
        return try result.get()
    }

    /// Returns the database that replaces a damaged one. May wait for the disk.
    private func replacing(_ store: HistoryStore, _ failure: HistoryFailure) throws(HistoryFailure) -> HistoryStore {
        let fresh = self.writer.withLockedValue { writer -> HistoryStore? in
            // Another reader may have moved it aside already.
            guard writer.store !== store || writer.setAside(failure) else { return nil }
            return writer.store
        }
        guard let fresh else { throw failure }
        self.shown.withLockedValue { $0.store = fresh }
        return fresh
    }
}
