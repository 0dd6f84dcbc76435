package import Market
import NIOCore
import NIOPosix
import NIOConcurrencyHelpers
package import Wire

/// The writer of a recording: every frame as it came, with its arrival, appended by a thread of its own.
///
/// The feed only queues (bounded); a slow or full disk costs frames of the recording, which are counted and said, and
/// never the feed. A file is never overwritten.
package final class Recorder: TapeReader {
    /// What became of a recording.
    package struct Report: Sendable, Equatable {
        package var frames: UInt64
        package var bytes: UInt64
        /// Frames that are not in the file, because the disk was too slow or failed.
        package var dropped: UInt64
    }

    private enum Entry {
        case frame(ByteBuffer, received: Int64, RecordedNumbers, epoch: UInt64)
        case leftOut(LeftOut)
        case gap(Gap)
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
        /// Frames that the disk did not take, as of the last write.
        var failed: UInt64 = 0
        /// Whether the writer is awake or about to be; it is woken once, not once a frame.
        var isScheduled = false
        var isFinished = false

        /// Puts what was left out into its place.
        mutating func tellLeftOut() {
            guard let leftOut else { return }
            self.leftOut = nil
            self.bytes += Recorder.entryBytes
            self.entries.append(.leftOut(leftOut))
        }

        /// Whether the writer is to be woken for what waits.
        mutating func wakes() -> Bool {
            guard !self.isScheduled, !self.entries.isEmpty else { return false }
            self.isScheduled = true
            return true
        }
    }

    /// What an entry costs beside its bytes.
    private static let entryBytes = 64
    /// What may wait for the disk, in bytes of memory.
    package static let maximumWaitingBytes = 64 << 20

    private let queue = NIOLockedValueBox(Queue())
    private let pool = NIOThreadPool(numberOfThreads: 1)
    private let file: NIOLockedValueBox<RecordingWriter>
    private let complain: @Sendable (String) -> Void
    /// The file's path.
    package let path: String

    /// Creates the file and writes its header.
    ///
    /// - Parameters:
    ///   - epoch: the run of numbers on the tape; a batch of another one is written without its numbers.
    ///   - source: where the frames come from: `live` for the market.
    ///   - complain: is told, on the recorder's thread, each time that writing begins to fail.
    /// - Throws: ``RecordingWriter/Failure`` when the file exists or cannot be made.
    package init(
        path: String,
        symbols: [String],
        started: Int64,
        program: String,
        epoch: UInt64? = nil,
        source: String? = nil,
        complain: @escaping @Sendable (String) -> Void
    ) throws {
        self.path = path
        self.complain = complain
        self.file = NIOLockedValueBox(
            try RecordingWriter(
                path: path,
                header: RecordingHeader(
                    program: program,
                    symbols: symbols,
                    start: started,
                    epoch: epoch,
                    source: source
                )
            )
        )
        self.pool.start()
    }

    package func read(_ batch: TapeBatch) {
        let mustWake = self.queue.withLockedValue { queue -> Bool in
            guard !queue.isFinished else { return false }
            // A frame is a slice of what the socket's read brought, and keeps all of that: so the read counts once.
            var storage = batch.frames.first?.bytes.storageCapacity ?? 0
            for frame in batch.frames {
                let cost = frame.bytes.readableBytes + Self.entryBytes + storage
                guard queue.bytes + cost <= Self.maximumWaitingBytes else {
                    queue.dropped += 1
                    var leftOut = queue.leftOut ?? LeftOut(from: batch.received, to: batch.received)
                    leftOut.count += 1
                    leftOut.to = batch.received
                    queue.leftOut = leftOut
                    continue
                }
                queue.tellLeftOut()
                storage = 0
                queue.bytes += cost
                queue.entries.append(
                    .frame(
                        frame.bytes,
                        received: batch.received,
                        RecordedNumbers(
                            first: batch.firstSequence + UInt64(frame.trades.lowerBound),
                            count: frame.trades.count,
                            leftOut: frame.leftOut
                        ),
                        epoch: batch.epoch
                    )
                )
            }
            return queue.wakes()
        }
        if mustWake { self.schedule() }
    }

    package func statusChanged(_ status: FeedStatus) {}

    package func gapFound(_ gap: Gap) {
        let mustWake = self.queue.withLockedValue { queue -> Bool in
            guard !queue.isFinished else { return false }
            // A word of what is missing has its place even where frames have none.
            queue.bytes += gap.reason.utf8.count + Self.entryBytes
            queue.tellLeftOut()
            queue.entries.append(.gap(gap))
            return queue.wakes()
        }
        if mustWake { self.schedule() }
    }

    /// Frames that are missing in the file so far. From any thread; waits for no disk.
    package var dropped: UInt64 { self.queue.withLockedValue { $0.dropped + $0.failed } }

    /// Writes what is queued, syncs and closes the file; answers with what it holds.
    package func finish() async -> Report {
        self.queue.withLockedValue { queue in
            queue.isFinished = true
            queue.tellLeftOut()
        }
        // The pool has one thread, so this runs behind every drain. Not `runIfActive`, which a cancelled task leaves out:
        // the file must be whole however the program ends.
        let report = await withCheckedContinuation { continuation in
            self.pool.submit { _ in continuation.resume(returning: self.close()) }
        }
        try? await self.pool.shutdownGracefully()
        return report
    }

    private func close() -> Report {
        self.drain()
        return self.file.withLockedValue { file in
            file.close()
            return Report(
                frames: file.frames,
                bytes: file.bytes,
                dropped: file.failed + self.queue.withLockedValue { $0.dropped }
            )
        }
    }

    private func schedule() {
        self.pool.submit { state in
            guard case .active = state else { return }
            self.drain()
        }
    }

    private func drain() {
        while true {
            let entries = self.queue.withLockedValue { queue -> [Entry] in
                let entries = queue.entries
                queue.entries = []
                queue.bytes = 0
                if entries.isEmpty { queue.isScheduled = false }
                return entries
            }
            if entries.isEmpty { return }
            self.file.withLockedValue { file in
                for entry in entries {
                    switch entry {
                    case .frame(let bytes, let received, let numbers, let epoch):
                        file.append(frame: bytes, received: received, numbers: numbers, epoch: epoch)
                    case .leftOut(let frames): file.leftOut(frames.count, from: frames.from, to: frames.to)
                    case .gap(let gap): file.append(gap: gap)
                    }
                }
                file.flush()
                let failed = file.failed
                self.queue.withLockedValue { $0.failed = failed }
                if let problem = file.takeProblem() {
                    self.complain("\(self.path) cannot be written: \(problem); what comes now is missing there")
                }
                if file.takeRecovery() {
                    self.complain("\(self.path) is written again; \(self.dropped) frames are missing there")
                }
            }
        }
    }
}
