import Glibc
package import Market
import NIOCore
import NIOPosix
import NIOConcurrencyHelpers
import Recordings
package import Wire

/// The writer of a recording: every frame as it came, with its arrival, and what happened on the connection, appended by a
/// thread of its own.
///
/// The feed only queues (bounded); a slow or full disk costs frames of the recording, which are counted, said and written
/// into the file, and never the feed. A file is never overwritten.
package final class Recorder: TapeReader {
    /// What became of a recording.
    package struct Report: Sendable, Equatable {
        package var frames: UInt64
        package var bytes: UInt64
        /// Frames that are not in the files, because the disk was too slow or failed.
        package var dropped: UInt64
        /// Files that were written.
        package var segments = 1
        /// Frames that are in the files, and that the disk may not keep over a power cut.
        package var doubted: UInt64 = 0
    }

    private enum Entry {
        case frame(ByteBuffer, Moment, RecordedNumbers, epoch: UInt64)
        case leftOut(LeftOut)
        case gap(Gap, Moment)
        case note(RecordedNote, Moment)
    }

    /// Both clocks, ns.
    private struct Moment {
        var wall: Int64
        var monotonic: Int64
    }

    /// Frames that found no room in the queue, with the arrivals of the first and the last.
    private struct LeftOut {
        var count: UInt64 = 0
        var from: Int64
        var to: Int64
    }

    private struct Queue {
        /// What the file must be told before the next frame.
        var leftOut: LeftOut?
        var entries: [Entry] = []
        var bytes = 0
        var dropped: UInt64 = 0
        /// Frames that the disk did not take, and that it may not keep, as of the last write.
        var failed: UInt64 = 0
        var doubted: UInt64 = 0
        /// When a frame found no room last, monotonic ns.
        var lastLeftOut: Int64?
        /// Whether the writer was told that much waits.
        var isUrgent = false
        var isFinished = false

        /// Leaves a frame out; answers whether that is news.
        mutating func leaveOut(received: Int64, monotonic: Int64) -> Bool {
            self.dropped += 1
            var leftOut = self.leftOut ?? LeftOut(from: received, to: received)
            leftOut.count += 1
            leftOut.to = received
            self.leftOut = leftOut
            defer { self.lastLeftOut = monotonic }
            return self.lastLeftOut.map { monotonic - $0 >= Recorder.quietInterval } ?? true
        }

        /// Puts what was left out into its place.
        mutating func tellLeftOut() {
            guard let leftOut else { return }
            self.leftOut = nil
            self.bytes += Recorder.entryBytes
            self.entries.append(.leftOut(leftOut))
        }

        /// Whether the writer is to be woken: for the first that waits, and when that is much.
        mutating func wakes(_ hadNone: Bool) -> Bool {
            if hadNone, !self.entries.isEmpty { return true }
            guard !self.isUrgent, self.bytes >= Recorder.urgentBytes else { return false }
            self.isUrgent = true
            return true
        }
    }

    /// What an entry costs beside its bytes.
    private static let entryBytes = 96
    /// How much may wait until it is written at once.
    private static let urgentBytes = 1 << 20
    /// How long the disk must have been quick enough before a slow one is news again, ns.
    private static let quietInterval: Int64 = 60_000_000_000

    private let settings: RecorderSettings
    private let clock: RecorderClock
    private let queue = NIOLockedValueBox(Queue())
    /// The writing thread; none where somebody has it written by hand.
    private let pool: NIOThreadPool?
    /// Rung when there is something to write.
    private let bell = Bell()
    private let file: NIOLockedValueBox<RecordingWriter>
    private let keeper: SegmentKeeper?
    private let complain: @Sendable (String) -> Void
    private let completion = NIOLockedValueBox<@Sendable ([String], String) -> Void>({ _, _ in })
    /// The first file's path.
    package let path: String

    /// Creates the first file and writes its header.
    ///
    /// - Parameters:
    ///   - path: the first file's; where it is there already, the next name that is not (`btc-0002.jsonl`).
    ///   - started: wall clock, ns since 1970.
    ///   - epoch: the run of numbers on the tape; a batch of another one is written without its numbers.
    ///   - source: where the frames come from: `live` for the market.
    ///   - address: the service's, without a key.
    ///   - isByHand: whether no thread writes, and no file but the newest is looked at: ``drain()`` writes, and ``close()``
    ///     ends it.
    ///   - complain: is told, on the recorder's threads, each time that writing begins to fail.
    /// - Throws: ``RecordingWriter/Failure`` when the file cannot be made.
    package init(
        path: String,
        symbols: [String],
        started: Int64,
        program: String,
        epoch: UInt64? = nil,
        source: String? = nil,
        address: String? = nil,
        settings: RecorderSettings = RecorderSettings(),
        clock: RecorderClock,
        disk: any RecordingDisk = SystemDisk(),
        isByHand: Bool = false,
        complain: @escaping @Sendable (String) -> Void
    ) throws {
        self.settings = settings
        self.clock = clock
        self.complain = complain
        let names = SegmentNames(first: path)
        var status = stat()
        if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            // Beside a device there is no place for a second name.
            throw RecordingWriter.Failure(description: "cannot record to \(path): it is no file; choose another one")
        }
        var header = RecordingHeader(
            version: 2,
            program: program,
            symbols: symbols,
            start: started,
            epoch: epoch,
            source: source
        )
        header.address = address
        let writer = try RecordingWriter(
            names: names,
            header: header,
            monotonic: clock.monotonic(),
            settings: settings,
            disk: disk
        )
        self.path = writer.path
        self.file = NIOLockedValueBox(writer)
        guard !isByHand else {
            self.pool = nil
            self.keeper = nil
            return
        }
        let keeper = SegmentKeeper(
            names: names,
            source: source,
            newest: writer.path,
            settings: settings,
            clock: clock,
            complain: complain
        )
        let pool = NIOThreadPool(numberOfThreads: 1)
        self.keeper = keeper
        self.pool = pool
        pool.start()
        pool.submit { _ in self.writeUntilFinished() }
        keeper.look()
    }

    // MARK: The feed's side

    package func read(_ batch: TapeBatch) {
        let (mustWake, isNews) = self.queue.withLockedValue { queue -> (Bool, Bool) in
            guard !queue.isFinished else { return (false, false) }
            var isNews = false
            let hadNone = queue.entries.isEmpty
            let moment = Moment(wall: batch.received, monotonic: batch.receivedMonotonic)
            // A frame is a slice of what the socket's read brought, and keeps all of that: so the read counts once.
            var storage = batch.frames.first?.bytes.storageCapacity ?? 0
            for frame in batch.frames {
                let cost = frame.bytes.readableBytes + Self.entryBytes + storage
                guard queue.bytes + cost <= self.settings.maximumWaitingBytes else {
                    if queue.leaveOut(received: batch.received, monotonic: batch.receivedMonotonic) { isNews = true }
                    continue
                }
                queue.tellLeftOut()
                storage = 0
                queue.bytes += cost
                queue.entries.append(
                    .frame(
                        frame.bytes,
                        moment,
                        RecordedNumbers(
                            first: batch.firstSequence + UInt64(frame.trades.lowerBound),
                            count: frame.trades.count,
                            leftOut: frame.leftOut
                        ),
                        epoch: batch.epoch
                    )
                )
            }
            return (queue.wakes(hadNone), isNews)
        }
        if mustWake { self.bell.ring() }
        // By a thread that no disk holds up: the writer's waits for this one.
        if isNews { NIOThreadPool.singleton.submit { _ in self.complain(self.isTooSlow) } }
    }

    private var isTooSlow: String {
        "recording: the disk is too slow, and \(self.settings.maximumWaitingBytes >> 20) MiB wait for it; what finds no room "
            + "is missing in \(self.path) or behind it"
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
        let moment = Moment(wall: self.clock.wall(), monotonic: self.clock.monotonic())
        self.put(.gap(gap, moment), bytes: gap.reason.utf8.count)
    }

    private func put(_ note: RecordedNote, monotonic: Int64) {
        let bytes = (note.reason?.utf8.count ?? 0) + (note.frame?.readableBytes ?? 0)
        self.put(.note(note, Moment(wall: self.clock.wall(), monotonic: monotonic)), bytes: bytes)
    }

    private func put(_ entry: Entry, bytes: Int) {
        let mustWake = self.queue.withLockedValue { queue -> Bool in
            guard !queue.isFinished else { return false }
            let hadNone = queue.entries.isEmpty
            // What happened has its place even where frames have none, up to twice the limit.
            guard queue.bytes <= 2 * self.settings.maximumWaitingBytes else { return false }
            queue.bytes += bytes + Self.entryBytes
            queue.tellLeftOut()
            queue.entries.append(entry)
            return queue.wakes(hadNone)
        }
        if mustWake { self.bell.ring() }
    }

    /// Calls `told` with the paths of files that are complete from now on, and with that of the one which is written then; on
    /// the recorder's thread, which waits for it.
    package func whenCompleted(_ told: @escaping @Sendable (_ completed: [String], _ newest: String) -> Void) {
        self.completion.withLockedValue { $0 = told }
    }

    /// Frames that are missing in the files so far. From any thread; waits for no disk.
    package var dropped: UInt64 { self.queue.withLockedValue { $0.dropped + $0.failed } }

    /// Frames that are in the files so far and that the disk may not keep over a power cut. From any thread.
    package var doubted: UInt64 { self.queue.withLockedValue { $0.doubted } }

    /// Writes what is queued, syncs and closes the file; answers with what all files hold.
    package func finish() async -> Report {
        self.takeNoMore()
        self.bell.ring()
        guard let pool = self.pool else { return self.close() }
        // The pool has one thread, so this runs behind the writing. Not `runIfActive`, which a cancelled task leaves out:
        // the file must be whole however the program ends.
        let report = await withCheckedContinuation { continuation in
            pool.submit { _ in continuation.resume(returning: self.close()) }
        }
        try? await pool.shutdownGracefully()
        await self.keeper?.finish()
        return report
    }

    private func takeNoMore() {
        self.queue.withLockedValue { queue in
            queue.isFinished = true
            queue.tellLeftOut()
        }
    }

    // MARK: The writer's thread

    /// Waits until the bell rings, at most until a monotonic time.
    private func listen(until time: Int64) { self.bell.wait(atMost: time - self.clock.systemNow) }

    /// Waits while more comes that can be written with the same call, at most until a monotonic time.
    private func waitForMore(until time: Int64) {
        while true {
            let left = time - self.clock.systemNow
            guard left > 0, !self.queue.withLockedValue({ $0.isUrgent || $0.isFinished }) else { return }
            // Rung when much waits, and at the end.
            self.bell.wait(atMost: left)
        }
    }

    private func writeUntilFinished() {
        // How long nothing may happen until it looks by itself, ns.
        let idle: Int64 = 3_600_000_000_000
        while true {
            // Looked at before each wait, not rung for alone: the one ring may have ended a wait for more.
            if !self.queue.withLockedValue({ !$0.entries.isEmpty || $0.isFinished }) {
                let deadline = self.file.withLockedValue { $0.syncDeadline } ?? self.clock.systemNow + idle
                self.listen(until: deadline)
            }
            let (waits, isFinished) = self.queue.withLockedValue { (!$0.entries.isEmpty, $0.isFinished) }
            if isFinished { return }
            if waits {
                // What comes within the time goes into the file with one write; half of it is for that.
                self.waitForMore(until: self.clock.systemNow + self.settings.flushInterval / 2)
                self.drain()
            }
            let end = self.clock.systemNow
            self.file.withLockedValue { file in
                guard let deadline = file.syncDeadline, deadline <= end else { return }
                file.sync(now: end)
                self.tell(&file)
            }
        }
    }

    /// Writes what is queued.
    func drain() {
        let entries = self.queue.withLockedValue { queue -> [Entry] in
            let entries = queue.entries
            queue.entries = []
            queue.bytes = 0
            queue.isUrgent = false
            return entries
        }
        if entries.isEmpty { return }
        self.file.withLockedValue { file in
            let now = self.clock.systemNow
            for entry in entries {
                switch entry {
                case .frame(let bytes, let moment, let numbers, let epoch):
                    file.append(
                        frame: bytes,
                        received: moment.wall,
                        monotonic: moment.monotonic,
                        numbers: numbers,
                        epoch: epoch
                    )
                case .leftOut(let frames):
                    file.leftOut(frames.count, from: frames.from, to: frames.to, now: now)
                case .gap(let gap, let moment):
                    file.append(gap: gap, wall: moment.wall, monotonic: moment.monotonic)
                case .note(let note, let moment):
                    file.append(note: note, wall: moment.wall, monotonic: moment.monotonic)
                }
            }
            file.flush(now: now)
            self.tell(&file)
        }
    }

    private func tell(_ file: inout RecordingWriter) {
        let (failed, doubted) = (file.failed, file.doubted)
        self.queue.withLockedValue { queue in
            queue.failed = failed
            queue.doubted = doubted
        }
        if let problem = file.takeProblem() {
            self.complain("\(file.path) cannot be written: \(problem); what comes now is missing there")
        }
        if let problem = file.takeSyncProblem() {
            self.complain("\(file.path) may not be on the disk: \(problem); a power cut may cost what came last")
        }
        if file.takeRecovery() {
            self.complain("\(file.path) is written again; \(self.dropped) frames are missing there")
        }
        let completed = file.takeCompleted()
        guard !completed.isEmpty else { return }
        // First whoever reads them as they are.
        self.completion.withLockedValue { $0 }(completed, file.path)
        self.keeper?.look(newest: file.path)
    }

    /// Writes what is queued and the last line, and closes the file.
    func close() -> Report {
        self.takeNoMore()
        self.drain()
        return self.file.withLockedValue { file in
            file.close(wall: self.clock.wall(), monotonic: self.clock.monotonic())
            self.tell(&file)
            return Report(
                frames: file.frames,
                bytes: file.bytes,
                dropped: file.failed + self.queue.withLockedValue { $0.dropped },
                segments: file.segments,
                doubted: file.doubted
            )
        }
    }
}

extension RecorderClock {
    /// The machine's own monotonic clock, for the thread's waiting and the disk's pace, which no other clock can rule.
    fileprivate var systemNow: Int64 { Int64(NIODeadline.now().uptimeNanoseconds) }
}

extension RecordedNote {
    /// What happened on the connection, as a recording has it.
    package init(_ event: ConnectionEvent) {
        switch event {
        case .connected(let address): self.init(.connect, word: address)
        case .requested(let request, let text):
            switch request {
            case .subscribe(let symbol):
                self.init(.subscribe, direction: .outgoing)
                self.symbol = symbol
            case .unsubscribe(let symbol):
                self.init(.unsubscribe, direction: .outgoing)
                self.symbol = symbol
            case .other: self.init(.request, direction: .outgoing)
            }
            self.frame = text
        case .ping(let direction): self.init(.ping, direction: direction)
        case .pong(let direction): self.init(.pong, direction: direction)
        case .disconnected(let code, let reason, let cause):
            self.init(.disconnect)
            self.code = code
            self.reason = reason
            self.cause = cause.word
        }
    }
}
