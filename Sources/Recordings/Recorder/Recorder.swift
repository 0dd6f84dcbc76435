import Glibc
package import Market
import NIOConcurrencyHelpers
import NIOCore
import Platform
import Synchronization
package import Wire

/// The writer of a recording: every frame verbatim with its arrival, and the events of the connection, appended by a
/// separate thread.
///
/// The feed only appends to a bounded queue. A slow or full disk costs frames of the recording, which are counted,
/// logged and reported in the file; it never delays the feed. A file is never overwritten.
package final class Recorder: TapeReader {
    /// The final counts of a recording.
    package struct Report: Sendable, Equatable {
        package var frames: UInt64
        package var bytes: UInt64
        /// Frames missing in the files, because the disk was too slow or failed.
        package var dropped: UInt64
        /// The number of files written.
        package var segments = 1
        /// Frames in the files that may not survive a power cut.
        package var doubted: UInt64 = 0
        /// Whether the disk took all data to the end; if not, frames and bytes are unknown.
        package var isWhole = true
    }

    /// What a running recording has on the disk.
    package struct Progress: Sendable, Equatable {
        /// The newest file.
        package var path: String
        /// Its length, bytes.
        package var bytes: UInt64
        /// Whether the disk takes what comes now.
        package var isTaken: Bool
    }

    let settings: RecorderSettings
    let clock: RecorderClock
    let queue = NIOLockedValueBox(RecorderQueue())
    /// The number of entries written so far, which shows that the thread makes progress.
    let progress = Atomic<Int>(0)
    /// The thread that writes; `nil` if the owner calls ``drain()`` and ``close()`` itself.
    private let thread: WorkQueue?
    /// Wakes the thread when there is something to write.
    let wake: WakeSignal
    let file: NIOLockedValueBox<RecordingWriter>
    let maintenance: SegmentMaintenance?
    let printError: @Sendable (String) -> Void
    let completed: @Sendable (_ files: [String], _ newest: String) -> Void
    /// The first file's path.
    package let path: String

    /// Creates the first file and writes its header.
    ///
    /// - Parameters:
    ///   - path: the first file's path; where it exists, the next free name is used (`btc-0002.jsonl`).
    ///   - started: wall clock, ns since 1970.
    ///   - epoch: the run of numbers on the tape. A batch of another epoch begins the next file.
    ///   - run: what names the run of the program, where the numbers are those of another program and `epoch` is not
    ///     known yet. Without `epoch` and `run` no numbers are written.
    ///   - dialect: the dialect of the feed's frames, which decides the first file's version. Frames of another dialect
    ///     than Finnhub's in a recording of Finnhub's begin another file.
    ///   - source: where the frames come from: `live` for the market.
    ///   - address: the service's, without a key.
    ///   - isByHand: whether to start no thread and no maintenance of older files: ``drain()`` writes, and ``close()``
    ///     ends the recording.
    ///   - completed: receives the paths of the files completed since its last call, and that of the file being written
    ///     now. The recorder's writing thread makes the call and waits for it, at the end the one that closes.
    ///   - printError: called on the recorder's threads with each problem, and with the recovery from it.
    /// - Throws: ``RecordingWriter/Failure`` when the file cannot be made; ``SystemCallFailure`` when the process can have
    ///   no more threads or descriptors.
    package init(
        path: String,
        symbols: [String],
        started: Int64,
        program: String,
        epoch: UInt64? = nil,
        run: UInt64? = nil,
        dialect: FrameDialect,
        source: String? = nil,
        address: String? = nil,
        settings: RecorderSettings = RecorderSettings(),
        clock: RecorderClock,
        disk: any RecordingDisk = SystemDisk(),
        isByHand: Bool = false,
        completed: @escaping @Sendable (_ files: [String], _ newest: String) -> Void = { _, _ in },
        printError: @escaping @Sendable (String) -> Void
    ) throws {
        self.wake = try WakeSignal()
        let thread = isByHand ? nil : WorkQueue("recorder", niceness: 10)
        // Started first, so that no file exists without a thread to write it.
        try thread?.start()
        self.thread = thread
        self.settings = settings
        self.clock = clock
        self.completed = completed
        self.printError = printError
        let names = SegmentNames(first: path)
        var status = stat()
        if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            // A device's folder is no place for further files.
            throw RecordingWriter.Failure(description: "cannot record to \(path): it is not a file; choose another one")
        }
        var header = RecordingHeader(
            version: dialect == .finnhub ? RecordingHeader.currentVersion : RecordingHeader.dialectVersion,
            program: program,
            symbols: symbols,
            start: started,
            epoch: epoch,
            source: source
        )
        header.address = address
        header.writerRun = run
        let writer = try RecordingWriter(
            names: names,
            header: header,
            monotonic: clock.monotonic(),
            settings: settings,
            disk: disk
        )
        self.path = writer.path
        self.queue.withLockedValue { $0.newest = (writer.path, writer.file.bytes, true) }
        self.file = NIOLockedValueBox(writer)
        guard let thread else {
            self.maintenance = nil
            return
        }
        let maintenance = SegmentMaintenance(
            names: names,
            source: source,
            newest: writer.path,
            settings: settings,
            clock: clock,
            printError: printError
        )
        self.maintenance = maintenance
        thread.submit { self.writeUntilFinished() }
        maintenance.look()
    }

    /// Changes how long complete files are kept, ns, and their total size, bytes; `nil` for no limit. May be called on
    /// any thread.
    package func keep(age: Int64?, bytes: Int64?) { self.maintenance?.keep(age: age, bytes: bytes) }

    // MARK: The feed's side

    package func read(_ batch: TapeBatch) {
        let (mustWake, mustNotify) = self.queue.withLockedValue { queue -> (Bool, Bool) in
            guard !queue.isFinished else { return (false, false) }
            var mustNotify = false
            let moment = Moment(monotonic: batch.receivedMonotonic, wall: batch.received)
            for frame in batch.frames {
                let numbers = RecordedNumbers(
                    first: batch.firstSequence + UInt64(frame.trades.lowerBound),
                    count: frame.trades.count,
                    leftOut: frame.leftOut,
                    possibleRepeats: batch.possibleRepeats(in: frame),
                    ahead: batch.ahead(in: frame),
                    filled: batch.filled(in: frame)
                )
                let limit = self.settings.maximumWaitingBytes
                if queue.append(
                    frame.bytes,
                    of: frame.dialect,
                    moment,
                    numbers,
                    epoch: batch.epoch,
                    atMost: limit
                ) {
                    continue
                }
                if queue.leaveOut(received: batch.received, monotonic: batch.receivedMonotonic) { mustNotify = true }
            }
            return (queue.wakes(), mustNotify)
        }
        self.wake(mustWake, notify: mustNotify)
    }

    private var isTooSlow: String {
        "recording: the disk is too slow, and \(self.settings.maximumWaitingBytes >> 20) MiB wait for it; what finds no room "
            + "is missing in \(self.path) or the file after it"
    }

    package func statusChanged(_ status: FeedStatus) {
        var note = RecordedNote(.state, word: status.word)
        note.reason = status.reason
        note.cause = status.cause?.word
        self.put(note, monotonic: self.clock.monotonic())
    }

    package func connectionChanged(_ event: ConnectionEvent, monotonic: Int64) {
        self.put(RecordedNote(event), monotonic: monotonic)
    }

    package func gapFound(_ gap: Gap) {
        let moment = Moment(monotonic: self.clock.monotonic(), wall: self.clock.wall())
        self.put(.gap(gap, moment), bytes: gap.reason.utf8.count)
    }

    package func gapSettled(_ outcome: GapOutcome) {
        self.put(RecordedNote(outcome), monotonic: self.clock.monotonic())
    }

    private func put(_ note: RecordedNote, monotonic: Int64) {
        let bytes =
            (note.reason?.utf8.count ?? 0) + (note.frame?.readableBytes ?? 0)
            + note.lost.count * MemoryLayout<ClosedRange<UInt64>>.size
        self.put(.note(note, Moment(monotonic: monotonic, wall: self.clock.wall())), bytes: bytes)
    }

    private func put(_ entry: RecorderQueue.Entry, bytes: Int) {
        let (mustWake, mustNotify) = self.queue.withLockedValue { queue -> (Bool, Bool) in
            guard !queue.isFinished else { return (false, false) }
            // Events may use up to twice the limit, so that they fit when frames do not; beyond that they are counted
            // like frames.
            let hasRoom = queue.append(entry, bytes: bytes, atMost: 2 * self.settings.maximumWaitingBytes)
            let mustNotify =
                !hasRoom && queue.leaveOut(received: self.clock.wall(), monotonic: self.clock.monotonic())
            return (queue.wakes(), mustNotify)
        }
        self.wake(mustWake, notify: mustNotify)
    }

    /// Wakes the writer, and warns that the disk is too slow, each as far as due.
    private func wake(_ mustWake: Bool, notify mustNotify: Bool) {
        if mustWake { self.wake.ring() }
        // On another thread: the writer's may be blocked by the disk.
        if mustNotify { WorkQueue("recorder-warn").submit { self.printError(self.isTooSlow) } }
    }

    /// Frames missing in the files so far. Callable from any thread; does not wait for the disk.
    package var dropped: UInt64 { self.queue.withLockedValue { $0.dropped + $0.failed } }

    /// What is on the disk, as of the last write; `nil` once the recording ends. Callable from any thread; does not wait
    /// for the disk.
    package var written: Progress? {
        self.queue.withLockedValue { queue in
            guard !queue.isFinished, let newest = queue.newest else { return nil }
            // A disk that hangs takes the next write only when it is too late for some frames.
            return Progress(path: newest.path, bytes: newest.bytes, isTaken: newest.isTaken && queue.leftOut == nil)
        }
    }

    /// Frames in the files so far that may not survive a power cut. Callable from any thread.
    package var doubted: UInt64 { self.queue.withLockedValue { $0.doubted } }

    /// The number of times that ``finish(within:)`` waits for the limit while the thread makes progress.
    private static let maximumWaits = 3

    /// Writes everything queued, syncs and closes the file; returns the totals of all files.
    ///
    /// Ends when nothing has been written for `limit`, and after three times that limit in any case. A machine that
    /// is only slow thus gets more time than a disk that hangs.
    package func finish(within limit: Duration = WorkQueue.patience) async -> Report {
        self.takeNoMore()
        self.wake.ring()
        guard let thread else { return self.close() }
        self.maintenance?.stop()
        // Where the processor is busy, the writer's niceness would make the end many times longer.
        let end = WorkQueue("recorder-end")
        let closer = (try? end.start()) == nil ? thread : end
        for _ in 0..<Self.maximumWaits {
            let written = self.progress.load(ordering: .relaxed)
            // Queued behind the writing. A second call finds the file closed.
            let report = await withTimeLimit(limit) {
                await withCheckedContinuation { continuation in
                    thread.submit { closer.submit { continuation.resume(returning: self.close()) } }
                }
            }
            if let report {
                await self.maintenance?.finish(within: limit)
                return report
            }
            guard self.progress.load(ordering: .relaxed) > written else { break }
        }
        // A blocked thread ends with the program.
        return Report(frames: 0, bytes: 0, dropped: self.dropped, isWhole: false)
    }

    func takeNoMore() {
        self.queue.withLockedValue { queue in
            queue.isFinished = true
            queue.reportLeftOut()
        }
    }
}
